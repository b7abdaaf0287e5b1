public import LarderCore
public import LarderHTTP

/// The options of an ``HTTPCache``.
public struct HTTPCacheOptions: Sendable {
  /// The name in `Cache-Status` (RFC 9211 §2): a token.
  public var name = "larder"
  /// Request fields that identify the caller: responses for different values of any of them are never exchanged.
  public var credentialFields = CredentialFields()
  /// True if several clients share the cache and must not see each other's responses (RFC 9111 §1). A response with
  /// `Cache-Control: private` or `Set-Cookie` is then stored only for requests with the same credentials, never for
  /// requests without any (§5.2.2.7, §7.3). Requests without credentials do not get responses that a single user's
  /// cache has stored.
  ///
  /// ``credentialFields`` must contain every field that identifies a client, including `Cookie`. `s-maxage` and
  /// `proxy-revalidate` have no effect here either.
  public var isShared = false
  /// An abandoned transfer whose response may be stored continues to its end if at most this many bytes are missing.
  public var abandonedByteLimit = 1 << 20
  /// How many bytes a response that cannot be spooled may be ahead of its slowest reader.
  public var readAheadByteLimit = 1 << 18
  /// Stored content of at most this many bytes is read and checked completely before its response is returned. If it is
  /// damaged, the request is sent to the server, as if nothing were stored. Content up to 1 MiB stays in memory until
  /// it is read; longer content is read twice.
  ///
  /// Longer content than this option allows is checked piece by piece, each piece before any of its bytes is delivered.
  /// If a piece other than the first is damaged, the response is interrupted.
  public var checkedByteLimit = 1 << 20
  /// How long faster readers of a response that cannot be spooled wait, in total, for a slower one. The slower one then
  /// continues with a request of its own for the missing range; without a strong validator its content ends with an
  /// error.
  public var slowReaderTimeout: Duration = .seconds(1)
  /// The clock for ages and lifetimes, and the tasks.
  public var environment = LarderEnvironment.system
  /// Called with failures of the cache, which fail no request. Called on any thread, and never under a lock.
  public var onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?

  /// Creates the default options.
  public init() {}

  /// The current time in milliseconds since 1970.
  func now() -> Int64 { environment.unixMilliseconds }
}
