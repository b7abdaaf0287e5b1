import CurlTransport
import Foundation
import HTTPCore
import OData
import ODataService
import OfflineOData
import TestSupport

/// An offline store after a download; whatever it asks of the network from then on fails.
final class StoreAnswers: AnswersQuestions {
  let provider: OfflineODataProvider
  private let folder: TemporaryFolder

  private init(provider: OfflineODataProvider, folder: TemporaryFolder) {
    self.provider = provider
    self.folder = folder
  }

  /// Copies all of a service: each set and singleton, with everything that navigation properties lead to.
  static func copy(of data: QuestionData, at root: String) async throws -> StoreAnswers {
    let folder = try TemporaryFolder()
    guard let url = URL(string: root) else { throw QuestionData.Failure(description: "\(root) is no URL") }
    let parameters = OfflineODataParameters(storePath: folder.path)
    let filling = try OfflineODataProvider(serviceRoot: url, transport: try CurlTransport(), parameters: parameters)
    for set in data.roots {
      let expand = expand(set.type, data, depth: 0)
      let query = set.name + (expand.isEmpty ? "" : "?$expand=" + expand)
      try await filling.add(OfflineODataDefiningQuery(set.name, query))
    }
    try await filling.open()
    try await filling.close()
    let provider = try OfflineODataProvider(serviceRoot: url, transport: Unplugged(), parameters: parameters)
    try await provider.open()
    return StoreAnswers(provider: provider, folder: folder)
  }

  /// All navigation properties; below contained entities, which no set has, theirs too.
  private static func expand(_ type: EdmStructure, _ data: QuestionData, depth: Int) -> String {
    type.navigationProperties.map { navigation in
      guard navigation.containsTarget, depth < 2, data.model.version >= .v4,
        let target = navigation.type.name.flatMap({ data.model.structure($0) })
      else { return navigation.name }
      let inner = expand(target, data, depth: depth + 1)
      return inner.isEmpty ? navigation.name : "\(navigation.name)($expand=\(inner))"
    }.joined(separator: ",")
  }

  func answer(_ path: String) async -> QuestionAnswer {
    do {
      let answer = try await provider.readJSON(path)
      return answer.bytes.isEmpty ? .nothing : .content(answer.bytes)
    } catch OfflineODataError.notFound {
      return .nothing
    } catch {
      return .refused("\(error)")
    }
  }

  func close() async throws { try await provider.close() }
}

/// A machine without a network.
private struct Unplugged: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host() ?? "", reason: "the test has no network any more")
  }
}
