import Dispatch
@_spi(Stores) public import LarderCore
public import LarderStorage
import Synchronization

/// Stores each entry in files of its own, within a limit of bytes.
///
/// Metadata and content become visible together: both are written under other names, and one rename commits them. If a
/// process is killed, each entry is either complete or absent; its incomplete files are removed when the folder is next
/// opened. Every byte is checked before it is returned: an entry that the disk has damaged is removed, and throws
/// ``CacheError/corrupt(path:reason:)`` once.
///
/// If the files exceed the limit, the least recently used entries are removed. No index is in memory, whatever the
/// number of entries. The last use is recorded on the file, with a precision that depends on how long entries stay (one
/// second or more), and a sample of a thousand entries decides. Up to that number of entries, the order is exact except
/// for this precision.
///
/// Content up to 128 KiB is read when the entry is looked up; larger content is read in pieces, from a file that the
/// entry holds open. Several caches and processes may use one folder at once. A folder that is deleted while it is open
/// is empty from then on; the next change creates it again.
public final class FileCache: Cache, SharedCache {
  /// The folder.
  public let path: String
  /// The maximum size of all files in bytes.
  public let byteLimit: Int

  private let state: Locked<State>
  private let calls: SerialCalls
  /// Held while a deleted folder is created again.
  private let making = Exclusive(())

  private enum State {
    case open(CacheFolder)
    case suspended
    case closed
  }
  private let options: CacheFolder.Options
  /// Runs work that is not urgent: clearing up and deleting.
  private let background = DispatchQueue(label: "larder.file-cache", qos: .utility)

  /// Opens a folder, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - path: a folder for the cache alone. Names in it that begin with `larder.` belong to the cache. Nil means
  ///     `APPLICATION/content` in the platform's folder for caches: `Library/Caches` on Apple platforms, elsewhere
  ///     `$XDG_CACHE_HOME` or `~/.cache`.
  ///   - byteLimit: the maximum sum of the files' lengths in bytes. Larger content throws `tooLarge`.
  ///   - synchronizes: if true, each store waits until the disk itself has the entry. If false, an entry survives any
  ///     end of the process, but the last entries may be lost if the power fails. A damaged entry is returned in
  ///     neither case.
  ///   - encryptionKey: encrypts all files, and determines their names. Opening with a passphrase takes about a tenth
  ///     of a second of work on the caller's thread. The key of a folder cannot be changed: ``clear(path:)`` empties
  ///     the folder, so that it can be opened with another key or without one.
  ///   - fileProtection: when entries can be read and stored, on Apple's devices.
  ///   - onDiagnostic: called with errors that no call can throw: during eviction, or in the background. Called on any
  ///     thread, and never under a lock.
  /// - Throws: `wrongKey`, `encrypted` without a key, `notEncrypted` with one for a plain folder, each at once and
  ///   without a change; `readOnly` if the folder is neither writable nor already a cache's, `full`, `failed`,
  ///   `notSupported` for the folder of a later version, `noDefaultLocation`. A cache's folder that cannot be written
  ///   opens and returns its entries; every change throws `readOnly`.
  public convenience init(
    path: String? = nil, byteLimit: Int = 512 << 20, synchronizes: Bool = false, encryptionKey: StorageKey? = nil,
    fileProtection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) throws(CacheError) {
    try self.init(
      path,
      CacheFolder.Options(
        limit: max(0, byteLimit), synchronizes: synchronizes, key: encryptionKey, protection: fileProtection,
        onDiagnostic: onDiagnostic))
  }

  /// Opens a folder with the environment and the failures of a test.
  package convenience init(
    path: String?, byteLimit: Int, synchronizes: Bool = false, environment: LarderEnvironment = .system,
    faults: DiskFaults?, encryptionKey: StorageKey? = nil, onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) throws(CacheError) {
    try self.init(
      path,
      CacheFolder.Options(
        limit: byteLimit, synchronizes: synchronizes, key: encryptionKey, faults: faults, environment: environment,
        onDiagnostic: onDiagnostic))
  }

  private init(_ path: String?, _ options: CacheFolder.Options) throws(CacheError) {
    let path = try CacheError.path(path, or: .fileCache, in: options.environment.folders)
    let opened = try CacheFolder(path, options)
    self.path = path
    self.options = options
    calls = SerialCalls(options.environment)
    byteLimit = options.limit
    state = Locked(.open(opened))
    sweep(opened)
  }

  deinit { stop(.closed)?.session?.end() }

  private func sweep(_ folder: CacheFolder) {
    background.async {
      do throws(CacheError) { try folder.sweep() } catch {
        // If the folder was deleted in the meantime, nothing is left to clear up.
        if !folder.isStopped, !folder.isRemoved { folder.report(.cleanUpFailed, error) }
      }
    }
  }

  private func open() throws(CacheError) -> CacheFolder {
    switch state.withLock({ $0 }) {
    case .open(let folder): return folder
    case .suspended: throw .suspended
    case .closed: throw .closed
    }
  }

  /// The folder for a change: created again if it was deleted.
  private func presentFolder() throws(CacheError) -> CacheFolder {
    let present = try open()
    guard present.isRemoved else { return present }
    // If several calls arrive at once, one creates the folder, and a suspension waits for it.
    return try making.run { (_) throws(CacheError) -> CacheFolder in
      let former = try open()
      guard former.isRemoved else { return former }
      let newFolder = try CacheFolder(path, options)
      let (isInstalled, _) = state.withLock { state -> (Bool, State?) in
        guard case .open(let current) = state, current === former else { return (false, nil) }
        return (true, exchange(&state, with: .open(newFolder)))
      }
      (isInstalled ? former : newFolder).session?.end()
      if isInstalled { sweep(newFolder) }
      return try open()
    }
  }

  /// The entry under a key, or nil if there is none (any more). Never waits except for the disk.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    let folder = try open()
    if let entry = try folder.entry(key) { return entry }
    // Another process may have created a deleted folder again; a lookup does not create one.
    guard folder.isRemoved, FileCache.isPresent(at: path) else { return nil }
    return try presentFolder().entry(key)
  }

  /// Stores an entry in place of the previous one under that key, and makes room for it if necessary.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    guard entry.length <= folder.limit else { throw CacheError.tooLarge(limit: folder.limit) }
    if entry.length <= EntryFile.inlineLimit {
      let content = try await entry.read(0..<entry.length)
      guard content.count == entry.length else {
        throw CacheError.failed(path: path, reason: "The entry's content is shorter than its length.")
      }
      let leftover = try await folder.unlessStopped { () throws(CacheError) in
        let name = try folder.name(of: key)
        let bytes = try folder.bytes(
          name, key: key, metadata: entry.metadata, length: entry.length, body: .inline(content))
        return try folder.publish(name, bytes)
      }
      if let leftover { folder.report(.cleanUpFailed, leftover) }
      while folder.evict(keeping: key) { await Task.yield() }
      return
    }
    let writer = try FileCacheWriter(folder)
    let piece = 16 * EntryFile.blockLength
    if let content = entry.bytesInMemory {
      try writer.take(content)
    } else {
      for start in stride(from: 0, to: entry.length, by: piece) {
        let range = start..<min(start + piece, entry.length)
        let content = try await entry.read(range)
        guard content.count == range.count else {
          throw CacheError.failed(path: path, reason: "The entry's content is shorter than its length.")
        }
        try writer.take(content)
      }
    }
    _ = try await writer.commit(entry.metadata, forKey: key)
  }

  /// Removes one entry. Does nothing if there is none.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in try folder.removeEntry(key) }
  }

  /// Removes all entries at once; the files are deleted in the background.
  public func removeAll() async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in try folder.removeAll() }
    background.async { try? folder.emptyRemoved() }
  }

  /// Replaces an entry's metadata if it is still the given entry; the file of large content is not written again.
  public func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in
      try folder.update(entry.metadata, length: entry.length, to: metadata, key)
    }
    while folder.evict(keeping: key) { await Task.yield() }
  }

  /// Creates a writer: content is kept in memory up to 128 KiB, then in a file.
  public func makeWriter() async throws(CacheError) -> any CacheWriter { try FileCacheWriter(presentFolder()) }

  /// The sum of the lengths of all files in use, in bytes. It is exact, except for incomplete files of a process that
  /// died, until these are cleared up.
  public var usedBytes: Int {
    get throws(CacheError) { try usage().bytes }
  }

  /// The number of entries, as exact as ``usedBytes``. Two keys of one URL count as two.
  public var count: Int {
    get throws(CacheError) { try usage().entries }
  }

  private func usage() throws(CacheError) -> (bytes: Int, entries: Int) {
    let folder = try presentFolder()
    do throws(Errno) {
      let usage = try folder.usage()
      return (usage.bytes, usage.entries)
    } catch {
      throw error.cacheError(path)
    }
  }

  /// Ends the use of the folder and keeps its files. Entries that are held stay readable; all other calls throw
  /// `closed`.
  public func close() async {
    await calls.run { [self] () async throws(Never) in
      guard let closing = stop(.closed) else { return }
      await drained()
      closing.session?.end()
    }
  }

  /// Releases every lock, so that the system may suspend the process; see the article "Suspension".
  ///
  /// Open writers end; entries that are held stay readable. All other calls throw `suspended` until ``resume()``.
  /// Concurrent calls of this function, ``resume()`` and ``close()`` run one after another; a closed cache stays
  /// closed.
  public func suspend() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard let suspended = stop(.suspended) else { return }
      making.run { _ in }
      await drained()
      suspended.release()
    }
  }

  /// Opens the folder of a suspended cache again, with all checks of the first opening. A cache that is not suspended
  /// stays as it is.
  ///
  /// Throws the errors of opening; the cache stays suspended then.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard case .suspended = state.withLock({ $0 }) else { return }
      let folder = try CacheFolder(path, options)
      _ = state.withLock { exchange(&$0, with: .open(folder)) }
      sweep(folder)
    }
  }

  /// Waits until the background work is done.
  package func drained() async {
    await withCheckedContinuation { continuation in background.async { continuation.resume() } }
  }

  /// The path, below the folder, of the file that a key's entry has or would have.
  package func filePath(of key: String) throws(CacheError) -> String {
    try open().name(of: key).path
  }

  /// Removes everything that a closed cache's folder holds, whatever its key is, so that it can be opened with another
  /// key or without one. A cache that has the folder open in the meantime stores nothing in it after the next opening.
  /// A file that it has begun by then stays, as it is, until its content fails or ends.
  ///
  /// A nil path means the folder of a cache without a path. Nothing happens if there is no cache. Throws `readOnly`,
  /// `failed`, and `notSupported` for the folder of a later version, which is not changed.
  public static func clear(path: String? = nil) throws(CacheError) {
    let path = try CacheError.path(path, or: .fileCache)
    guard isPresent(at: path) else { return }
    try CacheFolder.forget(path)
    let folder = try CacheFolder(path, CacheFolder.Options(limit: .max))
    defer { folder.session?.end() }
    // Processes that have the folder open no longer use their copies in memory.
    try folder.changing(nil) { () throws(CacheError) in }
    try folder.sweep()
    try CacheFolder.forget(path)
  }

  func sharedPart(ofKey key: String) -> (changes: SharedChanges, part: Int)? {
    guard let folder = try? open(), let changes = folder.changes, let name = try? folder.name(of: key) else {
      return nil
    }
    return (changes, name.part)
  }

  /// Changes the state and returns the folder that was in use; nil if there was none.
  private func stop(_ use: StoreUse) -> CacheFolder? {
    let (folder, _) = state.withLock { state -> (CacheFolder?, State?) in
      switch (state, use) {
      case (.open(let folder), _):
        folder.use.store(use, ordering: .releasing)
        return (folder, exchange(&state, with: use == .suspended ? .suspended : .closed))
      case (.suspended, .closed): return (nil, exchange(&state, with: .closed))
      case (.suspended, _), (.closed, _): return (nil, nil)
      }
    }
    return folder
  }
}
