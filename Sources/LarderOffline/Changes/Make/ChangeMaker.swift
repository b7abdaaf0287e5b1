import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// Applies changes in a transaction: it finds the target of each change, checks the change against the model, and
/// records it with its effects.
///
/// A change is checked before anything is written for it. If a change of a change set does not fit, the transaction is
/// rolled back.
struct ChangeMaker {
  let context: ChangeContext
  var rows: LocalRows
  /// The unit of the change set, which is the id of its first request; nil outside a change set, and before the first
  /// request.
  private(set) var unit: Int64?
  let isChangeSet: Bool
  /// Returns the data covered by the defining queries.
  let coverage: () -> Coverage
  /// Whether a change is merged into a pending one that was not sent yet.
  var combines = false
  /// The entities that requests of the change set have created, by Content-ID.
  private var named: [String: RowReference] = [:]

  // The state of the request that is being applied.
  var effects: [Effect] = []
  var earlier: Set<Int64> = []
  var stored: StoredBytes?
  var allowed: Set<String> = []

  init(
    _ context: ChangeContext, _ rows: LocalRows, isChangeSet: Bool = false, coverage: @escaping () -> Coverage
  ) {
    self.context = context
    self.rows = rows
    self.coverage = coverage
    self.isChangeSet = isChangeSet
  }

  var plan: ReplicaPlan { context.plan }
  var model: EdmModel { context.model }

  /// Applies one change.
  ///
  /// - Parameter stored: the bytes of a media change.
  mutating func make(_ request: ODataSingleRequest, stored: StoredBytes? = nil) throws -> AppliedChange {
    effects = []
    earlier = []
    self.stored = stored
    allowed = request.allowedProperties
    let place = try context.split(try unnamed(request.path))
    let isOperation = request.operation == .invokeAction
    let text = isOperation ? place.query.map { place.path + "?" + $0 } ?? place.path : place.path
    let target = try ChangeWalk.target(of: try context.bind(text), rows)
    var request = request
    request.body = try content(request, target)
    try checkCondition(request, target)
    var applied: AppliedChange
    switch request.operation {
    case .create: applied = try create(request, target, place)
    case .update(let method): applied = try update(request, target: target, place: place, method: method)
    case .delete: applied = try delete(request, target, place)
    case .createLink, .updateLink: applied = try link(request, target, place)
    case .deleteLink: applied = try unlink(request, target, place)
    case .invokeAction: applied = try invoke(request, target, place)
    case .createMedia: applied = try createMedia(request, target, place)
    case .updateMedia: applied = try updateMedia(request, target, place)
    case .deleteMedia: applied = try deleteMedia(request, target, place)
    case .read, .invokeFunction, .readMedia:
      throw OfflineODataError(.unsupportedRequest, "a change set cannot contain reads")
    }
    try rows.finish()
    if let entity = applied.entity, let cells = try rows.effective(entity) {
      applied.etag = cells.text(.etag)
      applied.path = try rows.path(of: entity, cells)
      if let table = plan.table(entity.table), case .entitySet = table.place {
        applied.key = table.key.map { cells[table.columns[$0].name] ?? .null }
      }
      if let name = request.contentID { named[name] = entity }
    }
    return applied
  }

  /// Replaces a leading `$` and Content-ID by the path of the entity of an earlier request of the change set (OData
  /// Protocol 4.01 §11.7.7.4).
  func unnamed(_ path: String) throws -> String {
    guard path.hasPrefix("$") else { return path }
    let name = path.dropFirst().prefix { $0 != "/" && $0 != "?" }
    guard let entity = named[String(name)], let cells = try rows.effective(entity),
      let entityPath = try rows.path(of: entity, cells)
    else { return path }
    return entityPath + path.dropFirst(name.count + 1)
  }

  /// Throws `preconditionFailed` if the entity has another version than the caller's ETag.
  private func checkCondition(_ request: ODataSingleRequest, _ target: ChangeTarget) throws {
    guard let condition = request.ifMatch ?? request.fields[.ifMatch], condition != "*", target.entity != nil else {
      return
    }
    try compare(condition, target, try streamETag(request, target))
  }

  /// The ETag of the stream that a request changes, by its path; nil for other requests, and if it is not known.
  private func streamETag(_ request: ODataSingleRequest, _ target: ChangeTarget) throws -> String? {
    guard let entity = target.entity, let table = plan.table(entity.table) else { return nil }
    let isMedia = request.operation == .updateMedia || request.operation == .deleteMedia
    var column = SystemColumn.media.rawValue
    switch target.end {
    case .stream:
      guard let streamColumn = table.column(target.path) else { return nil }
      column = streamColumn.name
    case .value: guard target.path.isEmpty else { return nil }
    case .entity: guard isMedia else { return nil }
    default: return nil
    }
    guard target.cells?[column] != nil else { return nil }
    return target.cells?.streamETag(column)
  }

  private func compare(_ condition: String, _ target: ChangeTarget, _ stream: String?) throws {
    func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
    let currentETag = opaque((stream ?? target.cells?.text(.etag) ?? "")[...])
    let given = condition.split(separator: ",").map { opaque($0.drop { $0 == " " }) }
    guard given.contains(currentETag) else {
      let path = target.entity.flatMap { entity in target.cells.flatMap { try? rows.path(of: entity, $0) } }
      throw OfflineODataError(.entityChanged, path ?? target.entity?.table)
    }
  }

  // MARK: Recording

  /// The queued form of a request, without its content.
  func draft(
    _ operation: QueuedRequest.Operation, request: ODataSingleRequest, target: ChangeTarget,
    place: (path: String, query: String?)
  ) -> QueuedRequest {
    let queuedTarget =
      target.entity.map { QueuedTarget($0, target.suffix.joined(separator: "/"), query: place.query) }
      ?? QueuedTarget(nil, place.path, query: place.query)
    var queued = QueuedRequest(operation, queuedTarget)
    queued.entity = target.entity
    queued.customTag = request.customTag
    queued.category = request.uploadCategory
    queued.isUnmodifiable = request.isUnmodifiable
    queued.returnPreference = request.returnPreference?.rawValue
    queued.ifMatch = request.ifMatch ?? request.fields[.ifMatch]
    for field in request.fields where !ChangeMaker.ownFields.contains(field.name) {
      queued.headers.append(QueuedHeader(name: field.name.rawName, value: field.value))
    }
    return queued
  }

  private static let ownFields: Set<HTTPFieldName> = [.ifMatch, .contentLength, .contentType, .accept, .contentID]

  /// Adds the request with the effects that were collected.
  @discardableResult
  mutating func record(_ queued: QueuedRequest, _ target: ChangeTarget? = nil) throws -> Int64 {
    var queued = queued
    if let entity = target?.entity {
      let storedBase = try rows.keptBase(entity.row)
      if storedBase == nil { try rows.touch(entity, now: target?.cells) }
      let server = storedBase ?? target?.cells
      let linkETag = queued.changesSingleLink ? server?.linkETag : nil
      queued.baseETag = (linkETag ?? server?.text(.etag)).flatMap { LocalETag.isLocal($0) ? nil : $0 }
      if server?.isETagOld == true { queued.isETagOld = true }
      if let column = queued.streamColumn(plan) { queued.streamETag = try rows.streamETag(column, of: entity, server) }
      if let table = target.flatMap({ plan.table($0.entity?.table ?? "") }), table.isContained {
        try dependOnMaker(of: target?.cells?.integer(.parent))
      }
    }
    effects = try withFormerLinks(effects)
    try rows.settle(by: queued, effects)
    if let repaired = try repair(queued) { return repaired }
    if let creation = try vanish(queued) { return creation }
    if combines, !isChangeSet, let merged = try merge(queued) { return merged }
    let id = try rows.record(queued, unit: unit, effects: effects, after: earlier)
    try rows.hold(id)
    if isChangeSet, unit == nil { unit = id }
    if let stored { try keep(stored, of: id, queued, target) }
    return id
  }

  private func keep(_ stored: StoredBytes, of id: Int64, _ queued: QueuedRequest, _ target: ChangeTarget?) throws {
    guard let entity = queued.entity else { return }
    let isStream = if case .stream? = target?.end { true } else { false }
    try rows.connection.run(
      """
      INSERT INTO larder_media(generation, request, entity, property, content_type, bytes)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6)
      """, .integer(stored.generation), .integer(id), .integer(entity.row),
      .text(isStream ? target?.path.last ?? "" : ""), .text(stored.contentType), .integer(stored.byteCount))
  }

  /// Makes this request depend on the one that creates an entity, if that was not sent yet.
  mutating func dependOnMaker(of row: Int64?) throws {
    if let row, let maker = try rows.maker(of: row) { earlier.insert(maker) }
  }
}

extension LocalRows {
  /// The queued request that creates a row; nil if the server has the row.
  func maker(of row: Int64) throws(StorageError) -> Int64? {
    try connection.first(
      "SELECT request FROM larder_effect WHERE row = ?1 AND kind = 0 AND other IS NULL ORDER BY request LIMIT 1",
      .integer(row)
    ) { (found) throws(StorageError) in try found.int64(0) }
  }

  /// The path of an entity by its local key; nil if the location of its table's entities is not known.
  func path(of reference: RowReference, _ cells: EntityCells) throws -> String? {
    try path(of: reference, cells, depth: 0)
  }

  private func path(of reference: RowReference, _ cells: EntityCells, depth: Int) throws -> String? {
    guard let table = plan.table(reference.table), depth < 32 else { return nil }
    let predicate = try table.keyPredicate(cells, plan.model)
    switch table.place {
    case .entitySet(let name): return "\(name)(\(predicate))"
    case .singleton(let name): return name
    case .type: return nil
    case .containment(let container, let path):
      guard let id = cells.integer(.parent) else { return nil }
      let parent = RowReference(plan.tables[container].name, id)
      guard let above = try effective(parent), let start = try self.path(of: parent, above, depth: depth + 1) else {
        return nil
      }
      let isOne = plan.tables[container].navigation(path)?.isCollection == false
      return start + "/" + path.joined(separator: "/") + (isOne || predicate.isEmpty ? "" : "(\(predicate))")
    }
  }
}
