@_spi(Stores) internal import LarderCore
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The input that `-` means: the process's own, or a test's. Only the first caller can read it.
package struct StandardInput: Sendable {
  enum Source: Sendable {
    /// An open descriptor, which is not closed.
    case descriptor(Int32)
    case bytes([UInt8])
  }

  private let source: Source
  private let use = Use()

  private final class Use: Sendable {
    let isTaken = Atomic(false)
  }

  /// Creates an input from an open descriptor, which is not closed.
  package static func descriptor(_ number: Int32) -> StandardInput { StandardInput(source: .descriptor(number)) }

  /// Creates an input from bytes.
  package static func bytes(_ bytes: [UInt8]) -> StandardInput { StandardInput(source: .bytes(bytes)) }

  private init(source: Source) { self.source = source }

  /// Whether the user can be asked.
  package var isTerminal: Bool {
    if case .descriptor(let descriptor) = source { FileDescriptors.isTerminal(descriptor) } else { false }
  }

  /// Returns the source to the first caller and throws for later ones, who would find an empty input.
  func take() throws(CommandFailure) -> Source {
    guard !use.isTaken.exchange(true, ordering: .relaxed) else {
      throw CommandFailure(
        .usage, "standard input can be read only once, but two arguments use it",
        hint: "Use a file for one of them.")
    }
    return source
  }

  /// Reads all of it; nil if it has more bytes than the limit.
  func read(limit: Int) throws -> [UInt8]? {
    switch try take() {
    case .bytes(let bytes): return bytes.count <= limit ? bytes : nil
    case .descriptor(let descriptor):
      do throws(FileError.Reason) { return try FileDescriptors.readAll(descriptor, limit: limit) } catch {
        throw FileError(path: "standard input", reason: error.text)
      }
    }
  }
}

/// A descriptor for reading, closed when the last reference is released.
final class InputDescriptor: Sendable {
  let number: Int32
  private let isOwned: Bool
  /// For a regular file, its present position and the number of bytes after it.
  let remainder: (start: Int, count: Int)?

  /// Opens a path, without waiting for a writer if the path is a named pipe.
  init(path: String) throws(FileError.Reason) {
    number = open(ByteText.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    isOwned = true
    guard number >= 0 else { throw FileError.Reason(errno) }
    remainder = InputDescriptor.remainder(of: number)
  }

  /// Reads from a descriptor that another owner closes.
  init(borrowing number: Int32) {
    self.number = number
    isOwned = false
    remainder = InputDescriptor.remainder(of: number)
  }

  deinit { if isOwned, number >= 0 { close(number) } }

  /// Returns nil also for files without a size, such as those in `/proc`: their content is known only after reading
  /// them.
  private static func remainder(of number: Int32) -> (start: Int, count: Int)? {
    var status = stat()
    guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
    let start = Int(lseek(number, 0, SEEK_CUR))
    return start < 0 ? nil : (start, max(0, Int(status.st_size) - start))
  }

  /// Reads bytes of a regular file from a position that no other reader changes; none at its end.
  func read(at position: Int, count: Int) throws(FileError.Reason) -> [UInt8] {
    while true {
      var readCount = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        readCount = pread(number, buffer.baseAddress, buffer.count, off_t(position))
        initialized = max(readCount, 0)
      }
      if readCount >= 0 { return bytes }
      if errno != EINTR { throw FileError.Reason(errno) }
    }
  }
}
