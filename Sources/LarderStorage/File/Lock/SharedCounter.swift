import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A number in a mapped file, which every process that has the file open sees at once, and a lock that one process
/// holds.
///
/// The number counts changes of the file beside it. It is odd while a process commits a change, and even otherwise. A
/// process that finds the number unchanged and even knows that nothing was changed meanwhile, for the cost of a load
/// from memory. The system releases the lock when its holder ends, in whatever way. The number may then be odd, and the
/// next holder of the lock sees that.
///
/// ``partCount`` numbers of the same kind follow it, for parts of the data: a process that has read data of one part
/// need not read it again if only other parts have changed.
//
// @unchecked Sendable: the mapped number is only accessed by atomic operations; the mapping and the descriptor are
// created before the value is shared and released with its last reference.
@safe package final class SharedCounter: @unchecked Sendable {
  /// The file's path.
  package let path: String
  private let descriptor: Int32
  private let mapping: UnsafeMutableRawPointer
  private let value: UnsafeMutablePointer<Atomic<UInt64>>
  private static let length = 4096
  /// The number of parts that have a number of their own.
  package static let partCount = length / MemoryLayout<UInt64>.size - 1 - invalidationCount
  /// The number of invalidation counters, which follow the numbers of the parts.
  package static let invalidationCount = 64
  private let identity: Identity

  /// Identifies a file.
  private struct Identity: Equatable {
    let device: UInt64
    let file: UInt64

    init(_ status: stat) { (device, file) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)) }
  }

  /// Opens the file or creates it, with the permissions of the file `model`, or accessible to its owner only.
  ///
  /// Throws `notSupported` if the file system cannot lock or map files, such as some network file systems; `cannotOpen`
  /// if this process has no permission, or if the disk is full; `busy`.
  package init(_ path: String, like model: String? = nil) throws(StorageError) {
    self.path = path
    let opened = SharedCounter.createOrOpen(path, like: model)
    guard opened >= 0 else { throw SharedCounter.failure("created", path) }
    do throws(StorageError) {
      guard FilesInUse.isRegular(opened) else {
        throw StorageError.cannotOpen(path, "The change counter is not a regular file")
      }
      _ = FileProtection.none.protect(opened)
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
    identity = SharedCounter.identity(opened)
    unsafe value = SharedCounter.numbers(mapping)
  }

  /// Opens an existing file to read its numbers. The file is not changed, and no number may be set.
  package init(reading path: String) throws(StorageError) {
    self.path = path
    let opened = unsafe open(path, O_RDONLY | SharedCounter.notFollowed)
    guard opened >= 0 else { throw SharedCounter.failure("opened", path) }
    var status = stat()
    // Bytes past the end of a file cannot be mapped.
    guard unsafe fstat(opened, &status) == 0, status.st_size >= SharedCounter.length,
      let mapped = unsafe mmap(nil, SharedCounter.length, PROT_READ, MAP_SHARED, opened, 0), unsafe mapped != MAP_FAILED
    else {
      let error = SharedCounter.failure("mapped", path)
      _ = close(opened)
      throw error
    }
    unsafe mapping = mapped
    descriptor = opened
    identity = Identity(status)
    unsafe value = SharedCounter.numbers(mapping)
  }

  private static func identity(_ descriptor: Int32) -> Identity {
    var status = stat()
    _ = unsafe fstat(descriptor, &status)
    return Identity(status)
  }

  /// A page is aligned for any type; `Atomic<UInt64>` has the layout of `UInt64`, for which every pattern is a value.
  private static func numbers(_ mapping: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe mapping.bindMemory(to: Atomic<UInt64>.self, capacity: partCount + 1)
  }

  deinit {
    _ = unsafe munmap(mapping, SharedCounter.length)
    _ = close(descriptor)
  }

  /// The present number.
  @inline(__always)
  package var number: UInt64 { unsafe value.pointee.load(ordering: .sequentiallyConsistent) }

  /// Sets the number. The caller must hold the lock.
  package func set(_ number: UInt64) { unsafe value.pointee.store(number, ordering: .sequentiallyConsistent) }

  /// False if the file has been deleted or replaced: processes that open it now do not see this number.
  package var isInPlace: Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && Identity(status) == identity
  }

  // MARK: Parts

  /// The number of a part. It is odd while data of the part is being changed.
  @inline(__always)
  package func part(_ index: Int) -> UInt64 {
    unsafe (value + 1 + index).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// How often an index was declared invalid.
  package func invalidations(_ index: Int) -> UInt64 {
    unsafe (value + 1 + SharedCounter.partCount + index).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// Counts an invalidation; needs no lock.
  package func countInvalidation(of index: Int) {
    _ = unsafe (value + 1 + SharedCounter.partCount + index).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  private func setPart(_ index: Int, _ number: UInt64) {
    unsafe (value + 1 + index).pointee.store(number, ordering: .sequentiallyConsistent)
  }

  /// Marks the start of a change of these parts; ``endChange(of:)`` must follow.
  ///
  /// The caller must hold the lock of the data that changes, which is the same lock in all processes. Numbers that a
  /// process left odd because it ended during a change are made even first.
  package func beginChange(of parts: some Collection<Int>) {
    repairParts()
    set(number &+ 1)
    for index in parts where part(index) & 1 == 0 { setPart(index, part(index) &+ 1) }
  }

  /// Marks the end of a change, once for each time that a part is named.
  package func endChange(of parts: some Collection<Int>) {
    for index in parts { setPart(index, part(index) &+ (part(index) & 1 == 0 ? 2 : 1)) }
    set(number &+ 1)
  }

  /// Makes numbers even that a process left odd because it ended during a change. The caller must hold the lock.
  package func repairParts() {
    guard number & 1 == 1 else { return }
    for index in 0..<SharedCounter.partCount where part(index) & 1 == 1 { setPart(index, part(index) &+ 1) }
    set(number &+ 1)
  }

  /// Takes the lock, blocking; throws `busy` if another process holds it all the time.
  package func lock(milliseconds: Int32) throws(StorageError) {
    try SharedCounter.lock(descriptor, path, milliseconds: milliseconds)
  }

  /// Releases the lock.
  package func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Anyone who can write to the folder may have put a link here, to a file of another user.
  private static let notFollowed = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

  private static func createOrOpen(_ path: String, like model: String?) -> Int32 {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | notFollowed, mode_t(0o600))
    guard descriptor >= 0 else { return unsafe errno == EEXIST ? open(path, O_RDWR | notFollowed) : descriptor }
    var status = stat()
    // Set only now, because the process's mask does not apply to a file that others share.
    if let model, unsafe stat(model, &status) == 0 { _ = fchmod(descriptor, status.st_mode & 0o666) }
    return descriptor
  }

  /// Writes bytes to the disk before they are mapped: a hole that cannot be filled would end the process.
  ///
  /// A file that has all its blocks is not written, so that it can be opened on a full disk. In another file, such as a
  /// copy with holes, everything except the number is written with its present content. If the file system shares
  /// blocks between files and the disk is full, the number's first change may still end the process.
  private static func fill(_ descriptor: Int32, _ path: String) throws(StorageError) {
    var status = stat()
    // The pointer leads to a local value, and is used during the call only.
    let isWhole = unsafe fstat(descriptor, &status) == 0 && status.st_size >= length
    if isWhole, Int64(status.st_blocks) * 512 >= Int64(length) { return }
    let start = MemoryLayout<UInt64>.size
    var bytes = [UInt8](repeating: 0, count: length - start)
    // The array outlives the calls and has room for `bytes.count` bytes.
    guard unsafe pread(descriptor, &bytes, bytes.count, off_t(start)) >= 0,
      unsafe pwrite(descriptor, bytes, bytes.count, off_t(start)) == bytes.count
    else { throw failure("filled", path) }
  }

  private static func lock(_ descriptor: Int32, _ path: String, milliseconds: Int32) throws(StorageError) {
    var waited: Int64 = 0
    // Waits for short times, each a little longer, up to one millisecond.
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

  private static func failure(_ action: String, _ path: String) -> StorageError {
    let reason = errno
    let message = "The change counter file cannot be \(action)"
    return switch reason {
    case ENODEV, ENOTSUP, EOPNOTSUPP, ENOLCK, ENOSYS, EINVAL: .notSupported(path, "\(message) (errno \(reason))")
    default: StorageError(errno: reason, message, path: path)
    }
  }
}
