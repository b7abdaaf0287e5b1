public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Loads resources of any kind: from the cache if the stored response is fresh enough, otherwise from the network.
///
/// ```swift
/// let manager = ContentManager(cache: MemoryCache(), transport: CurlTransport())
/// let page = try await manager.content(of: ContentQuery<String>(url)).value
/// ```
///
/// | stored response | what the caller receives |
/// | --- | --- |
/// | none | one final response from the network, or an error |
/// | expired | one final response from the network, or an error |
/// | fresh | one final response from the cache, without a network request |
/// | past the soft TTL, not expired | an intermediate response from the cache, then a final one, or an error |
///
/// There are three ways to load: ``content(of:)`` waits for the final response, ``responses(to:)`` delivers all of them
/// in a loop, and ``schedule(_:listener:)`` calls a listener.
public final class ContentManager: Sendable {
  /// The underlying engine, for requests whose content is not parsed into a value.
  public let engine: HTTPCache

  /// Creates a manager from a cache and a network transport.
  public init(cache: any Cache, transport: any HTTPTransport, options: HTTPCacheOptions = .init()) {
    engine = HTTPCache(cache: cache, transport: transport, options: options)
  }

  /// Creates a manager with an engine that other code may use too.
  public init(engine: HTTPCache) { self.engine = engine }

  // MARK: Responses with a value

  /// Waits for the final response.
  public func content<Value>(of query: ContentQuery<Value>) async throws(ContentError) -> ContentResponse<Value> {
    try await settled(query)
  }

  /// The responses in order: an intermediate one if there is one, then the final one.
  ///
  /// ```swift
  /// for try await response in manager.responses(to: query) { show(response.value) }
  /// ```
  public func responses<Value>(to query: ContentQuery<Value>) -> ContentResponses<Value> {
    ContentResponses(manager: self, query: query)
  }

  /// Calls a listener with each response, or with the error. Returns at once.
  @discardableResult
  public func schedule<Value>(_ query: ContentQuery<Value>, listener: ContentListener<Value>) -> ContentExecution {
    let execution = ContentExecution()
    engine.transfers.runTracked { task in
      execution.run(task)
    } work: { [self] in
      do throws(ContentError) {
        for try await response in responses(to: query) {
          execution.call { response.isIntermediate ? listener.intermediate(response) : listener.final(response) }
        }
      } catch {
        execution.call { listener.failed(error) }
      }
    }
    return execution
  }

  // MARK: Content without a value

  /// Waits for the head of the final response, and delivers its content, of any length, as it arrives.
  ///
  /// Read the content or cancel it. A status that is not a success is an error, as in the other forms.
  ///
  /// - Parameters:
  ///   - query: the query; its parser is not called.
  ///   - takesIntermediate: if true, returns the intermediate response if there is one; its
  ///     ``CachedResponse/revalidation`` leads to the final one.
  public func stream<Value>(
    _ query: ContentQuery<Value>, takesIntermediate: Bool = false
  ) async throws(ContentError) -> CachedResponse {
    let cachedResponse = try await cachedResponse(for: query, isSettled: !takesIntermediate)
    if !cachedResponse.isFinal, !(200...299).contains(cachedResponse.response.status) {
      // The stored response is no success: the final response decides.
      cachedResponse.response.body.cancel()
      return try await stream(query)
    }
    try await check(cachedResponse, requestFields: query.fields)
    return cachedResponse
  }

  /// Loads content into the cache, or renews it, without reading it.
  public func prefetch<Value>(_ query: ContentQuery<Value>) async throws(ContentError) {
    let cachedResponse = try await stream(query)
    do {
      for try await _ in cachedResponse.response.body {}
    } catch {
      throw ContentError(.transport(error as? HTTPTransportError ?? .other("\(error)")), cachedResponse)
    }
  }

  // MARK: Removing

  /// Removes the stored responses of a query's resource, for the caller that its fields identify.
  public func removeContent<Value>(of query: ContentQuery<Value>) async throws(ContentError) {
    try await storing(query.url) { () throws(CacheError) in try await engine.removeContent(of: query.request) }
  }

  /// Removes the stored responses of a resource for requests that do not identify their caller.
  public func removeContent(of url: URL) async throws(ContentError) {
    try await storing(url) { () throws(CacheError) in try await engine.removeContent(of: HTTPRequest(url: url)) }
  }

  /// Removes all stored responses.
  public func removeAll() async throws(ContentError) {
    try await storing(nil) { () throws(CacheError) in try await engine.removeAll() }
  }

  /// Changes the cache; its error becomes ``ContentError/Category/storage(_:)``.
  private func storing(_ url: URL?, _ change: () async throws(CacheError) -> Void) async throws(ContentError) {
    do throws(CacheError) { try await change() } catch { throw ContentError(.storage(error), url: url) }
  }

  /// Cancels queries of listeners, transfers and background validations, and waits until they have ended.
  public func close() async { await engine.close() }

  // MARK: Suspension

  /// Ends what ``close()`` ends, and suspends the cache. The cache has no lock when this returns, so that the system
  /// may suspend the process. See the article "Suspension".
  ///
  /// Queries fail with `transport(.suspended)` until ``resume()``. Throws `storage` with the cache's error; the
  /// cache is suspended anyway.
  public func suspend() async throws(ContentError) {
    try await storing(nil) { () throws(CacheError) in try await engine.suspend() }
  }

  /// Resumes the cache, so that queries run again. Does nothing if it is not suspended. Throws `storage` with the
  /// cache's error.
  public func resume() async throws(ContentError) {
    try await storing(nil) { () throws(CacheError) in try await engine.resume() }
  }
}
