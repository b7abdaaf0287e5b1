import LarderCore
import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A new, empty folder below the system's temporary folder. It is removed with its content when this value is released.
///
/// SQLite needs files, so the stores of tests have a folder too. The functions of this module that make stores tie the
/// folder to the store: close the store at the end of the test, and the folder is removed. A process that ends early
/// leaves folders behind, for the system to remove.
public final class LarderTestFolder: Sendable {
  /// The path of the folder.
  public let path: String
  /// The name of the folder, which no other has.
  let name: String

  /// Creates the folder. Throws the error of the file system.
  public init() throws {
    name = "larder-test-\(LarderEnvironment.system.uuid().uuidString)"
    let url = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path(percentEncoded: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in the folder, which need not exist.
  public func file(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

  /// The environment, which keeps the folder until the store that uses it is closed and released.
  func retained(by environment: LarderEnvironment) -> LarderEnvironment {
    var environment = environment
    environment.random = { [random = environment.random] in withExtendedLifetime(self) { random() } }
    return environment
  }

  /// The transport, which keeps the folder until the store that uses it is released.
  func retained(by transport: any HTTPTransport) -> any HTTPTransport {
    FolderKeeper(transport: transport, folder: self)
  }
}

private struct FolderKeeper: HTTPTransport {
  let transport: any HTTPTransport
  let folder: LarderTestFolder

  var identity: String { transport.identity }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try await transport.send(request)
  }
}
