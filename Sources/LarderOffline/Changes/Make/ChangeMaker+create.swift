import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Creates entities: alone, in a navigation property, or with others inline (OData Protocol 4.01 §11.4.2).
extension ChangeMaker {
  /// The maximum depth of inline entities.
  private static let deepest = 50

  /// The parent of a created entity: an entity and its navigation property.
  struct Owner {
    let reference: RowReference
    let cells: EntityCells
    let navigation: ReplicaNavigation
  }

  mutating func create(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard case .collection = target.end, let table = target.table else {
      throw OfflineODataError(.unsupportedChange, "an entity can be created only in a collection")
    }
    let entity: ODataEntity
    switch request.body {
    case .entity(let given): entity = given
    case .properties(let properties): entity = ODataEntity(properties: properties)
    case .none: entity = ODataEntity()
    case .reference, .bytes, .stream:
      throw OfflineODataError(.unfittingBody, "the content of a creation must be an entity")
    }
    let queued = try insert(entity, table, owner: owner(target), cast: target.cast, depth: 0)
    return try recordCreate(
      .create, request: request, target: target, place: place, body: .entity(queued), row: queued.row)
  }

  func owner(_ target: ChangeTarget) -> Owner? {
    guard let entity = target.entity, let navigation = target.navigation else { return nil }
    return Owner(reference: entity, cells: target.cells ?? EntityCells(), navigation: navigation)
  }

  mutating func recordCreate(
    _ operation: QueuedRequest.Operation, request: ODataSingleRequest, target: ChangeTarget,
    place: (path: String, query: String?), body: QueuedBody, row: RowReference?
  ) throws -> AppliedChange {
    var draft = draft(operation, request: request, target: target, place: place)
    draft.entity = row
    draft.body = body
    try dependOnMaker(of: target.entity?.row)
    try record(draft)
    let isMinimal = ChangeMaker.preference(request) == .minimal
    return AppliedChange(status: isMinimal && model.version >= .v4 ? 204 : 201, entity: row, showsEntity: !isMinimal)
  }

  static func preference(_ request: ODataSingleRequest) -> ODataSingleRequest.ReturnPreference? {
    if let preference = request.returnPreference { return preference }
    let field = request.fields[.prefer] ?? ""
    if field.contains("return=minimal") { return .minimal }
    return field.contains("return=representation") ? .representation : nil
  }

  /// Creates a row and those inline with it. Returns the content that is sent.
  ///
  /// - Parameter isMedia: whether it is created only from its bytes, so that its required properties are set later
  ///   (OData Protocol 4.01 §11.4.7.1).
  mutating func insert(
    _ entity: ODataEntity, _ table: EntityTable, owner: Owner?, cast: EdmStructure? = nil, isMedia: Bool = false,
    depth: Int
  ) throws -> QueuedEntity {
    guard depth < Self.deepest else {
      throw OfflineODataError(.unfittingBody, "related entities are nested too deeply")
    }
    let place = owner.map(place(behind:))
    let rules = context.rules(table).overridden(by: place?.restrictions)
    if let reason = rules.restrictions.insertRestriction {
      let subject = place?.restrictions?.insertRestriction == nil ? nil : place?.name
      throw OfflineODataError.restricted(.insertRestricted, subject ?? table.name, by: reason)
    }
    let type = try self.type(entity.typeName, table, cast)
    if type.hasStream, !isMedia { throw OfflineODataError(.unfittingBody, ChangeMaker.bytesFirst(table)) }
    let reference = RowReference(table.name, try rows.connection.takeIdentities(1))
    try checkStreams(entity)
    var changed = ChangedCells(table, type, model)
    for property in entity.properties where !isLeftOut(property, table, type) {
      let restricted = ChangeRules.all(in: property, among: rules.notGiven).first { !allowed.contains($0.path) }
      if let (path, reason) = restricted {
        if property.value == .null { continue }
        throw OfflineODataError(
          .readOnlyProperty,
          "\(type.name)/\(path) (\(reason)); if the service accepts it anyway, allow it with allowedProperties or --allow \(path)"
        )
      }
      try changed.take(property)
    }
    var cells = try changed.finished()
    let given = Set(cells.values.filter { $0.value != .null }.keys)
    cells[.type] = .text(type.name)
    var queued = QueuedEntity(
      typeName: type.name == table.type.name ? nil : type.name, row: reference, properties: changed.sent,
      annotations: QueuedAnnotation.all(entity.annotations))
    try tie(reference, &cells, to: owner, table)
    var links: [(ODataNavigationLink, ReplicaNavigation)] = []
    for link in entity.navigationLinks + changed.links {
      let navigation = try self.navigation(link.name, table, type)
      guard link.changesLinks else {
        queued.links.append(QueuedLink(link, navigation))
        continue
      }
      if let reason = rules.restrictions.notInsertableLinks[link.name] {
        throw OfflineODataError.restricted(.insertRestricted, "\(table.name)/\(link.name)", by: reason)
      }
      if case .columns = navigation.relation, plan.isDependent(navigation, table) {
        queued.links.append(try bindOne(link, navigation: navigation, table: table, cells: &cells, depth: depth))
      } else {
        links.append((link, navigation))
      }
    }
    try noteForeignKeys(&queued.properties, given: given, cells: cells, table: table)
    if !isMedia { try checkRequired(rules, cells: cells, table: table, type: type) }
    try fillKey(reference, cells: &cells, given: given, table: table)
    effects.append(Effect(.insert, table.name, reference.row, cells: cells))
    for (link, navigation) in links {
      let linkOwner = Owner(reference: reference, cells: cells, navigation: navigation)
      queued.links.append(try self.link(link, linkOwner, depth))
    }
    return queued
  }

  /// The reason why a media entity cannot be created from property values: the service takes the content of the request
  /// as the bytes, whatever its media type is (OData Protocol 4.01 §11.4.7.1).
  static func bytesFirst(_ table: EntityTable) -> String {
    "entities of \(table.name) are created from their bytes: use createMedia(_:in:slug:) or --media FILE, then update the entity"
  }

  /// Throws for a stream inside an entity: its bytes are stored apart from rows.
  func checkStreams(_ entity: ODataEntity) throws {
    guard let stream = entity.streams.first else { return }
    throw OfflineODataError(
      .unsupportedChange, "the bytes of \(stream.name) in an entity; change them with updateMedia")
  }

  /// The navigation property of an entity, for messages, and what it says about the entities behind it.
  private func place(behind owner: Owner) -> (name: String, restrictions: ChangeRestrictions?) {
    let path = owner.navigation.path.joined(separator: "/")
    let rules = plan.table(owner.reference.table).map(context.rules)
    return ("\(owner.reference.table)/\(path)", rules?.behind[path])
  }

  /// Throws if a property that the model requires is missing.
  private func checkRequired(
    _ rules: ChangeRules, cells: EntityCells, table: EntityTable, type: EdmStructure
  ) throws {
    for (name, reason) in rules.restrictions.required.sorted(by: { $0.key < $1.key }) {
      let path = name.split(separator: "/").map(String.init)
      guard let column = table.column(path, on: type), cells[column.name] ?? .null == .null else { continue }
      throw OfflineODataError.restricted(.nullNotAllowed, "\(type.name)/\(name)", by: reason)
    }
  }

  /// Whether a property is not sent: a null key is assigned by the service.
  private func isLeftOut(_ property: ODataProperty, _ table: EntityTable, _ type: EdmStructure) -> Bool {
    property.value == .null && table.key.contains { table.columns[$0].path == [property.name] }
  }

  /// The type of a created entity.
  private func type(_ typeName: String?, _ table: EntityTable, _ cast: EdmStructure?) throws -> EdmStructure {
    var type = cast ?? table.type
    if let typeName {
      let name = model.resolve(typeName)
      guard let declaredType = table.types.first(where: { $0.name == name }) else {
        throw OfflineODataError(.unfittingBody, "\(typeName) is not a type of \(table.name)")
      }
      type = declaredType
    }
    guard !type.isAbstract else { throw OfflineODataError(.unfittingBody, "\(type.name) is abstract") }
    return type
  }

  func navigation(_ name: String, _ table: EntityTable, _ type: EdmStructure) throws -> ReplicaNavigation {
    guard let navigation = table.navigation(name.split(separator: "/").map(String.init), on: type) else {
      throw OfflineODataError.unknown(name, of: type)
    }
    return navigation
  }

  /// The effect of creating an entity behind a navigation property on its row.
  private mutating func tie(
    _ reference: RowReference, _ cells: inout EntityCells, to owner: Owner?, _ table: EntityTable
  ) throws {
    guard let owner, let source = plan.table(owner.reference.table) else {
      if table.isContained {
        throw OfflineODataError(
          .unsupportedChange, "an entity of \(table.name) can be created only below the entity that contains it")
      }
      return
    }
    switch owner.navigation.relation {
    case .containment: cells[.parent] = .integer(owner.reference.row)
    case .links(let number, let isForward):
      let (from, to) = isForward ? (owner.reference.row, reference.row) : (reference.row, owner.reference.row)
      effects.append(Effect(.link, plan.links[number].name, from, other: to))
    case .columns(let pairs):
      if plan.isDependent(owner.navigation, source) { return }
      for pair in pairs {
        cells[table.columns[pair.target].name] = owner.cells[source.columns[pair.source].name] ?? .null
      }
    case .container:
      throw OfflineODataError(
        .unsupportedChange,
        "an entity cannot be created with \(owner.navigation.property.name), which leads to its container")
    }
  }

  /// Sets local values for key properties that have no value.
  private mutating func fillKey(
    _ reference: RowReference, cells: inout EntityCells, given: Set<String>, table: EntityTable
  ) throws {
    var isWhole = true
    for number in table.key {
      let column = table.columns[number]
      guard cells[column.name] == nil || cells[column.name] == .null else { continue }
      isWhole = false
      guard let value = LocalKey.value(column, row: reference.row, rows.connection.environment) else {
        throw OfflineODataError(
          .missingKeyProperty,
          "\(table.name)/\(column.name): no value of \(column.type) is reliably unused, so the entity cannot have a local key; set the key (with allowedProperties if the service computes it), or create the entity online"
        )
      }
      cells[column.name] = value
      // A key property inside a complex value makes that value exist.
      for length in 1..<max(column.path.count, 1) {
        if let outer = table.column(Array(column.path.prefix(length))), cells[outer.name] == nil {
          cells[outer.name] = .text("")
        }
      }
    }
    guard isWhole, !table.key.isEmpty else { return }
    let identity = TableDDL.identity(of: table).map { cells[$0] ?? .null }
    if try rows.row(table, table.identityCondition, identity) != nil {
      throw OfflineODataError(.entityExists, (try? rows.path(of: reference, cells)) ?? table.name)
    }
    earlier.formUnion(try rows.deletions(of: cells, in: table))
  }
}

extension ODataNavigationLink {
  /// Whether it changes links; otherwise it only has annotations.
  var changesLinks: Bool { content != nil || !bindings.isEmpty }
}

extension QueuedLink {
  /// The stored form of a link, without its targets.
  init(_ link: ODataNavigationLink, _ navigation: ReplicaNavigation) {
    self.init(
      name: link.name, isCollection: navigation.isCollection, annotations: QueuedAnnotation.all(link.annotations))
  }
}

extension ReplicaPlan {
  /// Whether the foreign key of a navigation property is in its own table, and not in the target table.
  func isDependent(_ navigation: ReplicaNavigation, _ table: EntityTable) -> Bool {
    guard case .columns(let pairs) = navigation.relation else { return false }
    if !navigation.property.referentialConstraints.isEmpty { return true }
    if navigation.isCollection { return false }
    let target = tables[navigation.target]
    return Set(pairs.map(\.target)).isSubset(of: target.key) && !Set(pairs.map(\.source)).isSubset(of: table.key)
  }

  /// The names of an entity's own properties that are the key of the entity behind a navigation property.
  func foreignKey(of navigation: ReplicaNavigation, in table: EntityTable) -> [String] {
    guard case .columns(let pairs) = navigation.relation, isDependent(navigation, table) else { return [] }
    return pairs.compactMap { table.columns[$0.source].path.count == 1 ? table.columns[$0.source].path.first : nil }
  }
}
