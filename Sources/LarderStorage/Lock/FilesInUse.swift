import LarderCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The database files that this process has connections to.
///
/// A process that closes any descriptor of a file drops all its record locks on it (POSIX.1-2024, `fcntl`), and SQLite's
/// locks are such: another process then takes the file for unused and removes the log that is still written to. So who
/// looks at a database's file by itself does it here: a descriptor of a file in use stays open until the last connection
/// to it is closed.
enum FilesInUse {
  fileprivate struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  private struct Use {
    var connections = 0
    /// Kept open, to be read from again.
    var descriptors: [Int32] = []
  }

  private static let uses = Locked<[Identity: Use]>([:])

  /// One connection's use of a file, from before it opens to after it has closed.
  final class Token: Sendable {
    private let identity: Identity

    fileprivate init(_ identity: Identity) { self.identity = identity }

    deinit { FilesInUse.leave(identity) }

    /// Whether a path leads to the file: not where it was moved, removed, or another took its place.
    func isReached(by path: String) -> Bool {
      var status = stat()
      return unsafe stat(path, &status) == 0 && Identity(status) == identity
    }
  }

  /// Notes that a connection is about to be opened; nil where there is no file.
  ///
  /// One that may make the file gives it and its companions their classes of protection, if it is the first of this process;
  /// nil leaves them as they are. `set` is the system's call for that.
  static func enter(
    _ path: String, makes: Bool, _ protection: FileProtection? = nil,
    set: (@Sendable (Int32, Int32) -> Int32)? = FileProtection.system
  ) throws(StorageError) -> Token? {
    let entered = uses.withLock { uses -> Result<Token?, Failure> in
      if makes { _ = make(at: path) }
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return .success(nil) }
      let identity = Identity(status)
      if makes, let protection, let set, uses[identity] == nil, let failure = protect(path, protection, set) {
        return .failure(failure)
      }
      uses[identity, default: Use()].connections += 1
      return .success(Token(identity))
    }
    do throws(Failure) { return try entered.get() } catch {
      throw StorageError(errno: error.number, "The class of protection cannot be set", file: path)
    }
  }

  /// Makes the log and its index before SQLite does, so that they have their class from the start. Only of a file to which this
  /// process has no connection: the index's locks would be dropped here.
  private static func protect(
    _ path: String, _ protection: FileProtection, _ set: @escaping @Sendable (Int32, Int32) -> Int32
  ) -> Failure? {
    // The companions stand beside the file itself, not beside a link to it.
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    let path = unsafe String(cString: resolved)
    let main = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    var status = stat()
    // What may not be opened here SQLite names.
    guard main >= 0 else { return nil }
    defer { _ = close(main) }
    guard unsafe fstat(main, &status) == 0 else { return nil }
    if protection.protect(main, set: set) != 0 { return Failure(number: errno) }
    for (suffix, protection) in [("-wal", protection), ("-shm", .none)] {
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      var file = unsafe open(path + suffix, flags | O_CREAT | O_EXCL, mode_t(0o600))
      if file >= 0 {
        // As SQLite makes them: for those who may use the file.
        _ = fchmod(file, status.st_mode & 0o777)
        _ = fchown(file, status.st_uid, status.st_gid)
      } else {
        file = unsafe open(path + suffix, flags)
      }
      guard file >= 0 else { continue }
      defer { _ = close(file) }
      if protection.protect(file, set: set) != 0 { return Failure(number: errno) }
    }
    return nil
  }

  private static func leave(_ identity: Identity) {
    uses.withLock { uses in
      guard var use = uses[identity] else { return }
      use.connections -= 1
      uses[identity] = use.connections > 0 ? use : nil
      if use.connections == 0 { for descriptor in use.descriptors { _ = close(descriptor) } }
    }
  }

  /// Makes an empty file where there is none, for its owner alone; answers the system's error, 0 for none.
  static func make(_ path: String) -> Int32 { uses.withLock { _ in make(at: path) } }

  /// Never in place of one that is there: two may come at once.
  private static func make(at path: String) -> Int32 {
    let made = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard made >= 0 else { return errno == EEXIST ? 0 : errno }
    // Of a file this new there is no connection yet: that would have to be noted first.
    _ = close(made)
    return 0
  }

  /// Whether an open file is one with content, neither a device nor a pipe.
  static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Writes a folder's list of files to the disk, where the file system can do that; false where it fails.
  static func syncFolder(_ path: String) -> Bool {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // One that may be written to and not read is no reason to make no store.
    guard folder >= 0 else { return true }
    defer { _ = close(folder) }
    return FileFlush.flush(folder) == 0 || [EINVAL, EROFS, ENOTSUP, EOPNOTSUPP, ENOTTY].contains(errno)
  }

  /// Has what was written to a file without locks of SQLite's reach the disk; answers the system's error, 0 for none. Nil where
  /// there is no file.
  static func flush(_ path: String) -> Int32? {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return errno == ENOENT ? nil : errno }
    defer { _ = close(file) }
    return FileFlush.flush(file) == 0 ? 0 : errno
  }

  /// What the system says about a file, and its first bytes.
  struct Look: Sendable, Equatable {
    var isRegular = false
    var byteCount: Int64 = 0
    /// When its content last changed, in nanoseconds since 1970.
    var modified: Int64 = 0
    var start: [UInt8] = []
  }

  /// Reads up to `count` bytes from the start of a file; the system's error where that fails.
  static func look(_ path: String, _ count: Int) -> Result<Look, Failure> {
    uses.withLock { uses in
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return .failure(Failure(number: errno)) }
      var look = Look(
        isRegular: status.st_mode & S_IFMT == S_IFREG, byteCount: Int64(status.st_size), modified: modified(status))
      guard look.isRegular, count > 0 else { return .success(look) }
      let kept = uses[Identity(status)]?.descriptors.first
      let descriptor = unsafe kept ?? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return .failure(Failure(number: errno)) }
      defer { if kept == nil { keepOrClose(descriptor, &uses) } }
      var bytes = [UInt8](repeating: 0, count: count)
      // The array lives through the call, which writes at most its length.
      let read = unsafe pread(descriptor, &bytes, count, 0)
      guard read >= 0 else { return .failure(Failure(number: errno)) }
      look.start = Array(bytes.prefix(read))
      return .success(look)
    }
  }

  private static func modified(_ status: stat) -> Int64 {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  private static func keepOrClose(_ descriptor: Int32, _ uses: inout [Identity: Use]) {
    var status = stat()
    // Where the system does not say which file it is, nothing is risked: it stays open.
    guard unsafe fstat(descriptor, &status) == 0 else { return }
    let identity = Identity(status)
    if uses[identity] == nil { _ = close(descriptor) } else { uses[identity]?.descriptors.append(descriptor) }
  }

  /// The system's error.
  struct Failure: Error {
    let number: Int32

    /// True where there is no file of that name.
    var isAbsence: Bool { number == ENOENT || number == ENOTDIR }
  }
}
