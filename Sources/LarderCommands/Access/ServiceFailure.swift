internal import LarderHTTP
internal import LarderOData
internal import LarderService
internal import LarderStorage

/// Describes a service's rejection for the command line.
enum ServiceFailure {
  /// The hint if the service does not accept the client.
  static let signIn = "Credentials come from --user-file FILE or LARDER_USER and LARDER_PASSWORD."

  static func failure(_ error: ODataServiceError) -> CommandFailure {
    if case .storage = error.category, let error = error.cause as? StorageError {
      return CommandFailure(.storage, error)
    }
    return CommandFailure(status(error), error.description, hint: hint(error))
  }

  private static func status(_ error: ODataServiceError) -> CommandStatus {
    switch error.category {
    case .communication(let error): CommandFailure.status(of: error)
    case .http(let status, _): CommandFailure.status(ofHTTP: status)
    case .authentication, .csrf, .malformedResponse, .undecodableType: .network
    case .invalidRequest, .passive, .notOpen, .suspended: .usage
    case .notSupported, .notCached, .notProcessed: .negative
    case .cancelled: .interrupted
    case .alreadyOpen, .cacheNotEnabled, .cacheClosed, .cacheNotClosed, .cacheInUse, .metadataUnreadable, .storage:
      .storage
    }
  }

  private static func hint(_ error: ODataServiceError) -> String? {
    switch error.category {
    case .http(status: 304, _): return nil
    case .http(status: 300..<400, _):
      return "Check the URL and the credentials: services often redirect to a log-in page."
    case .http(_, let payload):
      let details = (payload?.details ?? []).filter { $0.message != payload?.message && !$0.message.isEmpty }
      let lines = details.prefix(ODataErrorPayload.shownDetails).map { "  " + TerminalText.line($0.line) }
      return lines.isEmpty ? nil : lines.joined(separator: "\n")
    case .authentication(.unavailable), .authentication(.unreachable): return nil
    case .authentication: return signIn
    case .csrf: return "Use --service ROOT if the service's root cannot be derived from the URL."
    default: return nil
    }
  }
}
