public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request that a ``ScriptedTransport`` received.
public struct HTTPTestRequest: Sendable, CustomStringConvertible {
  /// The request method.
  public var method: HTTPMethod
  /// The absolute URL.
  public var url: URL
  /// The path and the query, relative to the transport's root and not percent-encoded: `Orders?$filter=Note eq 'tea'`.
  /// For a URL that is not below the root, the whole URL.
  public var path: String
  /// The header fields.
  public var fields: HTTPFields
  /// The content; empty for none.
  public var body: [UInt8]
  /// The path and the query as they were sent, relative to the root.
  var encodedPath: String

  /// The content as text.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The method and the path: `GET Orders?$top=1`.
  public var description: String { "\(method) \(path)" }
}

/// A response that a ``ScriptedTransport`` returns.
///
/// A string literal is a reply with status 200. Its content type follows from the first character: JSON, XML or text.
public struct HTTPTestReply: Sendable, ExpressibleByStringLiteral {
  /// The status code.
  public var status: Int
  /// The header fields.
  public var fields: HTTPFields
  /// The content.
  public var body: [UInt8]
  /// Whether the connection breaks in the middle of the content.
  var isTruncated = false

  /// Creates a reply with any content.
  public init(status: Int = 200, fields: HTTPFields = [:], body: [UInt8]) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Creates a reply with text, such as JSON. Without a content type, it follows from the first character.
  public init(_ text: String = "", status: Int = 200, contentType: String? = nil, fields: HTTPFields = [:]) {
    self.init(status: status, fields: fields, body: Array(text.utf8))
    guard !text.isEmpty, !self.fields.contains(.contentType) else { return }
    self.fields[.contentType] = contentType ?? HTTPTestReply.contentType(of: text)
  }

  /// Creates a reply with JSON, XML or text.
  public init(stringLiteral text: String) { self.init(text) }

  /// A reply without content.
  public static func status(_ status: Int, fields: HTTPFields = [:]) -> HTTPTestReply {
    HTTPTestReply(status: status, fields: fields, body: [])
  }

  private static func contentType(of text: String) -> String {
    switch text.first(where: { !$0.isWhitespace }) {
    case "{", "[": "application/json"
    case "<": "application/xml"
    default: "text/plain; charset=utf-8"
    }
  }
}

/// A failure of the network or of the server, for ``ScriptedTransport/fail(next:times:on:)``.
public enum HTTPTestFault: Sendable, Hashable {
  /// The request fails with an error, and the service does not receive it.
  case error(HTTPTransportError)
  /// The server responds with a status, and does not carry out the request. `fields` can have `Retry-After`.
  case status(Int, fields: HTTPFields = [:])
  /// The service carries out the request, and the connection breaks before its response: `connectionLost`.
  case responseLost
  /// The service carries out the request, and the connection breaks in the middle of the content of its response.
  case truncatedContent

  /// No data for longer than the time limit.
  public static let timeout = HTTPTestFault.error(.timeout(phase: "idle"))
  /// The server does not accept connections.
  public static let cannotConnect = HTTPTestFault.error(
    .cannotConnect(host: "service.test", reason: "connection refused"))
  /// The name of the server has no address.
  public static let hostNotFound = HTTPTestFault.error(.hostNotFound(host: "service.test"))
  /// The connection broke before the service received the request.
  public static let connectionLost = HTTPTestFault.error(.connectionLost(reason: "connection reset"))
  /// The certificate of the server is not trusted.
  public static let tls = HTTPTestFault.error(.tls(host: "service.test", reason: "the certificate is not trusted"))
  /// The server sends something that is not HTTP.
  public static let protocolViolation = HTTPTestFault.error(.protocolViolation("the first line is not a status line"))
  /// The server redirects in a circle.
  public static let tooManyRedirects = HTTPTestFault.error(.tooManyRedirects)
}
