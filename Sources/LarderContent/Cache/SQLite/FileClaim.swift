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

/// The lock beside a cache's file, shared by all that have it open: it tells who comes alone.
///
/// Who is alone may clear up what others left when they were killed, and may replace a damaged file. The lock file holds
/// nothing, or a mark that damage was met. The system drops the lock when a process ends, however it ends.
final class FileClaim: Sendable {
  /// True where nothing else had the file open when the claim was made.
  let isAlone: Bool
  private let descriptor: Locked<Int32?>

  /// Waits, off the caller's thread, while another one that is alone is still opening.
  static func make(_ path: String) async throws(CacheError) -> FileClaim {
    let made: Result<FileClaim, CacheError> = await withCheckedContinuation { waiting in
      DispatchQueue.global(qos: .userInitiated).async {
        waiting.resume(returning: Result { () throws(CacheError) in try FileClaim(path) })
      }
    }
    return try made.get()
  }

  private init(_ path: String) throws(CacheError) {
    // Whoever can write to the folder may have put a link here, to a file of somebody else.
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

  /// Lets others in; called when the file is in order.
  func share() { withDescriptor { while flock($0, LOCK_SH) != 0, errno == EINTR {} } }

  /// True where somebody met damage in the file since it was last looked through.
  var isMarked: Bool {
    var status = stat()
    var isMarked = false
    withDescriptor { isMarked = unsafe fstat($0, &status) == 0 && status.st_size > 0 }
    return isMarked
  }

  /// Notes that damage was met; where that fails too, the next to meet it notes it.
  func mark() {
    withDescriptor { descriptor in
      let letter: [UInt8] = [0x64]
      // One byte, from an array that lives through the call.
      _ = unsafe pwrite(descriptor, letter, 1, 0)
    }
  }

  /// The file is new or has been looked through.
  func unmark() { withDescriptor { _ = ftruncate($0, 0) } }

  private func withDescriptor(_ body: (Int32) -> Void) {
    descriptor.withLock { descriptor in
      if let descriptor { body(descriptor) }
    }
  }

  /// Gives the lock back; a second call does nothing.
  func release() {
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
