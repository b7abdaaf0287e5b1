import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An advisory lock on a file of its own (`flock`): held by one owner at a time, in this process or another.
///
/// The system drops it when the process ends, however it ends; so a crash leaves no lock behind. The file stays.
package final class FileLock: Sendable {
  private let descriptor: Mutex<Int32?>

  /// Takes the lock; throws `inUse` at once where another holds it.
  package init(_ path: String) throws(StorageError) {
    let opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(0o600))
    guard opened >= 0 else {
      throw StorageError(.cannotOpen, message: "The lock file cannot be made (errno \(errno))", file: path)
    }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      _ = close(opened)
      guard reason == EWOULDBLOCK else {
        throw StorageError(.cannotOpen, message: "The file cannot be locked (errno \(reason))", file: path)
      }
      throw StorageError(.inUse, message: "The file is in use by another store or process", file: path)
    }
    descriptor = Mutex(opened)
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
