import Dispatch
import LarderCore
import LarderStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The lock file beside a cache's file. All caches that have the file open share its lock, which shows whether a cache
/// opens it alone.
///
/// A cache that is alone may clear up what killed processes left, and may replace a damaged file. The lock file is
/// empty, or contains a mark that damage was found. The system releases the lock when a process ends, however it ends.
final class FileClaim: Sendable {
  /// True if no other cache had the file open when the claim was created.
  let isAlone: Bool
  private let descriptor: Locked<Int32?>

  /// Takes the lock. Waits, off the caller's thread, while another cache that is alone is still opening the file.
  static func make(_ path: String) async throws(CacheError) -> FileClaim {
    let result: Result<FileClaim, CacheError> = await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async {
        continuation.resume(returning: Result { () throws(CacheError) in try FileClaim(path) })
      }
    }
    return try result.get()
  }

  private init(_ path: String) throws(CacheError) {
    // Anyone who can write to the folder may have put a link here, to a file of another user.
    let opened = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode_t(0o600))
    guard opened >= 0 else { throw CacheError(errno: errno, path: path) }
    var status = stat()
    guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      _ = close(opened)
      throw .foreign(path: path)
    }
    _ = FileProtection.none.protect(opened)
    if flock(opened, LOCK_EX | LOCK_NB) == 0 {
      isAlone = true
    } else {
      isAlone = false
      while flock(opened, LOCK_SH) != 0 {
        let reason = errno
        if reason == EINTR { continue }
        _ = close(opened)
        throw CacheError(errno: reason, path: path)
      }
    }
    descriptor = Locked(opened)
  }

  /// Admits other caches; called when the file has been checked.
  func share() { withDescriptor { while flock($0, LOCK_SH) != 0, errno == EINTR {} } }

  /// True if damage was found in the file since it was last checked.
  var isMarked: Bool {
    var status = stat()
    var isMarked = false
    withDescriptor { isMarked = unsafe fstat($0, &status) == 0 && status.st_size > 0 }
    return isMarked
  }

  /// Records that damage was found. If this fails too, the next cache that finds the damage records it.
  func mark() {
    withDescriptor { descriptor in
      let letter: [UInt8] = [0x64]
      // One byte, from an array that lives through the call.
      _ = unsafe pwrite(descriptor, letter, 1, 0)
    }
  }

  /// Clears the mark: the file is new or has been checked.
  func unmark() { withDescriptor { _ = ftruncate($0, 0) } }

  private func withDescriptor(_ body: (Int32) -> Void) {
    descriptor.withLock { descriptor in
      if let descriptor { body(descriptor) }
    }
  }

  /// Releases the lock; a second call does nothing.
  func release() {
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
