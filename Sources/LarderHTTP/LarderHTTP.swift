// HTTP as values: what every room of Larder says to a server and hears from it.
//
// The way of one exchange:
// 1. a caller makes an `HTTPRequest` (method, URL, `HTTPFields`, `HTTPBody`);
// 2. an `HTTPTransport` sends it and answers, as soon as the head is there, with an `HTTPResponse`;
// 3. the caller reads its `HTTPBodyStream`, chunk by chunk, as fast as it likes: the transport waits;
// 4. the transport follows redirects by the rules of `HTTPRedirection`, the same for all of them;
// 5. what goes wrong on the way is an `HTTPTransportError`; a status such as 404 is an answer, not an error.
//
// No I/O happens here. The two transports are targets of their own (`CurlTransport`, `URLSessionTransport`).

/// Carries requests to servers: the network, as the rest of Larder sees it.
///
/// Implementations: `CurlTransport`, `URLSessionTransport`; in tests whatever answers.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns when the head of the answer has arrived.
  ///
  /// Every status is an answer. The content has not been read yet: the caller pulls it from the response's body or
  /// cancels it. Cancelling the calling task ends the transfer at once and throws ``HTTPTransportError/cancelled``.
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
  /// Who the connection says the caller is, such as the client certificate as text; empty where it says nobody.
  ///
  /// Caches keep the answers of different callers apart by it: digest it before it is written anywhere.
  var identity: String { get }
}

extension HTTPTransport {
  /// Nobody.
  public var identity: String { "" }
}
