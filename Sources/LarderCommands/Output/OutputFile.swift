#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A file that appears whole or not at all: written beside its place, then renamed onto it.
///
/// Devices and pipes (`/dev/null`) are written directly.
struct OutputFile: ~Copyable {
  private let path: String
  private let temporary: String?
  private let descriptor: Int32
  private var isDone = false

  private init(path: String, temporary: String?, descriptor: Int32) {
    self.path = path
    self.temporary = temporary
    self.descriptor = descriptor
  }

  /// Starts a file; a private one is for its owner alone.
  static func create(_ path: String, isPrivate: Bool = false) throws(FileError) -> OutputFile {
    var status = stat()
    let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    if isSpecial, status.st_mode & S_IFMT == S_IFDIR {
      throw FileError(action: "written", path: path, reason: FileDescriptors.reason(EISDIR))
    }
    let temporary = isSpecial ? nil : "\(path).\(getpid()).part"
    let flags = O_WRONLY | O_CLOEXEC | (isSpecial ? 0 : O_CREAT | O_TRUNC)
    let descriptor = open(temporary ?? path, flags, isPrivate ? 0o600 : 0o666)
    guard descriptor >= 0 else {
      throw FileError(action: "written", path: path, reason: FileDescriptors.reason(errno))
    }
    return OutputFile(path: path, temporary: temporary, descriptor: descriptor)
  }

  /// Adds bytes.
  func write(_ bytes: [UInt8]) throws(FileError) {
    do throws(OutputError) { try FileDescriptors.write(bytes, to: descriptor) } catch {
      switch error {
      case .closed: throw FileError(action: "written", path: path, reason: FileDescriptors.reason(EPIPE))
      case .refused(let reason): throw FileError(action: "written", path: path, reason: reason)
      }
    }
  }

  /// Puts the file in its place.
  consuming func finish() throws(FileError) {
    if let temporary {
      guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
        throw FileError(action: "written", path: path, reason: FileDescriptors.reason(errno))
      }
    }
    isDone = true
  }

  deinit {
    close(descriptor)
    if !isDone, let temporary { unlink(temporary) }
  }
}
