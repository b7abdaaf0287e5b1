import LarderStorage

// Requests of the error archive: putting them back into the queue, discarding them, and holding requests that depend on
// them.
extension LocalRows {
  /// Puts requests of the archive back into the queue, together with requests that were held only because of them.
  ///
  /// The ID of a held request selects the failed requests that it depends on. The ID of a request in a transaction
  /// selects the whole transaction.
  /// - Parameter ids: the requests; nil for all.
  /// - Returns: the requests that are pending again.
  @discardableResult
  mutating func requeue(_ ids: Set<Int64>?) throws(StorageError) -> [Int64] {
    let archive = try ArchivedRequests(queue)
    let selected = ids.map(archive.failures) ?? Set(archive.failed)
    for id in selected.sorted() {
      guard let entry = archive.entries[id] else { continue }
      try requeue(entry)
    }
    return selected.sorted() + (try release())
  }

  private mutating func requeue(_ entry: QueueEntry) throws(StorageError) {
    // A request with an unknown outcome keeps its attempt name: a service that knows the name executes the request only
    // once. A request that was rejected gets a new name, so that the service does not return the old response. What is
    // known of the arrival of an earlier send says nothing about the next one.
    let isUnclear = entry.failure?.kind == .unfitting && entry.failure?.mayHaveTakenEffect == true
    let isLookedUp = entry.isLookedUpAgain
    if entry.failure?.kind != .unknownOutcome, !isUnclear { try queue.set(attempt: nil, of: entry.id) }
    if !isLookedUp { try queue.set(arrival: nil, of: entry.id) }
    if entry.failure?.kind == .conflict, let etag = entry.failure?.theirs?.text(.etag) {
      var request = entry.request
      (request.baseETag, request.isETagOld) = (etag, nil)
      if let column = request.streamColumn(plan) { request.streamETag = entry.failure?.theirs?.streamETag(column) }
      if request.ifMatch != "*" { request.ifMatch = nil }
      try queue.replace(entry.id, by: request)
    }
    var renewedConflict: ArchivedFailure?
    if let failure = entry.failure, failure.kind != .conflict, let base = failure.base {
      renewedConflict = try conflict(of: entry, base: base, theirs: failure.theirs)
    }
    try queue.set(failure: renewedConflict, of: entry.id)
    try queue.set(isLookedUp ? .sent : .queued, of: entry.id)
    try touch(try queue.effects(of: entry.id))
    if let entity = entry.request.entity { try touch(entity) }
  }

  /// Releases held requests that no longer depend on a request of the archive, and returns their IDs.
  @discardableResult
  mutating func release() throws(StorageError) -> [Int64] {
    let archive = try ArchivedRequests(queue)
    let free = archive.released
    for id in free {
      try queue.letGo(id)
      try touch(try queue.effects(of: id))
      if let entity = archive.entries[id]?.request.entity { try touch(entity) }
    }
    return free
  }

  /// Holds a request if it depends on a request of the archive, or if its transaction is there. Its own transaction and
  /// all dependent requests are held too.
  mutating func hold(_ id: Int64) throws(StorageError) {
    let sql = """
      SELECT 1 FROM larder_dependency d JOIN larder_request e ON e.id = d.earlier WHERE d.request = ?1 AND e.state >= 2
      UNION ALL SELECT 1 FROM larder_request r JOIN larder_request s ON s.id BETWEEN r.unit AND ?1 AND s.unit = r.unit
        WHERE r.id = ?1 AND r.unit <> ?1 AND s.state >= 2
      LIMIT 1
      """
    let isHeld = try connection.first(sql, .integer(id)) { (_) throws(StorageError) in true }
    if isHeld == true { try hold(behind: [id]) }
  }

  /// Holds everything that belongs with some requests: their transactions, and all requests that depend on any of
  /// these. The given requests are held too unless they are in the archive. Returns the requests that were not held
  /// before.
  @discardableResult
  mutating func hold(behind ids: Set<Int64>) throws(StorageError) -> [Int64] {
    var held: [Int64] = []
    for id in try queue.withDependents(ids) {
      guard let entry = try queue.entry(id), entry.state == .queued || entry.state == .sent else { continue }
      try queue.hold(id)
      try touch(try queue.effects(of: id))
      if let entity = entry.request.entity { try touch(entity) }
      held.append(id)
    }
    return held
  }

  /// Removes a request that became part of another one. Requests that depended on it now depend on the other request,
  /// which in turn depends on everything that the removed request depended on.
  mutating func absorb(_ id: Int64, into other: Int64) throws(StorageError) {
    try touch(try queue.effects(of: id))
    try connection.run(
      """
      INSERT OR IGNORE INTO larder_dependency(request, earlier)
        SELECT ?2, earlier FROM larder_dependency WHERE request = ?1 AND earlier <> ?2
      """, .integer(id), .integer(other))
    try connection.run(
      "INSERT OR IGNORE INTO larder_reference(row, request) SELECT row, ?2 FROM larder_reference WHERE request = ?1",
      .integer(id), .integer(other))
    try connection.run(
      "UPDATE OR IGNORE larder_dependency SET earlier = ?2 WHERE earlier = ?1 AND request <> ?2", .integer(id),
      .integer(other))
    try queue.remove([id])
  }

  /// Removes a request that is no longer needed. Requests that depended on it no longer do.
  mutating func drop(_ id: Int64) throws(StorageError) {
    try touch(try queue.effects(of: id))
    if let entity = try queue.entry(id)?.request.entity { try touch(entity) }
    try remove([id])
  }
}

/// The requests of the archive and the dependencies between them.
struct ArchivedRequests {
  /// The failed and the held requests, by ID.
  private(set) var entries: [Int64: QueueEntry] = [:]
  /// For each request, the requests of the archive that it depends on (`earlier`) and those that depend on it
  /// (`later`).
  private var earlier: [Int64: [Int64]] = [:]
  private var later: [Int64: [Int64]] = [:]
  /// The requests of each transaction, by unit. Each of them selects all the others.
  private var members: [Int64: [Int64]] = [:]
  /// For each request, some of the failed requests because of which it is held.
  private var held: [Int64: [Int64]] = [:]

  /// The largest number of failed requests that ``holders(of:)`` lists.
  private static let maximumHolders = 5

  init(_ queue: ChangeQueue) throws(StorageError) {
    for state in [RequestState.archived, .held] {
      for entry in try queue.entries(state) { entries[entry.id] = entry }
    }
    guard !entries.isEmpty else { return }
    for (id, others) in try queue.dependencies() where entries[id] != nil {
      for other in others where entries[other] != nil {
        earlier[id, default: []].append(other)
        later[other, default: []].append(id)
      }
    }
    for (unit, all) in Dictionary(grouping: entries.values, by: \.unit) where all.count > 1 {
      members[unit] = all.map(\.id)
    }
    for id in failed { hold(by: id) }
  }

  /// The failed requests, in the order of the queue.
  var failed: [Int64] { entries.values.filter { $0.state == .archived }.map(\.id).sorted() }

  /// Returns the failed requests that the given ones select: the given ones that failed, those that the others are held
  /// for, and those of the same transactions.
  func failures(_ ids: Set<Int64>) -> Set<Int64> {
    var failures: Set<Int64> = []
    var visited = ids
    var units: Set<Int64> = []
    var unvisited = Array(ids)
    while let id = unvisited.popLast() {
      guard let entry = entries[id] else { continue }
      if entry.state == .archived { failures.insert(id) }
      var ties = earlier[id] ?? []
      if let all = members[entry.unit], units.insert(entry.unit).inserted { ties += all }
      for other in ties where visited.insert(other).inserted { unvisited.append(other) }
    }
    return failures
  }

  /// The held requests that no failed one holds any more, directly or indirectly, in the order of the queue.
  var released: [Int64] {
    entries.values.filter { $0.state == .held && held[$0.id] == nil }.map(\.id).sorted()
  }

  /// Whether the archive contains other requests of the entry's transaction.
  func isOfTransaction(_ entry: QueueEntry) -> Bool { members[entry.unit] != nil }

  /// A text that lists the failed requests because of which a request is held.
  func holders(of id: Int64) -> String {
    let all = held[id] ?? []
    let listed = all.prefix(Self.maximumHolders).map(String.init).joined(separator: ", ")
    return all.count > Self.maximumHolders ? listed + " and others" : listed
  }

  /// Records a failed request as the reason for all requests that it holds. The walk stops at a request that already
  /// has enough reasons, because those also hold everything behind it.
  private mutating func hold(by failure: Int64) {
    var units: Set<Int64> = []
    var unvisited = [failure]
    while let id = unvisited.popLast() {
      guard let entry = entries[id], held[id]?.last != failure, held[id]?.count ?? 0 <= Self.maximumHolders else {
        continue
      }
      held[id, default: []].append(failure)
      unvisited += later[id] ?? []
      if let all = members[entry.unit], units.insert(entry.unit).inserted { unvisited += all }
    }
  }
}
