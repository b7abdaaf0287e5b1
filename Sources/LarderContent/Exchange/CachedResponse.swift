public import LarderHTTP
import Synchronization

/// A response of an ``HTTPCache``, and how the cache handled the request.
public struct CachedResponse: Sendable {
  /// The response, with `Age` if it was stored (RFC 9111 §5.1) and `Cache-Status` (RFC 9211).
  ///
  /// Its content is pulled, from the cache or from the running transfer. Read or cancel it.
  public var response: HTTPResponse
  /// Where the content comes from.
  public let origin: ContentOrigin
  /// The time since the origin server created or validated the response, in whole seconds; nil for one that was just
  /// created.
  public let age: Duration?
  /// Requests a newer response if this one is used although it should be validated soon; nil if this one is final.
  ///
  /// Nothing happens unless one of its two functions is called.
  public let revalidation: HTTPRevalidation?

  /// If this is a success that a later response hides: the status of that response, 404, 410 or that of a redirect. Nil
  /// if this is the server's latest response.
  ///
  /// Only queries that use stale content without the server get such a success.
  public let hiddenBy: Int?
  private let storing: StoringMark

  /// True if the cache has stored the response. A response from the network is stored only after its content has been
  /// read to the end.
  public var isStored: Bool { storing.isSet }

  /// How the query's parser decides whether the content is stored; nil if no parser decides.
  var parserVerdict: ParserVerdict?

  /// True if no newer response follows.
  public var isFinal: Bool { revalidation == nil }

  package init(
    response: HTTPResponse, origin: ContentOrigin, age: Duration? = nil, revalidation: HTTPRevalidation? = nil
  ) {
    self.init(response: response, origin: origin, age: age, revalidation: revalidation, storing: StoringMark(false))
  }

  init(
    response: HTTPResponse, origin: ContentOrigin, age: Duration? = nil, revalidation: HTTPRevalidation? = nil,
    storing: StoringMark, hiddenBy: Int? = nil
  ) {
    self.storing = storing
    self.hiddenBy = hiddenBy
    self.response = response
    self.origin = origin
    self.age = age
    self.revalidation = revalidation
  }
}

/// Whether a response is stored; set as soon as it is.
final class StoringMark: Sendable {
  /// The mark of responses that are already stored.
  static let stored = StoringMark(true)

  private let mark: Atomic<Bool>

  init(_ isSet: Bool) { mark = Atomic(isSet) }

  var isSet: Bool { mark.load(ordering: .acquiring) }
  func set() { mark.store(true, ordering: .releasing) }
}

/// Where content comes from.
public enum ContentOrigin: Sendable, Hashable {
  /// From the cache, in this process's memory.
  case memory
  /// From the cache, in a file.
  case disk
  /// From the server.
  case network
  /// From the cache, after the server confirmed it (304).
  case validated
  /// Created by the cache: the 504 if nothing is stored and only the cache may be used.
  case generated

  /// True for content that is read from the cache.
  var isStored: Bool { self == .memory || self == .disk || self == .validated }
}

/// The validation of a stored response that is due but need not be waited for (RFC 5861 §3).
public struct HTTPRevalidation: Sendable {
  private let engine: HTTPCache
  private let cacheRequest: CacheRequest

  init(engine: HTTPCache, cacheRequest: CacheRequest) {
    self.engine = engine
    self.cacheRequest = cacheRequest
  }

  /// Requests the server's response and waits for it. Shares the transfer if one is already running.
  ///
  /// Throws or returns the server's failure, whatever the policy of the query.
  public func response() async throws(HTTPTransportError) -> CachedResponse {
    try await engine.revalidate(cacheRequest, orStale: false)
  }

  /// Requests the server's response. After a failure, the policy of the query decides whether stale content is used.
  func responseOrStale() async throws(HTTPTransportError) -> CachedResponse {
    try await engine.revalidate(cacheRequest, orStale: true)
  }

  /// Starts the validation as a background task of the engine: it renews the stored response, and delivers the content
  /// to no caller.
  ///
  /// Returns at once. ``HTTPCache/close()`` ends it.
  public func runInBackground() { engine.revalidateInBackground(cacheRequest) }
}
