import Foundation
import LarderHTTP

/// The content of a request in a temporary file, from which the session sends it: bounded memory, and a known length.
final class UploadFile: Sendable {
  let url: URL

  /// Writes the stream to the file.
  ///
  /// - Parameter length: the length that was declared, if it was; content of another length throws.
  init(_ stream: HTTPBodyStream, length: Int?) async throws(HTTPTransportError) {
    url = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    do {
      try await UploadFile.write(stream, length, to: url)
    } catch {
      UploadFile.remove(url)
      if Task.isCancelled { throw .cancelled }
      throw error as? HTTPTransportError ?? .invalidRequest("its content failed: \(error)")
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
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }  // A second close, after an error, changes nothing.
    var count = 0
    for try await chunk in stream {
      try Task.checkCancellation()
      count += chunk.count
      if let length, count > length {
        throw HTTPTransportError.invalidRequest("its content is longer than the \(length) bytes announced")
      }
      try file.write(contentsOf: chunk)
    }
    try file.close()
    if let length, count < length {
      throw HTTPTransportError.invalidRequest("its content ended after \(count) of \(length) bytes")
    }
  }
}
