@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Changes: applied to the local copy, queued, and responded to as the service would.
extension OpenStore {
  /// Applies one change.
  func change(_ request: ODataSingleRequest) async throws(OfflineODataError) -> ODataSingleResponse {
    try await change([request], isChangeSet: false)[0]
  }

  /// Applies several changes in one transaction, all or none. They are sent as one change set.
  ///
  /// - Parameter reaching: called with the index of each change before it is applied, and with nil after the last one.
  func change(
    _ requests: [ODataSingleRequest], isChangeSet: Bool, reaching: @escaping @Sendable (Int?) -> Void = { _ in }
  ) async throws(OfflineODataError) -> [ODataSingleResponse] {
    var stored: [Int: StoredBytes] = [:]
    for (place, request) in requests.enumerated() {
      if let bytes = try await store(request) { stored[place] = bytes }
    }
    let isShort = requests.count == 1 && stored.isEmpty && requests[0].isShort
    return try await write(isShort: isShort) { [self, stored] snapshot in
      var maker = ChangeMaker(
        try changing(snapshot.plan), LocalRows(snapshot), isChangeSet: isChangeSet,
        coverage: { self.coverage(snapshot) })
      maker.combines = settings.combinesChanges
      var responses: [ODataSingleResponse] = []
      for (place, request) in requests.enumerated() {
        reaching(place)
        let path = try maker.unnamed(request.path)
        var change: AppliedChange
        do { change = try maker.make(request, stored: stored[place]) } catch let error as OfflineODataError
          where error.name == .entityNotFound
        {
          try checkDownloaded(path, maker.rows.snapshot)
          throw error
        }
        // If the entity cannot be read for the response, the change does not fail: the caller would apply it a second
        // time.
        if change.showsEntity { change.shown = try? shown(change, request, maker.rows.snapshot) }
        // The response is created inside the transaction, so that an error rolls the changes back.
        responses.append(try response(to: request, at: path, change))
      }
      reaching(nil)
      return responses
    }
  }

  /// Throws if the local copy does not contain enough to know whether an entity on a path exists: the error is that of
  /// a read of the path, or of a part of it.
  private func checkDownloaded(_ path: String, _ snapshot: ReplicaSnapshot) throws {
    var steps = try relative(path).prefix { $0 != "?" }.split(separator: "/").map(String.init)
    while !steps.isEmpty {
      // Nothing can be read after `$ref`, `$value` or an action.
      let preparedChange = try? make(steps.joined(separator: "/"), snapshot, QueryVariant(isPaged: false))
      try preparedChange?.plan.check(snapshot.connection)
      steps.removeLast()
    }
  }

  /// Undoes the pending changes of entities, with their transactions and all requests that depend on them.
  ///
  /// An archived request that may have taken effect can only be discarded by a person. Without paths, such a request
  /// stays, with the requests that cannot be undone without it. If a path leads to one, the error is
  /// `outcomeUncertain`.
  ///
  /// - Parameter paths: the entities, by their local keys; nil undoes all changes.
  /// - Returns: the number of requests that were undone.
  func undoPendingChanges(_ paths: [String]?) async throws(OfflineODataError) -> Int {
    try await takeBack { [self] rows in
      let undecided = try rows.queue.undecided()
      guard let paths else {
        return Set(try rows.queue.entries().map(\.id)).subtracting(try rows.queue.withEarlier(undecided))
      }
      let context = try changing(rows.plan)
      let ids = Set(try paths.flatMap { try requests(on: $0, context, rows) })
      if !undecided.isEmpty, let id = try rows.queue.withDependents(ids).first(where: undecided.contains) {
        throw OfflineODataError.unclear(id)
      }
      return ids
    }
  }

  /// The pending requests of the entity of a path, which may have been deleted here.
  private func requests(on path: String, _ context: ChangeContext, _ rows: LocalRows) throws -> [Int64] {
    let place = try context.split(path)
    let bound = try context.bind(place.path)
    var row: Int64?
    do { row = try ChangeWalk.target(of: bound, rows).entity?.row } catch let error as OfflineODataError
      where error.category == .notFound
    {
      row = try rows.deletedRow(bound)
      guard row != nil else { throw error }
    }
    guard let row else { throw OfflineODataError(.unfittingURL, "'\(path)' is not an entity") }
    return try rows.connection.integers(
      "SELECT id FROM larder_request WHERE entity = ?1 UNION SELECT request FROM larder_effect WHERE row = ?1",
      .integer(row)
    )
  }

  /// Whether there are pending changes or archived requests.
  func hasPendingChanges() async throws(OfflineODataError) -> Bool {
    try await read { snapshot in
      try snapshot.connection.first("SELECT 1 FROM larder_request LIMIT 1") { (_) throws(StorageError) in true }
        ?? false
    }
  }

  // MARK: Bytes

  /// Stores the bytes of a media change in the file, in chunks. If the change fails, they are removed at the next
  /// opening.
  private func store(_ request: ODataSingleRequest) async throws(OfflineODataError) -> StoredBytes? {
    switch request.operation {
    case .createMedia, .updateMedia: break
    case .update(_):
      guard request.path.prefix(while: { $0 != "?" }).hasSuffix("$value") else { return nil }
    default: return nil
    }
    let source: HTTPBodyStream
    let contentType: String
    switch request.body {
    case .bytes(let bytes, let type):
      source = HTTPBodyStream(bytes)
      contentType = type
    case .stream(_, let type, let open):
      source = open()
      contentType = type
    default: return nil
    }
    do {
      let (generation, byteCount) = try await StoredStreams.store(source, in: replica.database)
      return StoredBytes(generation: generation, byteCount: byteCount, contentType: contentType)
    } catch { throw OfflineODataError(below: error) }
  }

  // MARK: Responses

  /// - Parameter path: the request's path, in which a Content-ID is replaced by its entity's path.
  private func response(
    to request: ODataSingleRequest, at path: String, _ change: AppliedChange
  ) throws(OfflineODataError) -> ODataSingleResponse {
    let version = replica.model.version
    var fields: HTTPFields = [version.field: version.text]
    fields[.etag] = change.etag
    var status = change.status
    let url = try root.absolute(path)
    var bytes: [UInt8] = []
    if let path = change.path, request.operation == .create || request.operation == .createMedia {
      let location = try root.absolute(path)
      fields[.location] = location
      if status == 204 { fields["OData-EntityId"] = location }
    }
    if change.path != nil, change.showsEntity {
      if let shown = change.shown {
        bytes = shown.bytes
        fields[.contentType] = shown.mediaType
      } else {
        status = 204
        fields["OData-EntityId"] = fields[.location]
      }
    } else if change.showsEntity, status == 200 {
      status = 204
    }
    return ODataSingleResponse(
      httpStatus: status, fields: fields, payloadBytes: bytes, url: url, serviceVersion: version,
      contentID: request.contentID
    ).with(model: replica.model)
  }

  // MARK: Transactions

  /// Changes rows and their pending changes in a write transaction, then folds the rows that `body` has touched.
  func changeRows<Value: Sendable>(
    _ body: @escaping @Sendable (inout LocalRows) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    try await write { snapshot in
      var rows = LocalRows(snapshot)
      let value = try body(&rows)
      try rows.finish()
      return value
    }
  }

  /// Runs `body` in a write transaction. Errors of any kind are passed on and roll it back.
  ///
  /// - Parameter isShort: whether it takes so little time that it may run on the caller's thread.
  func write<Value: Sendable>(
    isShort: Bool = false, _ body: @escaping @Sendable (ReplicaSnapshot) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    let failure = Locked<(any Error)?>(nil)
    let work = {
      @Sendable (snapshot: ReplicaSnapshot) throws(StorageError) -> Value in
      do { return try body(snapshot) } catch let error as StorageError { throw error } catch {
        failure.withLock { $0 = error }
        throw .givenUp(snapshot.connection.file ?? "")
      }
    }
    do throws(StorageError) {
      return isShort ? try await replica.writeShortly(work) : try await replica.write(work)
    } catch {
      if let failure = failure.withLock({ $0 }) { throw OfflineODataError(below: failure) }
      throw OfflineODataError(error)
    }
  }
}

extension LocalRows {
  /// The row of a path to an entity of a set that was deleted here.
  fileprivate func deletedRow(_ path: ODataBoundPath) throws -> Int64? {
    guard path.segments.count == 2, case .source(let source) = path.segments[0].kind,
      case .key(let parts) = path.segments[1].kind, let table = plan.table(source.name)
    else { return nil }
    let values = try ChangeWalk.key(parts, table, plan.model)
    for (reference, cells) in try keptBases() where reference.table == table.name {
      guard let cells, zip(table.key, values).allSatisfy({ cells[table.columns[$0].name] == $1 }) else { continue }
      return reference.row
    }
    return nil
  }
}
