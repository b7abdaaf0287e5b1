/// Where a query's answer may come from.
public enum ContentPolicy: Sendable, Hashable {
  /// By the rules of HTTP: from the cache while it is fresh, else from the network (RFC 9111 §4).
  ///
  /// A stale response is used only where the server or the request allows it (`stale-while-revalidate`,
  /// `stale-if-error`, `max-stale`).
  case standard
  /// From the network, or from the cache after the server has confirmed it: an end-to-end validation.
  ///
  /// `immutable` makes no difference, and an error is never hidden by stale content.
  case reload
  /// From the cache whatever its age, from the network where nothing is stored.
  ///
  /// The caller answers for the age: `must-revalidate` and `no-cache` of the server do not count. What this cache knows
  /// to be outdated, because a request has changed it, is fetched again. A success that a later 404, 410 or redirect hides
  /// is used, and marked: ``CachedResponse/hiddenBy``.
  case cacheElseNetwork
  /// As ``standard``; where the server cannot be reached, or answers 500, 502, 503 or 504, a stale response of any age
  /// (RFC 9111 §4.2.4, "disconnected").
  ///
  /// Never one with `must-revalidate` or `no-cache`, nor against a request's `no-cache` or `max-age`. In place of such a
  /// failure also a success that a later 404, 410 or redirect hides, marked: ``CachedResponse/hiddenBy``.
  case staleWhenUnreachable
  /// From the cache whatever its age, and never from the network.
  ///
  /// What ``cacheElseNetwork`` ignores is ignored here too, and outdated content is used.
  case cacheOnly
}

/// How long a query takes responses for fresh, in place of what their servers say.
///
/// Wins over `max-age`, `Expires`, heuristics and `no-cache`; never over `no-store`. Both times count from the moment
/// when the response was made or validated.
public struct FreshnessOverride: Sendable, Hashable {
  /// Past it a response has expired; nil leaves it to the server.
  public var ttl: Duration?
  /// Past it a response is given at once and validated at the same time; nil is the same as `ttl`.
  public var softTTL: Duration?

  /// Overrides the time to live, the soft time to live, or both; without arguments neither.
  public init(ttl: Duration? = nil, softTTL: Duration? = nil) {
    self.ttl = ttl
    self.softTTL = softTTL
  }

  /// Leaves everything to the server.
  public static let none = FreshnessOverride()
}
