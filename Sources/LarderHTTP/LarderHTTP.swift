// HTTP messages as values, and the protocol of transports.
//
// How a request is sent:
// 1. A caller creates an `HTTPRequest` (method, URL, `HTTPFields`, `HTTPBody`).
// 2. An `HTTPTransport` sends it, and returns an `HTTPResponse` when the head of the response has arrived.
// 3. The caller reads the content from `HTTPBodyStream`, chunk by chunk. The transport waits for slow readers.
// 4. The transport follows redirects by the rules of `HTTPRedirection`, which all transports share.
// 5. A failure is an `HTTPTransportError`. A response with a status such as 404 is not a failure.
//
// No I/O happens here. The two transports are in targets of their own (`CurlTransport`, `URLSessionTransport`).

/// Sends requests to servers.
///
/// `CurlTransport` and `URLSessionTransport` conform to this protocol. Tests can use a transport of their own.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns when the head of the response has arrived.
  ///
  /// A response with an error status is returned, not thrown. Its content has not been read yet: the caller reads it
  /// from the response's body, or cancels the body. Cancelling the calling task ends the transfer immediately and
  /// throws ``HTTPTransportError/cancelled``.
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
  /// The client's identity on the connection, such as the client certificate as text; empty if it has none.
  ///
  /// Caches use it to separate the responses of different clients. Store a digest of it, never the text itself.
  var identity: String { get }
}

extension HTTPTransport {
  /// Empty: the connection does not identify the client.
  public var identity: String { "" }
}
