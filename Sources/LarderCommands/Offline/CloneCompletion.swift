internal import LarderOffline

/// Completes a clone of a whole service after a first download in which queries failed.
///
/// A set that fails with its links is tried without them. A set that the service rejects is removed. Sets that were
/// stopped by a rejected sign-in are downloaded.
struct CloneCompletion {
  let access: OfflineAccess
  let queries: [OfflineODataDefiningQuery]
  let report: DownloadReport
  let context: CommandContext

  /// The number of rejected sign-ins, without a successful one, after which the credentials are considered wrong:
  /// further attempts could lock the user out.
  private static let rejectionLimit = 3

  func run() async throws {
    let provider = access.provider
    try await access.open()
    try await CloneCommand.runAndClose(provider, context) {
      try await report.follow(provider) { while try await downloadRest(provider) {} }
    }
  }

  /// Runs one more download if something is left to try; returns false at the end.
  private func downloadRest(_ provider: OfflineODataProvider) async throws -> Bool {
    let errors = report.errors
    let rejected = errors.filter { Self.isPermanentRejection($0.value) }
    // Temporary failures are tried again by 'larder download'.
    let hasTemporaryFailure = rejected.count < errors.count
    if !report.hasCompleted, report.rejectedSignIns >= Self.rejectionLimit { return false }
    var names: [String] = []
    for query in queries {
      guard let error = rejected[query.name] else { continue }
      // The query of a set without links is the name of the set.
      let hasLinks = query.query != query.name && error.name != .authenticationFailed
      if hasLinks, hasTemporaryFailure { continue }
      try await provider.removeDefiningQuery(query.name)
      if hasLinks, report.leaveOutLinks(of: query, error) {
        var queryWithoutLinks = query
        queryWithoutLinks.query = query.name
        try await provider.add(queryWithoutLinks)
        names.append(query.name)
      } else {
        report.leaveOut(query.name)
      }
    }
    if hasTemporaryFailure { return false }
    let finished = report.finishedQueries
    names += queries.map(\.name).filter { !finished.contains($0) }
    guard !names.isEmpty else { return false }
    do { try await provider.download(names) } catch let error as OfflineODataError {
      guard !error.isCancelled, report.errors.values.contains(error) else { throw error }
    }
    return true
  }

  /// Whether an error means that the service always rejects the query, as opposed to a temporary failure.
  private static func isPermanentRejection(_ error: OfflineODataError) -> Bool {
    error.name == .authenticationFailed || DownloadReport.isQueryError(error)
  }
}
