@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Links entities: in the body of a change, and by requests for links.
extension ChangeMaker {
  /// The entity that a URL names; nil if it is not in the store.
  func find(_ url: String) throws -> ChangeTarget? {
    let text = try unnamed(url)
    guard let place = try? context.split(text), let path = try? context.bind(place.path) else {
      throw OfflineODataError(.malformedURL, "'\(url.prefix(200))' is not an entity of the service")
    }
    do {
      let target = try ChangeWalk.target(of: path, rows)
      return target.entity == nil || !target.end.isEntity ? nil : target
    } catch let error as OfflineODataError where error.category == .notFound { return nil }
  }

  /// The stored form of a reference. Records the requests that it depends on.
  mutating func reference(_ url: String) throws -> (queued: QueuedReference, target: ChangeTarget?) {
    guard let target = try find(url), let entity = target.entity else { return (.url(url), nil) }
    try dependOnMaker(of: entity.row)
    return (.row(entity), target)
  }

  /// Sets a to-one navigation property whose foreign key is in this entity: its target is bound, or created together
  /// with it.
  mutating func bindOne(
    _ link: ODataNavigationLink, navigation: ReplicaNavigation, table: EntityTable, cells: inout EntityCells,
    depth: Int
  ) throws -> QueuedLink {
    var queued = QueuedLink(link, navigation)
    let targetTable = plan.tables[navigation.target]
    guard case .columns(let pairs) = navigation.relation else { return queued }
    var key: EntityCells?
    if let url = link.bindings.first ?? link.entity.flatMap(ChangeMaker.referenceURL) {
      let (reference, target) = try self.reference(url)
      queued.bindings = [reference]
      key = target?.cells ?? ChangeMaker.key(of: url, targetTable, model)
      if let foundTable = target?.entity?.table, foundTable != targetTable.name {
        throw OfflineODataError(.unfittingBody, "\(link.name) leads to \(targetTable.name), not to \(foundTable)")
      }
    } else if let entity = link.entity {
      let created = try insert(entity, targetTable, owner: nil, depth: depth + 1)
      queued.entities = [created]
      key = effects.last { $0.kind == .insert && $0.reference == created.row }?.cells
    } else {
      queued.isNull = true
    }
    for pair in pairs {
      cells[table.columns[pair.source].name] = key?[targetTable.columns[pair.target].name] ?? .null
    }
    return queued
  }

  /// Sets a navigation property whose foreign key is not in this entity: its targets are bound, or created together
  /// with it.
  mutating func link(_ link: ODataNavigationLink, _ owner: Owner, _ depth: Int) throws -> QueuedLink {
    var queued = QueuedLink(link, owner.navigation)
    let table = plan.tables[owner.navigation.target]
    var entities: [ODataEntity] = link.entities ?? link.entity.map { [$0] } ?? []
    let references = link.bindings + entities.compactMap(ChangeMaker.referenceURL)
    entities.removeAll { ChangeMaker.referenceURL($0) != nil }
    if case .null? = link.content { queued.isNull = true }
    for url in references {
      let (reference, target) = try self.reference(url)
      queued.bindings.append(reference)
      if let entity = target?.entity { try tie(entity, to: owner) }
    }
    for entity in entities {
      queued.entities.append(try insert(entity, table, owner: owner, depth: depth + 1))
    }
    return queued
  }

  /// The URL of an entity in a body that is only a reference: V4.01 `{"@id": …}`, V2 `{"__metadata": {"uri": …}}`.
  static func referenceURL(_ entity: ODataEntity) -> String? {
    guard entity.properties.isEmpty, entity.navigationLinks.isEmpty else { return nil }
    return entity.id ?? entity.editLink
  }

  /// The key in the URL of an entity that is not in the store.
  static func key(of url: String, _ table: EntityTable, _ model: EdmModel) -> EntityCells? {
    guard let values = EntityID.key(of: url, in: table, model: model) else { return nil }
    return EntityCells(
      Dictionary(zip(table.key.map { table.columns[$0].name }, values), uniquingKeysWith: { first, _ in first }))
  }

  /// Adds the effects of linking an entity to another by a navigation property.
  mutating func tie(_ entity: RowReference, to owner: Owner) throws {
    guard entity.table == plan.tables[owner.navigation.target].name else {
      throw OfflineODataError(
        .unfittingBody, "\(owner.navigation.property.name) does not lead to \(entity.table)")
    }
    guard let source = plan.table(owner.reference.table), let target = plan.table(entity.table) else { return }
    switch owner.navigation.relation {
    case .links(let number, let isForward):
      let (from, to) = isForward ? (owner.reference.row, entity.row) : (entity.row, owner.reference.row)
      effects.append(Effect(.link, plan.links[number].name, from, other: to))
    case .columns(let pairs):
      var cells = EntityCells()
      let others = try rows.effective(entity) ?? EntityCells()
      if plan.isDependent(owner.navigation, source) {
        for pair in pairs {
          cells[source.columns[pair.source].name] = others[target.columns[pair.target].name] ?? .null
        }
        try checkKey(cells, keeps: owner.cells, in: source)
        effects.append(Effect(.set, source.name, owner.reference.row, cells: cells))
      } else {
        for pair in pairs {
          cells[target.columns[pair.target].name] = owner.cells[source.columns[pair.source].name] ?? .null
        }
        try checkKey(cells, keeps: others, in: target)
        effects.append(Effect(.set, target.name, entity.row, cells: cells))
      }
    case .containment, .container:
      throw OfflineODataError(
        .unsupportedChange,
        "\(owner.navigation.property.name) is a containment relationship, whose links cannot be changed")
    }
  }

  /// Throws if the foreign key of a link is a part of the key of its entity, and would get another value.
  func checkKey(_ cells: EntityCells, keeps old: EntityCells, in table: EntityTable) throws {
    for number in table.key {
      let name = table.columns[number].name
      guard let value = cells[name], value != old[name] ?? .null else { continue }
      throw OfflineODataError(.keyChanged, "\(table.type.name)/\(name)")
    }
  }

  /// Adds the effects of unlinking an entity.
  mutating func untie(_ entity: RowReference, from owner: Owner) throws {
    guard let source = plan.table(owner.reference.table), let target = plan.table(entity.table) else { return }
    switch owner.navigation.relation {
    case .links(let number, let isForward):
      let (from, to) = isForward ? (owner.reference.row, entity.row) : (entity.row, owner.reference.row)
      effects.append(Effect(.unlink, plan.links[number].name, from, other: to))
    case .columns(let pairs):
      let isOwn = plan.isDependent(owner.navigation, source)
      let table = isOwn ? source : target
      var cells = EntityCells()
      for pair in pairs {
        let column = table.columns[isOwn ? pair.source : pair.target]
        if table.key.contains(column.number) {
          throw OfflineODataError(.keyChanged, "\(table.type.name)/\(column.name)")
        }
        guard column.property?.isNullable != false else { throw OfflineODataError(.nullNotAllowed, column.name) }
        cells[column.name] = .null
      }
      effects.append(Effect(.set, table.name, isOwn ? owner.reference.row : entity.row, cells: cells))
    case .containment, .container:
      throw OfflineODataError(
        .unsupportedChange,
        "\(owner.navigation.property.name) is a containment relationship, whose links cannot be changed")
    }
  }

  /// Unlinks the current target of a single-valued navigation property.
  mutating func untieAll(from owner: Owner, except kept: RowReference?) throws {
    let target = plan.tables[owner.navigation.target]
    let related = try rows.related(to: owner.reference, owner.cells, by: owner.navigation)
    for row in related where row.id != kept?.row { try untie(RowReference(target.name, row.id), from: owner) }
  }

  /// The current target of a link to a single entity; nil for other links, and for those that are stored in columns of
  /// the owner.
  func formerEnd(_ owner: Owner) throws -> FormerEnd? {
    guard !owner.navigation.isCollection, let table = plan.table(owner.reference.table),
      !plan.isDependent(owner.navigation, table)
    else { return nil }
    if let related = try rows.related(to: owner.reference, owner.cells, by: owner.navigation).first {
      return .row(related.id)
    }
    return coverage().hasLinks(owner.navigation, of: owner.cells, in: table) ? .nothing : .unknown
  }

  // MARK: Links as resources (OData Protocol 4.01 §11.4.6)

  mutating func link(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard let owner = owner(target) else {
      throw OfflineODataError(.unsupportedChange, "the path of a link must end with a navigation property")
    }
    guard case .reference(let url) = request.body else {
      throw OfflineODataError(.unfittingBody, "a change of a link needs the URL of an entity")
    }
    let isOne = !owner.navigation.isCollection
    guard isOne == (request.operation == .updateLink) else {
      throw OfflineODataError(
        .unfittingBody,
        isOne ? "use updateLink for a link to one entity" : "use createLink and deleteLink for links to many entities")
    }
    if let table = plan.table(owner.reference.table) { try checkRebindable(owner.navigation, table) }
    var draft = draft(isOne ? .updateLink : .createLink, request: request, target: target, place: place)
    draft.formerEnd = try formerEnd(owner)
    let (reference, linkTarget) = try self.reference(url)
    draft.body = .reference(reference)
    if let entity = linkTarget?.entity {
      if isOne, !plan.isDependent(owner.navigation, plan.table(owner.reference.table) ?? plan.tables[0]) {
        try untieAll(from: owner, except: entity)
      }
      try tie(entity, to: owner)
    }
    try record(draft, target)
    return AppliedChange(status: 204, entity: owner.reference)
  }

  mutating func unlink(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard let owner = owner(target) else {
      throw OfflineODataError(.unsupportedChange, "the path of a link must end with a navigation property")
    }
    if let table = plan.table(owner.reference.table) {
      try checkRebindable(owner.navigation, table)
      let name = owner.navigation.path.joined(separator: "/")
      if let reason = context.rules(table).restrictions.notDeletableLinks[name] {
        throw OfflineODataError.restricted(.deleteRestricted, "\(table.name)/\(name)", by: reason)
      }
    }
    var place = place
    var draft = draft(.deleteLink, request: request, target: target, place: place)
    if owner.navigation.isCollection {
      var item = target.item
      if item == nil, let id = ChangeMaker.option("$id", place.query) {
        let (reference, linkTarget) = try self.reference(id)
        draft.body = .reference(reference)
        item = linkTarget?.entity
        place.query = nil
      } else if item == nil, case .reference(let url) = request.body {
        let (reference, linkTarget) = try self.reference(url)
        draft.body = .reference(reference)
        item = linkTarget?.entity
      } else if let item {
        try dependOnMaker(of: item.row)
        draft.body = .reference(.row(item))
      } else {
        throw OfflineODataError(.unfittingBody, "a key or $id must say which link to delete")
      }
      draft.target.query = place.query
      if let item { try untie(item, from: owner) }
    } else {
      if case .reference(let url) = request.body { try check(owner, leadsTo: url) }
      draft.formerEnd = try formerEnd(owner)
      try untieAll(from: owner, except: nil)
    }
    try record(draft, target)
    return AppliedChange(status: 204, entity: owner.reference)
  }

  /// Throws if a navigation property has another target than the URL. A target that is not in the store is left to the
  /// service.
  private func check(_ owner: Owner, leadsTo url: String) throws {
    let expected = try find(url)?.entity
    let table = plan.tables[owner.navigation.target].name
    let related = try rows.related(to: owner.reference, owner.cells, by: owner.navigation)
    guard related.contains(where: { RowReference(table, $0.id) != expected }) else { return }
    throw OfflineODataError(.entityNotFound, "the link does not lead to '\(url.prefix(200))'")
  }

  /// Throws if the model does not allow binding a navigation property of an entity to others.
  func checkRebindable(_ navigation: ReplicaNavigation, _ table: EntityTable) throws {
    let name = navigation.path.joined(separator: "/")
    guard let reason = context.rules(table).restrictions.notUpdatableLinks[name] else { return }
    throw OfflineODataError.restricted(.updateRestricted, "\(table.name)/\(name)", by: reason)
  }

  /// The percent-decoded value of a query option.
  static func option(_ name: String, _ query: String?) -> String? {
    for part in (query ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, PercentEncoding.decode(String(pair[0])) == name else { continue }
      return PercentEncoding.decode(String(pair[1]))
    }
    return nil
  }

  // MARK: Foreign keys in a body

  /// Marks foreign keys whose values are keys of entities that the server has not seen, so that the server's keys are
  /// sent.
  mutating func noteForeignKeys(
    _ sent: inout [QueuedProperty], given: Set<String>, cells: EntityCells, table: EntityTable
  ) throws {
    for navigation in table.navigations {
      guard case .columns(let pairs) = navigation.relation, plan.isDependent(navigation, table) else { continue }
      let columns = pairs.map { table.columns[$0.source] }
      guard columns.contains(where: { given.contains($0.name) }),
        columns.allSatisfy({ cells[$0.name].map { $0 != .null } ?? false })
      else { continue }
      let target = plan.tables[navigation.target]
      let condition = pairs.enumerated().map { "\(TableDDL.quoted(target.columns[$1.target].name)) = ?\($0 + 1)" }
      let values = columns.map { cells[$0.name] ?? .null }
      guard let relatedRow = try rows.row(target, condition.joined(separator: " AND "), values),
        let maker = try rows.maker(of: relatedRow.id)
      else { continue }
      earlier.insert(maker)
      for pair in pairs {
        let name = table.columns[pair.source].path
        guard let key = target.key.firstIndex(of: pair.target),
          let index = sent.firstIndex(where: { [$0.name] == name })
        else { continue }
        sent[index].key = QueuedKey(row: RowReference(target.name, relatedRow.id), property: target.type.key[key].name)
      }
    }
  }
}
