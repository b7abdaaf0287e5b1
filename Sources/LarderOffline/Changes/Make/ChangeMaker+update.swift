import LarderOData
import LarderService
import LarderStorage

// Updates entities and properties (OData Protocol 4.01 §11.4.3, §11.4.4, §11.4.9).
extension ChangeMaker {
  mutating func update(
    _ request: ODataSingleRequest, target: ChangeTarget, place: (path: String, query: String?),
    method: ODataSingleRequest.UpdateMethod
  ) throws -> AppliedChange {
    switch target.end {
    case .entity: return try updateEntity(request, target: target, place: place, method: method)
    case .property: return try updateProperty(request, target: target, place: place, method: method)
    case .value: return try updateValue(request, target, place)
    default: throw OfflineODataError(.unsupportedChange, "only entities and properties can be updated")
    }
  }

  /// The row that is changed, with its table and type.
  struct Subject {
    let reference: RowReference
    let table: EntityTable
    let type: EdmStructure
    let cells: EntityCells
  }

  func subject(_ target: ChangeTarget) throws -> Subject {
    guard let reference = target.entity, let table = plan.table(reference.table), let cells = target.cells else {
      throw OfflineODataError(.entityNotFound, "the navigation property has no entity")
    }
    if EntityLinks(cells.text(.uri)).edit == .readOnly {
      throw OfflineODataError.restricted(
        .updateRestricted, try rows.path(of: reference, cells) ?? table.name, by: "the service gives no edit link")
    }
    let type = cells.text(.type).flatMap(model.structure) ?? table.type
    return Subject(reference: reference, table: table, type: type, cells: cells)
  }

  private mutating func updateEntity(
    _ request: ODataSingleRequest, target: ChangeTarget, place: (path: String, query: String?),
    method: ODataSingleRequest.UpdateMethod
  ) throws -> AppliedChange {
    let subject = try subject(target)
    let rules = context.rules(subject.table)
    if let reason = rules.restrictions.updateRestriction(by: method) {
      throw OfflineODataError.restricted(.updateRestricted, subject.table.name, by: reason)
    }
    let entity: ODataEntity
    switch request.body {
    case .entity(let given): entity = given
    case .properties(let properties): entity = ODataEntity(properties: properties)
    default: throw OfflineODataError(.unfittingBody, "an update of an entity needs an entity as content")
    }
    try checkStreams(entity)
    var changed = ChangedCells(subject.table, subject.type, model, old: subject.cells)
    for property in entity.properties where try !isKnown(property, subject, rules) { try changed.take(property) }
    if method == .replace { try changed.reset(keeping: Set(rules.fixed.keys)) }
    var cells = try changed.finished(replaces: method == .replace)
    var queued = QueuedEntity(
      typeName: subject.type.name == subject.table.type.name ? nil : subject.type.name, row: subject.reference,
      properties: changed.sent, annotations: QueuedAnnotation.all(entity.annotations))
    try noteForeignKeys(
      &queued.properties, given: Set(cells.values.keys), cells: merged(subject.cells, cells), table: subject.table)
    for link in entity.navigationLinks + changed.links {
      queued.links.append(try rebind(link, subject, &cells))
    }
    effects.insert(Effect(.set, subject.table.name, subject.reference.row, cells: cells), at: 0)
    let operation: QueuedRequest.Operation =
      switch method {
      case .patch: .patch
      case .merge: .merge
      case .replace: .replace
      }
    var draft = draft(operation, request: request, target: target, place: place)
    draft.body = .entity(queued)
    try record(draft, target)
    let shows = ChangeMaker.preference(request) == .representation && model.version >= .v4
    return AppliedChange(status: shows ? 200 : 204, entity: subject.reference, showsEntity: shows)
  }

  private func merged(_ old: EntityCells, _ new: EntityCells) -> EntityCells {
    var cells = old
    cells.merge(new)
    return cells
  }

  /// Whether a key property or an unchangeable property of a body has its current value, so that it is ignored. Throws
  /// if it has another value.
  private func isKnown(_ property: ODataProperty, _ subject: Subject, _ rules: ChangeRules) throws -> Bool {
    guard let column = subject.table.column([property.name], on: subject.type) else { return false }
    let isKey = subject.table.key.contains(column.number)
    let fixedProperties = ChangeRules.all(in: property, among: rules.fixed)
    guard isKey || !fixedProperties.isEmpty else { return false }
    let isWhole = isKey || fixedProperties.contains { $0.path == property.name }
    guard let declared = subject.type.property(property.name) else { return false }
    let place = "\(subject.type.name)/\(property.name)"
    let reason = isKey ? nil : fixedProperties.first?.reason
    if isWhole, property.value == .null, !declared.isNullable { return try reject(place, reason) }
    var probe = ChangedCells(subject.table, subject.type, model, old: subject.cells)
    try probe.take(property)
    let cells = try probe.finished()
    if isWhole { return isSame([property.name], cells, subject) ? true : try reject(place, reason) }
    // The rest of a complex value can change.
    for (path, reason) in fixedProperties where !isSame(path.split(separator: "/").map(String.init), cells, subject) {
      return try reject("\(subject.type.name)/\(path)", reason)
    }
    return false
  }

  /// Whether a property has the same value in the cells of a change as in the row.
  private func isSame(_ path: [String], _ cells: EntityCells, _ subject: Subject) -> Bool {
    let columns = subject.table.columns.filter { $0.path.starts(with: path) && cells[$0.name] != nil }
    return !columns.isEmpty
      && columns.allSatisfy { column in
        let (old, new) = (subject.cells[column.name] ?? .null, cells[column.name] ?? .null)
        return old == new || column.storage == .decimal && Self.isSameNumber(old, new)
      }
  }

  private static func isSameNumber(_ left: SQLValue, _ right: SQLValue) -> Bool {
    guard case .text(let left) = left, case .text(let right) = right,
      let first = try? ODataValue(text: left, type: .decimal), let second = try? ODataValue(text: right, type: .decimal)
    else { return false }
    return first == second
  }

  /// - Parameter reason: the annotation; nil for a part of the key.
  private func reject(_ place: String, _ reason: String?) throws -> Bool {
    guard let reason else { throw OfflineODataError(.keyChanged, place) }
    throw OfflineODataError.restricted(.readOnlyProperty, place, by: reason)
  }

  /// Sets a navigation property in the body of an update: to another entity, or to none.
  private mutating func rebind(
    _ link: ODataNavigationLink, _ subject: Subject, _ cells: inout EntityCells
  ) throws -> QueuedLink {
    let navigation = try self.navigation(link.name, subject.table, subject.type)
    var queued = QueuedLink(link, navigation)
    guard link.changesLinks else { return queued }
    try checkRebindable(navigation, subject.table)
    switch link.content {
    case .delta?:
      throw OfflineODataError(
        .unsupportedChange, "inline changes of related entities (\(link.name)); change them separately")
    case .collection?:
      throw OfflineODataError(
        .unsupportedChange,
        "an update with the related entities of a collection (\(link.name)); link, unlink and update them separately")
    case .null?, .entity?, nil: break
    }
    let owner = Owner(reference: subject.reference, cells: subject.cells, navigation: navigation)
    let entities = link.entity.map { [$0] } ?? []
    guard entities.allSatisfy({ ChangeMaker.referenceURL($0) != nil }) else {
      throw OfflineODataError(
        .unsupportedChange, "an update with the content of related entities (\(link.name)); update them separately")
    }
    let urls = link.bindings + entities.compactMap(ChangeMaker.referenceURL)
    if !navigation.isCollection, plan.isDependent(navigation, subject.table) {
      let bound = try bindOne(link, navigation: navigation, table: subject.table, cells: &cells, depth: 0)
      if bound.isNull { try checkNullable(navigation, subject.table) }
      try checkKey(cells, keeps: subject.cells, in: subject.table)
      return bound
    }
    queued.formerEnd = try formerEnd(owner)
    if !navigation.isCollection { try untieAll(from: owner, except: nil) }
    queued.isNull = urls.isEmpty && !navigation.isCollection
    for url in urls {
      let (reference, target) = try self.reference(url)
      queued.bindings.append(reference)
      if let entity = target?.entity { try tie(entity, to: owner) }
    }
    return queued
  }

  private func checkNullable(_ navigation: ReplicaNavigation, _ table: EntityTable) throws {
    guard case .columns(let pairs) = navigation.relation else { return }
    for pair in pairs where table.columns[pair.source].property?.isNullable == false {
      throw OfflineODataError(.nullNotAllowed, table.columns[pair.source].name)
    }
  }

  // MARK: Properties

  private mutating func updateProperty(
    _ request: ODataSingleRequest, target: ChangeTarget, place: (path: String, query: String?),
    method: ODataSingleRequest.UpdateMethod
  ) throws -> AppliedChange {
    let subject = try subject(target)
    let value: ODataValue
    switch request.body {
    case .properties(let properties):
      value =
        properties.count == 1 && [target.path.last, "value"].contains(properties[0].name)
        ? properties[0].value : .complex(ODataComplexValue(properties: properties))
    case .entity(let entity): value = .complex(ODataComplexValue(entity))
    default: throw OfflineODataError(.unfittingBody, "an update of a property needs its value as content")
    }
    // Only a complex value has parts that can be left unchanged (OData Protocol 4.01 §11.4.9).
    let isComplex = if case .complex = value { true } else { false }
    let operation: QueuedRequest.Operation = method != .replace && isComplex ? .patchProperty : .replaceProperty
    return try set(
      value, operation: operation, request: request, target: target, place: place, subject: subject,
      isWhole: method == .replace)
  }

  /// Updates the raw value of a property (`/$value`), or the bytes of a media entity.
  private mutating func updateValue(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard !target.path.isEmpty else { return try updateMedia(request, target, place) }
    // The value of a property is stored in its row. The bytes that were stored as a stream are removed later.
    stored = nil
    let subject = try subject(target)
    guard case .bytes(let bytes, let contentType) = request.body else {
      throw OfflineODataError(.unfittingBody, "an update of a raw value needs bytes as content")
    }
    let column = subject.table.column(target.path, on: subject.type)
    let value: ODataValue
    switch column?.type.primitive {
    case .binary?: value = .binary(bytes)
    case let type?:
      let text = String(decoding: bytes, as: UTF8.self)
      do { value = try ODataValue(text: text, type: type) } catch {
        throw OfflineODataError(.invalidValue, target.path.joined(separator: "/"), cause: error)
      }
    case nil: value = .string(String(decoding: bytes, as: UTF8.self))
    }
    return try set(
      value, operation: .replaceValue, request: request, target: target, place: place, subject: subject, isWhole: true,
      body: .bytes(bytes, contentType: contentType))
  }

  mutating func deleteValue(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    let subject = try subject(target)
    guard !target.path.isEmpty else { return try deleteMedia(request, target, place) }
    return try set(
      .null, operation: .deleteProperty, request: request, target: target, place: place, subject: subject,
      isWhole: true, body: QueuedBody.none)
  }

  private mutating func set(
    _ value: ODataValue, operation: QueuedRequest.Operation, request: ODataSingleRequest, target: ChangeTarget,
    place: (path: String, query: String?), subject: Subject, isWhole: Bool, body: QueuedBody? = nil
  ) throws -> AppliedChange {
    let rules = context.rules(subject.table)
    if let reason = rules.restrictions.updateRestriction {
      throw OfflineODataError.restricted(.updateRestricted, subject.table.name, by: reason)
    }
    let name = "\(subject.type.name)/\(target.path.joined(separator: "/"))"
    let first = target.path.first ?? ""
    let whole = ODataProperty(target.path.joined(separator: "/"), value)
    if let reason = ChangeRules.reason(of: target.path, among: rules.fixed)
      ?? ChangeRules.all(in: whole, among: rules.fixed).first?.reason
    {
      throw OfflineODataError.restricted(.readOnlyProperty, name, by: reason)
    }
    if let column = subject.table.column([first], on: subject.type), subject.table.key.contains(column.number) {
      throw OfflineODataError(.keyChanged, name)
    }
    var changed = ChangedCells(subject.table, subject.type, model, old: subject.cells)
    var annotations: [ODataAnnotation] = []
    if case .properties(let given) = request.body, given.count == 1 { annotations = given[0].annotations }
    try changed.take(value, at: target.path, isWhole: isWhole, annotations: annotations)
    let cells = try changed.finished()
    var sent = changed.sent
    try noteForeignKeys(&sent, given: Set(cells.values.keys), cells: merged(subject.cells, cells), table: subject.table)
    effects = [Effect(.set, subject.table.name, subject.reference.row, cells: cells)]
    var draft = draft(operation, request: request, target: target, place: place)
    draft.body = body ?? .properties(sent)
    // Bytes cannot contain a key that the service has not assigned yet, so the property is sent in place of its raw
    // value.
    if operation == .replaceValue, sent.contains(where: { $0.key != nil }) {
      (draft.operation, draft.body) = (.replaceProperty, .properties(sent))
      draft.target.path = target.suffix.filter { $0 != "$value" }.joined(separator: "/")
    }
    try record(draft, target)
    return AppliedChange(status: 204, entity: subject.reference)
  }
}
