public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What is wanted: a resource, how fresh it has to be, and what its content means.
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
  /// What is asked. Answers to GET alone are kept; HEAD is answered from them.
  public var method = HTTPMethod.get
  /// The request's header fields.
  public var fields: HTTPFields = [:]
  /// The request's content.
  public var body = HTTPBody.none
  /// How long after it was made or validated content may be used; nil leaves it to the server.
  ///
  /// Wins over all that the server says, except `no-store`.
  public var ttl: Duration?
  /// How long content is used without asking the server for newer one; nil is the same as the TTL.
  ///
  /// Between the soft TTL and the TTL two responses come: an intermediate one from the cache, then a final one.
  public var softTTL: Duration?
  /// Where the answer may come from.
  public var policy = ContentPolicy.standard
  /// How long an exchange with the network may take.
  public var timeouts = HTTPTimeouts()
  /// Whether redirects are followed. Each of them is kept by its own rules.
  public var followsRedirects = true
  /// The most bytes of content that are taken into memory for the parser; more is ``ContentError/Kind/tooLarge(limit:)``.
  public var memoryLimit = 64 << 20
  /// Turns content into a value; what it throws becomes ``ContentError/Kind/parse(_:)``.
  ///
  /// Called once for each response, on the task that waits for it.
  public var parser: @Sendable (Data) throws -> Value

  /// Asks for a resource with a parser of your own.
  public init(_ url: URL, parser: @escaping @Sendable (Data) throws -> Value) {
    self.url = url
    self.parser = parser
  }

  /// The request that goes to the network where nothing is stored.
  package var request: HTTPRequest {
    HTTPRequest(method: method, url: url, fields: fields, body: body, timeouts: timeouts, followsRedirects: false)
  }

  /// The two lifetimes.
  package var freshness: FreshnessOverride { FreshnessOverride(ttl: ttl, softTTL: softTTL) }
}

extension ContentQuery where Value == Data {
  /// Asks for content as it is.
  public init(_ url: URL) { self.init(url) { $0 } }
}

extension ContentQuery where Value == String {
  /// Asks for text in UTF-8; other bytes are a parse error.
  public init(_ url: URL) {
    self.init(url) { data throws in
      guard let text = String(validating: data, as: UTF8.self) else { throw NotUTF8() }
      return text
    }
  }
}

extension ContentQuery where Value: Decodable {
  /// Asks for JSON.
  ///
  /// - Parameters:
  ///   - url: the absolute URL, `http` or `https`.
  ///   - decoder: makes the decoder, once a response; set its strategies here.
  public static func json(
    _ url: URL, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> ContentQuery {
    var query = ContentQuery(url) { data in try decoder().decode(Value.self, from: data) }
    query.fields[.accept] = "application/json"
    return query
  }
}

/// What the parser of texts throws.
struct NotUTF8: Error, CustomStringConvertible {
  var description: String { "The content is not text in UTF-8." }
}
