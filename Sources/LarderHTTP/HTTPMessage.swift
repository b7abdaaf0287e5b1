#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request, whole but for the transport that carries it.
public struct HTTPRequest: Sendable {
  /// What is asked.
  public var method: HTTPMethod
  /// The absolute URL, `http` or `https`.
  public var url: URL
  /// The header fields. The transport adds `Host`, `Content-Length` and the connection's own.
  public var fields: HTTPFields
  /// The content.
  public var body: HTTPBody
  /// How long the exchange may take before it fails with ``HTTPTransportError``.
  public var timeouts: HTTPTimeouts
  /// Whether redirects (301, 302, 303, 307, 308) are followed. Credentials stay with the origin they were meant for.
  public var followsRedirects: Bool
  /// Who gets to see the transport's client certificate. Of one origin, like all credentials.
  public var certificateAudience = HTTPCertificateAudience.requested
  /// Receives the interim responses (RFC 9110 §15.2) other than 100 and 101, before the response. It is called on a thread of
  /// the transport's and must not block. Only the transport on libcurl has them.
  public var onInterim: (@Sendable (HTTPInterimResponse) -> Void)?

  /// Makes a request.
  public init(
    method: HTTPMethod = .get, url: URL, fields: HTTPFields = [:], body: HTTPBody = .none,
    timeouts: HTTPTimeouts = .init(), followsRedirects: Bool = true
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.timeouts = timeouts
    self.followsRedirects = followsRedirects
  }
}

/// Who a transport shows its client certificate to: one origin, which is a scheme, a host and a port.
public enum HTTPCertificateAudience: Sendable, Hashable {
  /// The origin of the request's URL, and no other that it is redirected to.
  case requested
  /// The origin of this URL. A request to another is sent without the certificate.
  case origin(URL)
  /// Nobody.
  case nobody
}

extension HTTPRequest {
  /// Whether the server of ``url`` gets to see the client certificate.
  package var showsCertificate: Bool {
    switch certificateAudience {
    case .requested: true
    case .origin(let service): HTTPRedirection.origin(service) == HTTPRedirection.origin(url)
    case .nobody: false
    }
  }
}

/// A response before the final one, such as 103 (Early Hints, RFC 8297): a head without content.
public struct HTTPInterimResponse: Sendable, Hashable {
  /// The status code, 102 to 199.
  public var status: Int
  /// The header fields.
  public var fields: HTTPFields

  /// Makes an interim response.
  public init(status: Int, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }
}

/// Limits on the time of one exchange.
public struct HTTPTimeouts: Hashable, Sendable {
  /// Until the connection stands (name look-up and TLS included).
  public var connect: Duration
  /// Longest silence: no byte in either direction. A reader that does not pull is not silence.
  public var idle: Duration
  /// The whole exchange, body included; `nil` is without limit.
  public var total: Duration?

  /// The defaults: 30 s to connect, 60 s of silence, no limit on the whole.
  public init(connect: Duration = .seconds(30), idle: Duration = .seconds(60), total: Duration? = nil) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }
}

/// The head of an answer and the stream of its content.
public struct HTTPResponse: Sendable {
  /// The status code (RFC 9110 §15) of the final response; ``HTTPRequest/onInterim`` receives those before it.
  public var status: Int
  /// The header fields. `Content-Encoding` that the transport has undone is not in them.
  public var fields: HTTPFields
  /// The URL that answered, after redirects.
  public var url: URL
  /// The content.
  public var body: HTTPBodyStream

  /// Makes a response.
  public init(status: Int, fields: HTTPFields = [:], url: URL, body: HTTPBodyStream = HTTPBodyStream([])) {
    self.status = status
    self.fields = fields
    self.url = url
    self.body = body
  }
}
