import LarderOData
import LarderService
import LarderStorage

// Actions, and the bytes of media entities and stream properties (OData Protocol 4.01 §11.4.7, §11.4.8, §11.5.5).
extension ChangeMaker {
  mutating func invoke(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard case .operation(let operation) = target.end else {
      throw OfflineODataError(.unsupportedChange, "the path does not end with an action")
    }
    var draft = draft(.action, request: request, target: target, place: place)
    switch request.body {
    case .none: try checkWhole([], operation)
    case .properties(let properties): draft.body = try parameters(ODataEntity(properties: properties), operation)
    case .entity(let parameters): draft.body = try self.parameters(parameters, operation)
    case .bytes(let bytes, let type): draft.body = .bytes(bytes, contentType: type)
    case .reference, .stream:
      throw OfflineODataError(.unfittingBody, "the content of an action must be its parameters")
    }
    try dependOnMaker(of: target.entity?.row)
    try record(draft, target)
    // The response of the action is not known yet, only that it was accepted.
    return AppliedChange(status: 202, entity: target.entity)
  }

  /// Throws if a required parameter of an action is missing.
  func checkWhole(_ given: [String], _ operation: ODataDeclaredOperation) throws {
    guard case .action = operation.declaration else { return }
    let missing = operation.parameters.first { declared in
      !declared.parameter.isNullable && !declared.isOptional && !given.contains(declared.name)
    }
    guard let missing else { return }
    throw OfflineODataError(.nullNotAllowed, "\(operation.name)/\(missing.name)")
  }

  mutating func createMedia(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    guard case .collection = target.end, let table = target.table else {
      throw OfflineODataError(.unsupportedChange, "an entity can be created only in a collection")
    }
    guard (target.cast ?? table.type).hasStream else {
      throw OfflineODataError(.unfittingBody, "the entities of \(table.name) are not media entities")
    }
    let body = try media()
    let queued = try insert(ODataEntity(), table, owner: owner(target), cast: target.cast, isMedia: true, depth: 0)
    if let place = effects.lastIndex(where: { $0.kind == .insert && $0.reference == queued.row }) {
      effects[place].cells[.media] = .text(MediaInfo(contentType: stored?.contentType).json)
    }
    return try recordCreate(.createMedia, request: request, target: target, place: place, body: body, row: queued.row)
  }

  mutating func updateMedia(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    try setMedia(.updateMedia, request: request, target: target, place: place, body: try media())
  }

  mutating func deleteMedia(
    _ request: ODataSingleRequest, _ target: ChangeTarget, _ place: (path: String, query: String?)
  ) throws -> AppliedChange {
    stored = nil
    return try setMedia(.deleteMedia, request: request, target: target, place: place, body: .none)
  }

  private mutating func setMedia(
    _ operation: QueuedRequest.Operation, request: ODataSingleRequest, target: ChangeTarget,
    place: (path: String, query: String?), body: QueuedBody
  ) throws -> AppliedChange {
    let subject = try subject(target)
    let rules = context.rules(subject.table)
    if let reason = rules.restrictions.updateRestriction {
      throw OfflineODataError.restricted(.updateRestricted, subject.table.name, by: reason)
    }
    if let reason = ChangeRules.reason(of: target.path, among: rules.fixed) {
      let name = "\(subject.type.name)/\(target.path.joined(separator: "/"))"
      throw OfflineODataError.restricted(.readOnlyProperty, name, by: reason)
    }
    var name = SystemColumn.media.rawValue
    if case .stream = target.end {
      guard let column = subject.table.column(target.path, on: subject.type) else {
        throw OfflineODataError(.unknownProperty, target.path.joined(separator: "/"))
      }
      name = column.name
    } else {
      guard subject.type.hasStream else {
        throw OfflineODataError(.unfittingBody, "\(subject.type.name) is not a media entity type")
      }
    }
    if subject.cells.media(name).isReadOnly {
      throw OfflineODataError.restricted(
        .updateRestricted,
        ([try rows.path(of: subject.reference, subject.cells) ?? subject.table.name] + target.path)
          .joined(separator: "/"), by: "the service gives no edit link for the bytes")
    }
    let info = stored.map { SQLValue.text(MediaInfo(contentType: $0.contentType).json) } ?? .null
    effects = [Effect(.set, subject.table.name, subject.reference.row, cells: EntityCells([name: info]))]
    var draft = draft(operation, request: request, target: target, place: place)
    draft.body = body
    // The bytes of an entity are a separate resource, even if the path is that of the entity.
    if case .entity = target.end { draft.target.path = (target.suffix + ["$value"]).joined(separator: "/") }
    try record(draft, target)
    return AppliedChange(status: 204, entity: subject.reference)
  }

  private func media() throws -> QueuedBody {
    guard let stored else {
      throw OfflineODataError(.unfittingBody, "the content of a stream must be bytes or a stream")
    }
    return .media(stream: stored.generation, byteCount: stored.byteCount, contentType: stored.contentType)
  }
}
