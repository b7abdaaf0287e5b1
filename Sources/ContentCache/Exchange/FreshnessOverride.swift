/// Lifetimes that a caller sets in place of the server's; never over `no-store`.
public struct FreshnessOverride: Sendable, Hashable {
  /// How long after it was made or validated a response may be used; nil: as the server says.
  public var ttl: Duration?
  /// How long a response is used without asking the server for a newer one; nil: as long as it may be used.
  public var softTTL: Duration?

  /// Sets lifetimes.
  public init(ttl: Duration? = nil, softTTL: Duration? = nil) {
    self.ttl = ttl
    self.softTTL = softTTL
  }
}
