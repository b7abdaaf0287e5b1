@_spi(Stores) import LarderCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The database files to which this process has connections.
///
/// A process that closes any descriptor of a file drops all its record locks on it (POSIX.1-2024, `fcntl`), and SQLite
/// uses such locks: another process would then consider the file unused and remove the log that is still being written.
/// Therefore all code that reads a database's file without SQLite does so here: a descriptor of a file in use stays
/// open until the last connection to it is closed.
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

  /// One connection's use of a file, from before it opens until after it has closed.
  final class Token: Sendable {
    private let identity: Identity

    fileprivate init(_ identity: Identity) { self.identity = identity }

    deinit { FilesInUse.leave(identity) }

    /// Whether a path leads to the file. False if the file was moved, removed or replaced.
    func isReached(by path: String) -> Bool {
      var status = stat()
      return unsafe stat(path, &status) == 0 && Identity(status) == identity
    }
  }

  /// Registers a connection that is about to be opened; nil if there is no file.
  ///
  /// If the connection may create the file and is the first of this process, the file and its companions get their
  /// protection class; nil does not change it. `set` is the system's call for that.
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
      throw StorageError(errno: error.number, "The file protection class cannot be set", path: path)
    }
  }

  /// Creates the log and its index before SQLite does, so that they have their protection class from the start. The
  /// process must have no connection to the file: closing the index here would drop its locks.
  private static func protect(
    _ path: String, _ protection: FileProtection, _ set: @escaping @Sendable (Int32, Int32) -> Int32
  ) -> Failure? {
    // The companion files are beside the file itself, not beside a link to it.
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    let path = unsafe String(cString: resolved)
    let main = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    var status = stat()
    // If a file cannot be opened here, SQLite reports the error.
    guard main >= 0 else { return nil }
    defer { _ = close(main) }
    guard unsafe fstat(main, &status) == 0 else { return nil }
    if protection.protect(main, set: set) != 0 { return Failure(number: errno) }
    for (suffix, protection) in [("-wal", protection), ("-shm", .none)] {
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
      var file = unsafe open(path + suffix, flags | O_CREAT | O_EXCL, mode_t(0o600))
      if file >= 0 {
        // Created with the permissions that SQLite gives it: those of the database file.
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

  /// Creates an empty file if there is none, for its owner alone; returns the system's error, 0 for none.
  static func make(_ path: String) -> Int32 { uses.withLock { _ in make(at: path) } }

  /// Never replaces an existing file: two callers may do this at once.
  private static func make(at path: String) -> Int32 {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
    // A file this new has no connection yet: the connection would have to be registered first.
    _ = close(descriptor)
    return 0
  }

  /// Whether an open file is a regular file, neither a device nor a pipe.
  static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Flushes a folder's list of files to the disk, if the file system supports that; false if it fails.
  static func syncFolder(_ path: String) -> Bool {
    let folder = unsafe open(ByteText.path(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that is writable but not readable should not prevent the creation of a store.
    guard folder >= 0 else { return true }
    defer { _ = close(folder) }
    return FileFlush.flush(folder) == 0 || [EINVAL, EROFS, ENOTSUP, EOPNOTSUPP, ENOTTY].contains(errno)
  }

  /// Flushes a file that has none of SQLite's locks to the disk; returns the system's error, 0 for none. Nil if there
  /// is no file.
  static func flush(_ path: String) -> Int32? {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return errno == ENOENT ? nil : errno }
    defer { _ = close(file) }
    return FileFlush.flush(file) == 0 ? 0 : errno
  }

  /// The system's information about a file, and the file's first bytes.
  struct FileInfo: Sendable, Equatable {
    var isRegular = false
    var byteCount: Int64 = 0
    /// When the file's content was last changed, in nanoseconds since 1970.
    var modified: Int64 = 0
    var start: [UInt8] = []
  }

  /// Reads up to `count` bytes from the start of a file; returns the system's error if that fails.
  static func readInfo(_ path: String, _ count: Int) -> Result<FileInfo, Failure> {
    uses.withLock { uses in
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return .failure(Failure(number: errno)) }
      var info = FileInfo(
        isRegular: status.st_mode & S_IFMT == S_IFREG, byteCount: Int64(status.st_size), modified: modified(status))
      guard info.isRegular, count > 0 else { return .success(info) }
      let sharedDescriptor = uses[Identity(status)]?.descriptors.first
      let descriptor = unsafe sharedDescriptor ?? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return .failure(Failure(number: errno)) }
      defer { if sharedDescriptor == nil { keepOrClose(descriptor, &uses) } }
      var bytes = [UInt8](repeating: 0, count: count)
      // The array outlives the call, which writes at most its length.
      let read = unsafe pread(descriptor, &bytes, count, 0)
      guard read >= 0 else { return .failure(Failure(number: errno)) }
      info.start = Array(bytes.prefix(read))
      return .success(info)
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
    // If the system cannot identify the file, the descriptor stays open to be safe.
    guard unsafe fstat(descriptor, &status) == 0 else { return }
    let identity = Identity(status)
    if uses[identity] == nil { _ = close(descriptor) } else { uses[identity]?.descriptors.append(descriptor) }
  }

  /// An error of the operating system.
  struct Failure: Error {
    let number: Int32

    /// True if there is no file of that name.
    var isAbsence: Bool { number == ENOENT || number == ENOTDIR }
  }
}
