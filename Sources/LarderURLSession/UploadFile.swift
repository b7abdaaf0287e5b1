import Foundation
import LarderHTTP

/// The content of a request in a temporary file, from which the session sends it: bounded memory, and a known length.
final class UploadFile: Sendable {
  let url: URL

  /// Writes the stream to the file.
  ///
  /// - Parameter length: the declared length; nil if none was declared. Content of another length throws.
  init(_ stream: HTTPBodyStream, length: Int?) async throws(HTTPTransportError) {
    url = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    do {
      try await UploadFile.write(stream, length, to: url)
    } catch {
      UploadFile.remove(url)
      if Task.isCancelled { throw .cancelled }
      throw error as? HTTPTransportError ?? .invalidRequest("its content cannot be read: \(error)")
    }
  }

  deinit { remove() }

  /// Removes the file.
  func remove() { UploadFile.remove(url) }

  private static func remove(_ url: URL) {
    // An error is ignored: the file is already gone, or cannot be removed, and the request does not depend on it.
    try? FileManager.default.removeItem(at: url)
  }

  private static func write(_ stream: HTTPBodyStream, _ length: Int?, to url: URL) async throws {
    // Readable only for this user.
    guard
      FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else {
      throw HTTPTransportError.other("no temporary file can be created in \(url.deletingLastPathComponent().path)")
    }
    let file = try onDisk { try FileHandle(forWritingTo: url) }
    defer { try? file.close() }  // A second close, after an error, changes nothing.
    var count = 0
    for try await chunk in stream {
      try Task.checkCancellation()
      count += chunk.count
      if let length, count > length {
        throw HTTPTransportError.invalidRequest("its content is longer than the \(length) bytes announced")
      }
      try onDisk { try file.write(contentsOf: chunk) }
    }
    try onDisk { try file.close() }
    if let length, count < length {
      throw HTTPTransportError.invalidRequest("its content ended after \(count) of \(length) bytes")
    }
  }

  /// Reports an error of the temporary file as one that is not the request's.
  private static func onDisk<Value>(_ body: () throws -> Value) throws(HTTPTransportError) -> Value {
    do { return try body() } catch { throw .other("the temporary file cannot be written: \(error)") }
  }
}
