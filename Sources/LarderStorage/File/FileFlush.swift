#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Has what was written to a file reach the disk itself.
///
/// Linux's fsync(2) waits for the drive. Darwin's hands the bytes to the drive and leaves them in its memory, which a loss of
/// power empties; `F_FULLFSYNC` of fcntl(2) waits for all that the drive has in its memory, whichever file it is of.
package enum FileFlush {
  /// Where fsync(2) does not wait for the drive: the call that does.
  package static let full: (@Sendable (Int32) -> Int32)? = {
    #if canImport(Darwin)
      return { fcntl($0, F_FULLFSYNC) }
    #else
      return nil
    #endif
  }()

  /// Flushes a file, or a folder's list of files: 0, or -1 with the reason in `errno`, as fsync(2) does.
  ///
  /// File systems without the full flush, those of a network or exFAT for example, get the plain one. They say so in several
  /// ways, so only a failure of the drive itself counts.
  package static func flush(_ descriptor: Int32, full: (@Sendable (Int32) -> Int32)? = full) -> Int32 {
    if let full {
      if full(descriptor) == 0 { return 0 }
      guard ![EIO, ENOSPC, EDQUOT].contains(errno) else { return -1 }
    }
    return fsync(descriptor)
  }
}
