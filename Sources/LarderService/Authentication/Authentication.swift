/// Who the caller is, as the `Authorization` field tells it (RFC 9110 §11).
///
/// Credentials go to the service's own origin and nowhere else. Client certificates, additional authorities and proxies
/// belong to the connection: they are options of the transport, not authentications. A client certificate is shown to the
/// service's own origin too, and nowhere else.
///
/// Implementations: ``BasicAuthentication``, ``BearerAuthentication``, ``OAuth2Authentication``.
public protocol Authentication: Sendable {
  /// One text for one user or credential, the same at every start: caches keep answers of different ones apart by it.
  ///
  /// It may hold a secret: digest it before it is written anywhere, and never log it.
  var identity: String { get }

  /// The value of the `Authorization` field for the next request; nil sends none.
  func authorization() async throws(AuthenticationFailure) -> String?

  /// Another value, after the service answered 401.
  ///
  /// - Parameters:
  ///   - rejected: the value that was sent.
  ///   - challenge: the `WWW-Authenticate` field.
  /// - Returns: the value to repeat the request with, once; nil where there is none better.
  func authorization(after rejected: String?, challenge: String?) async throws(AuthenticationFailure) -> String?
}

extension Authentication {
  /// Has nothing better.
  public func authorization(after rejected: String?, challenge: String?) async throws(AuthenticationFailure)
    -> String?
  { nil }
}
