import LarderCore
public import LarderStorage
import Synchronization

/// Stores responses in one SQLite file, within a limit of bytes.
///
/// A lookup is one point read, on the caller's thread. It includes content up to 64 KiB. Larger content is read and
/// written in pieces, so that it neither fills the memory nor blocks other writers for long. Every byte is checked
/// before it is returned: an entry that the disk has damaged is removed, and throws
/// ``CacheError/corrupt(path:reason:)`` once.
///
/// An entry stays readable while it is held, even if this process has replaced or removed it in the meantime. If
/// another process has removed it, its content may be deleted, and reading it throws ``CacheError/gone``.
///
/// Eviction removes the least recently used entries. It includes uses that a process has recorded but not written yet:
/// uses are written with other changes, in the background, and by ``close()``. The file does not shrink; its pages are
/// reused. Several caches and processes may have one file open at once. If the file is deleted while it is open, the
/// next change creates it again.
///
/// A stored entry survives any end of the process. For a power failure, see `synchronizes`.
public final class SQLiteCache: Cache, SharedCache {
  /// The file's path.
  public let path: String
  /// The maximum number of bytes of all entries.
  public let byteLimit: Int
  /// The maximum number of bytes of one entry's content.
  public let entryByteLimit: Int
  /// Why opening replaced a damaged file by a new one; nil if it did not.
  public let replacedDamage: String?

  private struct State {
    var store: SQLiteStore
    var use = StoreUse.open
    /// The stores of deleted files, as long as their entries are being read.
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

  /// Opens a file. Creates the file and its folder if they do not exist.
  ///
  /// A damaged cache file is replaced by an empty one, unless another cache has it open. If the damage hides whether it
  /// is a cache file at all, the file is kept beside the new one, with `.damaged` appended to its name. Files up to 64
  /// MiB are checked for damage each time, larger ones after damage was found.
  ///
  /// - Parameters:
  ///   - path: the file. The cache also uses the files with `-wal`, `-shm`, `-changes` and `.lock` appended to this
  ///     name. Nil means `APPLICATION/content-database/cache.larder-content` in the platform's folder for caches:
  ///     `Library/Caches` on Apple platforms, elsewhere `$XDG_CACHE_HOME` or `~/.cache`.
  ///   - byteLimit: the limit in bytes. An entry counts with its content, metadata and key, in whole pages of 4 KiB if
  ///     they are larger than most of one.
  ///   - entryByteLimit: the maximum number of bytes of one entry's content; by default `byteLimit`.
  ///   - synchronizes: if true, each change waits until the disk itself has it. If false, the last changes may be lost
  ///     if the power fails; the file stays intact all the same.
  ///   - encryptionKey: encrypts the file and its log; ``changeEncryptionKey(path:from:to:)`` encrypts an existing
  ///     file. Writers stage large content in the file itself, and SQLite's temporary files are encrypted too: no plain
  ///     text reaches the disk.
  ///   - fileProtection: when the file can be read and written, on Apple's devices.
  ///   - onDiagnostic: called with errors that no call can throw, from background work.
  /// - Throws: `wrongKey`, `encrypted` without a key, `notEncrypted` with one for a plain file, each at once and
  ///   without a change; `foreign` for another program's file or one of a later version, which is not changed;
  ///   `corrupt` for a damaged file that another cache has open; `readOnly`, `full`, `failed`; `noDefaultLocation`.
  public convenience init(
    path: String? = nil, byteLimit: Int = 512 << 20, entryByteLimit: Int? = nil, synchronizes: Bool = false,
    encryptionKey: StorageKey? = nil, fileProtection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) async throws(CacheError) {
    try await self.init(
      path: path, byteLimit: byteLimit, entryByteLimit: entryByteLimit, maximumPageCount: nil,
      synchronizes: synchronizes, encryptionKey: encryptionKey, protection: fileProtection, onDiagnostic: onDiagnostic)
  }

  /// - Parameter maximumPageCount: the maximum number of pages of 4 KiB in the file, to simulate a full disk.
  package init(
    path: String?, byteLimit: Int = 512 << 20, entryByteLimit: Int? = nil, maximumPageCount: Int? = nil,
    synchronizes: Bool = false, encryptionKey: StorageKey? = nil,
    protection: FileProtection = .completeUntilFirstUserAuthentication, folders: ApplicationFolders = .current,
    onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) async throws(CacheError) {
    let path = try CacheError.path(path, or: .sqliteCache, in: folders)
    self.path = path
    self.byteLimit = max(0, byteLimit)
    self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit), max(0, byteLimit), SQLiteCacheSchema.bodyLimit)
    let options = DatabaseOptions(
      synchronous: synchronizes ? .full : .normal, readers: 3, maximumPageCount: maximumPageCount,
      protection: protection)
    opening = SQLiteOpening(path: path, key: encryptionKey, options: options)
    self.onDiagnostic = onDiagnostic
    let (store, replaced) = try await SQLiteCache.open(opening, limit: max(0, byteLimit), onDiagnostic)
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
      // The file is full, or another process writes for a long time: the next opening clears up.
      onDiagnostic?(error)
    }
    return (store, opened.replaced)
  }

  /// The open file for a change: created again if it was deleted. Held entries continue to read from the deleted file.
  private func presentStore() async throws(CacheError) -> SQLiteStore {
    let (present, use) = state.withLock { ($0.store, $0.use) }
    guard use == .open, !present.database.isInPlace else { return present }
    // If several calls arrive at once, one creates the file, and a suspension waits for it.
    try await calls.run { [self] () throws(CacheError) in
      let (former, use) = state.withLock { ($0.store, $0.use) }
      guard use == .open, !former.database.isInPlace else { return }
      let newStore = try await SQLiteCache.open(opening, limit: byteLimit, onDiagnostic).store
      let formers = state.withLock { $0.formers }.filter { $0.store != nil } + [Former(store: former)]
      _ = state.withLock { state in (exchange(&state.formers, with: formers), exchange(&state.store, with: newStore)) }
    }
    return store
  }

  /// Changes the key of a closed cache's file, encrypts a plain file (`from` is nil), or decrypts one (`to` is nil).
  /// The entries stay.
  ///
  /// After a crash at any instant, either the old key or the new one opens the file. Throws `failed` if any process has
  /// the file open, and for errors of the disk: the reason states whether the new key opens the file all the same.
  /// Throws `foreign` for another program's file or one of a later version, which is not changed; `wrongKey`,
  /// `encrypted`, `notEncrypted`, `corrupt`, `full`.
  ///
  /// - Parameters:
  ///   - path: the file; nil means the one of a cache without a path.
  ///   - old: the current key; nil for a plain file.
  ///   - new: the new key; nil decrypts the file.
  public static func changeEncryptionKey(
    path: String? = nil, from old: StorageKey?, to new: StorageKey?
  ) async throws(CacheError) {
    let path = try CacheError.path(path, or: .sqliteCache)
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

  /// Stores an entry, and removes the least recently used ones if it needs their space.
  ///
  /// Throws `tooLarge`, `full`, `readOnly`, `closed`, `failed`; the previous entry is still there then.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= entryByteLimit else { throw .tooLarge(limit: entryByteLimit) }
    let store = try await presentStore()
    if entry.length <= SQLiteCacheSchema.inlineLimit { return try await store.put(entry, key) }
    let writer = SQLiteCacheWriter(store, limit: entryByteLimit)
    var start = 0
    while start < entry.length {
      let end = min(entry.length, start + (256 << 10))
      try await writer.append(try await entry.read(start..<end))
      start = end
    }
    _ = try await writer.commit(entry.metadata, forKey: key)
  }

  /// Removes one entry.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    let store = try await presentStore()
    try await store.change(.entry(key)) { (connection, doomed) throws(StorageError) in
      try store.remove("key = ?", .text(key), connection, &doomed)
    }
  }

  /// Removes all entries. The file keeps its length; its pages are reused.
  public func removeAll() async throws(CacheError) {
    let store = try await presentStore()
    try await store.change(.everything) { (connection, doomed) throws(StorageError) in
      try store.removeEverything(connection, &doomed)
    }
  }

  /// Replaces the metadata if the given entry is still under the key, in one step. The content is not written again.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    guard StoredRow.cost(key: key, metadata: metadata.encoded().count, size: entry.length) <= Int64(byteLimit) else {
      throw .tooLarge(limit: byteLimit)
    }
    let store = try await presentStore()
    try await store.change(.entry(key)) { (connection, doomed) throws(StorageError) in
      try store.replace(metadata, of: entry, key, connection, &doomed)
    }
  }

  /// A writer that stages large content in the file, 256 KiB at a time, and makes it visible with one short
  /// transaction.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    let store = try await presentStore()
    switch state.withLock({ $0.use }) {
    case .open: return SQLiteCacheWriter(store, limit: entryByteLimit)
    case .suspended: throw .suspended
    case .closed: throw .closed
    }
  }

  func sharedPart(ofKey key: String) -> (changes: SharedChanges, part: Int)? {
    let store = store
    return store.changes.map { ($0, store.part(of: key)) }
  }

  /// The number of bytes of all entries, as `byteLimit` counts them.
  public var usedBytes: Int {
    get throws(CacheError) { try store.number("SELECT total FROM usage") }
  }

  /// The number of entries.
  public var count: Int {
    get throws(CacheError) { try store.number("SELECT count(*) FROM entry") }
  }

  /// Writes the uses recorded in memory and closes the file. Later calls throw `closed`. A second call does nothing.
  public func close() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      let (store, former) = state.withLock { state in (state.store, exchange(&state.use, with: .closed)) }
      switch former {
      case .open: try await store.close()
      // No file is open: calls throw `closed` from now on.
      case .suspended, .closed:
        do throws(StorageError) { try await store.database.close() } catch { throw store.failure(error) }
      }
    }
  }

  /// Writes the uses recorded in memory, moves the log into the file, and releases every lock, so that the system may
  /// suspend the process; see the article "Suspension".
  ///
  /// Open writers end. Calls, and reading the content of held entries, throw `suspended` until ``resume()``. Concurrent
  /// calls of this function, ``resume()`` and ``close()`` run one after another; a closed cache stays closed. Throws
  /// `failed`; the cache is suspended all the same.
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

  /// Opens the file of a suspended cache again, with all checks of the first opening. A damaged file is replaced if no
  /// other cache has it open, and `onDiagnostic` gets the reason. Entries from before the suspension throw `gone` when
  /// their content is read. A cache that is not suspended stays as it is.
  ///
  /// Throws the errors of opening; the cache stays suspended then.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard state.withLock({ $0.use }) == .suspended else { return }
      let (store, replaced) = try await SQLiteCache.open(opening, limit: byteLimit, onDiagnostic)
      let formers = state.withLock { state in
        state.use = .open
        return state.formers.compactMap(\.store) + [exchange(&state.store, with: store)]
      }
      for former in formers { former.isReplaced.store(true, ordering: .releasing) }
      if let replaced { onDiagnostic?(.corrupt(path: path, reason: replaced)) }
    }
  }
}
