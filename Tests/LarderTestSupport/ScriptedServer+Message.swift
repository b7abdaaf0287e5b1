import Foundation
public import LarderHTTP

extension ScriptedServer {
  /// A request as the server heard it.
  public struct Request: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target as it stood in the request line: path and query, or the whole URL at a proxy.
    public let target: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The header fields in their order.
    public let fields: HTTPFields
    /// The content; empty where ``Options/keepsContent`` is false.
    public let body: [UInt8]
    /// The content's length in bytes, kept or not.
    public let contentLength: Int
    /// The place among all requests of this server, from 0.
    public let index: Int
    /// The connection it came on, from 1.
    public let connection: Int
    /// The place among the requests of its connection, from 0: above 0 means that the connection was used again.
    public let indexOnConnection: Int

    /// The content as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The target up to `?`.
    public var path: String { String(target.prefix { $0 != "?" }) }
    /// The target behind `?`, or `nil`.
    public var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }
  }

  /// What the server does with one request: a response, raw bytes, or a fault.
  ///
  /// A response gets `Content-Length` by itself, unless its fields say `Content-Length` or `Transfer-Encoding`, so a
  /// wrong length is written plainly: `.response(200, fields: ["Content-Length": "99"], body: "short")`. The client
  /// then waits for the rest; add ``closing(silently:)`` for a connection that ends there.
  public struct Response: Sendable {
    var form: Form
    var interim: [[UInt8]] = []
    var paused: Gate?

    enum Form: Sendable {
      case message(Message)
      case raw([UInt8], closes: Bool)
      case close
      case reset
      case hang
      case tunnel(port: Int)
    }

    struct Message: Sendable {
      var version = "HTTP/1.1"
      var status: Int
      var fields: HTTPFields
      var content: Content
      var headDrip: Duration?
      var truncation: Int?
      var closesAfter = false
    }

    enum Content: Sendable {
      case bytes([UInt8])
      case pieces([[UInt8]], gate: Gate?)
      case repeated([UInt8], times: Int)
    }

    /// A response with text.
    public static func response(_ status: Int, fields: HTTPFields = [:], body: String = "") -> Response {
      .response(status, fields: fields, bytes: Array(body.utf8))
    }

    /// A response with bytes.
    public static func response(_ status: Int, fields: HTTPFields = [:], bytes: [UInt8]) -> Response {
      Response(form: .message(Message(status: status, fields: fields, content: .bytes(bytes))))
    }

    /// A response of `times` × `pattern`, made while it is sent, with its `Content-Length`.
    public static func large(
      _ status: Int = 200, fields: HTTPFields = [:], pattern: [UInt8], times: Int
    ) -> Response {
      Response(form: .message(Message(status: status, fields: fields, content: .repeated(pattern, times: times))))
    }

    /// A response in chunks (RFC 9112 §7.1).
    ///
    /// With a gate, each chunk waits for one release, and the last, empty chunk for one more: a gate for n pieces
    /// needs n + 1 releases, or ``Gate/open()``.
    public static func chunked(
      _ status: Int = 200, fields: HTTPFields = [:], pieces: [String], gate: Gate? = nil
    ) -> Response {
      let bytes = pieces.map { Array($0.utf8) }
      return Response(form: .message(Message(status: status, fields: fields, content: .pieces(bytes, gate: gate))))
    }

    /// Exactly these bytes; then the connection ends, or waits for the next request.
    public static func raw(_ bytes: [UInt8], closing: Bool = true) -> Response {
      Response(form: .raw(bytes, closes: closing))
    }

    /// Exactly this text, which brings its own CR LF; then the connection ends, or waits for the next request.
    public static func raw(_ text: String, closing: Bool = true) -> Response {
      .raw(Array(text.utf8), closing: closing)
    }

    /// Ends the connection without a byte.
    public static let close = Response(form: .close)
    /// Ends the connection without a byte, with a TCP reset.
    public static let reset = Response(form: .reset)
    /// Says nothing until the client leaves or the server stops.
    public static let hang = Response(form: .hang)

    /// Responds to `CONNECT` with 200 and carries bytes in both directions to a port of this machine.
    public static func tunnel(toPort port: Int) -> Response { Response(form: .tunnel(port: port)) }

    /// This response, sent when the gate opens.
    public func paused(by gate: Gate) -> Response { with { $0.paused = gate } }

    /// This response after an interim response (RFC 9110 §15.2), such as 100 or 103. Call again for several.
    public func after(interim status: Int, fields: HTTPFields = [:]) -> Response {
      with { $0.interim.append(ScriptedServer.head("HTTP/1.1", status, fields)) }
    }

    /// This response truncated: `count` bytes of the content, then the connection ends.
    ///
    /// In chunked content whole chunks and the framing count as they go over the wire.
    public func truncated(to count: Int) -> Response { withMessage { $0.truncation = count } }

    /// This response; the connection ends after it.
    ///
    /// - Parameter silently: true leaves out `Connection: close`, so that the client expects the connection to stay open.
    public func closing(silently: Bool = false) -> Response {
      withMessage {
        $0.closesAfter = true
        if !silently { $0.fields["Connection"] = "close" }
      }
    }

    /// This response with its head sent byte by byte, with a pause before each byte.
    public func drippingHead(every pause: Duration) -> Response { withMessage { $0.headDrip = pause } }

    /// This response in HTTP/1.0: without chunks; content without `Content-Length` ends with the connection.
    public func http10() -> Response {
      withMessage {
        $0.version = "HTTP/1.0"
        $0.closesAfter = true
      }
    }

    private func with(_ change: (inout Response) -> Void) -> Response {
      var copy = self
      change(&copy)
      return copy
    }

    private func withMessage(_ change: (inout Message) -> Void) -> Response {
      guard case .message(var message) = form else {
        preconditionFailure("only a scripted message can be changed in this way")
      }
      change(&message)
      return with { $0.form = .message(message) }
    }
  }

  static func head(_ version: String, _ status: Int, _ fields: HTTPFields) -> [UInt8] {
    var text = "\(version) \(status) \(reasons[status] ?? "Scripted")\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private static let reasons = [
    100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 409: "Conflict", 410: "Gone", 412: "Precondition Failed",
    413: "Content Too Large", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable",
  ]
}
