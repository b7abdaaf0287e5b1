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
///
/// Behind it stand ``partCount`` numbers of the same kind, for parts of what changes: who has read something of one part need
/// not look again where only others have changed.
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
  /// How many parts have a number of their own.
  package static let partCount = length / MemoryLayout<UInt64>.size - 1 - invalidationCount
  /// How many numbers of invalidations there are, behind those of the parts.
  package static let invalidationCount = 64
  private let identity: Identity

  /// Which file it is.
  private struct Identity: Equatable {
    let device: UInt64
    let file: UInt64

    init(_ status: stat) { (device, file) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)) }
  }

  /// Opens the file or makes it: with the permissions of `model`, whose users are its own, or for its owner alone.
  ///
  /// Throws `notSupported` where the file system cannot lock or map files, as some network file systems cannot;
  /// `cannotOpen` where this process may not, or the disk is full; `busy`.
  package init(_ path: String, like model: String? = nil) throws(StorageError) {
    self.path = path
    let opened = SharedCounter.makeOrOpen(path, like: model)
    guard opened >= 0 else { throw SharedCounter.failure("made", path) }
    do throws(StorageError) {
      guard FilesInUse.isRegular(opened) else {
        throw StorageError.cannotOpen(path, "The file of changes is none: something else has its name")
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

  /// Opens a file that is there to read its numbers; nothing of it is changed, and nothing may be set.
  package init(reading path: String) throws(StorageError) {
    self.path = path
    let opened = unsafe open(path, O_RDONLY | SharedCounter.notFollowed)
    guard opened >= 0 else { throw SharedCounter.failure("opened", path) }
    var status = stat()
    // Past the end of a file there is nothing to map.
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

  /// The number now.
  @inline(__always)
  package var number: UInt64 { unsafe value.pointee.load(ordering: .sequentiallyConsistent) }

  /// Sets the number; only who holds the lock may.
  package func set(_ number: UInt64) { unsafe value.pointee.store(number, ordering: .sequentiallyConsistent) }

  /// False where the file has been deleted, or another one stands in its place: nobody who opens it now is told of anything.
  package var isInPlace: Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && Identity(status) == identity
  }

  // MARK: Parts

  /// The number of a part: odd while something of it is being changed.
  @inline(__always)
  package func part(_ index: Int) -> UInt64 {
    unsafe (value + 1 + index).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// How often something of an index was declared invalid.
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

  /// Says that something of these parts is going to be changed; ``endChange(of:)`` follows.
  ///
  /// Only who holds the lock of what changes may, which is the same lock in all processes. What a process has left odd that
  /// ended in the midst is made even first.
  package func beginChange(of parts: some Collection<Int>) {
    repairParts()
    set(number &+ 1)
    for index in parts where part(index) & 1 == 0 { setPart(index, part(index) &+ 1) }
  }

  /// Says that it has been changed, once for each time that a part is named.
  package func endChange(of parts: some Collection<Int>) {
    for index in parts { setPart(index, part(index) &+ (part(index) & 1 == 0 ? 2 : 1)) }
    set(number &+ 1)
  }

  /// Makes even what a process has left odd that ended in the midst of a change. Only who holds the lock may.
  package func repairParts() {
    guard number & 1 == 1 else { return }
    for index in 0..<SharedCounter.partCount where part(index) & 1 == 1 { setPart(index, part(index) &+ 1) }
    set(number &+ 1)
  }

  /// The part of a text, the same in all processes.
  package static func part(of text: String) -> Int {
    // FNV-1a.
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int(sum % UInt64(partCount))
  }

  /// Takes the lock, blocking; throws `busy` where another process holds it all the time.
  package func lock(milliseconds: Int32) throws(StorageError) {
    try SharedCounter.lock(descriptor, path, milliseconds: milliseconds)
  }

  /// Gives the lock back.
  package func unlock() { _ = flock(descriptor, LOCK_UN) }

  /// Whoever can write to the folder may have put a link here, to a file of somebody else.
  private static let notFollowed = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC

  private static func makeOrOpen(_ path: String, like model: String?) -> Int32 {
    let made = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | notFollowed, mode_t(0o600))
    guard made >= 0 else { return unsafe errno == EEXIST ? open(path, O_RDWR | notFollowed) : made }
    var status = stat()
    // Only now, for the process's mask does not hold for a file that others share.
    if let model, unsafe stat(model, &status) == 0 { _ = fchmod(made, status.st_mode & 0o666) }
    return made
  }

  /// Bytes that are on the disk before they are mapped: a hole that cannot be filled would end the process.
  ///
  /// A file that has all its blocks is left alone, so a full disk is no reason not to open it. In another one, such as a copy with
  /// holes, all but the number are written, with what they hold; where a file system keeps blocks of more than one file in one
  /// place and the disk is full, the number's first change may still end the process.
  private static func fill(_ descriptor: Int32, _ path: String) throws(StorageError) {
    var status = stat()
    // The pointer is to a local value, for the call alone.
    let isWhole = unsafe fstat(descriptor, &status) == 0 && status.st_size >= length
    if isWhole, Int64(status.st_blocks) * 512 >= Int64(length) { return }
    let start = MemoryLayout<UInt64>.size
    var bytes = [UInt8](repeating: 0, count: length - start)
    // The array lives through the calls and has room for so much.
    guard unsafe pread(descriptor, &bytes, bytes.count, off_t(start)) >= 0,
      unsafe pwrite(descriptor, bytes, bytes.count, off_t(start)) == bytes.count
    else { throw failure("filled", path) }
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
    let message = "The file of changes cannot be \(what)"
    return switch reason {
    case ENODEV, ENOTSUP, EOPNOTSUPP, ENOLCK, ENOSYS, EINVAL: .notSupported(path, "\(message) (errno \(reason))")
    default: StorageError(errno: reason, message, file: path)
    }
  }
}
