@_spi(Stores) internal import LarderCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The error for a file that cannot be read or written, or that has the wrong content.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The operating system's error.
  package struct Reason: Error, Sendable, Hashable {
    let text: String

    init(_ number: Int32) { text = FileDescriptors.reason(number) }
    init(text: String) { self.text = text }
  }

  /// What was attempted, `read` or `written`.
  package let action: String
  /// The path of the file.
  package let path: String
  /// The reason.
  package let reason: String

  init(action: String = "read", path: String, reason: String) {
    self.action = action
    self.path = path
    self.reason = reason
  }

  /// The message, with the file's path.
  package var description: String { "\(path) cannot be \(action): \(reason)" }
}

/// Reads files by path.
package enum InputFile {
  /// The size limit in bytes: larger files are rejected, because files are read into memory.
  package static let limit = 1 << 30
  /// The size limit in bytes for credentials, certificates and lists of header fields.
  static let settingsLimit = 1 << 20

  /// Reads the complete content of a file of at most `limit` bytes.
  static func read(_ path: String, limit: Int = limit) throws(FileError) -> [UInt8] {
    let descriptor = open(ByteText.path(path), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path: path, reason: FileDescriptors.reason(errno)) }
    defer { close(descriptor) }
    do throws(FileError.Reason) {
      guard let bytes = try FileDescriptors.readAll(descriptor, limit: limit) else {
        throw FileError.Reason(text: "it is larger than \(limit) bytes")
      }
      return bytes
    } catch {
      throw FileError(path: path, reason: error.text)
    }
  }

  /// Whether others than the owner may read the file.
  static func isReadableByOthers(_ path: String) -> Bool {
    var status = stat()
    guard stat(ByteText.path(path), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return status.st_mode & (S_IRGRP | S_IROTH) != 0
  }

  /// The size of a file in bytes; 0 if there is none.
  static func size(_ path: String) -> Int {
    var status = stat()
    return stat(ByteText.path(path), &status) == 0 ? Int(clamping: status.st_size) : 0
  }

  /// Identifies a file, by whichever path it is opened.
  struct Identity: Hashable {
    private let (device, file): (UInt64, UInt64)

    fileprivate init(_ status: stat) {
      (device, file) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
  }

  /// The identity of the file that the path leads to; nil if there is none.
  static func identity(_ path: String) -> Identity? {
    var status = stat()
    return stat(ByteText.path(path), &status) == 0 ? Identity(status) : nil
  }

  /// Whether a file or folder exists at the path.
  static func exists(_ path: String) -> Bool { access(ByteText.path(path), F_OK) == 0 }

  /// Whether a file exists at the path, or a link to one: no folder, pipe or device.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(ByteText.path(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether a folder exists at the path.
  static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(ByteText.path(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
