public import LarderHTTP
import Synchronization

/// An answer of an ``HTTPCache``: the response, and what the cache had to do with it.
public struct CachedResponse: Sendable {
  /// The response, with `Age` where it was stored (RFC 9111 §5.1) and `Cache-Status` (RFC 9211).
  ///
  /// Its content is pulled: from the cache, or from the transfer under way. Read or cancel it.
  public var response: HTTPResponse
  /// Where the content comes from.
  public let origin: ContentOrigin
  /// Seconds since the origin server made or validated the response, nil for one that has just been made.
  public let age: Int?
  /// The way to a newer answer where this one is used although it should be validated soon; nil where this one is final.
  ///
  /// Nothing happens unless one of its two functions is called.
  public let revalidation: Revalidation?

  /// The status of a later response to the same request, 404, 410 or that of a redirect, where this is a success that it
  /// hides; nil where this is the server's last word.
  ///
  /// Only queries that use stale content without the server get such a success.
  public let hiddenBy: Int?
  private let storing: StoringMark

  /// True where the cache keeps the response: one from the network only once its content has been read to the end.
  public var isStored: Bool { storing.isSet }

  /// The request that it answers, where redirects have led there.
  var redirected: HTTPRequest?

  /// True where no newer answer follows.
  public var isFinal: Bool { revalidation == nil }

  package init(response: HTTPResponse, origin: ContentOrigin, age: Int? = nil, revalidation: Revalidation? = nil) {
    self.init(response: response, origin: origin, age: age, revalidation: revalidation, storing: StoringMark(false))
  }

  init(
    response: HTTPResponse, origin: ContentOrigin, age: Int? = nil, revalidation: Revalidation? = nil,
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

/// Whether a response is stored, as soon as it is.
final class StoringMark: Sendable {
  /// That of what is stored already.
  static let stored = StoringMark(true)

  private let mark: Atomic<Bool>

  init(_ isSet: Bool) { mark = Atomic(isSet) }

  var isSet: Bool { mark.load(ordering: .acquiring) }
  func set() { mark.store(true, ordering: .releasing) }
}

/// Where content comes from.
public enum ContentOrigin: Sendable, Hashable {
  /// From the cache, out of this process's memory.
  case memory
  /// From the cache, out of a file.
  case disk
  /// From the server.
  case network
  /// From the cache, after the server said that it is still right (304).
  case validated
  /// Made by the cache: the 504 that says that nothing is stored where only the cache may answer.
  case generated

  /// True for content that is read from the cache.
  var isStored: Bool { self == .memory || self == .disk || self == .validated }
}

/// A stored response's validation that is due but need not be waited for (RFC 5861 §3).
public struct Revalidation: Sendable {
  private let engine: HTTPCache
  private let inquiry: CacheRequest

  init(engine: HTTPCache, inquiry: CacheRequest) {
    self.engine = engine
    self.inquiry = inquiry
  }

  /// Asks the server and waits for its answer; shares the transfer where one is under way.
  public func answer() async throws(HTTPTransportError) -> CachedResponse {
    try await engine.revalidate(inquiry)
  }

  /// Asks the server on the engine's account: the stored response is renewed, its content goes to nobody.
  ///
  /// Returns at once. ``HTTPCache/close()`` ends it.
  public func runInBackground() { engine.revalidateInBackground(inquiry) }
}
