public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Gets resources of any kind: at once from the cache where that is fresh enough, else from the network.
///
/// ```swift
/// let manager = ContentManager(cache: MemoryCache(), transport: CurlTransport())
/// let page = try await manager.content(of: ContentQuery<String>(url)).value
/// ```
///
/// | what is stored | what the caller receives |
/// | --- | --- |
/// | nothing | one final response from the network, or an error |
/// | expired | one final response from the network, or an error |
/// | fresh | one final response from the cache; the network is not asked |
/// | past the soft TTL, not expired | an intermediate response from the cache, then a final one, or an error |
///
/// Three forms: ``content(of:)`` waits for the final response, ``responses(to:)`` gives all of them in a loop,
/// ``load(_:listener:)`` calls a listener.
public final class ContentManager: Sendable {
  /// The engine below, for requests that need no value made of them.
  public let engine: HTTPCache

  /// Joins a cache and a network.
  public init(cache: any Cache, transport: any HTTPTransport, options: HTTPCacheOptions = .init()) {
    engine = HTTPCache(cache: cache, transport: transport, options: options)
  }

  /// Stands on an engine that others may use too.
  public init(engine: HTTPCache) { self.engine = engine }

  // MARK: Three forms

  /// Waits for the final response.
  public func content<Value>(of query: ContentQuery<Value>) async throws(ContentError) -> ContentResponse<Value> {
    try await settled(query)
  }

  /// The responses in order: an intermediate one where there is one, then the final one.
  ///
  /// ```swift
  /// for try await response in manager.responses(to: query) { show(response.value) }
  /// ```
  public func responses<Value>(to query: ContentQuery<Value>) -> ContentResponses<Value> {
    ContentResponses(manager: self, query: query)
  }

  /// Tells a listener of each response, or of the error; returns at once.
  @discardableResult
  public func load<Value>(_ query: ContentQuery<Value>, listener: ContentListener<Value>) -> ContentExecution {
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

  /// Waits for the final answer's head and gives its content as it comes, whatever its length.
  ///
  /// Read the content or cancel it. A status that is no success is an error, as in the other forms.
  ///
  /// - Parameters:
  ///   - query: what is wanted; its parser is not called.
  ///   - takesIntermediate: true gives the intermediate answer where there is one, whose ``CachedResponse/revalidation``
  ///     leads to the final one.
  public func stream<Value>(
    _ query: ContentQuery<Value>, takesIntermediate: Bool = false
  ) async throws(ContentError) -> CachedResponse {
    let answer = try await answer(to: query, isSettled: !takesIntermediate)
    if !answer.isFinal, !(200...299).contains(answer.response.status) {
      // What is stored is no success: the final answer decides.
      answer.response.body.cancel()
      return try await stream(query)
    }
    try await check(answer, answering: query.fields)
    return answer
  }

  /// Puts content into the cache, or renews it, without reading it.
  public func prefetch<Value>(_ query: ContentQuery<Value>) async throws(ContentError) {
    let answer = try await stream(query)
    do {
      for try await _ in answer.response.body {}
    } catch {
      throw ContentError(.transport(error as? HTTPTransportError ?? .other("\(error)")), answer)
    }
  }

  // MARK: Forgetting

  /// Forgets what is stored of a query's resource, for the caller that its fields say.
  public func removeContent<Value>(of query: ContentQuery<Value>) async throws(CacheError) {
    try await engine.removeContent(of: query.request)
  }

  /// Forgets what is stored of a resource for requests that say nothing of their caller.
  public func removeContent(of url: URL) async throws(CacheError) {
    try await engine.removeContent(of: HTTPRequest(url: url))
  }

  /// Forgets everything.
  public func removeAll() async throws(CacheError) { try await engine.removeAll() }

  /// Ends queries of listeners, transfers and validations in the background, and waits until they have ended.
  public func close() async { await engine.close() }

  // MARK: Suspension

  /// Ends what ``close()`` ends, and suspends the cache: it has no lock when this returns, so that the system may suspend the
  /// process. See the article "Suspension".
  ///
  /// Queries fail with `transport(.suspended)` until ``resume()``. Throws what the cache throws; it is suspended all the same.
  public func suspend() async throws(CacheError) { try await engine.suspend() }

  /// Resumes the cache, and answers queries again; what is not suspended stays as it is. Throws what the cache throws.
  public func resume() async throws(CacheError) { try await engine.resume() }
}
