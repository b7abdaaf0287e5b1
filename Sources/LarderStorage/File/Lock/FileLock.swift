@_spi(Stores) import LarderCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An advisory lock on a file of its own (`flock`), and the content of that file. One owner holds the lock at a time,
/// or many share it, in this process or others.
///
/// The system releases the lock when the process ends, in whatever way, so a crash leaves no lock behind. The file
/// stays.
package final class FileLock: Sendable {
  /// Whether the content of the file may be changed.
  package let isWritable: Bool
  private let path: String
  private let descriptor: Locked<Int32?>

  /// Takes the lock; throws `inUse` at once if another owner holds it.
  ///
  /// - Parameters:
  ///   - isShared: whether others may share the lock; a file that is not writable is sufficient then.
  ///   - makes: whether a missing file is created; if false, a missing file throws `cannotOpen`.
  package init(_ path: String, isShared: Bool = false, makes: Bool = true) throws(StorageError) {
    // Anyone who can write to the folder may have put a link here, to a file of another user.
    let flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    var opened = unsafe open(path, O_RDWR | (makes ? O_CREAT : 0) | flags, mode_t(0o600))
    var isWritable = true
    if opened < 0, isShared, [EACCES, EPERM, EROFS].contains(errno) {
      opened = unsafe open(path, O_RDONLY | flags)
      isWritable = false
    }
    guard opened >= 0 else { throw StorageError(errno: errno, "The lock file cannot be created", path: path) }
    guard FilesInUse.isRegular(opened) else {
      _ = close(opened)
      throw .cannotOpen(path, "The lock file is not a regular file")
    }
    if isWritable { _ = FileProtection.none.protect(opened) }
    guard flock(opened, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
      let reason = errno
      _ = close(opened)
      guard reason == EWOULDBLOCK else {
        throw StorageError(.cannotOpen, message: "The file cannot be locked (errno \(reason))", path: path)
      }
      throw StorageError.inUse(path)
    }
    // The former owner removed the file: the next process creates another file, and would not meet this lock.
    guard FileLock.isSame(opened, path) else {
      _ = close(opened)
      throw StorageError.inUse(path)
    }
    self.path = path
    self.isWritable = isWritable
    descriptor = Locked(opened)
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var openStatus = stat()
    var pathStatus = stat()
    guard unsafe fstat(descriptor, &openStatus) == 0, unsafe stat(path, &pathStatus) == 0 else { return false }
    return openStatus.st_ino == pathStatus.st_ino && openStatus.st_dev == pathStatus.st_dev
  }

  /// The content of the file, up to `count` bytes; empty if there is none, or if the lock was released.
  package func content(_ count: Int) -> [UInt8] {
    descriptor.withLock { descriptor in
      guard let descriptor else { return [] }
      var bytes = [UInt8](repeating: 0, count: count)
      // The array outlives the call, which writes at most its length.
      let read = unsafe pread(descriptor, &bytes, count, 0)
      return Array(bytes.prefix(max(0, read)))
    }
  }

  /// Replaces the content of the file. The bytes are on the disk when this returns.
  package func write(_ bytes: [UInt8]) throws(StorageError) {
    let isWritten = descriptor.withLock { descriptor in
      guard let descriptor else { return false }
      // The array outlives the call.
      return unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        && ftruncate(descriptor, off_t(bytes.count)) == 0
        && FileFlush.flush(descriptor) == 0
    }
    guard isWritten else {
      throw StorageError(errno: errno, "The lock file cannot be written", path: path, otherwise: .inputOutput)
    }
  }

  /// Releases the lock. A second call does nothing.
  package func release() {
    descriptor.withLock { descriptor in
      if let open = descriptor {
        // Closing alone would leave the lock with a child process that was just created and has not closed its copy
        // yet.
        _ = flock(open, LOCK_UN)
        _ = close(open)
      }
      descriptor = nil
    }
  }

  deinit { release() }
}
