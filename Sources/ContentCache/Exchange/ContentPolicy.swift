/// How far a request may rely on what is stored.
public enum ContentPolicy: Sendable, Hashable {
  /// By the rules of HTTP: fresh content is used, stale content validated (RFC 9111 §4).
  case standard
  /// As ``standard``; where no answer comes from the network, stored content is used however old it is.
  ///
  /// What the server forbade to store or to use unvalidated (`no-store`, `must-revalidate`) stays forbidden.
  case staleIfUnreachable
  /// Stored content is used however old it is; the network is asked only where nothing is stored.
  case cacheFirst
  /// Stored content however old it is, and never the network: 504 where nothing is stored (RFC 9111 §5.2.1.7).
  case cacheOnly
  /// The server is always asked, with what is stored as the condition (RFC 9111 §5.2.1.4, `no-cache`).
  case validate
  /// The server is asked without a condition, and its answer replaces what is stored.
  case reload
}
