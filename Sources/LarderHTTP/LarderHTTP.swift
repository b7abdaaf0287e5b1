// HTTP as values: the requests and responses that all targets of Larder use.
//
// The steps of one exchange:
// 1. a caller creates an `HTTPRequest` (method, URL, `HTTPFields`, `HTTPBody`);
// 2. an `HTTPTransport` sends it and returns an `HTTPResponse` as soon as it has the head of the response;
// 3. the caller reads its `HTTPBodyStream`, chunk by chunk, at its own pace: the transport waits for it;
// 4. the transport follows redirects by the rules of `HTTPRedirection`, which all transports share;
// 5. a failure throws an `HTTPTransportError`; a status such as 404 is a response, not an error.
//
// No I/O happens here. The two transports are separate targets (`CurlTransport`, `URLSessionTransport`).

// Files that import this module can use these types without another import.
@_exported public import struct LarderCore.ErrorExplanation
@_exported public import struct LarderCore.LarderEnvironment
@_exported public import protocol LarderCore.LarderError

/// Sends requests to servers: the interface to the network for the rest of Larder.
///
/// Implementations are `CurlTransport` and `URLSessionTransport`; tests bring their own.
public protocol HTTPTransport: Sendable {
  /// Sends a request and returns when the head of the response has arrived.
  ///
  /// Every status is a response. The content has not been read yet: the caller pulls it from the response's body or
  /// cancels it. Cancelling the calling task ends the transfer at once and throws ``HTTPTransportError/cancelled``.
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
  /// The identity with which the connection authenticates the client, such as the client certificate as text; empty if
  /// the client is anonymous.
  ///
  /// Caches keep the responses for different identities apart by it. Hash it before it is written anywhere.
  var identity: String { get }
}

extension HTTPTransport {
  /// Empty: the client is anonymous.
  public var identity: String { "" }
}
