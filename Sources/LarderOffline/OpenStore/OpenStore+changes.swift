import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Changes: made in the file, queued, and answered as the service would answer.
extension OpenStore {
  /// Makes one change.
  func change(_ request: ODataSingleRequest) async throws(OfflineODataError) -> ODataSingleResponse {
    try await change([request], isChangeSet: false)[0]
  }

  /// Makes several changes in one transaction, which are sent as one change set: all, or none.
  ///
  /// - Parameter reaching: told of the place of each, before it is made, and of nil when the last is made.
  func change(
    _ requests: [ODataSingleRequest], isChangeSet: Bool, reaching: @escaping @Sendable (Int?) -> Void = { _ in }
  ) async throws(OfflineODataError) -> [ODataSingleResponse] {
    var stored: [Int: StoredBytes] = [:]
    for (place, request) in requests.enumerated() {
      if let bytes = try await store(request) { stored[place] = bytes }
    }
    let isShort = requests.count == 1 && stored.isEmpty && requests[0].isShort
    return try await write(isShort: isShort) { [self, stored] connection, state, plan in
      var maker = ChangeMaker(
        changing(plan), LocalRows(plan, state, connection), isChangeSet: isChangeSet,
        coverage: { self.coverage(plan, state) })
      maker.combines = parameters.combinesChanges
      var responses: [ODataSingleResponse] = []
      for (place, request) in requests.enumerated() {
        reaching(place)
        let path = try maker.unnamed(request.path)
        var change: AppliedChange
        do { change = try maker.make(request, stored: stored[place]) } catch let error as OfflineODataError
          where error.name == .entityNotFound
        {
          try checkDownloaded(path, connection, maker.rows.state, plan)
          throw error
        }
        // An entity that cannot be shown fails nothing: the caller would make the change twice.
        if change.showsEntity { change.shown = try? shown(change, request, connection, maker.rows.state, plan) }
        // Here, where what fails takes all back.
        responses.append(try response(to: request, at: path, change))
      }
      reaching(nil)
      return responses
    }
  }

  /// Throws where the copy does not tell whether there is an entity on a path: what a read of the path, or of a part of it,
  /// would throw.
  private func checkDownloaded(
    _ path: String, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan
  ) throws {
    var steps = try relative(path).prefix { $0 != "?" }.split(separator: "/").map(String.init)
    while !steps.isEmpty {
      // Behind `$ref`, `$value` or an action there is nothing to read.
      let preparedChange = try? make(steps.joined(separator: "/"), state, plan, nil)
      try preparedChange?.plan.check(connection)
      steps.removeLast()
    }
  }

  /// Takes back the changes of entities that wait to be sent, with their transactions and all that depends on them.
  ///
  /// A request of the archive that may have taken effect is discarded by a person alone. Without paths it stays, with what
  /// could not be taken back without it; a path that leads to it is `outcomeUncertain`.
  ///
  /// - Parameter paths: the entities, by the keys that they have here; nil takes back all.
  /// - Returns: how many requests were taken back.
  func undoPendingChanges(_ paths: [String]?) async throws(OfflineODataError) -> Int {
    try await takeBack { [self] rows in
      let undecided = try rows.queue.undecided()
      guard let paths else {
        return Set(try rows.queue.entries().map(\.id)).subtracting(try rows.queue.withEarlier(undecided))
      }
      let context = changing(rows.plan)
      let ids = Set(try paths.flatMap { try requests(on: $0, context, rows) })
      if !undecided.isEmpty, let id = try rows.queue.withDependents(ids).first(where: undecided.contains) {
        throw OfflineODataError.unclear(id)
      }
      return ids
    }
  }

  /// The requests that wait on the entity of a path, one deleted here too.
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

  /// Whether anything waits to be sent or is in the error archive.
  func hasPendingChanges() async throws(OfflineODataError) -> Bool {
    try await read { connection, _, _ in
      try connection.first("SELECT 1 FROM larder_request LIMIT 1") { (_) throws(StorageError) in true } ?? false
    }
  }

  // MARK: Bytes

  /// Puts the bytes of a media change into the file, in chunks; swept at the next opening where no change comes of it.
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
      let generation = try await replica.write { (connection, _, _) throws(StorageError) in
        try StoredStreams.begin(connection)
      }
      var (count, number) = (Int64(0), Int64(0))
      var buffered: [UInt8] = []
      for try await piece in source {
        buffered += piece
        // A piece may be all of the content: what is left is moved once.
        var written = 0
        while buffered.count - written >= StoredStreams.chunk {
          let end = written + StoredStreams.chunk
          try await put(Array(buffered[written..<end]), number, generation)
          count += Int64(StoredStreams.chunk)
          number += 1
          written = end
        }
        buffered.removeFirst(written)
      }
      if !buffered.isEmpty { try await put(buffered, number, generation) }
      return StoredBytes(generation: generation, byteCount: count + Int64(buffered.count), contentType: contentType)
    } catch { throw OfflineODataError(below: error) }
  }

  private func put(_ bytes: [UInt8], _ number: Int64, _ generation: Int64) async throws(StorageError) {
    try await replica.write { (connection, _, _) throws(StorageError) in
      try StoredStreams.put(bytes, chunk: number, generation: generation, connection)
    }
  }

  // MARK: Answers

  /// - Parameter path: the request's, with the entity that it names by a Content-ID in it.
  private func response(
    to request: ODataSingleRequest, at path: String, _ change: AppliedChange
  ) throws(OfflineODataError) -> ODataSingleResponse {
    var fields: HTTPFields = [:]
    let version = replica.model.version
    if version >= .v4 {
      fields[.odataVersion] = version == .v401 ? "4.01" : "4.0"
    } else {
      fields[.dataServiceVersion] = version == .v3 ? "3.0" : "2.0"
    }
    fields[.etag] = change.etag
    var status = change.status
    let url = try address(path)
    var bytes: [UInt8] = []
    if let path = change.path, request.operation == .create || request.operation == .createMedia {
      let location = try address(path)
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
    ).of(replica.model)
  }

  private func address(_ path: String) throws(OfflineODataError) -> String {
    do throws(ODataServiceError) { return try root.absoluteText(path) } catch {
      throw OfflineODataError(.malformedURL, cause: error)
    }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction that writes; errors of any kind come through, and roll it back.
  ///
  /// - Parameter isShort: whether it takes so little time that the caller's thread may do it.
  func write<Value: Sendable>(
    isShort: Bool = false, _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    let failure = Locked<(any Error)?>(nil)
    let work = {
      @Sendable (connection: Connection, state: ReplicaState, plan: ReplicaPlan) throws(StorageError) -> Value in
      do { return try body(connection, state, plan) } catch let error as StorageError { throw error } catch {
        failure.withLock { $0 = error }
        throw .givenUp(connection.file ?? "")
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
