import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A cache's folder, open.
///
/// Looking entries up takes no lock: every file is whole before it has its name. What changes the folder holds the lock,
/// a mutex among the threads of this cache and `flock` on the state file among caches and processes.
final class CacheFolder: Sendable {
  let path: String
  let root: Descriptor
  let state: Descriptor
  let header: FolderState.Header
  let disk: Disk
  let limit: Int
  let synchronizes: Bool
  let clock: UseClock
  let uses = RecordedUses()
  let heads = KnownHeads()
  /// The last use of what was evicted last, or when the folder was opened: entries have stayed for so long at least.
  let horizon: Atomic<Int64>
  /// The shelf that the next sample begins with: where the last one ended.
  let hand: Atomic<Int>
  /// Nil where the folder cannot be written.
  let session: FolderSession?
  let onDiagnostic: (@Sendable (CacheError) -> Void)?
  /// Set when the cache is closed: work in the background ends at its next step.
  let isStopped = Atomic(false)
  /// True while one thread evicts: others need not.
  let isEvicting = Atomic(false)
  private let exclusive = Mutex(())

  /// What a folder is opened with.
  struct Options: Sendable {
    var limit: Int
    var synchronizes = false
    var faults: DiskFaults?
    var clock = UseClock.Source.system
    /// Draws random numbers for what decides which entries go: the seed of their names, and the hand's first place.
    var draw: @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) }
    var onDiagnostic: (@Sendable (CacheError) -> Void)?
  }

  /// Opens a folder; makes it where it is missing.
  init(_ path: String, _ options: Options) throws(CacheError) {
    let disk = Disk(faults: options.faults)
    self.path = path
    self.disk = disk
    limit = options.limit
    synchronizes = options.synchronizes
    onDiagnostic = options.onDiagnostic
    hand = Atomic(Int(options.draw() % UInt64(EntryName.shelves)))
    do throws(Errno) {
      // The system would take such a path for a shorter one.
      if path.utf8.contains(0) { throw Errno(EINVAL) }
      try CacheFolder.makeFolders(path, disk)
      root = Descriptor(try disk.openFolder(AT_FDCWD, path, isLink: true))
      let opened = try CacheFolder.openState(root, disk)
      state = opened.file
      if opened.isWritable {
        header = try CacheFolder.prepare(root, state, disk, options)
        session = try FolderSession(root, disk)
      } else {
        let bytes = try disk.read(state.number, FolderState.headerLength, at: 0)
        header = FolderState.header(bytes) ?? FolderState.Header(seed: FolderSeed(options.draw))
        session = nil
      }
      let used = try disk.status(state.number).time
      clock = UseClock(options.clock, after: used)
      horizon = Atomic(clock.now)
    } catch {
      throw CacheFolder.openingError(error, path)
    }
  }

  private static func openingError(_ error: Errno, _ path: String) -> CacheError {
    switch error.code {
    case ENOTSUP: .notSupported("the cache folder \(path), which was made by a later version")
    case ENOENT, ENOTDIR, EINVAL:
      .failed(path: path, reason: "This is no path of a folder, and none can be made there.")
    default: error.cacheError(path)
    }
  }

  private static func makeFolders(_ path: String, _ disk: Disk) throws(Errno) {
    do throws(Errno) {
      try disk.makeFolder(AT_FDCWD, path)
    } catch {
      guard error.code == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash > path.startIndex else {
        throw error
      }
      // One level a turn; a path is at most some thousand characters long.
      try makeFolders(String(path[..<slash]), disk)
      try disk.makeFolder(AT_FDCWD, path)
    }
  }

  private static func openState(_ root: Descriptor, _ disk: Disk) throws(Errno) -> (file: Descriptor, isWritable: Bool)
  {
    do throws(Errno) {
      return (Descriptor(try disk.create(root.number, FolderNames.state, isNew: false)), true)
    } catch {
      guard [EROFS, EACCES, EPERM].contains(error.code) else { throw error }
      guard let file = try? disk.open(root.number, FolderNames.state) else { throw error }
      return (Descriptor(file), false)
    }
  }

  /// Reads the state under its lock, or writes a new one where there is none or a damaged one.
  private static func prepare(
    _ root: Descriptor, _ state: Descriptor, _ disk: Disk, _ options: Options
  ) throws(Errno) -> FolderState.Header {
    try lock(state, disk)
    defer { disk.unlock(state.number) }
    let bytes = try disk.read(state.number, FolderState.headerLength, at: 0)
    if let header = FolderState.header(bytes) {
      // The shelves are below a folder of their own, not behind a link to one.
      if let entries = try? disk.status(root.number, FolderNames.entries), entries.kind != .folder {
        try disk.makeFolder(root.number, FolderNames.removed)
        CacheFolder.discard(FolderNames.entries, root, disk)
      }
      return header
    }
    if FolderState.isLater(bytes) { throw Errno(ENOTSUP) }
    // Entries are found by the seed alone: without it they are of no use.
    try disk.makeFolder(root.number, FolderNames.removed)
    CacheFolder.discard(FolderNames.entries, root, disk)
    try disk.makeFolder(root.number, FolderNames.entries)
    let header = FolderState.Header(seed: FolderSeed(options.draw))
    try disk.write(state.number, FolderState.bytes(header), at: 0)
    if options.synchronizes { try disk.sync(state.number) }
    return header
  }

  /// Waits for the lock of other processes, which they hold for moments only.
  private static func lock(_ state: Descriptor, _ disk: Disk) throws(Errno) {
    var pause = 0
    var waited = 0
    while try !disk.lock(state.number) {
      // A process that was stopped while it held the lock must not stop this one for ever.
      guard waited < 10_000_000_000 else { throw Errno(ETIMEDOUT) }
      pause = min(pause + 20_000, 1_000_000)
      waited += pause
      var time = timespec(tv_sec: 0, tv_nsec: pause)
      // The variable is local; no rest is asked for.
      _ = unsafe nanosleep(&time, nil)
    }
  }

  /// Runs with the folder's lock held: nobody else changes anything meanwhile.
  func exclusively<R: Sendable>(_ body: () throws(CacheError) -> R) throws(CacheError) -> R {
    try exclusive.withLock { (_) throws(CacheError) -> R in
      do throws(Errno) {
        try CacheFolder.lock(state, disk)
      } catch {
        throw error.cacheError(path)
      }
      defer { disk.unlock(state.number) }
      return try body()
    }
  }

  /// The folder for files on their way; throws `readOnly` where there can be none.
  func writable() throws(CacheError) -> FolderSession {
    guard let session else { throw CacheError.readOnly(path: path) }
    return session
  }

  /// The full path of something in the folder, for messages.
  func fullPath(_ below: String) -> String { path + "/" + below }

  func diagnose(_ error: CacheError) { onDiagnostic?(error) }

  /// How far back a recorded use may be before a new one is recorded: a sixteenth of how long entries stay.
  func granularity(_ now: Int64) -> Int64 {
    let span = UseClock.difference(now, horizon.load(ordering: .relaxed)) / 16
    return min(max(span, 1_000_000_000), 3_600_000_000_000)
  }

  /// Puts something out of the way, to be deleted later.
  static func discard(_ name: String, _ root: Descriptor, _ disk: Disk) {
    let target = FolderNames.removed + "/" + HexadecimalText.text(UInt64.random(in: 0 ... .max), digits: 16)
    try? disk.rename(root.number, name, to: root.number, target)
  }

  func discard(_ name: String) {
    try? disk.makeFolder(root.number, FolderNames.removed)
    CacheFolder.discard(name, root, disk)
  }
}

extension FileCache {
  /// Whether a folder is a cache's already.
  package static func isPresent(at path: String) -> Bool {
    (try? Disk(faults: nil).status(AT_FDCWD, path + "/" + FolderNames.state)) != nil
  }
}

extension FolderSeed {
  /// A new one.
  init(_ draw: () -> UInt64) { self.init(high: draw(), low: draw()) }
}
