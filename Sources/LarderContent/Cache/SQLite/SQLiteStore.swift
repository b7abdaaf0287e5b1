import LarderCore
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An open cache file: lookups on the caller's thread, changes on the writer's.
///
/// A lookup is one point read, which takes less time than a switch to another thread. Changes that are requested at the
/// same time share a transaction.
final class SQLiteStore: Sendable {
  let path: String
  let limit: Int
  let database: Database
  let claim: FileClaim
  let holds = BodyHolds()
  let uses: RecentUses
  let pendingChanges = Locked<[PendingChange]>([])
  /// Notifies other processes of changes; nil if the file system cannot share memory.
  let changes: SharedChanges?
  /// True if the cache was resumed with another store: the content of entries of this store is gone.
  let isReplaced = Atomic(false)
  private let isEncrypted: Bool
  private let onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?

  init(
    _ opened: SQLiteOpening.Opened, path: String, limit: Int, lastUse: Int64, changes: SharedChanges?,
    isEncrypted: Bool, onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  ) {
    self.path = path
    self.limit = limit
    database = opened.database
    claim = opened.claim
    uses = RecentUses(after: lastUse)
    self.changes = changes
    self.isEncrypted = isEncrypted
    self.onDiagnostic = onDiagnostic
  }

  // MARK: Lookups

  /// The entry under a key, checked. A damaged one is removed and throws `corrupt`.
  func entry(_ key: String) throws(CacheError) -> CacheEntry? {
    var previousRowID: Int64 = 0
    while let row = try row(key) {
      guard let metadata = row.checkedMetadata(key) else {
        discard("id = ?", row.id)
        throw damage("an entry failed its integrity check")
      }
      if uses.note(row.id) { flushSomeUses() }
      if row.body == 0 { return CacheEntry(metadata: metadata, bytes: row.content, tier: .disk) }
      // The hold is taken before the check: a body that is live now cannot be deleted any more. Otherwise the entry has
      // been replaced in the meantime.
      let hold = BodyHold(row.body, in: self)
      if try isLive(row.body) { return SQLiteStore.entry(metadata, length: Int(clamping: row.size), hold) }
      if row.id == previousRowID {
        discard("id = ?", row.id)
        throw damage("an entry has no content")
      }
      previousRowID = row.id
    }
    return nil
  }

  /// An entry that reads a body.
  static func entry(_ metadata: CacheMetadata, length: Int, _ hold: BodyHold) -> CacheEntry {
    CacheEntry(metadata: metadata, length: length) { (range) throws(CacheError) in
      try hold.read(range, length: length)
    }
  }

  private func row(_ key: String) throws(CacheError) -> StoredRow? {
    try reading { (connection) throws(StorageError) in
      try connection.first(StoredRow.query, .text(key)) {
        (row) throws(StorageError) in try StoredRow(row)
      }
    }
  }

  private func isLive(_ body: Int64) throws(CacheError) -> Bool {
    try reading { (connection) throws(StorageError) in
      try connection.first("SELECT state FROM body WHERE id = ?", .integer(body)) { (row) throws(StorageError) in
        try row.int64(0) == SQLiteCacheSchema.BodyState.live.rawValue
      } ?? false
    }
  }

  /// Runs a query for a single number.
  func number(_ sql: String) throws(CacheError) -> Int {
    let number = try reading { (connection) throws(StorageError) in
      try connection.first(sql) { (row) throws(StorageError) in try row.int64(0) }
    }
    return Int(clamping: number ?? 0)
  }

  /// Runs point reads, which block for a short time.
  private func reading<Value>(
    _ body: (Connection) throws(StorageError) -> Value
  ) throws(CacheError) -> Value {
    do throws(StorageError) { return try database.readNow(body) } catch {
      throw error.category == .suspended && isReplaced.load(ordering: .acquiring) ? .gone : failure(error)
    }
  }

  // MARK: Content

  /// How many bytes one statement reads.
  private static let readBytes = 1 << 20

  /// Reads bytes of a body that has `length` bytes so far; the range lies within them.
  func read(_ range: Range<Int>, ofBody body: Int64, length: Int) throws(CacheError) -> [UInt8] {
    let range = range.clamped(to: 0..<length)
    var all: [UInt8] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min(range.upperBound, start + SQLiteStore.readBytes)
      let part = try reading { (connection) throws(StorageError) in
        try ChunkReading(body: body, length: length, range: start..<end).read(connection)
      }
      switch part {
      case .missing: throw CacheError.gone
      case .damaged:
        discard("body = ?", body)
        throw damage("a part of the content failed its integrity check")
      case .bytes(let bytes):
        if start == range.lowerBound, end == range.upperBound { return bytes }
        if all.isEmpty { all.reserveCapacity(range.count) }
        all += bytes
      }
      start = end
    }
    return all
  }

  // MARK: Storing

  /// Stores an entry with its content in its own row.
  func put(_ entry: CacheEntry, _ key: String) async throws(CacheError) {
    let content: [UInt8]
    if let bytes = entry.bytesInMemory { content = bytes } else { content = try await entry.read(0..<entry.length) }
    let row = NewRow(
      key: key, metadata: entry.metadata.encoded(), size: content.count, body: 0, content: content)
    try checkFits(row)
    try await change(.entry(key), weight: content.count) { [self] (connection, doomed) throws(StorageError) in
      try put(row, connection, &doomed)
    }
  }

  func checkFits(_ row: NewRow) throws(CacheError) {
    if row.cost > Int64(limit) { throw .tooLarge(limit: limit) }
  }

  // MARK: Other processes

  /// The part of the changes that a key belongs to. In an encrypted file all keys have one part, so that the number
  /// reveals nothing about keys.
  func part(of key: String) -> Int { isEncrypted ? 0 : SharedCounter.part(of: key) }

  // MARK: Failures

  /// Converts an engine's error to the cache's; damage is recorded for the next opening.
  func failure(_ error: StorageError) -> CacheError {
    if error.category == .corrupt || error.category == .notADatabase { claim.mark() }
    return CacheError(error, path: path)
  }

  /// Whole seconds since 1970.
  var seconds: Int64 { database.environment.unixSeconds }

  private func damage(_ reason: String) -> CacheError { .corrupt(path: path, reason: reason) }

  /// Reports an error that no call can throw. Call it without a turn of the writer.
  func report(_ name: ContentDiagnostic, _ error: CacheError) {
    if error != .closed, error != .suspended {
      LarderDiagnostic.failed(name, path: path, error).report(to: onDiagnostic)
    }
  }

  /// Runs work in a turn of the writer, and reports its error after the turn.
  func inTurn(
    _ name: ContentDiagnostic, _ work: @escaping @Sendable (Database.WriterTurn) throws(StorageError) -> Void
  ) {
    database.whereWriting { turn -> StorageError? in
      do throws(StorageError) {
        try work(turn)
        return nil
      } catch { return error }
    } afterwards: { [self] error in
      if let error { report(name, failure(error)) }
    }
  }

  // MARK: Ending

  /// Writes the uses and closes the file.
  func close() async throws(CacheError) {
    try await end { (database) throws(StorageError) in try await database.close() }
  }

  /// Closes the file as ``close()`` does. Later calls throw `suspended`, and entries read before no longer count as
  /// current.
  func suspend() async throws(CacheError) {
    try await end { (database) throws(StorageError) in try await database.suspend() }
    changes?.end()
  }

  private func end(_ endUse: (Database) async throws(StorageError) -> Void) async throws(CacheError) {
    var uses = uses.removeSlice()
    while !uses.isEmpty {
      let slice = uses
      do throws(StorageError) {
        try await database.write { (connection) throws(StorageError) in try SQLiteStore.write(slice, connection) }
        uses = self.uses.removeSlice()
      } catch {
        report(.usesNotWritten, failure(error))
        uses = []
      }
    }
    defer { claim.release() }
    do throws(CacheError) { try await finishDeletion() } catch {
      // The file is already closed, or the next opening deletes the rest.
    }
    do throws(StorageError) { try await endUse(database) } catch { throw failure(error) }
  }

  static func write(_ uses: [(row: Int64, useNumber: Int64)], _ connection: Connection) throws(StorageError) {
    for use in uses {
      try connection.run(
        "UPDATE entry SET used = max(used, ?) WHERE id = ?", .integer(use.useNumber), .integer(use.row))
    }
  }
}
