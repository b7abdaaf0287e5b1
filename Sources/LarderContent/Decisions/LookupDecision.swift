/// How to handle a request, given what is stored (RFC 9111 §4, RFC 5861 §3, RFC 8246).
package enum LookupDecision: Sendable, Hashable {
  /// Use the stored response without a network request.
  ///
  /// The response may be stale if the request (`max-stale`) or the policy allows it.
  case reuse(Freshness)
  /// Use the stored response at once, as an intermediate one, and validate it at the same time for the final one.
  case reuseWhileRevalidating(Freshness)
  /// Ask the server whether the stored response is still valid; use it after a 304.
  ///
  /// The freshness is nil if the clock's time is before the response's arrival.
  case validate(ForwardReason, Freshness?)
  /// Send the request as it is.
  case forward(ForwardReason)
  /// Return 504: the network must not be used, and no stored response is usable (RFC 9111 §5.2.1.7).
  case unsatisfiable
}

/// The input of a lookup besides the request and the response.
package struct LookupContext: Sendable, Hashable {
  /// The current time in milliseconds since 1970.
  package var now: Int64
  /// The query's policy.
  package var policy: ContentPolicy
  /// The query's times to live.
  package var override: FreshnessOverride
  /// Why nothing is stored, if nothing is: ``ForwardReason/uriMiss`` or ``ForwardReason/varyMiss``.
  package var miss: ForwardReason
  /// False if the stored ranges do not contain the requested bytes.
  package var covers: Bool
  /// False if a cache group of the response has been invalidated, or its record is lost (RFC 9875 §3).
  package var groupsAreValid: Bool
  /// True if a later response hides the stored one, and that later response is lost or must not be used.
  package var isHidden: Bool
  /// True if the server's `stale-if-error` limits the policy `staleWhenUnreachable`.
  package var limitsStaleness = false

  /// Creates the context of a lookup; by default, for a response that is whole and whose groups are valid.
  package init(
    now: Int64, policy: ContentPolicy = .standard, override: FreshnessOverride = .none,
    miss: ForwardReason = .uriMiss, covers: Bool = true, groupsAreValid: Bool = true, isHidden: Bool = false
  ) {
    self.now = now
    self.policy = policy
    self.override = override
    self.miss = miss
    self.covers = covers
    self.groupsAreValid = groupsAreValid
    self.isHidden = isHidden
  }
}

extension LookupDecision {
  /// Why a request is forwarded that only the origin server may respond to (RFC 9211 §2.2).
  package var reasonForOrigin: ForwardReason {
    switch self {
    case .validate(let reason, _), .forward(let reason): reason
    case .reuse(let freshness), .reuseWhileRevalidating(let freshness): freshness.isFresh ? .request : .stale
    case .unsatisfiable: .bypass
    }
  }

  /// Decides about a request with a stored response that matches it (by `Vary`), or without one.
  ///
  /// It uses integers only: a hit costs a few nanoseconds here.
  package static func of(
    _ request: RequestRules, stored: StoredRules?, _ context: LookupContext
  ) -> LookupDecision {
    guard request.method == .get || request.method == .head else {
      return context.policy == .cacheOnly ? .unsatisfiable : .forward(.method)
    }
    let decision = decide(request, stored, context)
    let mayForward = context.policy != .cacheOnly && !request.cacheControl.contains(.onlyIfCached)
    switch decision {
    case .forward, .validate: return mayForward ? decision : .unsatisfiable
    // The network must not be used, so the response that would be intermediate becomes the final one.
    case .reuseWhileRevalidating(let freshness): return mayForward ? decision : .reuse(freshness)
    case .reuse, .unsatisfiable: return decision
    }
  }

  private static func decide(
    _ request: RequestRules, _ stored: StoredRules?, _ context: LookupContext
  ) -> LookupDecision {
    guard let stored else { return .forward(context.miss) }
    guard context.covers else { return .forward(.partial) }
    let freshness = stored.freshness(at: context.now, context.override)
    let isOutdated = stored.isInvalidated || !context.groupsAreValid
    switch context.policy {
    case .cacheOnly: return .reuse(freshness ?? stored.unknownAge)
    case .cacheElseNetwork where !isOutdated: return .reuse(freshness ?? stored.unknownAge)
    default: break
    }
    // The query's own time to live overrides the server's `no-cache`.
    let forbidsUse = stored.cacheControl.contains(.noCache) && context.override.ttl == nil
    let mayBeUsed = !isOutdated && !context.isHidden && !forbidsUse
    // The request is the reason only if it alone forbids the use (RFC 9211 §2.2).
    let reason = mayBeUsed && freshness?.isFresh == true ? ForwardReason.request : .stale
    if context.policy == .reload { return .validate(reason, freshness) }
    // A request that must not be stored is not served from the store either: its sender wants no cache.
    if request.cacheControl.contains(.noStore) { return .forward(reason) }
    guard let freshness, mayBeUsed else { return .validate(.stale, freshness) }
    if request.cacheControl.contains(.noCache) { return .validate(reason, freshness) }
    return byAge(request, stored, freshness)
  }

  private static func byAge(
    _ request: RequestRules, _ stored: StoredRules, _ freshness: Freshness
  ) -> LookupDecision {
    if rejectsAge(request, stored, freshness) { return .validate(freshness.isFresh ? .request : .stale, freshness) }
    if let least = request.cacheControl.minFresh {
      let remaining = StoredRules.saturating(freshness.softLifetime, minus: freshness.age)
      if remaining < StoredRules.milliseconds(least) {
        return .validate(freshness.isFresh ? .request : .stale, freshness)
      }
    }
    if freshness.isFresh { return .reuse(freshness) }
    if let most = request.cacheControl.maxStale, !stored.forbidsStale {
      let staleness = StoredRules.saturating(freshness.age, minus: freshness.softLifetime)
      if staleness <= StoredRules.milliseconds(most) { return .reuse(freshness) }
    }
    // A request with `max-age` and without `max-stale` accepts nothing stale (RFC 9111 §5.2.1.1).
    if freshness.age < freshness.lifetime, request.cacheControl.maxAge == nil {
      return .reuseWhileRevalidating(freshness)
    }
    return .validate(.stale, freshness)
  }

  /// True if the request's `max-age` excludes the response (RFC 9111 §5.2.1.1).
  ///
  /// A reload sends `max-age=0`, and it does not apply to a fresh immutable response (RFC 8246 §2).
  private static func rejectsAge(
    _ request: RequestRules, _ stored: StoredRules, _ freshness: Freshness
  ) -> Bool {
    guard let most = request.cacheControl.maxAge else { return false }
    if most == 0 { return !(stored.cacheControl.contains(.immutable) && freshness.isFresh) }
    return freshness.age > StoredRules.milliseconds(most)
  }
}

extension StoredRules {
  /// The freshness of a response whose age is unknown: stale, and no younger than on arrival.
  fileprivate var unknownAge: Freshness { Freshness(age: initialAge, softLifetime: 0, lifetime: 0) }
}
