import LarderHTTP
import LarderOData

/// An access token from the token endpoint (RFC 6749 §5.1).
public struct OAuth2Token: Sendable, Hashable {
  /// The token that is sent to the service.
  public let accessToken: String
  /// How long the token is valid, counted from the request for it; nil if the server does not say.
  public let lifetime: Duration?
  /// The refresh token for the next request; nil if the server gave none.
  public let refreshToken: String?
  /// The granted scope, if it differs from the requested one.
  public let scope: String?

  /// Creates a token from its parts.
  public init(accessToken: String, lifetime: Duration? = nil, refreshToken: String? = nil, scope: String? = nil) {
    self.accessToken = accessToken
    self.lifetime = lifetime
    self.refreshToken = refreshToken
    self.scope = scope
  }
}

/// The tokens of one grant that several processes use. A server may accept a refresh token only once, and may revoke the
/// grant if it is sent again. So one process refreshes at a time, and the others use the tokens that it received.
package struct OAuth2SharedTokens: Sendable {
  /// What another process has received.
  package struct Newer: Sendable, Hashable {
    /// The refresh token that is valid now.
    package var refreshToken: String
    /// An access token with the rest of its lifetime; nil if none was saved.
    package var token: OAuth2Token?

    package init(refreshToken: String, token: OAuth2Token?) {
      self.refreshToken = refreshToken
      self.token = token
    }
  }

  /// Waits until no other process refreshes. Returns what another process has saved since the last call; nil if none has.
  /// ``end`` must follow, unless this throws.
  package var begin: @Sendable () async throws(HTTPAuthenticationError) -> Newer?
  /// Saves a received token, if there is one, and lets other processes refresh.
  package var end: @Sendable (OAuth2Token?) -> Void

  package init(
    begin: @escaping @Sendable () async throws(HTTPAuthenticationError) -> Newer?,
    end: @escaping @Sendable (OAuth2Token?) -> Void
  ) {
    self.begin = begin
    self.end = end
  }
}

/// Reads the token endpoint's responses.
enum OAuth2TokenEndpoint {
  /// The size limit of a response: its JSON is small.
  static let maximumBytes = 1 << 20

  /// Sends a request and returns the members of the response's object, or throws the reason why there are none.
  static func response(to request: HTTPRequest, over transport: any HTTPTransport) async throws(HTTPAuthenticationError)
    -> JSONNode
  {
    let status: Int
    let fields: HTTPFields
    let bytes: [UInt8]
    do {
      let response = try await transport.send(request)
      (status, fields) = (response.status, response.fields)
      bytes = try await response.body.collect(upTo: maximumBytes)
    } catch let error as HTTPTransportError {
      throw .unreachable(error)
    } catch {
      throw .unreachable(.other(String(describing: type(of: error))))
    }
    let node = try? JSONNode(bytes, limits: JSONLimits(depth: 32))
    if (200...299).contains(status) {
      guard let node, node.members != nil else { throw .malformedTokenResponse("its content is not a JSON object") }
      return node
    }
    let code = node?["error"]?.string
    if isTemporary(status, code) { throw .unavailable(status: status, retryAfter: retryAfter(fields)) }
    throw failure(code ?? "HTTP \(status)", node?["error_description"]?.string)
  }

  /// Whether the same request may succeed later. Servers also use the codes for a temporary failure (RFC 6749 §4.1.2.1)
  /// in responses of the token endpoint, with any status.
  private static func isTemporary(_ status: Int, _ code: String?) -> Bool {
    TemporaryStatus.isUntouched(status) || TemporaryStatus.isFailure(status)
      || code == "temporarily_unavailable" || code == "server_error"
  }

  /// The field `Retry-After`. A date becomes the seconds from the date of the response, because the server's clock may
  /// differ from this one.
  private static func retryAfter(_ fields: HTTPFields) -> String? {
    guard let field = fields[.retryAfter] else { return nil }
    if let date = fields[.date].flatMap(HTTPDate.unixTime), let wait = RetryAfter.delay(field, unixTime: date) {
      return String(wait.components.seconds)
    }
    return String(field.prefix(40))
  }

  /// The failure that an error code means (RFC 6749 §5.2).
  static func failure(_ code: String, _ explanation: String? = nil) -> HTTPAuthenticationError {
    let description = explanation.flatMap(ErrorText.line)
    return switch code {
    case "invalid_grant": .invalidGrant(description: description)
    default:
      .tokenEndpoint(
        code: String(code.filter { $0.isASCII && !$0.isNewline }.prefix(80)), description: description)
    }
  }

  /// Reads a token from the response's object.
  static func token(_ node: JSONNode) throws(HTTPAuthenticationError) -> OAuth2Token {
    guard let access = node["access_token"]?.string, !access.isEmpty else {
      throw .malformedTokenResponse("access_token is missing")
    }
    guard access.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .malformedTokenResponse("access_token contains characters that are not allowed in a token")
    }
    guard let type = node["token_type"]?.string, type.lowercased() == "bearer" else {
      throw .malformedTokenResponse("token_type is not Bearer, the only supported type")
    }
    return OAuth2Token(
      accessToken: access, lifetime: try seconds(node["expires_in"]),
      refreshToken: node["refresh_token"]?.string.flatMap { isRefreshToken($0) ? $0 : nil },
      scope: node["scope"]?.string)
  }

  /// Whether a text can be a refresh token (RFC 6749 appendix A.17). Another one must not replace the one that is valid.
  private static func isRefreshToken(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && !text.utf8.allSatisfy { $0 == 0x20 }
  }

  /// Reads a number of seconds, which some servers write as a string; nil if there is none.
  static func seconds(_ node: JSONNode?) throws(HTTPAuthenticationError) -> Duration? {
    guard let node, node != .null else { return nil }
    guard let text = node.text, let number = Double(text), number.isFinite, number >= 0 else {
      throw .malformedTokenResponse("a time is not a number of seconds")
    }
    return .seconds(min(number, 1e9))
  }
}
