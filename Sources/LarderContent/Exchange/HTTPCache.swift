public import LarderHTTP
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Handles HTTP requests with a cache and a network, by the rules of RFC 9111 for a private cache.
///
/// ```swift
/// let engine = HTTPCache(cache: MemoryCache(), transport: CurlTransport())
/// let cached = try await engine.response(to: HTTPRequest(url: url))
/// for try await chunk in cached.response.body { … }
/// ```
///
/// Redirects are stored like other responses. They are not followed here.
public final class HTTPCache: Sendable {
  /// The cache that stores responses.
  public let cache: any Cache
  /// The network.
  public let transport: any HTTPTransport
  /// The options, as set at the beginning.
  public let options: HTTPCacheOptions

  /// The transport if it decodes content for requests without `Accept-Encoding`, which then expect stored content decoded.
  let decodingTransport: (any DecodingTransport)?
  /// False if the cache never stores anything.
  let keepsContent: Bool
  let transfers: Transfers
  private let calls: SerialCalls
  let callers: CallerDigest
  let knownCallers = KnownCallers()
  /// The `Cache-Status` of a hit, up to the seconds.
  let hitStatus: String
  /// Held while the record under a key is read, changed and written back.
  let records = KeyedLock()
  /// The cache, or the second of two tiers, if other processes may use it too.
  let sharedCache: (any SharedCache)?

  /// Creates an engine from a cache and a network transport.
  public init(cache: any Cache, transport: any HTTPTransport, options: HTTPCacheOptions = .init()) {
    self.cache = cache
    self.transport = transport
    self.options = options
    calls = SerialCalls(options.environment)
    decodingTransport = (transport as? any DecodingTransport).flatMap { $0.decodesContent ? $0 : nil }
    keepsContent = !(cache is NoCache)
    sharedCache = cache as? any SharedCache ?? (cache as? TieredCache)?.shared
    transfers = Transfers(
      window: options.readAheadByteLimit, slowReaderTimeout: options.slowReaderTimeout,
      finishing: options.abandonedByteLimit,
      environment: options.environment
    ) {
      LarderDiagnostic.failed(.cacheReadFailed, url: nil, $0).report(to: options.onDiagnostic)
    }
    hitStatus = String(CacheStatus.hit(options.name, timeToLive: 0).dropLast())
    callers = CallerDigest(options.credentialFields, isShared: options.isShared)
  }

  /// Returns the response to a request: from the cache, from the network, or from the cache after asking the server.
  ///
  /// A failing cache never fails the request: see ``HTTPCacheOptions/onDiagnostic``. Requests for one resource share a
  /// transfer if its response can be used for all of them. If one task is cancelled, the transfer continues for the
  /// others.
  ///
  /// - Parameters:
  ///   - request: the request; its `followsRedirects` is treated as false. Its own conditions and ranges are evaluated.
  ///   - policy: when stored responses are used.
  ///   - override: lifetimes that replace the server's.
  public func response(
    to request: HTTPRequest, policy: ContentPolicy = .standard, override: FreshnessOverride = .none
  ) async throws(HTTPTransportError) -> CachedResponse {
    try await response(to: request, policy, override, onForward: nil)
  }

  /// Returns the response to a request as ``response(to:policy:override:)`` does.
  ///
  /// - Parameters:
  ///   - limitsStaleness: whether the server's `stale-if-error` limits the policy `staleWhenUnreachable`.
  ///   - onForward: called with the reason when the request is forwarded to the network. If that happens more than once,
  ///     the last reason counts.
  package func response(
    to request: HTTPRequest, _ policy: ContentPolicy, _ override: FreshnessOverride = .none,
    limitsStaleness: Bool = false, onForward: (@Sendable (ForwardReason) -> Void)?
  ) async throws(HTTPTransportError) -> CachedResponse {
    try await unlessSuspended { () async throws(HTTPTransportError) in
      try await respond(to: request, policy, override, limitsStaleness: limitsStaleness, onForward: onForward)
    }
  }

  /// Throws `suspended` if the cache is suspended, or was suspended while `body` ran.
  func unlessSuspended<Value>(
    _ body: () async throws(HTTPTransportError) -> Value
  ) async throws(HTTPTransportError) -> Value {
    if transfers.isSuspended { throw .suspended }
    do throws(HTTPTransportError) { return try await body() } catch {
      throw error == .cancelled && !Task.isCancelled && transfers.isSuspended ? .suspended : error
    }
  }

  private func respond(
    to request: HTTPRequest, _ policy: ContentPolicy, _ override: FreshnessOverride, limitsStaleness: Bool,
    onForward: (@Sendable (ForwardReason) -> Void)?
  ) async throws(HTTPTransportError) -> CachedResponse {
    let rules = RequestRules(request)
    guard let caller = callers.remembered(request.fields, identity: transport.identity) else {
      var cacheRequest = await cacheRequest(request, policy, override)
      cacheRequest.limitsStaleness = limitsStaleness
      cacheRequest.onForward = onForward
      return try await respond(to: cacheRequest)
    }
    let resource = ResourceKey.of(request.url.absoluteString, host: rules.host)
    let key = caller.isEmpty ? resource : resource + caller
    var cacheRequest: CacheRequest {
      var cacheRequest = CacheRequest(request, rules, policy: policy, override: override, resource: resource, key: key)
      cacheRequest.limitsStaleness = limitsStaleness
      cacheRequest.onForward = onForward
      return cacheRequest
    }
    guard rules.isPlain, request.body.length == 0 else { return try await respond(to: cacheRequest) }
    // The fast path of a hit: one call to the cache, and nothing is created that it does not need.
    let plainRequest = PlainRequest(rules, fields: request.fields, policy: policy, override: override)
    if let stored = responseInMemory(plainRequest, key: key) { return CachedResponse(stored, request.url) }
    let endedTransfers = transfers.endedCount
    let entry = await firstEntry(key, resource, request)
    if let entry, let hit = await hit(entry, plainRequest: plainRequest, url: request.url, resource: resource) {
      return hit
    }
    var missed = cacheRequest
    missed.lookups = .first(endedTransfers: endedTransfers)
    return try await respond(to: missed, first: entry)
  }

  /// Cancels all transfers and background validations, and waits until they have ended.
  ///
  /// Later requests still get responses, but nothing more is stored.
  public func close() async { await calls.run { [self] () async throws(Never) in await transfers.close() } }

  /// Cancels all transfers and validations, and suspends the cache. The cache has no lock when this returns, so that
  /// the system may suspend the process. See the article "Suspension".
  ///
  /// Requests fail with `suspended` until ``resume()``. Concurrent calls of this function, ``resume()`` and ``close()``
  /// run one after another. Throws the cache's error; the cache is suspended all the same.
  public func suspend() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      await transfers.suspend()
      try await cache.suspend()
    }
  }

  /// Resumes the cache, so that requests are handled again. An engine that is not suspended stays as it is.
  ///
  /// Throws the cache's error; requests fail until the cache is resumed.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      try await cache.resume()
      guard transfers.isSuspended else { return }
      // Another process may have emptied the cache, or created it again.
      callers.forgetSalt()
      knownCallers.forget()
      transfers.resume()
    }
  }

  /// Waits until the current requests and background work have ended on their own.
  package func settled() async { await transfers.settled() }

  func cacheRequest(
    _ request: HTTPRequest, _ policy: ContentPolicy, _ override: FreshnessOverride
  ) async -> CacheRequest {
    let rules = RequestRules(request)
    let resource = ResourceKey.of(request.url.absoluteString, host: rules.host)
    let caller = await callers.suffix(for: request.fields, identity: transport.identity, salt: loadSalt)
    return CacheRequest(
      request, rules, policy: policy, override: override, resource: resource,
      key: caller.isEmpty ? resource : resource + caller)
  }

  private func loadSalt() async -> CallerDigest.Salt {
    do throws(CacheError) {
      return try await CallerDigest.salt(in: cache, now: options.now())
    } catch {
      report(.cacheReadFailed, nil, error)
      return CallerDigest.temporarySalt()
    }
  }

  func respond(to cacheRequest: CacheRequest) async throws(HTTPTransportError) -> CachedResponse {
    guard cacheRequest.rules.method == .get || cacheRequest.rules.method == .head, cacheRequest.request.body.length == 0
    else {
      if cacheRequest.isForCacheOnly { return unsatisfiable(cacheRequest) }
      let isForCache = cacheRequest.rules.method == .get || cacheRequest.rules.method == .head
      return try await pass(cacheRequest, isForCache ? .bypass : .method)
    }
    if cacheRequest.isForOrigin {
      // RFC 9110 §13.1.1: only the origin server may evaluate these preconditions.
      let reason = decision(cacheRequest, await lookup(cacheRequest).shown(offline: false)).reasonForOrigin
      return try await forward(cacheRequest, CacheLookup(key: cacheRequest.key), reason, validates: false)
    }
    var cacheRequest = cacheRequest
    // At most twice, so that much other traffic cannot make a request repeat its lookup forever.
    cacheRequest.lookups.count(endedTransfers: transfers.endedCount)
    let first =
      cacheRequest.ignoresStoredResponse
      ? nil : await firstEntry(cacheRequest.key, cacheRequest.resource, cacheRequest.request)
    return try await respond(to: cacheRequest, first: first)
  }

  /// Continues with the entry under the request's key.
  private func respond(
    to cacheRequest: CacheRequest, first: CacheEntry?
  ) async throws(HTTPTransportError) -> CachedResponse {
    let lookup = await lookup(cacheRequest, first: first)
    let shown = lookup.shown(offline: cacheRequest.policy.isOffline)
    switch decision(cacheRequest, shown) {
    case .reuse(let freshness):
      return try await reuse(shown, cacheRequest, freshness, isFinal: true)
    case .reuseWhileRevalidating(let freshness):
      return try await reuse(shown, cacheRequest, freshness, isFinal: false)
    case .validate(let reason, _):
      // The validation is not about a response that hides a success, but whether the success is there again (RFC 9111
      // §4.3.2 for ranges).
      return try await forward(cacheRequest, lookup, reason, validates: lookup.covers)
    case .forward(let reason):
      return try await forward(cacheRequest, lookup, reason, validates: false)
    case .unsatisfiable:
      if let coding = lookup.unknownCoding { throw .notSupported("stored content in the coding '\(coding)'") }
      return unsatisfiable(cacheRequest)
    }
  }

  private func decision(_ cacheRequest: CacheRequest, _ lookup: CacheLookup) -> LookupDecision {
    LookupDecision.of(
      cacheRequest.rules, stored: lookup.entry?.rules, cacheRequest.context(now: options.now(), lookup: lookup))
  }

  /// Returns 504: only the cache was allowed, and it has no usable response (RFC 9111 §5.2.1.7).
  private func unsatisfiable(_ cacheRequest: CacheRequest) -> CachedResponse {
    var status = CacheStatus(options.name)
    status.detail = "only-if-cached"
    let fields: HTTPFields = [.cacheStatus: status.text, .contentLength: "0"]
    return CachedResponse(
      response: HTTPResponse(status: 504, fields: fields, url: cacheRequest.request.url), origin: .generated)
  }

  /// Reports a failure of the cache; `url` is nil if no single resource is concerned.
  func report(_ name: ContentDiagnostic, _ url: String?, _ error: CacheError) {
    LarderDiagnostic.failed(name, url: url, error).report(to: options.onDiagnostic)
  }
}
