#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request, independent of the transport that sends it.
public struct HTTPRequest: Sendable {
  /// The request method.
  public var method: HTTPMethod
  /// The absolute URL, `http` or `https`.
  public var url: URL
  /// The header fields. The transport adds `Host`, `Content-Length` and the connection's own.
  public var fields: HTTPFields
  /// The content.
  public var body: HTTPBody
  /// The time limits; when one runs out, the request fails with ``HTTPTransportError``.
  public var timeouts: HTTPTimeouts
  /// Whether redirects (301, 302, 303, 307, 308) are followed. Credentials are sent only to the origin they were meant
  /// for.
  public var followsRedirects: Bool
  /// Which origin the transport shows its client certificate to. Like all credentials, it is meant for one origin.
  public var certificateAudience = HTTPCertificateAudience.requested
  /// Conditions of a cache; nil if there are none. Redirects to other URLs do not carry them along, unlike the conditions
  /// that the caller sets in ``fields``.
  package var validators: HTTPValidators?
  /// Called with each interim response (RFC 9110 §15.2) other than 100 and 101, before the response. It is called on a
  /// thread of the transport and must not block. Only the transport on libcurl reports interim responses.
  public var onInterim: (@Sendable (HTTPInterimResponse) -> Void)?

  /// Creates a request.
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

/// The origin to which a transport shows its client certificate. An origin is a scheme, a host and a port.
public enum HTTPCertificateAudience: Sendable, Hashable {
  /// The origin of the request's URL, but no other origin that it is redirected to.
  case requested
  /// The origin of this URL. A request to another origin is sent without the certificate.
  case origin(URL)
  /// No origin.
  case none
}

extension HTTPRequest {
  /// Whether the client certificate is shown to the server of ``url``.
  package var showsCertificate: Bool {
    switch certificateAudience {
    case .requested: true
    case .origin(let service): HTTPRedirection.origin(service) == HTTPRedirection.origin(url)
    case .none: false
    }
  }
}

/// A response before the final one, such as 103 (Early Hints, RFC 8297): a head without content.
public struct HTTPInterimResponse: Sendable, Hashable {
  /// The status code, 102 to 199.
  public var status: Int
  /// The header fields.
  public var fields: HTTPFields

  /// Creates an interim response.
  public init(status: Int, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }
}

/// Time limits of one exchange.
public struct HTTPTimeouts: Hashable, Sendable {
  /// The time until the connection is established (name look-up and TLS included).
  public var connect: Duration
  /// The longest time without a byte in either direction. Time in which the reader does not pull does not count.
  public var idle: Duration
  /// The time for the whole exchange, body included; `nil` is no limit.
  public var total: Duration?

  /// Creates time limits; by default 30 s to connect, 60 s without a byte, and no limit for the whole.
  public init(connect: Duration = .seconds(30), idle: Duration = .seconds(60), total: Duration? = nil) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }
}

/// The head of a response and the stream of its content.
public struct HTTPResponse: Sendable {
  /// The status code (RFC 9110 §15) of the final response; ``HTTPRequest/onInterim`` receives those before it.
  public var status: Int
  /// The header fields. `Content-Encoding` is not among them if the transport has decoded the content.
  public var fields: HTTPFields
  /// The URL that returned the response, after redirects.
  public var url: URL
  /// The content.
  public var body: HTTPBodyStream

  /// Creates a response.
  public init(status: Int, fields: HTTPFields = [:], url: URL, body: HTTPBodyStream = HTTPBodyStream([])) {
    self.status = status
    self.fields = fields
    self.url = url
    self.body = body
  }
}
