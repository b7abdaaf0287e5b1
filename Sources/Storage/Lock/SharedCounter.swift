import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A number in a file that every process which has it open sees at once, and a lock that one of them holds.
///
/// The number counts changes of the file beside it: it is odd while somebody commits one, and even otherwise. Whoever
/// has read it once and finds it unchanged and even knows that nothing was changed meanwhile, at the price of a load from
/// memory. The system drops the lock when its holder ends, however it ends; the number may then be odd, and who takes the
/// lock next finds it so.
//
// @unchecked Sendable: the mapped number is only touched by atomic operations, the mapping and the descriptor are made
// before the value is shared and given back when nobody has it any more.
@safe package final class SharedCounter: @unchecked Sendable {
  /// The file's path.
  package let path: String
  private let descriptor: Int32
  private let mapping: UnsafeMutableRawPointer
  private let value: UnsafeMutablePointer<Atomic<UInt64>>
  private static let length = 4096

  /// Opens the file or makes it: with the permissions of `model`, whose users are its own, or for its owner alone.
  ///
  /// Throws `notSupported` where the file system cannot lock or map files, as some network file systems cannot;
  /// `cannotOpen` where this process may not, or the disk is full; `busy`.
  package init(_ path: String, like model: String? = nil) throws(StorageError) {
    self.path = path
    let opened = SharedCounter.makeOrOpen(path, like: model)
    guard opened >= 0 else { throw SharedCounter.failure("made", path) }
    do throws(StorageError) {
      try SharedCounter.lock(opened, path, milliseconds: 10_000)
      try SharedCounter.fill(opened, path)
      _ = flock(opened, LOCK_UN)
      let mapped = unsafe mmap(nil, SharedCounter.length, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0)
      guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
        throw SharedCounter.failure("mapped", path)
      }
      unsafe mapping = mapped
    } catch {
      _ = close(opened)
      throw error
    }
    descriptor = opened
    // A page is aligned for any type; `Atomic<UInt64>` has the layout of `UInt64`, for which every pattern is a value.
    unsafe value = mapping.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
  }

  deinit {
    _ = unsafe munmap(mapping, SharedCounter.length)
    _ = close(descriptor)
  }

  /// The number now.
  @inline(__always)
  package var number: UInt64 { unsafe value.pointee.load(ordering: .sequentiallyConsistent) }

  /// Sets the number; only who holds the lock may.
  package func set(_ number: UInt64) { unsafe value.pointee.store(number, ordering: .sequentiallyConsistent) }

  /// Takes the lock, blocking; throws `busy` where another process holds it all the time.
  package func lock(milliseconds: Int32) throws(StorageError) {
    try SharedCounter.lock(descriptor, path, milliseconds: milliseconds)
  }

  /// Gives the lock back.
  package func unlock() { _ = flock(descriptor, LOCK_UN) }

  private static func makeOrOpen(_ path: String, like model: String?) -> Int32 {
    let made = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
    guard made >= 0 else { return unsafe errno == EEXIST ? open(path, O_RDWR | O_CLOEXEC) : made }
    var status = stat()
    // Only now, for the process's mask does not hold for a file that others share.
    if let model, unsafe stat(model, &status) == 0 { _ = fchmod(made, status.st_mode & 0o666) }
    return made
  }

  /// Bytes that are on the disk before they are mapped: a hole that cannot be filled would end the process.
  ///
  /// All but the number are written each time, since a copy of the file may have holes; where a file system keeps blocks
  /// of more than one file in one place and the disk is full, the number's first change may still end the process.
  private static func fill(_ descriptor: Int32, _ path: String) throws(StorageError) {
    let start = MemoryLayout<UInt64>.size
    let zeros = [UInt8](repeating: 0, count: length - start)
    // The array lives through the call.
    guard unsafe pwrite(descriptor, zeros, zeros.count, off_t(start)) == zeros.count else {
      throw failure("filled", path)
    }
  }

  private static func lock(_ descriptor: Int32, _ path: String, milliseconds: Int32) throws(StorageError) {
    var waited: Int64 = 0
    // Short waits, each a little longer, up to one millisecond.
    var pause: Int64 = 50
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let reason = errno
      guard reason == EWOULDBLOCK || reason == EINTR else { throw failure("locked", path) }
      guard waited < Int64(milliseconds) * 1000 else { throw .locked(path) }
      _ = usleep(UInt32(pause))
      waited += pause
      pause = min(pause * 2, 1000)
    }
  }

  private static func failure(_ what: String, _ path: String) -> StorageError {
    let reason = errno
    let message = "The file of changes cannot be \(what) (errno \(reason))"
    return switch reason {
    case ENODEV, ENOTSUP, EOPNOTSUPP, ENOLCK, ENOSYS, EINVAL: .notSupported(path, message)
    default: .cannotOpen(path, message)
    }
  }
}
