import LarderStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A system call's error number.
struct Errno: Error, Hashable, Sendable {
  /// The purpose of the call, if the number alone does not show what it means.
  enum Purpose: Sendable { case reading, protecting, other }

  let code: Int32
  let purpose: Purpose

  init(_ code: Int32, _ purpose: Purpose = .other) {
    self.code = code
    self.purpose = purpose
  }

  /// This error as a ``CacheError``; `path` is the file or folder of the call.
  func cacheError(_ path: String) -> CacheError {
    if purpose == .protecting {
      let reason = "The file protection class cannot be set (errno \(code)). Try again when the device is unlocked."
      return .failed(path: path, reason: reason)
    }
    return switch code {
    // The process's or the file system's limit on a file's size.
    case EFBIG: .full(path: path)
    case EMFILE, ENFILE:
      .failed(
        path: path, reason: "Too many files are open. Increase the limit of the process, or keep fewer entries in use.")
    case ENOENT, ENOTDIR:
      .failed(
        path: path, reason: "The cache's folder was removed while the cache was open. The next change creates it again."
      )
    default: CacheError(errno: code, path: path, isReading: purpose == .reading)
    }
  }
}

/// The kind of a system call, so that a test can make it fail.
package enum DiskStep: Sendable, Hashable, CaseIterable {
  case open, create, read, write, rename, remove, makeFolder, status, setTime, sync, lock, list
}

/// Makes system calls fail: returns the error number with which a step fails instead of running, or nil.
package typealias DiskFaults = @Sendable (DiskStep) -> Int32?

/// The system calls of the cache. Each is retried if a signal interrupts it.
///
/// Names are relative to an open folder. No call follows a symbolic link at the end of a name, and none waits for a
/// pipe.
struct Disk: Sendable {
  let faults: DiskFaults?
  /// The protection class of the files that it creates.
  var protection = FileProtection.completeUntilFirstUserAuthentication
  /// The system's call that sets a file's protection class; nil if files have none.
  var setProtection = FileProtection.system

  /// The status of a file.
  struct Status: Hashable, Sendable {
    enum Kind: Sendable { case file, folder, other }
    let kind: Kind
    /// The length in bytes; at most 2 to the 54th, so that sums of some hundred lengths never overflow.
    let size: Int
    let device: UInt64
    let inode: UInt64
    let links: UInt64
    /// When the file was last modified: nanoseconds since 1970.
    let time: Int64

    /// True if both describe the same file.
    func isSame(as other: Status) -> Bool { inode == other.inode && device == other.device }
  }

  @inline(__always)
  private func check(_ step: DiskStep, _ purpose: Errno.Purpose = .other) throws(Errno) {
    if let faults, let code = faults(step) { throw Errno(code, purpose) }
  }

  /// The result of a call that returns -1 for an error. The call is repeated while signals interrupt it.
  @inline(__always)
  private func retried<Number: SignedInteger>(
    _ purpose: Errno.Purpose = .other, _ call: () -> Number
  ) throws(Errno) -> Number {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw Errno(code, purpose) }
    }
  }

  /// Opens an existing file. `folder` is an open folder, or `AT_FDCWD`.
  func open(_ folder: Int32, _ name: String, _ flags: Int32 = O_RDONLY) throws(Errno) -> Int32 {
    let purpose: Errno.Purpose = flags == O_RDONLY ? .reading : .other
    try check(.open, purpose)
    // The name's bytes outlive the call, here and below.
    return try retried(purpose) { unsafe openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0) }
  }

  /// Creates a file that must not exist yet; with `isNew` false, opens it if it exists. A file that is only a lock has
  /// no content, so its class is `none`.
  func create(_ folder: Int32, _ name: String, isNew: Bool = true, isLock: Bool = false) throws(Errno) -> Int32 {
    try check(.create)
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (isNew ? O_EXCL : 0)
    let descriptor = try retried { unsafe openat(folder, name, flags, 0o600) }
    let protection = isLock ? FileProtection.none : protection
    do throws(Errno) { _ = try retried(.protecting) { protection.protect(descriptor, set: setProtection) } } catch {
      _ = close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Opens a folder.
  func openFolder(_ folder: Int32, _ name: String, isLink: Bool = false) throws(Errno) -> Int32 {
    try check(.open)
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isLink ? 0 : O_NOFOLLOW)
    return try retried { unsafe openat(folder, name, flags, 0) }
  }

  /// Fills the buffer from an offset on. Returns fewer bytes only at the file's end.
  func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Errno) -> Int {
    try check(.read, .reading)
    guard let base = buffer.baseAddress else { return 0 }
    var done = 0
    while done < buffer.count {
      // `done` bytes of the buffer are filled; the rest is passed.
      let count = try retried(.reading) {
        unsafe pread(file, base + done, buffer.count &- done, off_t(offset &+ done))
      }
      if count == 0 { break }
      done &+= count
    }
    return done
  }

  /// Reads from an offset on, in one call.
  func readOnce(
    _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0
  ) throws(Errno) -> Int {
    try check(.read, .reading)
    // The buffer has room for as many bytes as its count.
    return try retried(.reading) { unsafe pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Reads from the file's beginning, in one call, into buffers one after another.
  func readOnce(
    _ file: Int32, into first: UnsafeMutableRawBufferPointer, _ second: UnsafeMutableRawBufferPointer,
    _ third: UnsafeMutableRawBufferPointer = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  ) throws(Errno) -> Int {
    try check(.read, .reading)
    // Each buffer has room for as many bytes as its count.
    var all = unsafe (
      iovec(iov_base: first.baseAddress, iov_len: first.count),
      iovec(iov_base: second.baseAddress, iov_len: second.count),
      iovec(iov_base: third.baseAddress, iov_len: third.count)
    )
    return try unsafe withUnsafeBytes(of: &all) { raw throws(Errno) in
      // A tuple of one type has the memory layout of an array.
      let vectors = unsafe raw.assumingMemoryBound(to: iovec.self)
      return try retried(.reading) { unsafe preadv(file, vectors.baseAddress, Int32(vectors.count), 0) }
    }
  }

  /// Writes all bytes at an offset.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Errno) {
    try check(.write)
    guard let base = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      // `done` bytes are written; the rest is passed.
      let count = try retried { unsafe pwrite(file, base + done, bytes.count &- done, off_t(offset &+ done)) }
      if count == 0 { throw Errno(EIO) }
      done &+= count
    }
  }

  /// Writes an array at an offset.
  func write(_ file: Int32, _ bytes: [UInt8], at offset: Int) throws(Errno) {
    let result: Result<Void, Errno> = unsafe bytes.withUnsafeBytes { raw in
      do throws(Errno) { return .success(try unsafe write(file, raw, at: offset)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Reads up to `count` bytes from an offset on; fewer at the file's end.
  func read(_ file: Int32, _ count: Int, at offset: Int) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Errno) {
        initialized = try unsafe read(file, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Renames a file, and replaces an existing one of the new name.
  func rename(_ from: Int32, _ name: String, to: Int32, _ newName: String) throws(Errno) {
    try check(.rename)
    _ = try retried { unsafe renameat(from, name, to, newName) }
  }

  /// Removes a file's name.
  func unlink(_ folder: Int32, _ name: String) throws(Errno) {
    try check(.remove)
    _ = try retried { unsafe unlinkat(folder, name, 0) }
  }

  /// Removes an empty folder.
  func removeFolder(_ folder: Int32, _ name: String) throws(Errno) {
    try check(.remove)
    _ = try retried { unsafe unlinkat(folder, name, AT_REMOVEDIR) }
  }

  /// Creates a folder that only its owner can read. An existing folder is accepted, but not a link or a file of that
  /// name.
  func makeFolder(_ folder: Int32, _ name: String) throws(Errno) {
    try check(.makeFolder)
    do throws(Errno) {
      _ = try retried { unsafe mkdirat(folder, name, 0o700) }
    } catch {
      if error.code != EEXIST { throw error }
      // A cache's own folder may be reached through a link; folders in it may not.
      if folder != AT_FDCWD, try status(folder, name).kind != .folder { throw Errno(ENOTDIR) }
    }
  }

  /// The status of an open file.
  func status(_ file: Int32) throws(Errno) -> Status {
    try check(.status)
    var buffer = stat()
    // The buffer is a local variable.
    _ = try retried { unsafe fstat(file, &buffer) }
    return Disk.status(buffer)
  }

  /// The status of the file with a name.
  func status(_ folder: Int32, _ name: String) throws(Errno) -> Status {
    try check(.status)
    var buffer = stat()
    // The buffer is a local variable.
    _ = try retried { unsafe fstatat(folder, name, &buffer, AT_SYMLINK_NOFOLLOW) }
    return Disk.status(buffer)
  }

  private static func status(_ buffer: stat) -> Status {
    #if canImport(Darwin)
      let time = buffer.st_mtimespec
    #else
      let time = buffer.st_mtim
    #endif
    let format = UInt32(buffer.st_mode) & UInt32(S_IFMT)
    return Status(
      kind: format == UInt32(S_IFREG) ? .file : format == UInt32(S_IFDIR) ? .folder : .other,
      size: min(Int(buffer.st_size), 1 << 54), device: UInt64(truncatingIfNeeded: buffer.st_dev),
      inode: UInt64(truncatingIfNeeded: buffer.st_ino), links: UInt64(truncatingIfNeeded: buffer.st_nlink),
      time: UseClock.nanoseconds(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)))
  }

  /// Sets when a file was last modified: nanoseconds since 1970.
  func setTime(_ file: Int32, _ time: Int64) throws(Errno) {
    try check(.setTime)
    let value = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    // Both elements are there: access, modification.
    let both = [value, value]
    _ = try retried { unsafe futimens(file, both) }
  }

  /// Waits until a file is written to the disk itself.
  func sync(_ file: Int32) throws(Errno) {
    try check(.sync)
    _ = try retried { FileFlush.flush(file) }
  }

  /// Takes a file's advisory lock. Returns false if it is held elsewhere.
  func lock(_ file: Int32) throws(Errno) -> Bool {
    try check(.lock)
    do throws(Errno) {
      _ = try retried { flock(file, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  /// Releases the lock.
  func unlock(_ file: Int32) { _ = flock(file, LOCK_UN) }

  /// Calls `body` with the name of each item of a folder until it returns false; `.` and `..` are omitted.
  func list(_ folder: Int32, _ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Bool) throws(Errno) {
    try check(.list)
    let opened = try openFolder(folder, name)
    guard let stream = unsafe fdopendir(opened) else {
      let code = errno
      _ = close(opened)
      throw Errno(code)
    }
    defer { _ = unsafe closedir(stream) }
    // The record that `readdir` returns is valid until the next call; its name ends with a zero.
    while let item = unsafe readdir(stream), let characters = unsafe item.pointer(to: \.d_name) {
      let first = unsafe UnsafeRawPointer(characters).assumingMemoryBound(to: CChar.self)
      let bytes = unsafe UnsafeBufferPointer(
        start: UnsafeRawPointer(characters).assumingMemoryBound(to: UInt8.self), count: strlen(first))
      if unsafe bytes.first == UInt8(ascii: "."), unsafe bytes.count == 1 || (bytes.count == 2 && bytes[1] == 0x2E) {
        continue
      }
      if !(unsafe body(bytes)) { return }
    }
  }

  /// The names in a folder, at most `most`.
  func names(_ folder: Int32, _ name: String, atMost most: Int) throws(Errno) -> [String] {
    var names: [String] = []
    try unsafe list(folder, name) { bytes in
      names.append(unsafe String(decoding: bytes, as: UTF8.self))
      return names.count < most
    }
    return names
  }
}

/// An open file or folder; closed with the last reference to it.
final class Descriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { _ = close(number) }
}
