@_spi(Stores) import LarderCore
import LarderStorage
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A cache's open folder.
///
/// Lookups take no lock, because every file is complete before it gets its name. Changes of the folder hold the lock: a
/// mutex among the threads of this cache, and `flock` on the state file among caches and processes.
final class CacheFolder: Sendable {
  let path: String
  let root: Descriptor
  let state: Descriptor
  let header: FolderState.Header
  /// The keys of an encrypted folder.
  let keys: FolderKeys?
  let disk: Disk
  let limit: Int
  let synchronizes: Bool
  let clock: UseClock
  let environment: LarderEnvironment
  let uses = RecordedUses()
  let heads = EntryHeadCache()
  /// Notifies other processes of changes; nil if the file system cannot share memory, or the folder is not writable.
  let changes: SharedChanges?
  /// The last use of the entry evicted last, or when the folder was opened: entries have stayed at least since then.
  let horizon: Atomic<Int64>
  /// The shelf that the next sample begins with: where the last one ended.
  let nextShelf: Atomic<Int>
  /// Nil if the folder cannot be written.
  let session: FolderSession?
  let onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  /// Changed when the cache is closed or suspended: background work ends at its next step.
  let use = Atomic(StoreUse.open)
  /// True while a thread evicts entries, so that others do not.
  let isEvicting = Atomic(false)
  private let exclusive = Exclusive(())

  /// The options for opening a folder.
  struct Options: Sendable {
    var limit: Int
    var synchronizes = false
    var key: StorageKey?
    var protection = FileProtection.completeUntilFirstUserAuthentication
    var setProtection = FileProtection.system
    var faults: DiskFaults?
    /// The clock of uses, and random numbers for the seed of names, the first shelf to scan and the names of files.
    var environment = LarderEnvironment.system
    var onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  }

  /// Opens a folder, and creates it if it does not exist.
  init(_ path: String, _ options: Options) throws(CacheError) {
    let disk = Disk(faults: options.faults, protection: options.protection, setProtection: options.setProtection)
    self.path = path
    self.disk = disk
    environment = options.environment
    limit = options.limit
    synchronizes = options.synchronizes
    onDiagnostic = options.onDiagnostic
    nextShelf = Atomic(Int(options.environment.random() % UInt64(EntryName.shelves)))
    let (root, opened) = try CacheFolder.system(path) { () throws(Errno) in
      // The system would read such a path as a shorter one.
      if path.utf8.contains(0) { throw Errno(EINVAL) }
      try CacheFolder.makeFolders(path, disk)
      let root = Descriptor(try disk.openFolder(AT_FDCWD, path, isLink: true))
      return (root, try CacheFolder.openState(root, disk))
    }
    (self.root, state) = (root, opened.file)
    // Before the lock is taken, because deriving a key from a passphrase takes time.
    let storedHeader = try CacheFolder.system(path) { () throws(Errno) in try CacheFolder.header(opened.file, disk) }
    let keys =
      try storedHeader.map { (storedHeader) throws(CacheError) in try CacheFolder.keys(storedHeader, options.key, path)
      } ?? nil
    if opened.isWritable {
      (header, self.keys) = try CacheFolder.prepare(
        root, state: state, disk: disk, options: options, path: path, storedHeader: storedHeader, keys: keys)
      session = try CacheFolder.system(path) { () throws(Errno) in try FolderSession(root, disk, options.environment) }
      changes = try CacheFolder.openChanges(path, state, disk)
    } else {
      if let storedHeader {
        (header, self.keys) = (storedHeader, keys)
      } else {
        (header, self.keys) = try CacheFolder.new(options, path)
      }
      session = nil
      changes = (try? SharedCounter(reading: path + "/" + FolderNames.changes)).map(SharedChanges.init)
    }
    let used = try CacheFolder.system(path) { () throws(Errno) in try disk.status(opened.file.number).time }
    clock = UseClock(options.environment, after: used)
    horizon = Atomic(clock.now)
  }

  private static func system<Value>(
    _ path: String, _ body: () throws(Errno) -> Value
  ) throws(CacheError) -> Value {
    do throws(Errno) { return try body() } catch { throw openingError(error, path) }
  }

  private static func openingError(_ error: Errno, _ path: String) -> CacheError {
    switch error.code {
    case ENOENT, ENOTDIR, EINVAL:
      .failed(path: path, reason: "The path is not a folder, and no folder can be created there.")
    default: error.cacheError(path)
    }
  }

  private static func laterVersion(_ path: String) -> CacheError {
    .notSupported(
      "the cache folder \(path) was created by a later version. Update this program, choose another folder, or "
        + "delete the folder.")
  }

  private static func makeFolders(_ path: String, _ disk: Disk) throws(Errno) {
    do throws(Errno) {
      try disk.makeFolder(AT_FDCWD, path)
    } catch {
      guard error.code == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
        throw error
      }
      // One level for each call; a path is at most some thousand characters long.
      try makeFolders(String(path[..<slash]), disk)
      try disk.makeFolder(AT_FDCWD, path)
    }
  }

  private static func openState(_ root: Descriptor, _ disk: Disk) throws(Errno) -> (file: Descriptor, isWritable: Bool)
  {
    do throws(Errno) {
      return (Descriptor(try disk.create(root.number, FolderNames.state, isNew: false)), true)
    } catch {
      guard error.purpose != .protecting, [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
      let failure: Errno
      do throws(Errno) { return (Descriptor(try disk.open(root.number, FolderNames.state)), false) } catch {
        failure = error
      }
      // On a locked device the file cannot even be read.
      throw failure.code == EPERM ? failure : error
    }
  }

  private static func header(_ state: Descriptor, _ disk: Disk) throws(Errno) -> FolderState.Header? {
    FolderState.header(try disk.read(state.number, FolderState.headerLength, at: 0))
  }

  /// The keys to open a folder with; nil for a plain one.
  private static func keys(
    _ header: FolderState.Header, _ key: StorageKey?, _ path: String
  ) throws(CacheError) -> FolderKeys? {
    switch (header, key) {
    case (.plain, nil): return nil
    case (.plain, _): throw .notEncrypted(path: path)
    case (.encrypted, nil): throw .encrypted(path: path)
    case (.encrypted(let header), let key?):
      do throws(StorageError) { return try FolderKeys.of(header, key, folder: path) } catch {
        throw CacheError(error, path: path)
      }
    }
  }

  /// The header and the keys of a new folder.
  private static func new(
    _ options: Options, _ path: String
  ) throws(CacheError) -> (FolderState.Header, FolderKeys?) {
    guard let key = options.key else { return (.plain(FolderSeed(options.environment.random)), nil) }
    do throws(StorageError) {
      let keys = try FolderKeys.new(key)
      return (.encrypted(keys.header), keys)
    } catch {
      throw CacheError(error, path: path)
    }
  }

  /// Reads the state under its lock, or writes a new one if there is none or it is damaged. `storedHeader` is the state before
  /// the lock was taken, with its keys.
  private static func prepare(
    _ root: Descriptor, state: Descriptor, disk: Disk, options: Options, path: String,
    storedHeader: FolderState.Header?, keys: FolderKeys?
  ) throws(CacheError) -> (FolderState.Header, FolderKeys?) {
    try system(path) { () throws(Errno) in try lock(state, disk) }
    defer { disk.unlock(state.number) }
    let bytes = try system(path) { () throws(Errno) in
      try disk.read(state.number, FolderState.headerLength, at: 0)
    }
    if let header = FolderState.header(bytes) {
      // Another process may have created the state in the meantime.
      let keys = header == storedHeader ? keys : try self.keys(header, options.key, path)
      try system(path) { () throws(Errno) in try ensureShelvesAreLocal(root, disk, options.environment) }
      return (header, keys)
    }
    if FolderState.isLater(bytes) { throw laterVersion(path) }
    let newState = try new(options, path)
    try system(path) { () throws(Errno) in
      // Entries are found only with the header: without it they are useless.
      try disk.makeFolder(root.number, FolderNames.removed)
      CacheFolder.discard(FolderNames.entries, root: root, disk: disk, environment: options.environment)
      try disk.makeFolder(root.number, FolderNames.entries)
      try disk.write(state.number, FolderState.bytes(newState.0), at: 0)
      if options.synchronizes { try disk.sync(state.number) }
    }
    return newState
  }

  /// Opens the shared numbers that notify other processes of changes. Called with the lock held that every change
  /// holds.
  private static func openChanges(
    _ path: String, _ state: Descriptor, _ disk: Disk
  ) throws(CacheError) -> SharedChanges? {
    try system(path) { () throws(Errno) in try lock(state, disk) }
    defer { disk.unlock(state.number) }
    do throws(StorageError) {
      let counter = try SharedCounter(path + "/" + FolderNames.changes, like: path + "/" + FolderNames.state)
      counter.repairParts()
      return SharedChanges(counter)
    } catch {
      guard error.category == .notSupported else { throw CacheError(error, path: path) }
      return nil
    }
  }

  /// Ensures that the shelves are in a folder of their own, not behind a link to one.
  private static func ensureShelvesAreLocal(_ root: Descriptor, _ disk: Disk, _ environment: LarderEnvironment)
    throws(Errno)
  {
    guard let entries = try? disk.status(root.number, FolderNames.entries), entries.kind != .folder else { return }
    try disk.makeFolder(root.number, FolderNames.removed)
    CacheFolder.discard(FolderNames.entries, root: root, disk: disk, environment: environment)
  }

  /// Resets a folder so that no key opens it and every key can create it again. A folder of a later version is not
  /// changed and throws `notSupported`.
  static func forget(_ path: String) throws(CacheError) {
    let disk = Disk(faults: nil)
    let isForgotten = try system(path) { () throws(Errno) -> Bool in
      let root = Descriptor(try disk.openFolder(AT_FDCWD, path, isLink: true))
      let state = Descriptor(try disk.open(root.number, FolderNames.state, O_RDWR))
      try lock(state, disk)
      defer { disk.unlock(state.number) }
      if FolderState.isLater(try disk.read(state.number, FolderState.headerLength, at: 0)) { return false }
      try disk.write(state.number, [UInt8](repeating: 0, count: FolderState.headerLength), at: 0)
      return true
    }
    if !isForgotten { throw laterVersion(path) }
  }

  /// Waits for the lock of other processes, which they hold only briefly.
  private static func lock(_ state: Descriptor, _ disk: Disk) throws(Errno) {
    var pause = 0
    var waited = 0
    while try !disk.lock(state.number) {
      // A process that was stopped while it held the lock must not block this one forever.
      guard waited < 10_000_000_000 else { throw Errno(ETIMEDOUT) }
      pause = min(pause + 20_000, 1_000_000)
      waited += pause
      var time = timespec(tv_sec: 0, tv_nsec: pause)
      // The variable is local; the remaining time is not requested.
      _ = unsafe nanosleep(&time, nil)
    }
  }

  /// Runs with the folder's lock held: no other thread or process changes anything in the meantime.
  func exclusively<R: Sendable>(_ body: () throws(CacheError) -> R) throws(CacheError) -> R {
    try exclusive.run { (_) throws(CacheError) -> R in
      // Checked here, so that no thread takes the lock after the cache was suspended.
      if isSuspended { throw .suspended }
      do throws(Errno) {
        try CacheFolder.lock(state, disk)
      } catch {
        throw error.cacheError(path)
      }
      defer { disk.unlock(state.number) }
      try checkState()
      return try body()
    }
  }

  /// True once the cache is closed or suspended.
  var isStopped: Bool { use.load(ordering: .acquiring) != .open }

  private var isSuspended: Bool { use.load(ordering: .acquiring) == .suspended }

  /// The error to throw if the cache is closed or suspended; nil while it is open.
  var stopError: CacheError? {
    switch use.load(ordering: .acquiring) {
    case .open: nil
    case .suspended: .suspended
    case .closed: .closed
    }
  }

  /// Runs `body`. If it fails because the cache is closed or suspended in the meantime, that error is thrown instead.
  func unlessStopped<R>(_ body: () async throws(CacheError) -> R) async throws(CacheError) -> R {
    do throws(CacheError) { return try await body() } catch { throw stopError ?? error }
  }

  /// Releases the locks of a stopped folder, after their current holders.
  func release() {
    exclusive.run { _ in }
    changes?.end()
    session?.end()
  }

  /// Changes one entry, or all of them if `name` is nil, with the folder's lock held. Other processes are notified.
  func changing<R: Sendable>(
    _ name: EntryName?, _ body: () throws(CacheError) -> R
  ) throws(CacheError) -> R {
    try exclusively { () throws(CacheError) -> R in
      guard let counter = changes?.counter else { return try body() }
      let parts = name.map { $0.part..<$0.part + 1 } ?? 0..<SharedCounter.partCount
      counter.beginChange(of: parts)
      defer { counter.endChange(of: parts) }
      // Responses that any process is still receiving may be older than this change.
      if name == nil { for index in 0..<SharedCounter.invalidationCount { counter.countInvalidation(of: index) } }
      return try body()
    }
  }

  /// True if the folder, or a part that this cache needs, was deleted: data written now could not be found again.
  var isRemoved: Bool {
    func isGone(_ file: Int32) -> Bool { (try? disk.status(file))?.links == 0 }
    return isGone(state.number) || isGone(root.number) || session?.isRemoved ?? false
  }

  /// Throws if the folder was deleted, or emptied and created again. Data that this cache writes could not be found
  /// again, and must not be written if the folder is encrypted now. Called before bytes are written to a file, and
  /// again before the file is moved to its place.
  func checkState() throws(CacheError) {
    let bytes: [UInt8]
    do throws(Errno) {
      guard try disk.status(state.number).links > 0 else { throw Errno(ENOENT) }
      bytes = try disk.read(state.number, FolderState.headerLength, at: 0)
    } catch {
      throw error.cacheError(path)
    }
    // If there is no state, or a damaged one, the next opening creates the folder again.
    guard FolderState.header(bytes).map({ $0 == header }) ?? !FolderState.isLater(bytes) else {
      throw .failed(
        path: path,
        reason: "The folder was deleted and created again while the cache was open. Close the cache and open it again.")
    }
  }

  /// The name of a key's entry.
  func name(of key: String) throws(CacheError) -> EntryName {
    if case .plain(let seed) = header { return EntryName(key: key, seed: seed) }
    guard let keys, let name = EntryName(key: key, keys: keys) else {
      throw .failed(path: path, reason: "The platform's cryptography failed.")
    }
    return name
  }

  /// The folder for incomplete files. Throws `readOnly` if there can be none.
  func writable() throws(CacheError) -> FolderSession {
    guard let session else { throw CacheError.readOnly(path: path) }
    return session
  }

  /// The full path of a file in the folder, for messages.
  func fullPath(_ below: String) -> String { path + "/" + below }

  /// Reports an error that no call can throw; work that a suspension ended is none. Call it without the folder's lock.
  func report(_ name: ContentDiagnostic, _ error: CacheError) {
    switch error {
    case .closed, .suspended: return
    default: LarderDiagnostic.failed(name, path: path, error).report(to: onDiagnostic)
    }
  }

  /// The age at which a recorded use is renewed: a sixteenth of the time that entries stay.
  func granularity(_ now: Int64) -> Int64 {
    let span = UseClock.difference(now, horizon.load(ordering: .relaxed)) / 16
    return min(max(span, 1_000_000_000), 3_600_000_000_000)
  }

  /// Moves a file or folder out of the way, to be deleted later.
  static func discard(_ name: String, root: Descriptor, disk: Disk, environment: LarderEnvironment) {
    // A link would lead out of the cache.
    guard (try? disk.status(root.number, FolderNames.removed))?.kind == .folder else { return }
    let target = FolderNames.removed + "/" + Hexadecimal.text(environment.random(), digits: 16)
    try? disk.rename(root.number, name, to: root.number, target)
  }

  func discard(_ name: String) {
    try? disk.makeFolder(root.number, FolderNames.removed)
    CacheFolder.discard(name, root: root, disk: disk, environment: environment)
  }
}

extension FileCache {
  /// Whether a folder already belongs to a cache. A folder that cannot be read counts as one, so that opening it throws
  /// the reason.
  package static func isPresent(at path: String) -> Bool {
    do throws(Errno) {
      _ = try Disk(faults: nil).status(AT_FDCWD, path + "/" + FolderNames.state)
      return true
    } catch {
      return error.code != ENOENT && error.code != ENOTDIR
    }
  }
}

extension FolderSeed {
  /// Creates a random seed.
  init(_ draw: () -> UInt64) { self.init(high: draw(), low: draw()) }
}
