import LarderCore
import LarderStorage

/// A change that is pending for the writer.
struct PendingChange {
  /// Applies the change, and appends the bodies that it dooms.
  var work: @Sendable (Connection, inout [Int64]) throws(StorageError) -> Void
  /// Which entries other processes see changed.
  var scope: Scope
  /// About how many bytes the change writes.
  var weight: Int
  var done: CheckedContinuation<StorageError?, Never>

  /// The entries that a change affects.
  enum Scope {
    case nothing
    case entry(String)
    case everything
  }
}

// Changes share transactions. A change that fails does not make others fail.
extension SQLiteStore {
  /// How many bytes one shared transaction writes. The limit keeps the time short for which the lock is held.
  private static let transactionBytes = 1 << 20

  /// Applies a change after all changes requested before. It is committed when this returns.
  func change(
    _ scope: PendingChange.Scope = .nothing, weight: Int = 0,
    _ work: @escaping @Sendable (Connection, inout [Int64]) throws(StorageError) -> Void
  ) async throws(CacheError) {
    let error = await withCheckedContinuation { done in
      let isFirst = pendingChanges.withLock { pendingChanges in
        pendingChanges.append(PendingChange(work: work, scope: scope, weight: weight, done: done))
        return pendingChanges.count == 1
      }
      // Changes that arrive while the writer is busy are included in its next transaction.
      if isFirst { inTurn(.cleanUpFailed) { [self] turn throws(StorageError) in try writeWaiting(turn) } }
    }
    if let error { throw failure(error) }
  }

  /// Applies the pending changes. Throws only if the content of removed entries could not be deleted.
  private func writeWaiting(_ turn: Database.WriterTurn) throws(StorageError) {
    var cleanUpError: StorageError?
    var (rest, all) = pendingChanges.withLock { pendingChanges in
      defer { pendingChanges = [] }
      return (pendingChanges[...], pendingChanges.count)
    }
    while all > 0 {
      var weight = 0
      let share = rest.prefix { change in
        defer { weight += change.weight }
        return weight < SQLiteStore.transactionBytes
      }
      rest = rest.dropFirst(share.count)
      all -= share.count
      let error = write(share, turn, &cleanUpError)
      if error != nil, share.count > 1 {
        // One of the changes may have failed: retry each in a transaction of its own.
        for change in share { change.done.resume(returning: write([change], turn, &cleanUpError)) }
      } else {
        for change in share { change.done.resume(returning: error) }
      }
    }
    if let cleanUpError { throw cleanUpError }
  }

  private func write(
    _ changes: ArraySlice<PendingChange>, _ turn: Database.WriterTurn, _ cleanUpError: inout StorageError?
  ) -> StorageError? {
    do throws(StorageError) {
      // Check before taking the lock beside the file.
      try turn.checkOpen()
      let doomed = try noticed(changes) { () throws(StorageError) in
        try turn.write { (connection) throws(StorageError) in
          var doomed: [Int64] = []
          for change in changes { try change.work(connection, &doomed) }
          return doomed
        }
      }
      guard holds.doom(doomed) else { return nil }
      do throws(StorageError) { try deleteChunks(turn) } catch { cleanUpError = error }
      return nil
    } catch { return error }
  }

  // MARK: Other processes

  /// How long to wait for another process that holds the lock of changes while it commits.
  private static let lockMilliseconds: Int32 = 10_000

  /// Applies changes so that other processes are notified if the changes were applied, or may have been.
  private func noticed(
    _ changes: ArraySlice<PendingChange>, _ body: () throws(StorageError) -> [Int64]
  ) throws(StorageError) -> [Int64] {
    var parts: [Int] = []
    for change in changes {
      switch change.scope {
      case .nothing: break
      case .entry(let key): parts.append(part(of: key))
      case .everything: parts += 0..<SharedCounter.partCount
      }
    }
    guard let counter = self.changes?.counter, !parts.isEmpty else { return try body() }
    try counter.lock(milliseconds: SQLiteStore.lockMilliseconds)
    defer { counter.unlock() }
    counter.beginChange(of: parts)
    defer { counter.endChange(of: parts) }
    return try body()
  }

  /// Opens the shared numbers that notify other processes of changes, on a thread that may wait for another process.
  static func changes(_ database: Database) async throws(StorageError) -> SharedChanges? {
    let path = database.path
    let result = await withCheckedContinuation {
      (done: CheckedContinuation<Result<SharedChanges?, StorageError>, Never>) in
      database.whereWriting { _ in done.resume(returning: Result { () throws(StorageError) in try changes(path) }) }
    }
    return try result.get()
  }

  private static func changes(_ path: String) throws(StorageError) -> SharedChanges? {
    do throws(StorageError) {
      let counter = try SharedCounter(path + "-changes", like: path)
      try counter.lock(milliseconds: lockMilliseconds)
      counter.repairParts()
      counter.unlock()
      return SharedChanges(counter)
    } catch {
      guard error.category == .notSupported else { throw error }
      return nil
    }
  }

  // MARK: The changes

  /// Inserts a row in place of the row under the key.
  func put(_ new: NewRow, _ connection: Connection, _ doomed: inout [Int64]) throws(StorageError) {
    try remove("key = ?", .text(new.key), connection, &doomed)
    let useNumber = uses.next(after: try SQLiteStore.lastUse(connection))
    let size = Int64(new.size)
    try connection.run(
      """
      INSERT INTO entry(key, used, cost, size, body, checksum, metadata, content) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
      """, .text(new.key), .integer(useNumber), .integer(new.cost), .integer(size),
      .integer(new.body),
      .integer(
        StoredRow.checksum(
          key: new.key, size: size, body: new.body, metadata: new.metadata, content: new.content)),
      .blob(new.metadata), .blob(new.content))
    let id = connection.lastInsertedRow
    try connection.run("UPDATE usage SET total = total + ?", .integer(new.cost))
    try evictRows(keeping: id, connection, &doomed)
  }

  /// Replaces the metadata of the row that `oldEntry` was read from, if that row still exists.
  func replace(
    _ metadata: CacheMetadata, of oldEntry: CacheEntry, _ key: String, _ connection: Connection, _ doomed: inout [Int64]
  ) throws(StorageError) {
    let rowAndCost = try connection.first(StoredRow.query, .text(key)) {
      (row) throws(StorageError) in (try StoredRow(row), try row.int64(6))
    }
    guard let (row, cost) = rowAndCost, row.size == Int64(oldEntry.length),
      row.checkedMetadata(key) == oldEntry.metadata
    else {
      return
    }
    if row.body == 0, let bytes = oldEntry.bytesInMemory, bytes != row.content { return }
    let encoded = metadata.encoded()
    let newCost = StoredRow.cost(key: key, metadata: encoded.count, size: oldEntry.length)
    let checksum = StoredRow.checksum(
      key: key, size: row.size, body: row.body, metadata: encoded, content: row.content)
    try connection.run(
      "UPDATE entry SET metadata = ?, checksum = ?, cost = ?, used = ? WHERE id = ?", .blob(encoded),
      .integer(checksum), .integer(newCost), .integer(uses.next(after: try SQLiteStore.lastUse(connection))),
      .integer(row.id))
    _ = uses.remove(row.id)
    try connection.run("UPDATE usage SET total = total + ?", .integer(newCost - cost))
    try evictRows(keeping: row.id, connection, &doomed)
  }

  /// Deletes rows, and dooms their bodies.
  func remove(
    _ condition: String, _ value: SQLValue, _ connection: Connection, _ doomed: inout [Int64]
  ) throws(StorageError) {
    var (freedCost, bodies) = (Int64(0), [Int64]())
    try connection.forEachRow("DELETE FROM entry WHERE \(condition) RETURNING cost, body", [value]) {
      (row) throws(StorageError) in
      freedCost += try row.int64(0)
      if try row.int64(1) != 0 { bodies.append(try row.int64(1)) }
      return true
    }
    if freedCost != 0 { try connection.run("UPDATE usage SET total = total - ?", .integer(freedCost)) }
    for body in bodies { try doom(body, connection, &doomed) }
  }

  /// Deletes every row, and dooms every body that a row refers to.
  func removeEverything(_ connection: Connection, _ doomed: inout [Int64]) throws(StorageError) {
    let bodies = try connection.integers("SELECT body FROM entry WHERE body <> 0")
    for body in bodies { try doom(body, connection, &doomed) }
    try connection.run("DELETE FROM entry")
    try connection.run("UPDATE usage SET total = 0")
  }

  private func doom(_ body: Int64, _ connection: Connection, _ doomed: inout [Int64]) throws(StorageError) {
    try connection.run(
      "UPDATE body SET state = ?, touched = ? WHERE id = ?", .integer(SQLiteCacheSchema.BodyState.doomed.rawValue),
      .integer(seconds), .integer(body))
    doomed.append(body)
  }

  /// Removes the least recently used rows until the file is within the limit; the row `keptRow` stays.
  private func evictRows(
    keeping keptRow: Int64, _ connection: Connection, _ doomed: inout [Int64]
  ) throws(StorageError) {
    while try total(connection) > Int64(limit) {
      let oldest = try connection.first(
        "SELECT id, used FROM entry WHERE id <> ? ORDER BY used LIMIT 1", .integer(keptRow)
      ) { (row) throws(StorageError) in (id: try row.int64(0), used: try row.int64(1)) }
      guard let oldest else { return }
      if let useNumber = uses.remove(oldest.id), useNumber > oldest.used {
        // The row was used since: it moves to its later place in the order, and is considered again there if necessary.
        try connection.run("UPDATE entry SET used = ? WHERE id = ?", .integer(useNumber), .integer(oldest.id))
      } else {
        try remove("id = ?", .integer(oldest.id), connection, &doomed)
      }
    }
  }

  /// The latest use number in the file.
  static func lastUse(_ connection: Connection) throws(StorageError) -> Int64 {
    let last = try connection.first("SELECT used FROM entry ORDER BY used DESC LIMIT 1") { (row) throws(StorageError) in
      try row.int64(0)
    }
    return last ?? 0
  }

  private func total(_ connection: Connection) throws(StorageError) -> Int64 {
    try connection.first("SELECT total FROM usage") { (row) throws(StorageError) in try row.int64(0) } ?? 0
  }
}

/// A row to be inserted into `entry`.
struct NewRow: Sendable {
  let key: String
  let metadata: [UInt8]
  let size: Int
  /// The body with the content; 0 if the content is in `content`.
  let body: Int64
  let content: [UInt8]

  var cost: Int64 { StoredRow.cost(key: key, metadata: metadata.count, size: size) }
}
