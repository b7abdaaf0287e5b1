import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// A unit that is ready to be sent, and recorded as sent.
struct PreparedUnit: Sendable {
  let id: Int64
  let members: [PreparedRequest]
}

/// A request that is ready to be sent.
struct PreparedRequest: Sendable {
  let entry: QueueEntry
  let request: ODataSingleRequest
  let attempt: UploadAttempt
}

/// The queue for an upload: the pending units, and the sends, which are recorded before the requests are sent.
struct UploadJournal: Sendable {
  let store: OpenStore
  let options: OfflineODataUploadOptions

  // MARK: The queue

  /// The units to upload, in their order.
  func units() async throws(OfflineODataError) -> [UploadUnit] {
    let categories = options.categories
    return try await store.read { snapshot in
      var units: [Int64: Draft] = [:]
      var unitOf: [Int64: Int64] = [:]
      let sql = """
        SELECT id, unit, state, json_extract(request, '$.category'), json_type(request, '$.body.media') IS NOT NULL
          FROM larder_request ORDER BY id
        """
      try snapshot.connection.forEachRow(sql) { (row) throws(StorageError) in
        let (id, unit, state) = (try row.int64(0), try row.int64(1), try row.int64(2))
        unitOf[id] = unit
        var draft = units[unit] ?? Draft(unit: UploadUnit(id: unit, size: 0))
        draft.unit.size += 1
        let isOpen = state == RequestState.queued.rawValue || state == RequestState.sent.rawValue
        let category = try row.textOrNil(3)
        if !isOpen || !(categories.map { $0.contains(category ?? "") } ?? true) { draft.isLeft = true }
        if state == RequestState.sent.rawValue { draft.unit.isInDoubt = true }
        if try row.int64(4) == 1 { draft.unit.isAlone = true }
        units[unit] = draft
        return true
      }
      for id in try ChangeQueue(snapshot.connection).keyless() {
        if let unit = unitOf[id] { units[unit]?.isLeft = true }
      }
      for (id, earlier) in try ChangeQueue(snapshot.connection).dependencies() {
        guard let unit = unitOf[id] else { continue }
        for earlierEntry in earlier {
          guard let other = unitOf[earlierEntry], other != unit else { continue }
          units[unit]?.unit.after.append(other)
        }
      }
      return units.values.filter { !$0.isLeft }.map(\.unit).sorted { $0.id < $1.id }
    }
  }

  private struct Draft {
    var unit: UploadUnit
    var isLeft = false
  }

  /// The number of changes that are queued or uncertain.
  func pendingCount() async throws(OfflineODataError) -> Int {
    try await store.read { snapshot in
      try snapshot.connection.first("SELECT count(*) FROM larder_request WHERE state IN (0, 1)") {
        (row) throws(StorageError) in Int(try row.int64(0))
      } ?? 0
    }
  }

  /// The number of changes of the uploaded categories that the service has not applied: queued, uncertain, or in the
  /// error archive.
  func remaining() async throws(OfflineODataError) -> Int {
    let categories = options.categories
    return try await store.read { snapshot in
      let all = try snapshot.connection.rows("SELECT json_extract(request, '$.category') FROM larder_request") {
        (row) throws(StorageError) in try row.textOrNil(0) ?? ""
      }
      return categories.map { category in all.filter(category.contains).count } ?? all.count
    }
  }

  /// The units with conflicts that a download has found and the service would not detect, with their requests. Units
  /// with an uncertain request are left out: their outcome is determined first.
  func conflicts(in ids: [Int64]) async throws(OfflineODataError) -> [(id: Int64, entries: [QueueEntry])] {
    try await store.read { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      let isNoted = "state = 0 AND failure IS NOT NULL"
      let sql = """
        WITH asked(id) AS MATERIALIZED (SELECT value FROM json_each(?1))
        SELECT unit FROM asked CROSS JOIN larder_request USING(id) WHERE \(isNoted)
        UNION SELECT unit FROM asked CROSS JOIN larder_request AS r ON r.unit = asked.id
          WHERE r.unit <> r.id AND r.unit <> 0 AND \(isNoted) ORDER BY unit
        """
      let noted = try snapshot.connection.integers(sql, .text("[\(ids.map(String.init).joined(separator: ","))]"))
      return try noted.compactMap { id in
        let entries = try queue.entries(inUnit: id)
        guard !entries.contains(where: { $0.state == .sent }) else { return nil }
        let version = store.replica.model.version
        return entries.contains { $0.undetectableConflict(in: entries, version) != nil } ? (id, entries) : nil
      }
    }
  }

  // MARK: Sending

  /// Renders units and records them as sent, in one transaction. For a unit that cannot be sent, it returns an outcome
  /// instead.
  ///
  /// - Parameter asOne: whether the requests of a unit are sent in one change set and can refer to each other.
  ///   Otherwise only the first of them is prepared.
  func prepare(
    _ ids: [Int64], asOne: Bool
  ) async throws(OfflineODataError) -> (units: [PreparedUnit], unitOutcomes: [Int64: UnitOutcome], failed: Int) {
    try await store.write { snapshot in
      var units: [PreparedUnit] = []
      var unitOutcomes: [Int64: UnitOutcome] = [:]
      var failed = 0
      let queue = ChangeQueue(snapshot.connection)
      for id in ids {
        let entries = try queue.entries(inUnit: id)
        guard !entries.isEmpty else {
          unitOutcomes[id] = .gone
          continue
        }
        let missing = try queue.units(before: id)
        guard missing.isEmpty else {
          unitOutcomes[id] = .deferred(after: missing)
          continue
        }
        do {
          let unit = try rendered(id, asOne ? entries : [entries[0]], snapshot, asOne: asOne)
          for member in unit.members {
            try queue.set(.sent, of: member.entry.id)
            try queue.set(attempt: member.attempt.json, of: member.entry.id)
          }
          units.append(unit)
        } catch let error as StorageError {
          throw error
        } catch {
          var failure = ArchivedFailure(
            kind: .unfitting, message: String(describing: error), method: "", url: "",
            time: Double(store.conversation.options.environment.unixSeconds))
          failure.code = "unfitting"
          failed += try archive(entries.map { ($0, failure) }, snapshot)
          unitOutcomes[id] = .archived
        }
      }
      try snapshot.connection.logChange([ReplicaChanges.requests])
      return (units, unitOutcomes, failed)
    }
  }

  private func rendered(
    _ id: Int64, _ entries: [QueueEntry], _ snapshot: ReplicaSnapshot, asOne: Bool
  ) throws -> PreparedUnit {
    let rendering = rendering(snapshot)
    let environment = store.conversation.options.environment
    let newcomers = try snapshot.connection.nextIdentity()
    var set = RequestRendering.ChangeSet()
    set.hasReferences = asOne && entries.count > 1
    let members = try entries.map { entry in
      // A queue of an earlier version may contain such a request. Its property values would be sent as the bytes.
      if entry.request.operation == .create, case .entity(let body) = entry.request.body,
        let table = entry.request.entity.flatMap({ snapshot.plan.table($0.table) }),
        (body.typeName.flatMap { snapshot.plan.model.structure($0) } ?? table.type).hasStream
      {
        throw RenderingError.unfitting(ChangeMaker.bytesFirst(table))
      }
      // A change that another model has made unfit may be retried without being repaired.
      var check = RequestConversion(ModelTransition(within: snapshot.plan))
      _ = check.body(of: entry.request)
      guard check.lost.isEmpty else { throw RenderingError.unfitting(LostContent.text(check.lost)) }
      // The Content-ID is needed if other requests refer to this one, and to match responses to requests.
      var request = try rendering.request(entry.request, contentID: asOne ? String(entry.id) : nil, in: &set)
      if store.isSentWithoutCondition(entry.id), request.ifMatch == "*", entry.request.ifMatch != "*" {
        request.ifMatch = nil
      }
      let attempt = UploadAttempt(
        request, after: entry.attempt.flatMap(UploadAttempt.init(json:)), now: environment.unixSeconds,
        newcomers: newcomers,
        random: environment.random)
      if options.namesRequests, !store.rejectsRequestNames {
        for field in attempt.fields(snapshot.plan.model.version) { request.fields.setDefault(field.name, field.value) }
      }
      return PreparedRequest(entry: entry, request: request, attempt: attempt)
    }
    return PreparedUnit(id: id, members: members)
  }

  /// The rendering of requests for the state that a transaction sees.
  func rendering(_ snapshot: ReplicaSnapshot) -> RequestRendering {
    let paths = RowPath(snapshot: snapshot)
    let store = store
    let acceptsAnyVersion = store.acceptsAnyVersion(snapshot)
    return RequestRendering(
      version: snapshot.plan.model.version, root: store.root, locate: { try paths.location(of: $0) },
      find: { try paths.row(at: store.relative($0)) },
      stream: { number, byteCount in
        let head = StoredStreams.Head(contentType: nil, etag: nil, byteCount: byteCount, generation: number)
        return { StoredStreams.body(head, store) }
      }, wantsAnyVersion: { row in acceptsAnyVersion && store.wantsAnyVersion(row, snapshot.plan) })
  }

  // MARK: The archive

  /// Archives requests and holds those that depend on them. Returns the number of these changes.
  func archive(
    _ failures: [(QueueEntry, ArchivedFailure)], _ snapshot: ReplicaSnapshot
  ) throws -> Int {
    let queue = ChangeQueue(snapshot.connection)
    let failedIDs = Set(failures.map(\.0.id))
    for (entry, failure) in failures {
      try queue.set(.archived, of: entry.id)
      try queue.set(failure: failure, of: entry.id)
    }
    var local = LocalRows(snapshot)
    for row in Set(failures.compactMap(\.0.request.entity)) { try local.touch(row) }
    let heldIDs = try local.hold(behind: failedIDs)
    _ = try local.finish()
    return failedIDs.count + heldIDs.count
  }
}
