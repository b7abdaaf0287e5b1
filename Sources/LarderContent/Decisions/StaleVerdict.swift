/// Whether a stale response is served in place of a failure (RFC 9111 §4.2.4, RFC 5861 §4).
package enum StaleVerdict: Sendable, Hashable {
  /// Answer with the stored response.
  case serve(Freshness)
  /// Report the failure, or pass the server's error on.
  case refuse

  /// What went wrong when the server was asked.
  package enum Failure: Sendable, Hashable {
    /// No answer came.
    case unreachable
    /// This status came.
    case status(Int)

    /// True for the failures that `stale-if-error` means: no answer, and 500, 502, 503, 504 (RFC 5861 §4).
    package var isError: Bool {
      switch self {
      case .unreachable, .status(500), .status(502), .status(503), .status(504): true
      case .status: false
      }
    }
  }

  /// Decides about a stored response that fits the request, after the server was asked in vain.
  ///
  /// Refused whatever the policy: responses with `must-revalidate` or `no-cache`, responses known to be outdated, and
  /// requests whose `no-cache` or `max-age` the response does not meet. Otherwise served where `stale-if-error`, of the
  /// response or of the request, still covers it, or where the policy is `staleWhenUnreachable`.
  package static func of(
    _ failure: Failure, _ request: RequestRules, stored: StoredRules, _ context: LookupContext
  ) -> StaleVerdict {
    guard failure.isError, request.method == .get || request.method == .head, context.covers else { return .refuse }
    guard context.policy != .reload, !stored.forbidsStale, !stored.isInvalidated, context.groupsAreValid else {
      return .refuse
    }
    let asked = request.cacheControl
    guard !asked.contains(.noCache), !asked.contains(.noStore) else { return .refuse }
    guard let freshness = stored.freshness(at: context.now, context.override) else { return .refuse }
    if let most = asked.maxAge, freshness.age > StoredRules.milliseconds(most) || most == 0 { return .refuse }
    if context.policy == .staleWhenUnreachable { return .serve(freshness) }
    // `stale-if-error` is no permission to answer with what the server has said is gone.
    if context.isHidden { return .refuse }
    let staleness = StoredRules.saturating(freshness.age, minus: freshness.softLifetime)
    for allowed in [stored.cacheControl.staleIfError, asked.staleIfError] {
      if let allowed, staleness <= StoredRules.milliseconds(allowed) { return .serve(freshness) }
    }
    return .refuse
  }
}
