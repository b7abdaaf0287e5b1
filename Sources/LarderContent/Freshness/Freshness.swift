/// How old a stored response is, and how old it may become; in milliseconds.
package struct Freshness: Sendable, Hashable {
  /// The age (RFC 9111 §4.2.3).
  package var age: Int64
  /// The age up to which the response is used without validation: the soft TTL.
  package var softLifetime: Int64
  /// The age at which the response expires: the TTL.
  package var lifetime: Int64

  /// The value of the `Age` field: whole seconds (RFC 9111 §5.1).
  package var ageInSeconds: Int64 { age / 1000 }
  /// The value of `ttl` in `Cache-Status`: the remaining freshness in seconds, negative once stale (RFC 9211 §2.4).
  package var remainingSeconds: Int64 {
    let remaining = StoredRules.saturating(softLifetime, minus: age)
    return remaining >= 0 ? remaining / 1000 : -((-(remaining + 1)) / 1000 + 1)
  }
  /// True if the response may be used without a request to the server.
  package var isFresh: Bool { age < softLifetime }
}

extension StoredRules {
  /// The freshness at a time; nil if the clock went backwards.
  ///
  /// Without overrides the soft TTL is the freshness lifetime, and the TTL is the sum of that and
  /// `stale-while-revalidate`, which `must-revalidate` and `no-cache` exclude (RFC 5861 §3). An error that declares no
  /// lifetime is fresh for at most ``errorLimit``, whatever the overrides.
  package func freshness(at now: Int64, _ override: FreshnessOverride) -> Freshness? {
    guard let age = currentAge(at: now) else { return nil }
    let serverLifetime = lifetime ?? 0
    var soft = serverLifetime
    var hard = serverLifetime
    if let extra = cacheControl.staleWhileRevalidate, !forbidsStale {
      hard = StoredRules.saturating(serverLifetime, plus: StoredRules.milliseconds(extra))
    }
    if let ttl = override.ttl {
      hard = ttl.wholeMilliseconds
      if status >= 400, lifetime == nil || isHeuristic { hard = min(hard, StoredRules.errorLimit) }
      soft = hard
    }
    if let softTTL = override.softTTL { soft = min(softTTL.wholeMilliseconds, hard) }
    return Freshness(age: age, softLifetime: soft, lifetime: hard)
  }

  /// True if the server forbids any use of the response once it is stale (RFC 9111 §4.2.4).
  package var forbidsStale: Bool {
    cacheControl.contains(.mustRevalidate) || cacheControl.contains(.noCache)
  }
}

extension Duration {
  /// The duration in milliseconds, at least 0, with saturation.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let whole = StoredRules.milliseconds(seconds)
    return max(0, StoredRules.saturating(whole, plus: attoseconds / 1_000_000_000_000_000))
  }
}
