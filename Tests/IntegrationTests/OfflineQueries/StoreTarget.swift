import Foundation
import LarderCurl
import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import LarderTestSupport

/// An offline store after a download; every later request to the network fails.
final class StoreTarget: QueryTarget {
  let provider: OfflineODataProvider
  private let folder: TemporaryFolder

  private init(provider: OfflineODataProvider, folder: TemporaryFolder) {
    self.provider = provider
    self.folder = folder
  }

  /// Copies all of a service: each set and singleton, with everything that navigation properties lead to.
  ///
  /// - Parameter pageSize: the number of rows per page. All pages are read, by their next links.
  static func copy(of data: QueryData, at root: String, pageSize: Int? = nil) async throws -> StoreTarget {
    let folder = try TemporaryFolder()
    guard let url = URL(string: root) else { throw QueryData.Failure(description: "\(root) is not a URL") }
    let parameters = OfflineODataParameters(path: folder.path)
    let downloadingProvider = try OfflineODataProvider(
      serviceRoot: url, transport: try CurlTransport(), parameters: parameters)
    for set in data.roots {
      let expand = expand(set.type, data, depth: 0)
      let query = set.name + (expand.isEmpty ? "" : "?$expand=" + expand)
      try await downloadingProvider.add(OfflineODataDefiningQuery(set.name, query))
    }
    try await downloadingProvider.open()
    try await downloadingProvider.close()
    var paged = parameters
    paged.resultPageSize = pageSize
    let provider = try OfflineODataProvider(serviceRoot: url, transport: UnreachableTransport(), parameters: paged)
    try await provider.open()
    return StoreTarget(provider: provider, folder: folder)
  }

  /// All navigation properties; for contained entities, which no set has, their navigation properties too.
  private static func expand(_ type: EdmStructure, _ data: QueryData, depth: Int) -> String {
    type.navigationProperties.map { navigation in
      guard navigation.containsTarget, depth < 2, data.model.version >= .v4,
        let target = navigation.type.name.flatMap({ data.model.structure($0) })
      else { return navigation.name }
      let inner = expand(target, data, depth: depth + 1)
      return inner.isEmpty ? navigation.name : "\(navigation.name)($expand=\(inner))"
    }.joined(separator: ",")
  }

  func result(of path: String) async -> QueryResult {
    do {
      let result = try await provider.readJSON(path)
      if result.bytes.isEmpty { return .nothing }
      return .content(try await allPages(result.bytes))
    } catch OfflineODataError.notFound {
      return .nothing
    } catch {
      return .rejected("\(error)")
    }
  }

  /// All pages of a result as one.
  private func allPages(_ first: [UInt8]) async throws -> [UInt8] {
    guard provider.parameters.resultPageSize != nil, var page = try? JSONNode(first) else { return first }
    let isVerbose = page["d"] != nil
    let head = page
    var rows: [JSONNode] = []
    var links = 0
    while true {
      let body = isVerbose ? page["d"] ?? page : page
      rows += body[isVerbose ? "results" : "value"]?.items ?? []
      guard let link = (body["@odata.nextLink"] ?? body["@nextLink"] ?? body["__next"])?.string, links < 500 else {
        break
      }
      links += 1
      page = try JSONNode(try await provider.readJSON(link).bytes)
    }
    guard links > 0 else { return first }
    return ServiceSpelling.bytes(StoreTarget.replaced(head, isVerbose, rows))
  }

  private static func replaced(_ page: JSONNode, _ isVerbose: Bool, _ rows: [JSONNode]) -> JSONNode {
    .object(
      (page.members ?? []).map { member in
        if isVerbose, member.name == "d" { return .init("d", replaced(member.value, false, rows)) }
        return member.name == "value" || member.name == "results" ? .init(member.name, .array(rows)) : member
      })
  }

  func close() async throws { try await provider.close() }
}

/// A machine without a network.
private struct UnreachableTransport: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host() ?? "", reason: "the test has no network")
  }
}
