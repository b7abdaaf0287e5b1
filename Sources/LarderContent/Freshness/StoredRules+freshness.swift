extension StoredRules {
  /// The divisor of heuristic freshness: a response is considered fresh for a tenth of the time since its last change
  /// (RFC 9111 §4.2.2).
  package static let heuristicShare: Int64 = 10
  /// The maximum heuristic lifetime, in milliseconds: a week.
  package static let heuristicLimit: Int64 = 7 * 86_400_000
  /// The maximum lifetime of an error that declares none, in milliseconds: a server that reports a resource as missing
  /// may have it again at any time.
  package static let errorLimit: Int64 = 10_000

  /// The age of a response on arrival, in milliseconds (RFC 9111 §4.2.3).
  ///
  /// - Parameter age: the `Age` field in seconds.
  /// - Parameter date: the `Date` field in seconds since 1970.
  static func initialAge(age: Int64?, date: Int64?, requestTime: Int64, responseTime: Int64) -> Int64 {
    // `Date` has whole seconds, so arrival is compared in whole seconds too.
    let apparent = date.map { max(0, saturating(responseTime / 1000, minus: $0)) } ?? 0
    let delay = max(0, saturating(responseTime, minus: requestTime))
    return max(milliseconds(apparent), saturating(milliseconds(age ?? 0), plus: delay))
  }

  /// The current age in milliseconds. Nil if the clock's time is before the response's arrival, so that the age is
  /// unknown.
  package func currentAge(at now: Int64) -> Int64? {
    let resident = StoredRules.saturating(now, minus: responseTime)
    // Two tasks may have read the clock in a different order than they reached the cache.
    if resident < -1000 { return nil }
    return StoredRules.saturating(initialAge, plus: max(0, resident))
  }

  /// The lifetime that the response itself declares: `max-age`, otherwise `Expires`, otherwise a heuristic (RFC 9111
  /// §4.2.1). There is no heuristic if `Cache-Control` cannot be read completely: it may forbid any use.
  func serverLifetime(expires: Int64?) -> (lifetime: Int64?, isHeuristic: Bool) {
    if let maxAge = cacheControl.maxAge { return (StoredRules.milliseconds(maxAge), false) }
    if let expires {
      // Without a `Date`, the arrival time is used (RFC 9110 §6.6.1).
      let creationTime = date.map(StoredRules.milliseconds) ?? responseTime
      return (max(0, StoredRules.saturating(StoredRules.milliseconds(expires), minus: creationTime)), false)
    }
    guard let lastModified, !cacheControl.hasInvalidElement,
      cacheControl.contains(.isPublic) || StoredRules.isHeuristicallyCacheable(status)
    else {
      return (nil, false)
    }
    let creationTime = date.map(StoredRules.milliseconds) ?? responseTime
    let unchanged = max(0, StoredRules.saturating(creationTime, minus: StoredRules.milliseconds(lastModified)))
    let limit = status < 400 ? StoredRules.heuristicLimit : StoredRules.errorLimit
    return (min(unchanged / StoredRules.heuristicShare, limit), true)
  }

  /// Whether responses with a status may have heuristic freshness (RFC 9110 §15.1).
  package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  static func milliseconds(_ seconds: Int64) -> Int64 {
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    return overflows ? (seconds < 0 ? .min : .max) : product
  }

  static func saturating(_ left: Int64, minus right: Int64) -> Int64 {
    let (difference, overflows) = left.subtractingReportingOverflow(right)
    return overflows ? (left < 0 ? .min : .max) : difference
  }

  static func saturating(_ left: Int64, plus right: Int64) -> Int64 {
    let (sum, overflows) = left.addingReportingOverflow(right)
    return overflows ? (left < 0 ? .min : .max) : sum
  }
}
