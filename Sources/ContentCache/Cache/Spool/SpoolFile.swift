#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An open file without a name: gone with its last user, however that ends.
package final class SpoolFile: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Makes an empty file in a folder, readable for this user alone.
  package init(folder: String = FileManager.default.temporaryDirectory.path) throws(CacheError) {
    path = folder
    #if os(Linux)
      // O_TMPFILE is a macro that Swift does not import: such a file never has a name at all.
      let nameless = unsafe open(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode_t(0o600))
      if nameless >= 0 {
        descriptor = nameless
        return
      }
    #endif
    var name = Array("\(folder)/larder-XXXXXX".utf8CString)
    descriptor = unsafe name.withUnsafeMutableBufferPointer { name -> Int32 in
      // The buffer ends in the NUL that `utf8CString` puts there.
      guard let start = name.baseAddress else { return -1 }
      let made = unsafe mkstemp(start)
      if made >= 0 {
        _ = unsafe unlink(start)
        _ = fcntl(made, F_SETFD, FD_CLOEXEC)
      }
      return made
    }
    if descriptor < 0 { throw CacheError(errno: errno, path: folder) }
  }

  /// Takes a file that exists, as a stand-in for one that fails.
  package init(opening path: String) throws(CacheError) {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { throw CacheError(errno: errno, path: path) }
  }

  deinit { _ = close(descriptor) }

  /// Writes bytes at an offset, all of them or an error.
  package func write(_ bytes: [UInt8], at offset: Int) throws(CacheError) {
    let failure = unsafe bytes.withUnsafeBytes { raw -> Int32 in
      var done = 0
      while done < raw.count {
        // Both ends are inside the buffer.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[done...])
        let written = unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        if written > 0 { done += written } else if written == 0 { return EIO } else if errno != EINTR { return errno }
      }
      return 0
    }
    if failure != 0 { throw CacheError(errno: failure, path: path) }
  }

  /// Reads exactly the bytes of a range that was written.
  package func read(_ range: Range<Int>) throws(CacheError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      while count < range.count {
        // Both ends are inside the buffer; what is counted has been filled.
        let rest = unsafe UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
        let got = unsafe pread(descriptor, rest.baseAddress, range.count - count, off_t(range.lowerBound + count))
        if got > 0 {
          count += got
        } else if got == 0 {
          failure = EIO
          return
        } else if errno != EINTR {
          failure = errno
          return
        }
      }
    }
    if failure != 0 { throw CacheError(errno: failure, path: path) }
    return bytes
  }
}
