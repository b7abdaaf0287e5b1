#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// What `-` stands for: the process's own input, or a test's.
package enum StandardInput: Sendable {
  /// An open descriptor, which stays open.
  case descriptor(Int32)
  /// These bytes.
  case bytes([UInt8])

  /// All of it; nil where it holds more than the limit in bytes.
  func read(limit: Int) throws(FileError) -> [UInt8]? {
    switch self {
    case .bytes(let bytes): return bytes.count <= limit ? bytes : nil
    case .descriptor(let descriptor):
      do throws(FileError.Reason) { return try FileDescriptors.readAll(descriptor, limit: limit) } catch {
        throw FileError(path: "standard input", reason: error.text)
      }
    }
  }
}

/// A descriptor that is read from, closed with the last who holds it.
final class InputDescriptor: Sendable {
  let number: Int32
  private let isOwned: Bool
  /// Where it is a regular file: its position now, and how many bytes lie behind that.
  let remainder: (start: Int, count: Int)?

  /// Opens a path, without waiting for anybody to write into a pipe of that name.
  init(path: String) throws(FileError.Reason) {
    number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    isOwned = true
    guard number >= 0 else { throw FileError.Reason(errno) }
    remainder = InputDescriptor.remainder(of: number)
  }

  /// Reads from a descriptor that belongs to somebody else.
  init(borrowing number: Int32) {
    self.number = number
    isOwned = false
    remainder = InputDescriptor.remainder(of: number)
  }

  deinit { if isOwned, number >= 0 { close(number) } }

  /// Nil also for files that tell no size, such as those of `/proc`: what they hold shows only when they are read.
  private static func remainder(of number: Int32) -> (start: Int, count: Int)? {
    var status = stat()
    guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
    let start = Int(lseek(number, 0, SEEK_CUR))
    return start < 0 ? nil : (start, max(0, Int(status.st_size) - start))
  }

  /// Bytes of a regular file, from a position that no other reader moves; none at its end.
  func read(at position: Int, count: Int) throws(FileError.Reason) -> [UInt8] {
    while true {
      var got = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        got = pread(number, buffer.baseAddress, buffer.count, off_t(position))
        initialized = max(got, 0)
      }
      if got >= 0 { return bytes }
      if errno != EINTR { throw FileError.Reason(errno) }
    }
  }
}
