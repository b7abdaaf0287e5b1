import Foundation
import LarderCurl
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport

@testable import LarderCrashRig
@testable import LarderOffline

/// A store in a folder of its own, and the service that it copies.
final class StoreRig: Sendable {
  let folder: TemporaryFolder
  let root: String
  let transport: CurlTransport
  let diagnostics = DiagnosticLog()

  init(_ root: String) throws {
    folder = try TemporaryFolder()
    self.root = root
    transport = try CurlTransport()
  }

  /// A provider of the rig's file.
  func provider(
    root other: String? = nil, pageSize: Int? = nil, resultPageSize: Int? = nil, name: String = "store",
    transport: (any HTTPTransport)? = nil, downloadsOnOpening: Bool = true
  ) throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(
      storeName: name, path: folder.path, downloadsOnOpening: downloadsOnOpening, pageSize: pageSize,
      encryptionKey: try RigKey.fromEnvironment(), resultPageSize: resultPageSize)
    parameters.conversation.retry = .never
    parameters.onDiagnostic = { [diagnostics] in diagnostics.add($0) }
    guard let url = URL(string: other ?? root) else { throw OfflineODataError(.invalidServiceRoot) }
    return try OfflineODataProvider(serviceRoot: url, transport: transport ?? self.transport, parameters: parameters)
  }

  /// An open store with defining queries by name.
  func open(_ queries: KeyValuePairs<String, String>, pageSize: Int? = nil) async throws -> OfflineODataProvider {
    let provider = try provider(pageSize: pageSize)
    for (name, query) in queries { try await provider.add(OfflineODataDefiningQuery(name, query)) }
    try await provider.open()
    return provider
  }
}

/// No service is in reach.
struct NoService: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host() ?? "", reason: "there is no network")
  }
}

extension OfflineODataProvider {
  /// The result of a query as text.
  func text(_ path: String) async throws -> String {
    String(decoding: try await readJSON(path).bytes, as: UTF8.self)
  }

  /// How many entities a set has.
  func size(_ path: String) async throws -> Int64 { Int64(try await readEntitySet(path).entities.count) }

  /// The strategies of queries at the last download, and their results.
  func strategies() async throws -> [String: String] {
    let all = try await definingQueries()
    return Dictionary(
      all.map { ($0.definingQuery.name, $0.lastStrategy?.rawValue ?? "-") }, uniquingKeysWith: { first, _ in first })
  }
}
