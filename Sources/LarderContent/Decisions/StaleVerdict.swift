/// Whether a stale response is used after a failure (RFC 9111 §4.2.4, RFC 5861 §4).
package enum StaleVerdict: Sendable, Hashable {
  /// Return the stored response.
  case serve(Freshness)
  /// Report the failure, or return the server's error response.
  case reject

  /// Why the request to the server failed.
  package enum Failure: Sendable, Hashable {
    /// There was no response.
    case unreachable
    /// The response had this status.
    case status(Int)

    /// True for the failures that `stale-if-error` means: no response, and 500, 502, 503, 504 (RFC 5861 §4).
    package var isError: Bool {
      switch self {
      case .unreachable, .status(500), .status(502), .status(503), .status(504): true
      case .status: false
      }
    }
  }

  /// Decides about a stored response that matches the request, after the request to the server failed.
  ///
  /// The stored response is not used, whatever the policy, if it has `must-revalidate` or `no-cache`, if it is known to
  /// be outdated, or if it does not meet the request's `no-cache` or `max-age`. Otherwise it is used if
  /// `stale-if-error`, of the response or of the request, still applies, or if the policy is `staleWhenUnreachable`. If
  /// the context limits staleness, the response's `stale-if-error` is the limit of that policy (RFC 5861 §4).
  package static func of(
    _ failure: Failure, _ request: RequestRules, stored: StoredRules, _ context: LookupContext
  ) -> StaleVerdict {
    guard failure.isError, request.method == .get || request.method == .head, context.covers else { return .reject }
    guard context.policy != .reload, !stored.forbidsStale, !stored.isInvalidated, context.groupsAreValid else {
      return .reject
    }
    let requestControl = request.cacheControl
    guard !requestControl.contains(.noCache), !requestControl.contains(.noStore) else { return .reject }
    guard let freshness = stored.freshness(at: context.now, context.override) else { return .reject }
    if let maxAge = requestControl.maxAge, freshness.age > StoredRules.milliseconds(maxAge) || maxAge == 0 {
      return .reject
    }
    let isLimited = context.limitsStaleness && stored.cacheControl.staleIfError != nil
    if context.policy == .staleWhenUnreachable, !isLimited { return .serve(freshness) }
    // `stale-if-error` does not permit a response that the server has reported as gone.
    if context.isHidden { return .reject }
    let staleness = StoredRules.saturating(freshness.age, minus: freshness.softLifetime)
    for allowed in [stored.cacheControl.staleIfError, requestControl.staleIfError] {
      if let allowed, staleness <= StoredRules.milliseconds(allowed) { return .serve(freshness) }
    }
    return .reject
  }
}
