public import LarderCore
public import LarderHTTP

/// What can be set of an ``HTTPCache``.
public struct HTTPCacheOptions: Sendable {
  /// The name in `Cache-Status` (RFC 9211 §2): a token.
  public var name = "larder"
  /// Request fields that say who asks: answers to different values of any of them are never exchanged.
  public var credentialFields = CredentialFields()
  /// True where several clients share the cache that must not see each other's responses (RFC 9111 §1). A response with
  /// `Cache-Control: private` or `Set-Cookie` is then kept for requests with the same credentials alone, never for requests without
  /// any (§5.2.2.7, §7.3). Requests without credentials are not answered with what a cache of one user has kept.
  ///
  /// ``credentialFields`` must name whatever tells clients apart, `Cookie` among it. `s-maxage` and `proxy-revalidate` have no effect
  /// here either.
  public var isShared = false
  /// An abandoned transfer whose answer may be stored goes on to its end where at most this many bytes are missing.
  public var finishesAbandoned = 1 << 20
  /// How many bytes an answer that cannot be spooled may run ahead of its slowest reader.
  public var window = 1 << 18
  /// Stored content of at most so many bytes is read and checked as a whole before its response is given. Where it is damaged, the
  /// server is asked instead, as if nothing were stored. Up to 1 MiB it stays in memory until it is taken; longer content is
  /// read twice.
  ///
  /// Content that is longer than this is checked piece by piece, each before any byte of it is given: one that is damaged, but for
  /// the first, breaks the response off.
  public var checkedFirst = 1 << 20
  /// How long faster readers of an answer that cannot be spooled wait, in sum, for a slower one. It then goes on by a request
  /// of its own, for the range that it lacks; without a strong validator its content ends with an error.
  public var patience: Duration = .seconds(1)
  /// The clock for ages and lifetimes, and the tasks.
  public var environment = LarderEnvironment.system
  /// Is told of failures of the cache, which fail no request.
  public var onDiagnostic: @Sendable (CacheDiagnostic) -> Void = { _ in }

  /// The defaults.
  public init() {}

  /// The time in milliseconds since 1970.
  func now() -> Int64 { environment.unixMilliseconds }
}
