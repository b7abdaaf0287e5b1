import LarderService

/// The reason why an upload stops before everything is sent.
struct UploadInterruptionReason: Sendable {
  let error: OfflineODataError
  /// The failure of the service after which the same requests may succeed later; nil for other reasons.
  private(set) var temporaryFailure: RetryStateMachine.Outcome?

  init(_ error: any Error) {
    guard let stop = error as? UploadStop else {
      self.error = OfflineODataError(below: error)
      return
    }
    self.error = OfflineODataError(below: stop.cause)
    // The conversation has waited and sent the request again already, as often as the policy allows.
    guard stop.error.sends == 1 else { return }
    switch stop.error.category {
    case .http(let status, _) where TemporaryStatus.contains(status):
      let fields = stop.error.response?.fields
      temporaryFailure = .status(status, retryAfter: fields?[.retryAfter], date: fields?[.date])
    case .authentication(.unavailable(_, let retryAfter)): temporaryFailure = .noToken(retryAfter: retryAfter)
    default: break
    }
  }
}
