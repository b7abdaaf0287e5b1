internal import LarderOData
internal import LarderOffline
internal import LarderService

/// The store's own entity sets, which list the pending and the rejected requests.
enum ArchiveSets {
  static let queue = "RequestQueue"
  static let archive = "ErrorArchive"

  /// The requests that are pending, in their order.
  static func pending(_ provider: OfflineODataProvider) async throws -> [JSONNode] {
    try await rows(queue + "?$orderby=RequestID", provider)
  }

  /// The requests of the error archive, in their order.
  static func errors(_ provider: OfflineODataProvider) async throws -> [JSONNode] {
    try await rows(archive + "?$orderby=RequestID", provider)
  }

  /// One request of the error archive.
  static func error(_ id: Int64, _ provider: OfflineODataProvider) async throws -> JSONNode {
    guard let row = try await rows(archive + "?$filter=RequestID%20eq%20\(id)", provider).first else {
      let ids = try await errors(provider).compactMap { $0["RequestID"]?.text }
      throw CommandFailure(
        .negative, "the error archive has no request \(id)",
        hint: ids.isEmpty ? "It is empty." : "It contains \(ids.joined(separator: ", ")).")
    }
    return row
  }

  private static func rows(_ query: String, _ provider: OfflineODataProvider) async throws -> [JSONNode] {
    let result = try await provider.readJSON(query, options: OfflineODataResultOptions(version: .v401))
    return (try JSONNode(result.bytes)["value"]?.items ?? []).map { row in
      .object((row.members ?? []).filter { !$0.name.contains("@") })
    }
  }
}
