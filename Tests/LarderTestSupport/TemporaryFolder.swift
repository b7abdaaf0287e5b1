public import Foundation

/// A folder that exists as long as this value: removed with all that is in it.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let url: URL

  /// Makes an empty folder below the system's temporary one.
  public init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The folder's path.
  public var path: String { url.path(percentEncoded: false) }

  /// The path of a file in it, which need not exist.
  public func file(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

  /// Writes a file into the folder and returns its path.
  @discardableResult
  public func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: url.appending(path: name))
    return file(name)
  }
}
