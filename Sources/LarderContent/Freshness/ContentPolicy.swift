/// Where a query's response may come from.
public enum ContentPolicy: Sendable, Hashable {
  /// The rules of HTTP: from the cache while the response is fresh, otherwise from the network (RFC 9111 §4).
  ///
  /// A stale response is used only if the server or the request allows it (`stale-while-revalidate`, `stale-if-error`,
  /// `max-stale`).
  case standard
  /// From the network, or from the cache after the server has confirmed the response: an end-to-end validation.
  ///
  /// `immutable` has no effect, and an error is never hidden by stale content.
  case reload
  /// From the cache whatever the response's age, and from the network if nothing is stored.
  ///
  /// The caller is responsible for the age: the server's `must-revalidate` and `no-cache` have no effect. A response
  /// that this cache knows to be outdated, because a request has changed the resource, is downloaded again. A success
  /// that a later 404, 410 or redirect hides is used, and marked: ``CachedResponse/hiddenBy``.
  case cacheElseNetwork
  /// As ``standard``. If the server cannot be reached, or returns 500, 502, 503 or 504, a stale response of any age is
  /// used (RFC 9111 §4.2.4, "disconnected").
  ///
  /// A response with `must-revalidate` or `no-cache` is never used, nor one that the request's `no-cache` or `max-age`
  /// excludes. After such a failure, a success that a later 404, 410 or redirect hides is used too, and marked:
  /// ``CachedResponse/hiddenBy``.
  case staleWhenUnreachable
  /// From the cache whatever the response's age, and never from the network.
  ///
  /// The directives that ``cacheElseNetwork`` ignores are ignored here too, and outdated content is used.
  case cacheOnly
}

/// How long a query considers responses fresh, instead of the lifetimes that their servers declare.
///
/// It overrides `max-age`, `Expires`, heuristics and `no-cache`, but never `no-store`. Both times count from the
/// creation or validation of the response.
public struct FreshnessOverride: Sendable, Hashable {
  /// The age at which a response expires; nil leaves it to the server.
  public var ttl: Duration?
  /// The age from which a response is returned at once and validated at the same time; nil means `ttl`.
  public var softTTL: Duration?

  /// Overrides the time to live, the soft time to live, or both; without arguments neither.
  public init(ttl: Duration? = nil, softTTL: Duration? = nil) {
    self.ttl = ttl
    self.softTTL = softTTL
  }

  /// Leaves everything to the server.
  public static let none = FreshnessOverride()
}
