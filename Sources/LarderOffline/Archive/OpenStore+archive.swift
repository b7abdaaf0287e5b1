import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// The actions of a user on failed requests.
extension OpenStore {
  /// Puts one request of the archive, or all of them for nil, back into the queue. Returns how many requests are
  /// pending again.
  func retry(_ id: Int64?) async throws(OfflineODataError) -> Int {
    try await changeRows { rows in
      let entry = try id.map { (id) throws(StorageError) in try rows.queue.entry(id) } ?? nil
      if let entry, entry.isNoticed {
        guard entry.failure?.theirs != nil else {
          throw OfflineODataError(
            .entityNotFound, "the entity of request \(entry.id) no longer exists at the service: undo the change")
        }
        try rows.settle(entry)
        return 1
      }
      if let id, ![.archived, .held].contains(entry?.state) {
        throw OfflineODataError(.entityNotFound, "\(StoreSet.archive.rawValue)(\(id))")
      }
      return try rows.requeue(id.map { [$0] }).count
    }
  }

  /// Puts a rejected creation back into the queue as another request. Returns how many requests are pending again.
  func retry(_ id: Int64, as repair: OfflineODataRepair) async throws(OfflineODataError) -> Int {
    try await changeRows { [self] rows in
      guard let entry = try rows.queue.entry(id), [.archived, .held].contains(entry.state) else {
        throw OfflineODataError(.entityNotFound, "\(StoreSet.archive.rawValue)(\(id))")
      }
      let creation = try RejectedCreation(entry, try changing(rows.plan))
      switch repair {
      case .update: try creation.becomeUpdate(&rows)
      case .key(let key): try creation.setKey(key, &rows)
      }
      return try rows.requeue([id]).count
    }
  }

  /// Discards one request of the archive, or all of them, with the requests that depend on it. Returns how many were
  /// discarded.
  func discard(_ id: Int64?) async throws(OfflineODataError) -> Int {
    try await takeBack(id, of: .archive)
  }

  /// Discards one request of the archive or of the queue, or all of them, with the requests that depend on it.
  func takeBack(_ id: Int64?, of set: StoreSet) async throws(OfflineODataError) -> Int {
    try await takeBack { rows in
      guard let id else { return Set(try rows.queue.entries().filter { set.states.contains($0.state) }.map(\.id)) }
      guard let entry = try rows.queue.entry(id), set.states.contains(entry.state) else {
        throw OfflineODataError(.entityNotFound, "\(set.rawValue)(\(id))")
      }
      return [id]
    }
  }

  /// Returns the three versions of a request that conflicts, or whose entity is missing or exists already. Nil if the
  /// request failed for another reason or did not fail.
  func conflict(_ id: Int64) async throws(OfflineODataError) -> OfflineODataConflict? {
    try await read { snapshot in
      guard let entry = try ChangeQueue(snapshot.connection).entry(id) else {
        throw OfflineODataError(.entityNotFound, "\(StoreSet.archive.rawValue)(\(id))")
      }
      guard let failure = entry.failure, failure.hasVersions, let entity = entry.request.entity,
        let table = snapshot.plan.table(entity.table)
      else { return nil }
      let rows = LocalRows(snapshot)
      let mine = try failure.mine ?? rows.effective(entity)
      let paths = RowPath(snapshot: snapshot)
      let effectivePath = try rows.effective(entity).flatMap { try? rows.path(of: entity, $0) }
      return OfflineODataConflict(
        requestID: id, path: (try? paths.location(of: entity))?.path ?? effectivePath ?? "",
        customTag: entry.request.customTag,
        isDeletion: entry.request.operation == .delete, base: failure.base.map { $0.entity(in: table, snapshot.plan) },
        mine: mine.map { $0.entity(in: table, snapshot.plan) },
        theirs: failure.theirs.map { $0.entity(in: table, snapshot.plan) }, isTheirsKnown: !failure.theirsIsUnknown,
        mayHaveTakenEffect: failure.mayHaveTakenEffect ?? false)
    }
  }
}

// Changes of the store's own sets. An entity of the archive or of the queue can be deleted; no other change is
// possible.
extension OpenStore {
  /// Returns the store's set that a path begins with. Nil for paths of the service, whose set of that name takes
  /// precedence.
  func storeSet(of path: String) -> StoreSet? {
    (try? relative(path)).flatMap { OpenStore.storeSet($0, replica.model) }
  }

  /// Executes a change of one of the store's sets and returns the response.
  func change(
    _ request: ODataSingleRequest, of set: StoreSet
  ) async throws(OfflineODataError) -> ODataSingleResponse {
    let path = try relative(request.path).prefix { $0 != "?" }
    guard request.operation == .delete, set != .log, let id = set.key(in: path) else {
      throw OfflineODataError(
        .unsupportedChange, "\(path): the entities of \(set.rawValue) can only be deleted")
    }
    _ = try await takeBack(id, of: set)
    let version = replica.model.version
    return ODataSingleResponse(
      httpStatus: 204, fields: [:], payloadBytes: [], url: try root.absolute(request.path), serviceVersion: version,
      contentID: request.contentID)
  }
}

extension StoreSet {
  /// Returns the number in `ErrorArchive(7)`, `ErrorArchive(RequestID=7)` or V2's `ErrorArchive(7L)`; nil for other
  /// paths.
  func key(in path: Substring) -> Int64? {
    guard path.hasPrefix(rawValue + "("), path.hasSuffix(")") else { return nil }
    var text = path.dropFirst(rawValue.count + 1).dropLast()
    if let equals = text.firstIndex(of: "=") {
      guard text[..<equals] == "RequestID" else { return nil }
      text = text[text.index(after: equals)...]
    }
    if text.last == "L" || text.last == "l" { text = text.dropLast() }
    return Int64(text)
  }
}
