public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A query for a resource: its URL, how fresh it must be, and how its content is parsed.
///
/// ```swift
/// var query = ContentQuery<[Article]>.json(url)
/// query.softTTL = .seconds(60)
/// query.ttl = .seconds(3600)
/// let articles = try await manager.content(of: query).value
/// ```
public struct ContentQuery<Value: Sendable>: Sendable {
  /// The absolute URL, `http` or `https`.
  public var url: URL
  /// The method. Only responses to GET are stored; HEAD is served from them.
  public var method = HTTPMethod.get
  /// The request's header fields.
  public var fields: HTTPFields = [:]
  /// The request's content.
  public var body = HTTPBody.none
  /// How long content may be used after it was created or validated; nil leaves this to the server.
  ///
  /// It overrides all that the server says, except `no-store`.
  public var ttl: Duration?
  /// How long content is used without a request for newer content; nil means the TTL.
  ///
  /// Between the soft TTL and the TTL there are two responses: an intermediate one from the cache, then a final one.
  public var softTTL: Duration?
  /// The allowed sources of the response.
  public var policy = ContentPolicy.standard
  /// Time limits of an exchange with the network.
  public var timeouts = HTTPTimeouts()
  /// Whether redirects are followed. Each of them is stored by its own rules.
  public var followsRedirects = true
  /// The maximum number of content bytes that are read into memory for the parser; more content throws
  /// ``ContentError/Category/tooLarge(limit:)``.
  public var memoryByteLimit = 64 << 20
  /// Parses content into a value. Its error becomes ``ContentError/Category/parse(_:)``.
  ///
  /// Called once for each response, on the task that requested it.
  public var parser: @Sendable (Data) throws -> Value

  /// Creates a query for a resource with a parser of your own.
  public init(_ url: URL, parser: @escaping @Sendable (Data) throws -> Value) {
    self.url = url
    self.parser = parser
  }

  /// The request that is sent to the network if nothing is stored.
  package var request: HTTPRequest {
    HTTPRequest(method: method, url: url, fields: fields, body: body, timeouts: timeouts, followsRedirects: false)
  }

  /// The two lifetimes.
  package var freshness: FreshnessOverride { FreshnessOverride(ttl: ttl, softTTL: softTTL) }
}

extension ContentQuery where Value == Data {
  /// Creates a query for content as it is.
  public init(_ url: URL) { self.init(url) { $0 } }
}

extension ContentQuery where Value == String {
  /// Creates a query for text in UTF-8; other bytes are a parse error.
  public init(_ url: URL) {
    self.init(url) { data throws in
      guard let text = String(validating: data, as: UTF8.self) else { throw NotUTF8() }
      return text
    }
  }
}

extension ContentQuery where Value: Decodable {
  /// Creates a query for JSON.
  ///
  /// - Parameters:
  ///   - url: the absolute URL, `http` or `https`.
  ///   - decoder: creates the decoder, once for each response; set its strategies here.
  public static func json(
    _ url: URL, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> ContentQuery {
    var query = ContentQuery(url) { data in try decoder().decode(Value.self, from: data) }
    query.fields[.accept] = "application/json"
    return query
  }
}

/// The error of the text parser.
struct NotUTF8: Error, CustomStringConvertible {
  var description: String { "The content is not text in UTF-8." }
}
