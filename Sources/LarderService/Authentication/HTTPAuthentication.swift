/// Identifies the client to the service by the `Authorization` field (RFC 9110 §11).
///
/// Credentials are sent to the service's own origin and nowhere else. Client certificates, additional authorities and
/// proxies belong to the connection: they are options of the transport, not authentications. A client certificate, too,
/// is presented to the service's own origin and nowhere else.
///
/// Implementations: ``BasicAuthentication``, ``BearerAuthentication``, ``OAuth2Authentication``.
public protocol HTTPAuthentication: Sendable {
  /// A text that identifies one user or credential, the same at every start. Caches use it to keep the responses of
  /// different users apart.
  ///
  /// It may hold a secret: digest it before it is written anywhere, and never log it.
  var identity: String { get }

  /// Returns the value of the `Authorization` field for the next request; nil sends none.
  func authorization() async throws(HTTPAuthenticationError) -> String?

  /// Returns another value after the service responded with 401.
  ///
  /// - Parameters:
  ///   - rejected: the value that was sent.
  ///   - challenge: the `WWW-Authenticate` field.
  /// - Returns: the value for repeating the request once; nil if there is no better one.
  func authorization(after rejected: String?, challenge: String?) async throws(HTTPAuthenticationError) -> String?
}

extension HTTPAuthentication {
  /// Returns nil: there is no better value.
  public func authorization(after rejected: String?, challenge: String?) async throws(HTTPAuthenticationError)
    -> String?
  { nil }
}
