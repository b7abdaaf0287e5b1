import Dispatch
package import LarderCore
public import LarderStorage
import Synchronization

/// Keeps each entry in files of its own, within a limit of bytes.
///
/// Metadata and content become visible together: both are written under other names, and one rename is the commit. A
/// process that is killed at any moment leaves whole entries, and others not at all; what it had begun is cleared up when
/// the folder is next opened. Every byte is checked before it is handed out: what the disk has damaged is removed, and
/// throws ``CacheError/corrupt(path:reason:)`` once.
///
/// When the files take more than the limit, entries go that were not used for long. There is no index in memory, whatever
/// the number of entries: the last use stands on the file, recorded with an exactness that suits how long entries stay
/// (from a second on), and a sample of a thousand decides. Up to that number the order is exact but for that.
///
/// Contents up to 128 KiB are read when the entry is looked up; larger ones in pieces, from a file that the entry holds
/// open. Several caches and processes may use one folder at once. A folder that is deleted while it is open holds nothing any
/// more; the next change makes it again.
public final class FileCache: Cache, SharedCache {
  /// The folder.
  public let path: String
  /// The most bytes that the files take.
  public let limit: Int

  private let state: Locked<State>
  private let calls: SerialCalls
  /// MemoryEntry by who makes a deleted folder again.
  private let making = Exclusive(())

  private enum State {
    case open(CacheFolder)
    case suspended
    case closed
  }
  private let options: CacheFolder.Options
  /// Where what is not urgent is done: clearing up, deleting.
  private let background = DispatchQueue(label: "larder.file-cache", qos: .utility)

  /// Opens a folder; makes it where it is missing.
  ///
  /// - Parameters:
  ///   - path: a folder for the cache alone. Names that begin with `larder.` are its own in there.
  ///   - limit: in bytes: the sum of the lengths of the files. Larger contents throw `tooLarge`.
  ///   - synchronizes: true waits at each entry until the disk itself has it. Without, an entry outlives the process, however
  ///     that ends, but where power is lost the last ones may be missing. A damaged one is served in neither case.
  ///   - key: encrypts all of the files, and makes their names. Opening with a passphrase takes about a tenth of a second
  ///     of work on the caller's thread. The key of a folder is not changed: ``clear(path:)`` empties it, so that it can be
  ///     opened with another or with none.
  ///   - fileProtection: when entries can be read and stored, on Apple's devices.
  ///   - onDiagnostic: is told what went wrong where no call can throw it: while room was made, or in the background.
  /// - Throws: `wrongKey`, `encrypted` without a key, `notEncrypted` with one for a plain folder, each at once and changing
  ///   nothing; `readOnly` where the folder neither can be written nor is a cache's already, `full`, `failed`,
  ///   `notSupported` for the folder of a later version. A cache's folder that cannot be written opens and gives what it
  ///   holds; all that would change it throws `readOnly`.
  public convenience init(
    path: String, limit: Int = 512 << 20, synchronizes: Bool = false, key: StorageKey? = nil,
    fileProtection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) throws(CacheError) {
    try self.init(
      path,
      CacheFolder.Options(
        limit: max(0, limit), synchronizes: synchronizes, key: key, protection: fileProtection,
        onDiagnostic: onDiagnostic))
  }

  /// Opens a folder with the environment and the failures of a test.
  package convenience init(
    path: String, limit: Int, synchronizes: Bool = false, environment: LarderEnvironment = .system, faults: DiskFaults?,
    key: StorageKey? = nil, onDiagnostic: (@Sendable (CacheError) -> Void)? = nil
  ) throws(CacheError) {
    try self.init(
      path,
      CacheFolder.Options(
        limit: limit, synchronizes: synchronizes, key: key, faults: faults, environment: environment,
        onDiagnostic: onDiagnostic))
  }

  private init(_ path: String, _ options: CacheFolder.Options) throws(CacheError) {
    let opened = try CacheFolder(path, options)
    self.path = path
    self.options = options
    calls = SerialCalls(options.environment)
    limit = options.limit
    state = Locked(.open(opened))
    sweep(opened)
  }

  deinit { stop(.closed)?.session?.end() }

  private func sweep(_ folder: CacheFolder) {
    background.async {
      do throws(CacheError) { try folder.sweep() } catch {
        // Of a folder that is deleted meanwhile nothing is left to be cleared up.
        if !folder.isStopped, !folder.isRemoved { folder.diagnose(error) }
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

  /// The folder for a change: made again where it was deleted.
  private func presentFolder() throws(CacheError) -> CacheFolder {
    let present = try open()
    guard present.isRemoved else { return present }
    // Of several that come at once one makes it, and who suspends the cache waits for that.
    return try making.run { (_) throws(CacheError) -> CacheFolder in
      let former = try open()
      guard former.isRemoved else { return former }
      let made = try CacheFolder(path, options)
      let (isTaken, _) = state.withLock { state -> (Bool, State?) in
        guard case .open(let held) = state, held === former else { return (false, nil) }
        return (true, exchange(&state, with: .open(made)))
      }
      (isTaken ? former : made).session?.end()
      if isTaken { sweep(made) }
      return try open()
    }
  }

  /// The entry under a key, or nil where there is none (any more); never waits but for the disk.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    let folder = try open()
    if let entry = try folder.entry(key) { return entry }
    // Another process may have made a deleted folder again; looking for an entry makes none.
    guard folder.isRemoved, FileCache.isPresent(at: path) else { return nil }
    return try presentFolder().entry(key)
  }

  /// Keeps an entry, in place of what was under that key, and makes room for it where that is needed.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    guard entry.length <= folder.limit else { throw CacheError.tooLarge(limit: folder.limit) }
    if entry.length <= EntryFile.inlineLimit {
      let content = try await entry.read(0..<entry.length)
      guard content.count == entry.length else {
        throw CacheError.failed(path: path, reason: "The entry gave too little.")
      }
      try await folder.unlessStopped { () throws(CacheError) in
        let name = try folder.name(of: key)
        let bytes = try folder.bytes(name, key, entry.metadata, length: entry.length, .inline(content))
        try folder.publish(name, bytes)
      }
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
          throw CacheError.failed(path: path, reason: "The entry gave too little.")
        }
        try writer.take(content)
      }
    }
    _ = try await writer.commit(entry.metadata, forKey: key)
  }

  /// Forgets one entry; nothing happens where there is none.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in try folder.removeEntry(key) }
  }

  /// Forgets everything at once; the files are deleted in the background.
  public func removeAll() async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in try folder.removeAll() }
    background.async { try? folder.emptyRemoved() }
  }

  /// Replaces an entry's metadata where it is still the entry that was seen; the file of a large content is left alone.
  public func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
    let folder = try presentFolder()
    try await folder.unlessStopped { () throws(CacheError) in
      try folder.update(entry.metadata, length: entry.length, to: metadata, key)
    }
    while folder.evict(keeping: key) { await Task.yield() }
  }

  /// Begins to take in content: in memory up to 128 KiB, then in a file.
  public func makeWriter() async throws(CacheError) -> any CacheWriter { try FileCacheWriter(presentFolder()) }

  /// The sum of the lengths of all files in use, in bytes: exact, but for what a process that died had begun, until that
  /// is cleared up.
  public var usedBytes: Int {
    get throws(CacheError) { try usage().bytes }
  }

  /// How many entries there are, as exact as ``usedBytes``. Two keys of one URL count as two.
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

  /// Ends the use of the folder; what is in it stays. Entries that are held stay readable; all other calls throw `closed`.
  public func close() async {
    await calls.run { [self] () async throws(Never) in
      guard let closing = stop(.closed) else { return }
      await drained()
      closing.session?.end()
    }
  }

  /// Gives every lock back, so that the system may suspend the process; see the article "Suspension".
  ///
  /// Writers under way end; entries that are held stay readable. All other calls throw `suspended` until ``resume()``. Two calls at
  /// once, and any mixture with ``resume()`` and ``close()``, run one after another; a closed cache stays so.
  public func suspend() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard let suspended = stop(.suspended) else { return }
      making.run { _ in }
      await drained()
      suspended.release()
    }
  }

  /// Opens the folder of a suspended cache again, as at first. A cache that is not suspended stays as it is.
  ///
  /// Throws what opening throws; the cache stays suspended then.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      guard case .suspended = state.withLock({ $0 }) else { return }
      let folder = try CacheFolder(path, options)
      _ = state.withLock { exchange(&$0, with: .open(folder)) }
      sweep(folder)
    }
  }

  /// Waits until what is done in the background is done.
  package func drained() async {
    await withCheckedContinuation { continuation in background.async { continuation.resume() } }
  }

  /// The path below the folder of the file that a key's entry has, or would have.
  package func place(of key: String) throws(CacheError) -> String {
    try open().name(of: key).path
  }

  /// Forgets everything that a closed cache's folder holds, whatever key it has, so that it can be opened with another key or
  /// without one. A cache that has it open meanwhile stores nothing in it from the next opening on; a file that it has begun
  /// by then stays, as it is, until its content fails or ends.
  ///
  /// Nothing happens where no cache has been. Throws `readOnly`, `failed`, and `notSupported` for the folder of a later
  /// version, which stays as it is.
  public static func clear(path: String) throws(CacheError) {
    guard isPresent(at: path) else { return }
    try CacheFolder.forget(path)
    let folder = try CacheFolder(path, CacheFolder.Options(limit: .max))
    defer { folder.session?.end() }
    // Processes that have it open do not use what they hold of it in memory any more.
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

  /// The folder that was in use; nil where there was none.
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
