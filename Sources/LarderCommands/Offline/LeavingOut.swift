internal import LarderOffline

/// Takes out of a clone of a whole service what the service does not give: the first download has ended, and queries have failed.
///
/// A set that fails with its links is tried without them. One that the service refuses is taken out, and those that a refused
/// sign-in has stopped are downloaded.
struct LeavingOut {
  let access: OfflineAccess
  let queries: [OfflineODataDefiningQuery]
  let report: DownloadReport
  let context: CommandContext

  /// So many refused sign-ins, and nothing that was ever let through, say that the credentials are wrong: more of them could lock
  /// the user out.
  private static let patience = 3

  func run() async throws {
    let provider = access.provider
    try await access.open()
    try await CloneCommand.closing(provider, context) {
      try await report.hear(provider) { while try await goOn(provider) {} }
    }
  }

  /// One more download where something is left to try; false at the end.
  private func goOn(_ provider: OfflineODataProvider) async throws -> Bool {
    let errors = report.errors
    let refused = errors.filter { Self.isLeftOut($0.value) }
    // What fails for now is tried again by 'larder download'.
    let isAway = refused.count < errors.count
    if !report.hasCompleted, report.leftOut.count + refused.count >= Self.patience { return false }
    var names: [String] = []
    for query in queries {
      guard let error = refused[query.name] else { continue }
      let hasLinks = query.query != query.name && error.name != .authenticationFailed
      if hasLinks, isAway { continue }
      try await provider.removeDefiningQuery(query.name)
      if hasLinks, report.leaveOutLinks(of: query, error) {
        var plain = query
        plain.query = query.name
        try await provider.add(plain)
        names.append(query.name)
      } else {
        report.leaveOut(query.name)
      }
    }
    if isAway { return false }
    let ended = report.ended
    names += queries.map(\.name).filter { !ended.contains($0) }
    guard !names.isEmpty else { return false }
    do { try await provider.download(names) } catch let error as OfflineODataError {
      guard !error.isCancelled, report.errors.values.contains(error) else { throw error }
    }
    return true
  }

  /// Whether an error says that the query will not be answered, rather than not now.
  private static func isLeftOut(_ error: OfflineODataError) -> Bool {
    error.name == .authenticationFailed || DownloadReport.isOfQuery(error)
  }
}
