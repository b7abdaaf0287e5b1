import LarderStorage

// Requests of the error archive: back into the queue, taken back, and what is held for them.
extension LocalRows {
  /// Puts requests of the archive back into the queue, with what was held for them alone.
  ///
  /// One that is held stands for those that it waits for; one of a transaction for the whole transaction.
  /// - Parameter ids: nil for all.
  /// - Returns: the requests that wait to be sent again.
  @discardableResult
  mutating func requeue(_ ids: Set<Int64>?) throws(StorageError) -> [Int64] {
    let archive = try ArchivedRequests(queue)
    let wanted = ids.map(archive.failures) ?? Set(archive.failed)
    for id in wanted.sorted() {
      guard let entry = archive.entries[id] else { continue }
      try requeue(entry)
    }
    return wanted.sorted() + (try release())
  }

  private mutating func requeue(_ entry: QueueEntry) throws(StorageError) {
    // One whose outcome is not known keeps its name: a service that knows the name does it once. Another answer to one
    // that was refused comes under another name.
    if entry.failure?.kind != .unknownOutcome { try queue.set(attempt: nil, of: entry.id) }
    if entry.failure?.kind == .conflict, let etag = entry.failure?.theirs?.text(.etag) {
      var request = entry.request
      request.baseETag = etag
      if let column = request.streamColumn(plan) { request.streamETag = entry.failure?.theirs?.streamETag(column) }
      if request.ifMatch != "*" { request.ifMatch = nil }
      try queue.replace(entry.id, by: request)
    }
    var noticed: ArchivedFailure?
    if let failure = entry.failure, failure.kind != .conflict, let base = failure.base {
      noticed = try conflict(of: entry, base: base, theirs: failure.theirs)
    }
    try queue.set(failure: noticed, of: entry.id)
    try queue.set(.queued, of: entry.id)
    try touch(try queue.effects(of: entry.id))
    if let entity = entry.request.entity { try touch(entity) }
  }

  /// Lets go of held requests that wait for none of the archive any more; answers which.
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

  /// Holds a request that waits for one of the archive, or is of a transaction that is there, with its own transaction and
  /// all that depends on it.
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

  /// Holds what goes with some requests: their transactions, and all that depends on any of these; itself too, where one
  /// of them is not in the archive. Answers what was not held before.
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

  /// Takes out a request that became a part of another: what waited for it waits for that one, which waits for what it
  /// waited for.
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

  /// Takes out a request that is needless; what waited for it does not wait any more.
  mutating func drop(_ id: Int64) throws(StorageError) {
    try touch(try queue.effects(of: id))
    if let entity = try queue.entry(id)?.request.entity { try touch(entity) }
    try queue.remove([id])
  }
}

/// The requests of the archive and what ties them together.
struct ArchivedRequests {
  /// Those that failed and those that are held, by their numbers.
  private(set) var entries: [Int64: QueueEntry] = [:]
  /// What each waits for in the archive, and what waits for it.
  private var earlier: [Int64: [Int64]] = [:]
  private var later: [Int64: [Int64]] = [:]
  /// The requests of transactions, by their units: each stands for the others.
  private var members: [Int64: [Int64]] = [:]
  /// Some of the failed requests that hold each one.
  private var held: [Int64: [Int64]] = [:]

  /// So many holders are told.
  private static let mostHolders = 5

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

  /// Those that failed, in their order.
  var failed: [Int64] { entries.values.filter { $0.state == .archived }.map(\.id).sorted() }

  /// The failed requests that some stand for: themselves, those that they are held for, those of their transactions.
  func failures(_ ids: Set<Int64>) -> Set<Int64> {
    var found: Set<Int64> = []
    var seen = ids
    var units: Set<Int64> = []
    var waiting = Array(ids)
    while let id = waiting.popLast() {
      guard let entry = entries[id] else { continue }
      if entry.state == .archived { found.insert(id) }
      var ties = earlier[id] ?? []
      if let all = members[entry.unit], units.insert(entry.unit).inserted { ties += all }
      for other in ties where seen.insert(other).inserted { waiting.append(other) }
    }
    return found
  }

  /// Held requests that no failed one holds, directly or not; in their order.
  var released: [Int64] {
    entries.values.filter { $0.state == .held && held[$0.id] == nil }.map(\.id).sorted()
  }

  /// Whether others of its transaction are in the archive.
  func isOfTransaction(_ entry: QueueEntry) -> Bool { members[entry.unit] != nil }

  /// The failed requests that hold one, for people.
  func holders(of id: Int64) -> String {
    let all = held[id] ?? []
    let told = all.prefix(Self.mostHolders).map(String.init).joined(separator: ", ")
    return all.count > Self.mostHolders ? told + " and others" : told
  }

  /// Notes a failed request with all that it holds. One that enough hold already is not gone beyond: those hold what is
  /// behind it, too.
  private mutating func hold(by failure: Int64) {
    var units: Set<Int64> = []
    var waiting = [failure]
    while let id = waiting.popLast() {
      guard let entry = entries[id], held[id]?.last != failure, held[id]?.count ?? 0 <= Self.mostHolders else {
        continue
      }
      held[id, default: []].append(failure)
      waiting += later[id] ?? []
      if let all = members[entry.unit], units.insert(entry.unit).inserted { waiting += all }
    }
  }
}
