import LarderStorage

// Automatic deletion: expired values, and values beyond a limit.
extension ObjectTable {
  /// Deletes up to `limit` expired values. Returns how many.
  func purge(_ limit: Int) throws(StorageError) -> Int {
    let ids = try expired(limit)
    try delete(ids)
    return ids.count
  }

  func expired(_ limit: Int) throws(StorageError) -> [Int64] {
    try connection.integers(
      "SELECT id FROM object WHERE expires <= ? ORDER BY expires LIMIT ?", .integer(now), .integer(Int64(limit))
    )
  }

  func delete(_ ids: [Int64]) throws(StorageError) { for id in ids { _ = try delete(id: id) } }

  /// Records that the value just put was used, and deletes others until the file is within its limits.
  func makeRoom(keeping keptID: Int64) throws(StorageError) {
    try adoptLatestRequestNumber()
    try connection.run(
      """
      INSERT INTO request VALUES(?, 0, ?) ON CONFLICT(object) DO UPDATE SET last = max(last, excluded.last)
      """, .integer(keptID), .integer(memory.nextRequestNumber()))
    while try isOverLimit() { if try !evictNext(keeping: keptID) { return } }
  }

  /// Deletes up to `limit` values while the file is over its limits. Returns false if it is within them.
  func trim(_ limit: Int) throws(StorageError) -> Bool {
    for _ in 0..<limit {
      guard try isOverLimit(), try evictNext(keeping: 0) else { return false }
    }
    return true
  }

  private func isOverLimit() throws(StorageError) -> Bool {
    guard let disk = limits.disk else { return false }
    let usage = try usage()
    return usage.objects > Int64(disk.countLimit ?? .max) || usage.bytes > Int64(disk.byteLimit ?? .max)
  }

  /// Deletes the next value in the order of eviction. Returns false if there is none but `kept`.
  private func evictNext(keeping keptID: Int64) throws(StorageError) -> Bool {
    if try purge(1) > 0 { return true }
    var candidate = try nextToEvict(keeping: keptID)
    if candidate == nil {
      try addMissingRequestRows()
      candidate = try nextToEvict(keeping: keptID)
    }
    var promoted: Set<Int64> = []
    while let (id, key) = candidate {
      let pending = takePendingRequests(key, id)
      // A value is moved back only once, so that requests that continue to arrive cannot keep this loop running
      // forever.
      guard pending.times > 0, promoted.insert(id).inserted else {
        _ = try delete(id: id, .evicted)
        return true
      }
      // The value was used since: it moves to its later place in the order, and is considered again there if necessary.
      try write([(id, pending)])
      candidate = try nextToEvict(keeping: keptID)
    }
    return false
  }

  private func nextToEvict(keeping keptID: Int64) throws(StorageError) -> (id: Int64, key: ObjectKey)? {
    let order = limits.disk?.eviction == .leastRequested ? "times, last" : "last"
    return try connection.first(
      """
      SELECT object.id, object.key FROM request CROSS JOIN object ON object.id = request.object
      WHERE request.object <> ? ORDER BY \(order) LIMIT 1
      """, .integer(keptID)
    ) { (row) throws(StorageError) in (id: try row.int64(0), key: ObjectKey(stored: try row.text(1))) }
  }

  /// Adds the missing rows of `request`. Values put while the file had no limits have none: they count as used before
  /// all others.
  func addMissingRequestRows() throws(StorageError) {
    try connection.run("INSERT OR IGNORE INTO request SELECT id, 0, 0 FROM object")
  }

  /// Adds requests to the stored ones, within the range of the numbers. Requests of deleted values are ignored.
  func write(_ counts: [(id: Int64, requests: RequestCounts.Requests)]) throws(StorageError) {
    for count in counts {
      try connection.run(
        """
        INSERT INTO request SELECT id, ?, ? FROM object WHERE id = ?
        ON CONFLICT(object) DO UPDATE SET
          times = min(times, 9223372036854775807 - excluded.times) + excluded.times, last = max(last, excluded.last)
        """, .integer(count.requests.times), .integer(count.requests.last), .integer(count.id))
    }
  }
}
