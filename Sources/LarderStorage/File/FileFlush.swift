#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Flushes what was written to a file to the disk itself.
///
/// On Linux, fsync(2) waits for the drive. On Darwin, fsync(2) passes the bytes to the drive, which may keep them in
/// its memory and lose them when the power fails. `F_FULLFSYNC` of fcntl(2) waits for all bytes in the drive's memory,
/// whichever file they belong to.
package enum FileFlush {
  /// The call that flushes the drive's own cache, too; nil on systems whose fsync(2) does that.
  package static let full: (@Sendable (Int32) -> Int32)? = {
    #if canImport(Darwin)
      return { fcntl($0, F_FULLFSYNC) }
    #else
      return nil
    #endif
  }()

  /// Flushes a file, or a folder's list of files. Returns 0, or -1 with the reason in `errno`, as fsync(2) does.
  ///
  /// File systems without the full flush, for example network file systems or exFAT, get the plain one. They report
  /// this in several ways, so only a failure of the drive itself counts.
  package static func flush(_ descriptor: Int32, full: (@Sendable (Int32) -> Int32)? = full) -> Int32 {
    if let full {
      if full(descriptor) == 0 { return 0 }
      guard ![EIO, ENOSPC, EDQUOT].contains(errno) else { return -1 }
    }
    return fsync(descriptor)
  }
}
