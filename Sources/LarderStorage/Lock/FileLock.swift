import LarderCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An advisory lock on a file of its own (`flock`): held by one owner at a time, or shared by many, in this process or
/// others; and what is written in that file.
///
/// The system drops it when the process ends, however it ends; so a crash leaves no lock behind. The file stays.
package final class FileLock: Sendable {
  /// Whether what is in the file may be changed.
  package let isWritable: Bool
  private let path: String
  private let descriptor: Locked<Int32?>

  /// Takes the lock; throws `inUse` at once where another holds it.
  ///
  /// - Parameters:
  ///   - isShared: others may share it; then a file that may only be read will do.
  ///   - makes: whether a file that is not there is made; where not, that is `cannotOpen`.
  package init(_ path: String, isShared: Bool = false, makes: Bool = true) throws(StorageError) {
    // Whoever can write to the folder may have put a link here, to a file of somebody else.
    let flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    var opened = unsafe open(path, O_RDWR | (makes ? O_CREAT : 0) | flags, mode_t(0o600))
    var isWritable = true
    if opened < 0, isShared, [EACCES, EPERM, EROFS].contains(errno) {
      opened = unsafe open(path, O_RDONLY | flags)
      isWritable = false
    }
    guard opened >= 0 else { throw StorageError(errno: errno, "The lock file cannot be made", file: path) }
    guard FilesInUse.isRegular(opened) else {
      _ = close(opened)
      throw .cannotOpen(path, "The lock file is none: something else has its name")
    }
    if isWritable { _ = FileProtection.none.protect(opened) }
    guard flock(opened, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
      let reason = errno
      _ = close(opened)
      guard reason == EWOULDBLOCK else {
        throw StorageError(.cannotOpen, message: "The file cannot be locked (errno \(reason))", file: path)
      }
      throw StorageError.inUse(path)
    }
    // Removed by who had it before: the next one makes another, and would not meet this lock.
    guard FileLock.isSame(opened, path) else {
      _ = close(opened)
      throw StorageError.inUse(path)
    }
    self.path = path
    self.isWritable = isWritable
    descriptor = Locked(opened)
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var held = stat()
    var found = stat()
    guard unsafe fstat(descriptor, &held) == 0, unsafe stat(path, &found) == 0 else { return false }
    return held.st_ino == found.st_ino && held.st_dev == found.st_dev
  }

  /// What is in the file, up to so many bytes; empty where nothing is, or the lock was given back.
  package func content(_ count: Int) -> [UInt8] {
    descriptor.withLock { held in
      guard let held else { return [] }
      var bytes = [UInt8](repeating: 0, count: count)
      // The array lives through the call, which writes at most its length.
      let read = unsafe pread(held, &bytes, count, 0)
      return Array(bytes.prefix(max(0, read)))
    }
  }

  /// Puts bytes in the place of what is in the file; they are on the disk when it returns.
  package func write(_ bytes: [UInt8]) throws(StorageError) {
    let isWritten = descriptor.withLock { held in
      guard let held else { return false }
      // The array lives through the call.
      return unsafe pwrite(held, bytes, bytes.count, 0) == bytes.count && ftruncate(held, off_t(bytes.count)) == 0
        && FileFlush.flush(held) == 0
    }
    guard isWritten else {
      throw StorageError(errno: errno, "The lock file cannot be written", file: path, otherwise: .inputOutput)
    }
  }

  /// Gives the lock back; a second call does nothing.
  package func release() {
    descriptor.withLock { held in
      if let open = held {
        // Closing alone would leave the lock to a child process that has been made at this moment and has not closed its copy yet.
        _ = flock(open, LOCK_UN)
        _ = close(open)
      }
      held = nil
    }
  }

  deinit { release() }
}
