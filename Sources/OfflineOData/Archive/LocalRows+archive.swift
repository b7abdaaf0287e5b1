import Storage

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
      if request.ifMatch != "*" { request.ifMatch = nil }
      try queue.replace(entry.id, by: request)
    }
    try queue.set(failure: nil, of: entry.id)
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
      try queue.set(.queued, of: id)
      try touch(try queue.effects(of: id))
      if let entity = archive.entries[id]?.request.entity { try touch(entity) }
    }
    return free
  }
}

/// The requests of the archive and what ties them together.
struct ArchivedRequests {
  /// Those that failed and those that are held, by their numbers.
  private(set) var entries: [Int64: QueueEntry] = [:]
  /// What each waits for in the archive: earlier ones, and the others of its transaction.
  private var ties: [Int64: Set<Int64>] = [:]

  init(_ queue: ChangeQueue) throws(StorageError) {
    for state in [RequestState.archived, .held] {
      for entry in try queue.entries(state) { entries[entry.id] = entry }
    }
    guard !entries.isEmpty else { return }
    for (id, earlier) in try queue.dependencies() where entries[id] != nil {
      ties[id, default: []].formUnion(earlier.filter { entries[$0] != nil })
    }
    for unit in Dictionary(grouping: entries.values, by: \.unit).values where unit.count > 1 {
      let ids = Set(unit.map(\.id))
      for id in ids { ties[id, default: []].formUnion(ids.subtracting([id])) }
    }
  }

  /// Those that failed, in their order.
  var failed: [Int64] { entries.values.filter { $0.state == .archived }.map(\.id).sorted() }

  /// The failed requests that some stand for: themselves, those that they are held for, those of their transactions.
  func failures(_ ids: Set<Int64>) -> Set<Int64> {
    var found: Set<Int64> = []
    var seen = ids
    var waiting = Array(ids)
    while let id = waiting.popLast() {
      guard let entry = entries[id] else { continue }
      if entry.state == .archived { found.insert(id) }
      for other in ties[id] ?? [] where seen.insert(other).inserted { waiting.append(other) }
    }
    return found
  }

  /// Held requests that no failed one holds, directly or not; in their order.
  var released: [Int64] {
    entries.values.filter { $0.state == .held && failures([$0.id]).isEmpty }.map(\.id).sorted()
  }
}
