@_spi(Stores) public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An application as registered with an authorization server (RFC 6749 §2).
public struct OAuth2Client: Sendable {
  /// How the client authenticates at the token endpoint (RFC 6749 §2.3.1).
  public enum Proof: Sendable, Hashable {
    /// Id and secret in the `Authorization` field.
    case basic(secret: String)
    /// Id and secret in the form fields.
    case body(secret: String)
    /// A public client, which sends only its id.
    case none
  }

  /// The URL for token requests.
  public let tokenEndpoint: URL
  /// The client's id.
  public let id: String
  /// How the client authenticates.
  public let proof: Proof
  /// The requested scope; nil leaves it to the server.
  public let scope: String?
  /// Further parameters of token requests, such as `resource` or `audience`.
  public let parameters: [(name: String, value: String)]
  /// Which servers see the transport's client certificate; none by default. With the `.origin` of the service's root,
  /// the token endpoint sees it if it has that origin; with `.requested` it always sees it (RFC 8705).
  public var certificateAudience = HTTPCertificateAudience.none

  /// Describes a client.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for an endpoint without TLS that is not on this machine: secrets
  /// would be sent unencrypted (RFC 6749 §3.2).
  public init(
    tokenEndpoint: URL, id: String, proof: Proof, scope: String? = nil, parameters: [(name: String, value: String)] = []
  ) throws(ODataServiceError) {
    try OAuth2Client.check(tokenEndpoint)
    self.tokenEndpoint = tokenEndpoint
    self.id = id
    self.proof = proof
    self.scope = scope
    self.parameters = parameters
  }

  static func check(_ endpoint: URL) throws(ODataServiceError) {
    let origin = URLParts(endpoint.absoluteString).origin
    let isLocal = origin.map { ["127.0.0.1", "[::1]", "localhost"].contains($0.host) } ?? false
    guard let origin, origin.scheme == "https" || isLocal else {
      throw ODataServiceError(
        .invalidRequest("an OAuth 2.0 endpoint must be an https URL"), operation: "authentication",
        url: endpoint.absoluteString)
    }
  }

  /// Creates a form request to an endpoint, with the client's authentication (RFC 6749 §4.4.2, §6; RFC 8628 §3.1,
  /// §3.4).
  func request(to endpoint: URL, _ form: [(name: String, value: String)]) -> HTTPRequest {
    var form = form
    var fields: HTTPFields = [.accept: "application/json", .contentType: "application/x-www-form-urlencoded"]
    switch proof {
    case .basic(let secret):
      let pair = encoded(id) + ":" + encoded(secret)
      fields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
    case .body(let secret): form += [("client_id", id), ("client_secret", secret)]
    case .none: form.append(("client_id", id))
    }
    let body = form.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    var request = HTTPRequest(
      method: .post, url: endpoint, fields: fields, body: .text(body),
      timeouts: HTTPTimeouts(connect: .seconds(30), idle: .seconds(30), total: .seconds(60)), followsRedirects: false)
    request.certificateAudience = certificateAudience
    return request
  }

  private func encoded(_ text: String) -> String { PercentEncoding.encode(text, in: .unreserved) }
}

/// The grant with which a token is requested.
enum OAuth2Grant: Sendable, Hashable {
  /// The client's own credentials (RFC 6749 §4.4).
  case clientCredentials
  /// A refresh token (RFC 6749 §6).
  case refreshToken(String)
  /// A device code (RFC 8628 §3.4).
  case deviceCode(String)

  func form(scope: String?) -> [(name: String, value: String)] {
    let scoped = scope.map { [(name: "scope", value: $0)] } ?? []
    return switch self {
    case .clientCredentials: [("grant_type", "client_credentials")] + scoped
    case .refreshToken(let token): [("grant_type", "refresh_token"), ("refresh_token", token)] + scoped
    case .deviceCode(let code):
      [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code)]
    }
  }
}
