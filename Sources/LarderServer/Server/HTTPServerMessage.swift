public import LarderHTTP

/// A request as a client sent it.
public struct HTTPServerRequest: Sendable {
  /// The method; any token.
  public let method: HTTPMethod
  /// The request target exactly as it was sent (RFC 9112 §3.2): usually a path with its query; ASCII without spaces.
  public let target: String
  /// The header fields in their order, including those of the connection.
  public let fields: HTTPFields
  /// The minor version of HTTP/1: 0 for HTTP/1.0, otherwise 1.
  public let minorVersion: Int
  /// The client's address without the port, such as `127.0.0.1` or `::1`.
  public let client: String
  /// The content; nil if the request has none.
  ///
  /// The content may also be read after the responder has returned, by the holder of the stream. The response is sent
  /// after all content was received. So a response's own content must not wait for the request's.
  ///
  /// Content is received as fast as it is read: a server that does not read makes the client wait. Content that is not
  /// read when the responder returns is received and dropped. The stream throws `HTTPTransportError.connectionLost` if
  /// the client left, and `HTTPTransportError.bodyTooLarge` past ``HTTPServer/Options/contentByteLimit``.
  public let content: HTTPBodyStream?
  /// Sends an interim response (RFC 9110 §15.2), such as 103, before the response. Callable from any thread, does not
  /// wait. Nothing is sent to a client of HTTP/1.0, to a client that expects 100 (Continue), or after the response.
  public let sendInterim: @Sendable (HTTPInterimResponse) -> Void

  /// Creates a request as a server would.
  public init(
    method: HTTPMethod, target: String, fields: HTTPFields = [:], minorVersion: Int = 1,
    client: String = "127.0.0.1", content: HTTPBodyStream? = nil,
    sendInterim: @escaping @Sendable (HTTPInterimResponse) -> Void = { _ in }
  ) {
    self.sendInterim = sendInterim
    self.method = method
    self.target = target
    self.fields = fields
    self.minorVersion = minorVersion
    self.client = client
    self.content = content
  }
}

/// A response to a client.
public struct HTTPServerResponse: Sendable {
  /// The content of a response.
  public enum Body: Sendable {
    /// No content.
    case none
    /// Content in memory.
    case bytes([UInt8])
    /// Content that is produced chunk by chunk, at the pace of the client. Without a length it is sent in chunks (RFC
    /// 9112 §7.1). If it fails, or ends before its length, the connection is closed, so that the client notices.
    case stream(HTTPBodyStream)
  }

  /// How the sending of a response ended.
  public struct End: Sendable, Hashable {
    /// The status that was sent; 0 if the connection was closed without a response. It differs from the response's
    /// status if that could not be sent because its head was too large.
    public let status: Int
    /// Bytes of content that were passed to the client's connection. Bytes of content in memory count only after all
    /// were sent.
    public let contentBytes: Int
    /// False if the client left, or the content failed.
    public let isComplete: Bool
  }

  /// The status code, 200 to 999.
  public var status: Int
  /// The header fields. `Date` is added if it is missing.
  ///
  /// The server does the framing: `Content-Length` is used only if there is no content to send, in a response to HEAD
  /// and with 304, and `Transfer-Encoding` is ignored. `Connection: close` ends the connection after this response;
  /// other fields of the connection are dropped.
  public var fields: HTTPFields
  /// The content; it is not sent for HEAD, nor with 204 and 304.
  public var body: Body
  /// Called once, when the response has been sent or abandoned.
  public var onEnd: (@Sendable (End) -> Void)?

  /// Creates a response.
  public init(
    status: Int, fields: HTTPFields = [:], body: Body = .none, onEnd: (@Sendable (End) -> Void)? = nil
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.onEnd = onEnd
  }

  /// Creates a response with text.
  public init(status: Int, text: String) {
    self.init(
      status: status, fields: [.contentType: "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }
}

/// A request that the server rejected without calling the responder, because it was malformed, too large or too slow.
public struct HTTPServerRejection: Sendable, Hashable {
  /// The client's address.
  public let client: String
  /// The method; empty if it was not read.
  public let method: String
  /// The target as sent.
  public let target: String
  /// The status that was sent; 0 if the connection was closed without a response.
  public let status: Int
  /// Whether the response was sent completely.
  public let isComplete: Bool
}

extension HTTPServerResponse.Body: CustomReflectable {
  /// Shows the content's length instead of its bytes.
  public var customMirror: Mirror {
    switch self {
    case .none: Mirror(self, children: [], displayStyle: .enum)
    case .bytes(let bytes): Mirror(self, children: ["bytes": ByteCount(bytes)], displayStyle: .enum)
    case .stream(let stream): Mirror(self, children: ["stream": stream], displayStyle: .enum)
    }
  }
}
