import LarderHTTP
import LarderOData

/// An access token as the token endpoint gave it (RFC 6749 §5.1).
public struct OAuth2Token: Sendable, Hashable {
  /// What is sent to the service.
  public let accessToken: String
  /// How long it is good for, from the moment it was asked for; nil where the server does not say.
  public let lifetime: Duration?
  /// What the next token is asked for with; nil where the server gave none.
  public let refreshToken: String?
  /// The access granted, where it differs from what was asked.
  public let scope: String?

  /// Takes the parts of a token.
  public init(accessToken: String, lifetime: Duration? = nil, refreshToken: String? = nil, scope: String? = nil) {
    self.accessToken = accessToken
    self.lifetime = lifetime
    self.refreshToken = refreshToken
    self.scope = scope
  }
}

/// The token endpoint's answers.
enum OAuth2TokenEndpoint {
  /// An answer's JSON is small; more is not read.
  static let maximumBytes = 1 << 20

  /// What an answer says: the members of its object, or why there are none.
  static func answer(_ transport: any HTTPTransport, _ request: HTTPRequest) async throws(AuthenticationFailure)
    -> JSONNode
  {
    let status: Int
    let bytes: [UInt8]
    do {
      let response = try await transport.send(request)
      status = response.status
      bytes = try await response.body.collect(upTo: maximumBytes)
    } catch let error as HTTPTransportError {
      throw .unreachable(error)
    } catch {
      throw .unreachable(.other(String(describing: type(of: error))))
    }
    let node = try? JSONNode(bytes, limits: JSONLimits(depth: 32))
    if (200...299).contains(status) {
      guard let node, node.members != nil else { throw .malformedTokenResponse("its content is no JSON object") }
      return node
    }
    throw failure(node?["error"]?.string ?? "HTTP \(status)")
  }

  /// An error code's meaning (RFC 6749 §5.2; RFC 8628 §3.5).
  static func failure(_ code: String) -> AuthenticationFailure {
    switch code {
    case "invalid_grant": .invalidGrant
    case "expired_token": .deviceCodeExpired
    case "access_denied": .accessDenied
    default: .tokenEndpoint(code: String(code.filter { $0.isASCII && !$0.isNewline }.prefix(80)))
    }
  }

  /// Reads a token.
  static func token(_ node: JSONNode) throws(AuthenticationFailure) -> OAuth2Token {
    guard let access = node["access_token"]?.string, !access.isEmpty else {
      throw .malformedTokenResponse("there is no access_token")
    }
    guard access.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .malformedTokenResponse("access_token holds characters that no token has")
    }
    guard let type = node["token_type"]?.string, type.lowercased() == "bearer" else {
      throw .malformedTokenResponse("token_type is not Bearer, the only type that is spoken here")
    }
    return OAuth2Token(
      accessToken: access, lifetime: try seconds(node["expires_in"]), refreshToken: node["refresh_token"]?.string,
      scope: node["scope"]?.string)
  }

  /// Reads a number of seconds, which some servers write as a string; nil where there is none.
  static func seconds(_ node: JSONNode?) throws(AuthenticationFailure) -> Duration? {
    guard let node, node != .null else { return nil }
    guard let text = node.text, let number = Double(text), number.isFinite, number >= 0 else {
      throw .malformedTokenResponse("a time is not a number of seconds")
    }
    return .seconds(min(number, 1e9))
  }
}
