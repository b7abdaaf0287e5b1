@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage

// Writes changes and frees the space that they need.
extension TechnicalCache {
  /// Applies changes, all or none, except those that a request sent later has already replaced. They are durable when
  /// this returns nil; a returned error says why none was applied.
  ///
  /// - Parameter number: the number of the request, from ``SendOrder/begin()``.
  func commit(_ changes: [CacheChange], sentAs number: Int) async -> StorageError? {
    await withCheckedContinuation { done in
      let isFirst = pendingWrites.withLock { pendingWrites in
        let changes = changes.map { SentChange(change: $0, number: number) }
        pendingWrites.append(PendingWrite(changes: changes, done: done))
        return pendingWrites.count == 1
      }
      // Changes that arrive while the writer is busy are written together in its next transaction.
      guard isFirst else { return }
      database.whereWriting { [self] turn in
        writePending(turn)
      } afterwards: { [report] written in
        for (pendingWrite, error) in written.results { pendingWrite.done.resume(returning: error) }
        for diagnostic in written.diagnostics { report(diagnostic) }
      }
    }
  }

  /// What a turn of the writer has done.
  private struct Written: Sendable {
    var results: [(PendingWrite, StorageError?)] = []
    var diagnostics: [LarderDiagnostic] = []
  }

  private func writePending(_ turn: Database.WriterTurn) -> Written {
    let writes = pendingWrites.withLock { pendingWrites in
      defer { pendingWrites = [] }
      return pendingWrites
    }
    var written = Written()
    if write(writes.flatMap(\.changes), turn, &written.diagnostics) == nil {
      written.results = writes.map { ($0, nil) }
    } else {
      // One of the changes may be at fault: each request gets a transaction of its own.
      written.results = writes.map { ($0, write($0.changes, turn, &written.diagnostics)) }
    }
    return written
  }

  private func write(
    _ changes: [SentChange], _ turn: Database.WriterTurn, _ diagnostics: inout [LarderDiagnostic]
  ) -> StorageError? {
    // There is no other writer meanwhile, and changes that fail do not affect the order.
    var order = order.withLock { $0 }
    let newest = changes.filter { sent in
      guard order.allows(sent.change, sentAs: sent.number) else { return false }
      order.note(sent.change, sentAs: sent.number)
      return true
    }
    var committed: [LarderDiagnostic] = []
    do throws(StorageError) {
      try turn.write { (connection) throws(StorageError) in
        try writeUses(connection)
        for sent in newest { try apply(sent.change, connection, &committed) }
      }
      diagnostics += committed
      self.order.withLock { order in
        for sent in newest { order.note(sent.change, sentAs: sent.number) }
      }
      return nil
    } catch { return error }
  }

  private func apply(
    _ change: CacheChange, _ connection: Connection, _ diagnostics: inout [LarderDiagnostic]
  ) throws(StorageError) {
    switch change {
    case .store(let key, let entry): try store(entry, key: key, connection: connection, diagnostics: &diagnostics)
    case .refresh(let key, let entry): try refresh(entry, key, connection)
    case .remove(let key):
      try remove("url IN (?, ?) AND scope = ?", urls(of: key) + [.blob(key.scope)], connection)
    }
  }

  private func store(
    _ entry: TechnicalCacheEntry, key: CacheKey, connection: Connection, diagnostics: inout [LarderDiagnostic]
  ) throws(StorageError) {
    try remove(
      "url IN (?, ?) AND scope = ? AND variant = ?", urls(of: key) + [.blob(key.scope), .blob(key.variant)], connection)
    let cost = entry.cost(url: key.url)
    guard cost <= limits.maximumBytes else {
      diagnostics.append(.entryTooLarge(url: key.url, bytes: entry.payload.count))
      return
    }
    let now = timestamps.next()
    try connection.run(
      """
      INSERT INTO entry(url, scope, variant, status, stored, used, cost, checksum, delta_link, fields, payload, sender)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(key.url), .blob(key.scope), .blob(key.variant), .integer(Int64(entry.status)), .integer(now),
      .integer(now), .integer(cost), .integer(Checksum.of(entry.payload)), .text(entry.deltaLink),
      .text(CacheFields.text(entry.fields)), .blob(entry.payload), .text(entry.sender))
    let row = connection.lastInsertedRow
    try connection.run("UPDATE usage SET total = total + ?", .integer(cost))
    if let cleanUp = try freeSpace(keeping: row, connection) { diagnostics.append(cleanUp) }
  }

  /// Updates an entry and leaves its content as it is. If the row has been deleted meanwhile, it stays deleted.
  private func refresh(_ entry: TechnicalCacheEntry, _ key: CacheKey, _ connection: Connection) throws(StorageError) {
    let old = try connection.first("SELECT cost FROM entry WHERE id = ?", .integer(entry.row)) {
      (row) throws(StorageError) in try row.int64(0)
    }
    guard let old else { return }
    let cost = entry.cost(url: key.url)
    try connection.run(
      "UPDATE entry SET fields = ?, delta_link = ?, used = ?, cost = ? WHERE id = ?",
      .text(CacheFields.text(entry.fields)), .text(entry.deltaLink), .integer(timestamps.next()), .integer(cost),
      .integer(entry.row))
    try connection.run("UPDATE usage SET total = total + ?", .integer(cost - old))
  }

  /// The two URLs that an entry may be stored under.
  private func urls(of key: CacheKey) -> [SQLValue] { [.text(key.url), .text(key.formerURL ?? key.url)] }

  func remove(_ condition: String, _ values: [SQLValue], _ connection: Connection) throws(StorageError) {
    var removedCost: Int64 = 0
    try connection.forEachRow("DELETE FROM entry WHERE \(condition) RETURNING cost", values) {
      (row) throws(StorageError) in
      removedCost += try row.int64(0)
      return true
    }
    if removedCost != 0 { try connection.run("UPDATE usage SET total = total - ?", .integer(removedCost)) }
  }

  /// If the cache exceeds its limit, removes the least recently used entries until the threshold is reached. `row`
  /// stays. Returns the diagnostic of the clean-up.
  private func freeSpace(
    keeping row: Int64, _ connection: Connection
  ) throws(StorageError) -> LarderDiagnostic? {
    var total =
      try connection.first("SELECT total FROM usage") { (row) throws(StorageError) in try row.int64(0) } ?? 0
    guard total > limits.maximumBytes else { return nil }
    var removedRows: [Int64] = []
    var freed: Int64 = 0
    try connection.forEachRow("SELECT id, cost FROM entry WHERE id <> ? ORDER BY used", [.integer(row)]) {
      (row) throws(StorageError) in
      guard total > limits.cleanupBytes else { return false }
      let cost = try row.int64(1)
      removedRows.append(try row.int64(0))
      freed += cost
      total -= cost
      return true
    }
    for id in removedRows { try connection.run("DELETE FROM entry WHERE id = ?", .integer(id)) }
    try connection.run("UPDATE usage SET total = total - ?", .integer(freed))
    return .cacheCleanedUp(entries: removedRows.count, bytes: Int(clamping: freed))
  }
}
