public import LarderHTTP

/// A request as a client sent it.
public struct HTTPServerRequest: Sendable {
  /// What is asked; any token.
  public let method: HTTPMethod
  /// The request target exactly as it was sent (RFC 9112 §3.2): a path with its query as a rule; ASCII without spaces.
  public let target: String
  /// The header fields in their order, those of the connection too.
  public let fields: HTTPFields
  /// The version of HTTP is 1, and this: 0 for HTTP/1.0, otherwise 1.
  public let minorVersion: Int
  /// The client's address without the port, such as `127.0.0.1` or `::1`.
  public let client: String
  /// The content; nil where the request has none.
  ///
  /// It may be read after the response was answered too, by whoever holds the stream; the response goes out when all of it has
  /// come in. So a response's own content must not wait for the request's.
  ///
  /// It is received as fast as it is read: a server that does not read makes the client wait. What is not read when the
  /// response is there is received and dropped. It throws `HTTPTransportError.connectionLost` where the client left,
  /// and `HTTPTransportError.bodyTooLarge` past ``HTTPServer/Options/maximumContent``.
  public let content: HTTPBodyStream?
  /// Sends an interim response (RFC 9110 §15.2), such as 103, before the response: from any thread, without waiting. Nothing
  /// is sent to a client of HTTP/1.0, to one that waits for 100 (Continue), or behind the response.
  public let sendInterim: @Sendable (HTTPInterimResponse) -> Void

  /// Makes a request, as a server would.
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

/// A response on its way to a client.
public struct HTTPServerResponse: Sendable {
  /// The content.
  public enum Body: Sendable {
    /// No content.
    case none
    /// Content in memory.
    case bytes([UInt8])
    /// Content made chunk by chunk, pulled as the client takes it. Without a length it is sent in chunks (RFC 9112 §7.1).
    /// Where it fails, or ends before its length, the connection breaks off, so that the client knows.
    case stream(HTTPBodyStream)
  }

  /// How the sending of a response ended.
  public struct End: Sendable, Hashable {
    /// The status that was sent; 0 where the connection was closed without an answer. It is not the response's where that
    /// could not be sent, as its head was too large.
    public let status: Int
    /// Bytes of content that went to the client's connection; those of content in memory count when all have gone.
    public let contentBytes: Int
    /// False where the client left, or the content failed.
    public let isComplete: Bool
  }

  /// The status code, 200 to 999.
  public var status: Int
  /// The header fields. `Date` is added where it is missing.
  ///
  /// Framing is the server's: `Content-Length` is only looked at where there is no content to send, in an answer to HEAD
  /// and with 304, and `Transfer-Encoding` not at all. `Connection: close` ends the connection after this response; other
  /// fields of the connection are dropped.
  public var fields: HTTPFields
  /// The content; not sent to HEAD, nor with 204 and 304.
  public var body: Body
  /// Is called once, when the response has been sent or given up.
  public var onEnd: (@Sendable (End) -> Void)?

  /// Makes a response.
  public init(
    status: Int, fields: HTTPFields = [:], body: Body = .none, onEnd: (@Sendable (End) -> Void)? = nil
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.onEnd = onEnd
  }

  /// A response with text.
  public init(status: Int, text: String) {
    self.init(
      status: status, fields: [.contentType: "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }
}

/// A request that the server answered by itself: it was malformed, too large or too slow.
public struct HTTPServerRejection: Sendable, Hashable {
  /// The client's address.
  public let client: String
  /// The method; empty where it was not read.
  public let method: String
  /// The target as sent.
  public let target: String
  /// The status that was answered; 0 where the connection was closed without an answer.
  public let status: Int
  /// Whether the answer was sent.
  public let isComplete: Bool
}

extension HTTPServerResponse.Body: CustomReflectable {
  /// The content's length in place of its bytes.
  public var customMirror: Mirror {
    switch self {
    case .none: Mirror(self, children: [], displayStyle: .enum)
    case .bytes(let bytes): Mirror(self, children: ["bytes": ByteCount(bytes)], displayStyle: .enum)
    case .stream(let stream): Mirror(self, children: ["stream": stream], displayStyle: .enum)
    }
  }
}
