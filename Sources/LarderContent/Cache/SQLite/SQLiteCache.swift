import LarderCore
public import LarderStorage
import Synchronization

/// Keeps responses in one SQLite file, within a limit of bytes.
///
/// A look-up is one point read, on the caller's thread. Content up to 64 KiB comes with it; larger content is read in
/// pieces, and written in pieces too, so that neither fills memory nor keeps others from writing. Every byte is checked
/// before it is handed out: an entry that the disk has damaged is removed, and throws
/// ``CacheError/corrupt(path:reason:)`` once.
///
/// An entry stays readable while it is held, also where it has been replaced or removed meanwhile by this process. Where
/// another process has removed it, its content may be gone from then on, which throws ``CacheError/gone``.
///
/// When entries go that were not used for longest, a use counts that a process has noted but not written yet: uses are
/// written with other changes, in the background, and by ``close()``. The file does not shrink; its pages are used again.
/// Several caches and processes may have one file open at once. Where the file is deleted while it is open, the next change
/// makes it again.
///
/// What a call has stored outlives the process, however that ends. See `synchronizes` for a loss of power.
public final class SQLiteCache: Cache, SharedCache {
  /// The file's path.
  public let path: String
  /// The most bytes that the entries take.
  public let limit: Int
  /// The most bytes of content that one entry may have.
  public let entryLimit: Int
  /// Why the file was damaged in whose place a new one was made at opening; nil where that did not happen.
  public let replacedDamage: String?

  private struct State {
    var store: SQLiteStore
    var use = StoreUse.open
    /// Those of deleted files, as long as somebody reads from them.
    var formers: [Former] = []
  }

  private struct Former {
    weak var store: SQLiteStore?
  }

  private let state: Locked<State>
  private let calls = SerialCalls()
  private let opening: SQLiteOpening
  private let onDiagnostic: (@Sendable (CacheError) -> Void)?

  /// The open file.
  var store: SQLiteStore { state.withLock { $0.store } }

  /// Opens a file; makes it where it is missing, and its folder.
  ///
  /// A cache's file that is damaged is replaced by an empty one, where nothing else has it open; one that is so damaged
  /// that it might be another's is kept beside it, with `.damaged` behind its name. Files up to 64 MiB are looked
  /// through for damage each time, larger ones after some was met.
  ///
  /// - Parameters:
  ///   - path: the file; `-wal`, `-shm`, `-changes` and `.lock` behind its name are taken too.
  ///   - limit: in bytes; what entries are counted with is their content, metadata and key, in whole pages of 4 KiB where
  ///     they are larger than most of one.
  ///   - entryLimit: the most bytes of content of one entry; by default `limit`.
  ///   - synchronizes: true waits at each change until the disk itself has it. Without, the last changes may be missing
  ///     after a loss of power; the file is whole all the same.
  ///   - key: encrypts the file and its log; ``changeKey(path:from:to:)`` encrypts one that is there. Writers stage what is
  ///     large in the file itself, and what SQLite puts into temporary files it seals too: no plain text reaches the disk.
  ///   - fileProtection: when the file can be read and written, on Apple's devices.
  ///   - onDiagnostic: is told what went wrong where no call can throw it: in the background.
  /// - Throws: `wrongKey`, `encrypted` without a key, `notEncrypted` with one for a plain file, each at once and changing
  ///   nothing; `foreign` for a file of something else or of a later version, which is left as it is; `corrupt` for a
  ///   damaged one that something else has open; `readOnly`, `full`, `failed`.
  public convenience init(
    path: String, limit: Int = 512 << 20, entryLimit: Int? = nil, synchronizes: Bool = false, key: StorageKey? = nil,
    fileProtection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) async throws(CacheError) {
    try await self.init(
      path: path, limit: limit, entryLimit: entryLimit, maximumPageCount: nil, synchronizes: synchronizes, key: key,
      protection: fileProtection, onDiagnostic: onDiagnostic)
  }

  /// - Parameter maximumPageCount: the most pages of 4 KiB that the file may have, as a disk that is full would have it.
  package init(
    path: String, limit: Int, entryLimit: Int? = nil, maximumPageCount: Int?, synchronizes: Bool = false,
    key: StorageKey? = nil, protection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) async throws(CacheError) {
    self.path = path
    self.limit = max(0, limit)
    self.entryLimit = min(max(0, entryLimit ?? limit), max(0, limit), SQLiteCacheSchema.bodyLimit)
    let options = DatabaseOptions(
      synchronous: synchronizes ? .full : .normal, readers: 3, maximumPageCount: maximumPageCount,
      protection: protection)
    opening = SQLiteOpening(path: path, key: key, options: options)
    self.onDiagnostic = onDiagnostic
    let (store, replaced) = try await SQLiteCache.open(opening, limit: max(0, limit), onDiagnostic)
    replacedDamage = replaced
    state = Locked(State(store: store))
  }

  private static func open(
    _ opening: SQLiteOpening, limit: Int, _ onDiagnostic: (@Sendable (CacheError) -> Void)?
  ) async throws(CacheError) -> (store: SQLiteStore, replacedDamage: String?) {
    let opened = try await opening.open()
    let store: SQLiteStore
    do throws(StorageError) {
      let lastUse = try await opened.database.read { (connection) throws(StorageError) in
        try SQLiteStore.lastUse(connection)
      }
      let changes = try await SQLiteStore.changes(opened.database)
      store = SQLiteStore(
        opened, path: opening.path, limit: limit, lastUse: lastUse, changes: changes, isEncrypted: opening.key != nil,
        onDiagnostic: onDiagnostic)
    } catch {
      try? await opened.database.close()
      opened.claim.release()
      throw CacheError(error, path: opening.path)
    }
    do throws(CacheError) { try await store.clearUp() } catch {
      // The file is full, or somebody else writes for long: the next opening clears up.
      onDiagnostic?(error)
    }
    return (store, opened.replaced)
  }

  /// The open file for a change: made again where it was deleted. Entries that are held read on from the deleted one.
  private func presentStore() async throws(CacheError) -> SQLiteStore {
    let (present, use) = state.withLock { ($0.store, $0.use) }
    guard use == .open, !present.database.isInPlace else { return present }
    // Of several that come at once one makes it, and who suspends the cache waits for that.
    try await calls.run { [self] () throws(CacheError) in
      let (former, use) = state.withLock { ($0.store, $0.use) }
      guard use == .open, !former.database.isInPlace else { return }
      let made = try await SQLiteCache.open(opening, limit: limit, onDiagnostic).store
      let formers = state.withLock { $0.formers }.filter { $0.store != nil } + [Former(store: former)]
      _ = state.withLock { state in (exchange(&state.formers, with: formers), exchange(&state.store, with: made)) }
    }
    return store
  }

  /// Gives the file of a closed cache another key, encrypts a plain one (`from` is nil), or the reverse (`to` is nil); the
  /// entries stay.
  ///
  /// After a crash at any instant the old key opens it, or the new one. Throws `failed` where anybody has it open, and for
  /// what the disk refuses: the reason says so where the new key opens it all the same; `foreign` for a file of something else
  /// or of a later version, which is left as it is; `wrongKey`, `encrypted`, `notEncrypted`, `corrupt`, `full`.
  public static func changeKey(
    path: String, from old: StorageKey?, to new: StorageKey?
  ) async throws(CacheError) {
    let claim = try await FileClaim.make(path + ".lock")
    defer { claim.release() }
    do throws(StorageError) {
      guard claim.isAlone else { throw StorageError.inUse(path) }
      if try DatabaseFile(path).content() == .other { throw StorageError.foreign(path) }
      try await Database.rekey(path, from: old, to: new, schema: SQLiteCacheSchema.schema)
    } catch {
      throw CacheError(error, path: path)
    }
  }

  /// The entry under a key.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { try store.entry(key) }

  /// Keeps an entry and removes those that were not used for longest, as far as it needs their room.
  ///
  /// Throws `tooLarge`, `full`, `readOnly`, `closed`, `failed`; what was under the key is still there then.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= entryLimit else { throw .tooLarge(limit: entryLimit) }
    let store = try await presentStore()
    if entry.length <= SQLiteCacheSchema.inlineLimit { return try await store.put(entry, key) }
    let writer = SQLiteCacheWriter(store, limit: entryLimit)
    var start = 0
    while start < entry.length {
      let end = min(entry.length, start + (256 << 10))
      try await writer.append(try await entry.read(start..<end))
      start = end
    }
    _ = try await writer.commit(entry.metadata, forKey: key)
  }

  /// Forgets one entry.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    let store = try await presentStore()
    try await store.change(.entry(key)) { (connection, doomed) throws(StorageError) in
      try store.remove("key = ?", .text(key), connection, &doomed)
    }
  }

  /// Forgets everything; the file keeps its length, its pages are used again.
  public func removeAll() async throws(CacheError) {
    let store = try await presentStore()
    try await store.change(.everything) { (connection, doomed) throws(StorageError) in
      try store.removeEverything(connection, &doomed)
    }
  }

  /// Replaces the metadata where the entry under the key is the one seen, as one step; the content is not written again.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    guard StoredRow.cost(key: key, metadata: metadata.encoded().count, size: entry.length) <= Int64(limit) else {
      throw .tooLarge(limit: limit)
    }
    let store = try await presentStore()
    try await store.change(.entry(key)) { (connection, doomed) throws(StorageError) in
      try store.replace(metadata, of: entry, key, connection, &doomed)
    }
  }

  /// A writer that stages what is large in the file, 256 KiB at a time, and makes it visible by one short transaction.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    let store = try await presentStore()
    switch state.withLock({ $0.use }) {
    case .open: return SQLiteCacheWriter(store, limit: entryLimit)
    case .suspended: throw .suspended
    case .closed: throw .closed
    }
  }

  func sharedPart(ofKey key: String) -> (changes: SharedChanges, part: Int)? {
    let store = store
    return store.changes.map { ($0, store.part(of: key)) }
  }

  /// How many bytes the entries take, as `limit` counts them.
  public func usedBytes() throws(CacheError) -> Int { try store.number("SELECT total FROM usage") }

  /// How many entries there are.
  public func count() throws(CacheError) -> Int { try store.number("SELECT count(*) FROM entry") }

  /// Writes what is noted in memory and closes the file; calls from then on throw `closed`. A second call does nothing.
  public func close() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      let (store, former) = state.withLock { state in (state.store, exchange(&state.use, with: .closed)) }
      switch former {
      case .open: try await store.close()
      // Nothing is open: calls throw `closed` from now on.
      case .suspended, .closed:
        do throws(StorageError) { try await store.database.close() } catch { throw store.failure(error) }
      }
    }
  }

  /// Writes what is noted in memory, moves the log into the file, and gives every lock back, so that the system may suspend the
  /// process; see the article "Suspension".
  ///
  /// Writers under way end. Calls, and reading the content of held entries, throw `suspended` until ``resume()``. Two calls at
  /// once, and any mixture with ``resume()`` and ``close()``, run one after another; a closed cache stays so. Throws `failed`;
  /// the cache is suspended all the same.
  public func suspend() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      let stores = state.withLock { state -> [SQLiteStore] in
        guard state.use == .open else { return [] }
        state.use = .suspended
        return state.formers.compactMap(\.store) + [state.store]
      }
      var failure: CacheError?
      for store in stores {
        do throws(CacheError) { try await store.suspend() } catch { failure = error }
      }
      if let failure { throw failure }
    }
  }

  /// Opens the file of a suspended cache again, as at first. A damaged file is replaced if nothing else has it open, and
  /// `onDiagnostic` gets the reason. Entries from before the suspension throw `gone` when their content is read. A cache that is
  /// not suspended stays as it is.
  ///
  /// Throws what opening throws; the cache stays suspended then.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard state.withLock({ $0.use }) == .suspended else { return }
      let (store, replaced) = try await SQLiteCache.open(opening, limit: limit, onDiagnostic)
      let formers = state.withLock { state in
        state.use = .open
        return state.formers.compactMap(\.store) + [exchange(&state.store, with: store)]
      }
      for former in formers { former.isReplaced.store(true, ordering: .releasing) }
      if let replaced { onDiagnostic?(.corrupt(path: path, reason: replaced)) }
    }
  }
}
