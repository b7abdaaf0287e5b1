@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The open cache file of one store: lookups by key, and changes that are durable when they return.
///
/// A lookup is one point read on the caller's thread, which is faster than a switch to another thread. Changes
/// requested at the same time share one transaction. The time of an entry's last use is recorded in memory and written
/// with the next change.
final class TechnicalCache: Sendable {
  let path: String
  let keys: CacheKeyMaker
  let limits: CacheLimits
  let database: Database
  let timestamps: UseTimestamps
  let uses = Locked<[Int64: Int64]>([:])
  let pendingWrites = Locked<[PendingWrite]>([])
  let order = Locked(SendOrder())
  let report: @Sendable (LarderDiagnostic) -> Void

  /// Changes that are pending until the writer takes them.
  struct PendingWrite {
    var changes: [SentChange]
    var done: CheckedContinuation<StorageError?, Never>
  }

  /// A change that results from a response, with the number of its request.
  struct SentChange {
    let change: CacheChange
    let number: Int
  }

  private init(
    _ database: Database, keys: CacheKeyMaker, limits: CacheLimits,
    report: @escaping @Sendable (LarderDiagnostic) -> Void
  ) {
    path = database.path
    self.database = database
    self.keys = keys
    self.limits = limits
    self.report = report
    timestamps = UseTimestamps(database.environment)
  }

  /// Opens the cache file of a service, or creates it.
  ///
  /// A damaged cache is moved aside and replaced with a new one, which is reported, if `mayReplace` allows this. A file of
  /// another application is rejected.
  static func open(
    _ place: CachePlace, key: StorageKey?, limits: CacheLimits, common: HTTPFields,
    environment: LarderEnvironment = .system,
    credentials: CredentialFields,
    protection: FileProtection, pages: Int? = nil, mayReplace: Bool = true,
    report: @escaping @Sendable (LarderDiagnostic) -> Void
  ) async throws(StorageError) -> TechnicalCache {
    let options = DatabaseOptions(
      synchronous: .full, readers: 3, maximumPageCount: pages, protection: protection, environment: environment)
    let database = try await CacheOpening(
      place: place, key: key, options: options, report: report, mayReplace: mayReplace
    ).open()
    let salt: [UInt8]
    do throws(StorageError) {
      salt = try await property("salt", database) ?? []
      if try await property("root", database) == nil {
        try await database.write { (connection) throws(StorageError) in
          try connection.run("INSERT INTO property VALUES('root', ?)", .blob(Array(place.root.utf8)))
        }
      }
    } catch {
      try? await database.close()
      throw error
    }
    let keys = CacheKeyMaker(salt: salt, common: common, credentials: credentials)
    return TechnicalCache(database, keys: keys, limits: limits, report: report)
  }

  private static func property(_ name: String, _ database: Database) async throws(StorageError) -> [UInt8]? {
    try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT value FROM property WHERE name = ?", .text(name)) { (row) throws(StorageError) in
        try row.bytes(0)
      }
    }
  }

  /// The checked entry of a key; nil for a miss. A damaged entry counts as a miss and is removed.
  @available(*, noasync)
  func entry(_ key: CacheKey) throws(StorageError) -> TechnicalCacheEntry? {
    if let entry = try entry(url: key.url, key) { return entry }
    guard let url = key.formerURL else { return nil }
    return try entry(url: url, key)
  }

  @available(*, noasync)
  private func entry(url: String, _ key: CacheKey) throws(StorageError) -> TechnicalCacheEntry? {
    let storedEntry = try database.readNow { (connection) throws(StorageError) in
      try connection.first(
        """
        SELECT id, status, fields, delta_link, checksum, payload, sender FROM entry
        WHERE url = ? AND scope = ? AND variant = ?
        """, .text(url), .blob(key.scope), .blob(key.variant)
      ) { (row) throws(StorageError) in
        let entry = TechnicalCacheEntry(
          status: Int(clamping: try row.int64(1)), fields: CacheFields.fields(try row.text(2)),
          payload: try row.bytes(5), deltaLink: try row.textOrNil(3), sender: try row.textOrNil(6),
          row: try row.int64(0))
        return (entry, try row.int64(4))
      }
    }
    guard let (entry, checksum) = storedEntry else { return nil }
    guard Checksum.of(entry.payload) == checksum else {
      report(.entryDamaged(url: url))
      inTurn { [self] connection throws(StorageError) in try remove("id = ?", [.integer(entry.row)], connection) }
      return nil
    }
    noteUse(entry.row)
    return entry
  }

  private func noteUse(_ row: Int64) {
    let now = timestamps.next()
    let isMany = uses.withLock { uses in
      uses[row] = now
      return uses.count == 256
    }
    // Otherwise a process that only reads would lose the order of use, or fill its memory with it.
    if isMany { inTurn { [self] connection throws(StorageError) in try writeUses(connection) } }
  }

  /// Runs a transaction in the background, and reports its error.
  private func inTurn(_ body: @escaping @Sendable (Connection) throws(StorageError) -> Void) {
    database.whereWriting { turn -> StorageError? in
      do throws(StorageError) {
        try turn.write(body)
        return nil
      } catch { return error }
    } afterwards: { [report] error in
      guard let error, error.category != .closed, error.category != .suspended else { return }
      report(.cacheWriteFailed(urls: [], error))
    }
  }

  func writeUses(_ connection: Connection) throws(StorageError) {
    let noted = uses.withLock { uses in
      defer { uses = [:] }
      return uses
    }
    for (row, time) in noted {
      try connection.run("UPDATE entry SET used = ? WHERE id = ?", .integer(time), .integer(row))
    }
  }

  /// Writes the recorded times of use and closes the file.
  func close() async throws(StorageError) {
    if uses.withLock({ !$0.isEmpty }) {
      do throws(StorageError) {
        try await database.write { [self] (connection) throws(StorageError) in try writeUses(connection) }
      } catch { report(.cacheWriteFailed(urls: [], error)) }
    }
    try await database.close()
  }
}

/// The size limits of a cache.
struct CacheLimits: Sendable, Hashable {
  /// The size in bytes above which a clean-up begins.
  var maximumBytes: Int64
  /// The size in bytes at which a clean-up ends.
  var cleanupBytes: Int64

  /// - Parameters:
  ///   - bytes: the limit in bytes.
  ///   - threshold: the percentage of the limit at which a clean-up ends.
  init(bytes: Int, threshold: Int) {
    maximumBytes = Int64(max(bytes, 0))
    cleanupBytes = maximumBytes / 100 * Int64(min(max(threshold, 0), 100))
  }
}

/// Timestamps of use, in microseconds since 1970. Each is later than the one before, so that they order the entries.
final class UseTimestamps: Sendable {
  private let last = Atomic<Int64>(0)
  private let environment: LarderEnvironment

  init(_ environment: LarderEnvironment) { self.environment = environment }

  func next() -> Int64 {
    let now = environment.unixMicroseconds
    var latest = last.load(ordering: .relaxed)
    while true {
      let next = max(now, latest + 1)
      let (exchanged, original) = last.compareExchange(expected: latest, desired: next, ordering: .relaxed)
      if exchanged { return next }
      latest = original
    }
  }
}
