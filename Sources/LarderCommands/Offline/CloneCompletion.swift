internal import LarderHTTP
internal import LarderOffline
internal import LarderService

/// Completes a clone of a whole service after a first download in which queries failed.
///
/// A set that fails with its links is tried with fewer of them, see ``LinkTrial``. A set that the service rejects is
/// removed. Sets that were stopped by a rejected sign-in are downloaded.
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
    var trials = Dictionary(queries.map { ($0.name, LinkTrial($0)) }, uniquingKeysWith: { first, _ in first })
    try await CloneCommand.runAndClose(provider, context) {
      try await report.follow(provider) { while try await downloadRest(provider, &trials) {} }
    }
  }

  /// Runs one more download if something is left to try; returns false at the end.
  private func downloadRest(_ provider: OfflineODataProvider, _ trials: inout [String: LinkTrial]) async throws -> Bool
  {
    let errors = report.errors
    let rejected = errors.filter { Self.isPermanentRejection($0.value) }
    // Temporary failures are tried again by 'larder download'.
    let hasTemporaryFailure = rejected.count < errors.count
    if !report.hasCompleted, report.rejectedSignIns >= Self.rejectionLimit { return false }
    var names: [String] = []
    for query in queries {
      guard let error = rejected[query.name] else { continue }
      let hasLinks = trials[query.name]?.links.isEmpty == false && error.name != .authenticationFailed
      if hasLinks, hasTemporaryFailure { continue }
      try await provider.removeDefiningQuery(query.name)
      if hasLinks, var trial = trials[query.name] {
        let rejected = trial
        try await trial.advance { try await isAccepted($0, rejected) }
        trials[query.name] = trial
        report.leaveOut(rejected: trial.leftOut, of: query.name, areAll: trial.links.isEmpty, error)
        try await provider.add(trial.query)
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

  /// Whether the service accepts a query with one link.
  private func isAccepted(_ link: String, _ trial: LinkTrial) async throws -> Bool {
    let request = ODataSingleRequest(.read, trial.path(expanding: [link]), useCache: false)
    do {
      try await access.conversation().0.streamResponse(to: request).body.cancel()
      return true
    } catch let error as ODataServiceError {
      guard case .http = error.category else { throw error.isCancelled ? CancellationError() : error }
      return false
    }
  }

  /// Whether an error means that the service always rejects the query, as opposed to a temporary failure.
  private static func isPermanentRejection(_ error: OfflineODataError) -> Bool {
    error.name == .authenticationFailed || DownloadReport.isQueryError(error)
  }
}
