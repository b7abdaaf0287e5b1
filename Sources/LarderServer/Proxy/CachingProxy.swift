public import LarderContent
@_spi(Stores) import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A reverse proxy: serves clients the resources of one upstream server, through a content cache.
///
/// ```swift
/// let engine = HTTPCache(cache: MemoryCache(), transport: transport)
/// let proxy = CachingProxy(engine, upstream: try Upstream(url))
/// let server = try HTTPServer(atOnce: { proxy.respondAtOnce(to: $0) }) { await proxy.respond(to: $0) }
/// ```
///
/// The transport must pass content on unchanged (`CurlTransport.Options.decodesContent = false`) and add no fields.
///
/// What the proxy forwards and what it changes:
/// - Fields of the connection are not forwarded, including those that `Connection` lists (RFC 9110 §7.6.1). `Host`
///   becomes upstream's. `Via` is added to requests. `Forwarded` (RFC 7239) is added only if enabled: a server that
///   trusts it would treat every client as a local one.
/// - The client's ranges, conditions and codings are handled by the cache's rules. Content is never recoded.
/// - `Location` and `Content-Location` that refer to upstream are changed to refer to the proxy. Cookies are forwarded
///   unchanged.
/// - Redirects are returned to the client. Interim responses (1xx) of upstream are passed on to the client of that
///   request.
/// - 502: upstream cannot be reached or does not speak HTTP. 504: it took too long, or there is no stored response for
///   `only-if-cached`. If the rules allow it, a stored response is returned instead. If content from upstream is
///   interrupted, it is interrupted at the client too.
/// - 508: the request has passed this proxy before, so upstream leads back to it (RFC 9110 §7.6.3).
/// - 403: a page of another site sent a request that may change something, and the transport has its own credentials.
/// - 405: `CONNECT` and `TRACE`. 421: a target of another host, or a `Host` that is not this proxy's. The proxy itself
///   responds to `OPTIONS *`.
/// - A stored response whose validation is due but not urgent (`stale-while-revalidate`) is renewed in the background.
public final class CachingProxy: Sendable {
  /// The options of a proxy.
  public struct Options: Sendable {
    /// Limits on the time of an exchange with upstream.
    public var timeouts = HTTPTimeouts()
    /// The name in `Via`: a token. Random digits are appended, by which the proxy recognises its own requests.
    public var name = "larder"
    /// When stored responses are used. By default, stale responses are used if upstream does not respond, for at most the
    /// time of its `stale-if-error` if it has sent one (RFC 5861 §4), otherwise at any age. With
    /// ``LarderContent/ContentPolicy/staleWhenUnreachable``, that time is no limit.
    public var policy: ContentPolicy?
    /// Accepts requests from pages of other sites that may change something (POST, PUT, …) although the transport has
    /// its own credentials, such as a client certificate. By default they are rejected with 403, because such a page
    /// would act with these credentials. If the transport has no credentials, all requests are accepted.
    public var allowsCrossSite = false
    /// Adds `Forwarded` with the client's address, the requested host and the scheme.
    public var addsForwarded = false
    /// Request content up to this size is read before it is forwarded, so that it can be sent again if a kept
    /// connection to upstream turns out to be closed.
    public var readsContentFirst = 64 << 10
    /// Host names of the proxy, in lower case, in addition to addresses, `localhost` and upstream's name. `*` accepts
    /// any name. Requests for other hosts are rejected with 421, because a page in a browser could make its own name
    /// resolve to this machine.
    public var hosts: Set<String> = []
    /// Called for each request after its response has been sent.
    public var onExchange: (@Sendable (ProxyRecord) -> Void)?

    /// Creates the default options.
    public init() {}
  }

  private let engine: HTTPCache
  private let upstream: Upstream
  private let options: Options
  private let passage: Passage
  private var policy: ContentPolicy { options.policy ?? .staleWhenUnreachable }

  /// Creates a proxy from an engine and an upstream server.
  public init(_ engine: HTTPCache, upstream: Upstream, options: Options = Options()) {
    self.engine = engine
    self.upstream = upstream
    self.options = options
    passage = Passage(name: options.name)
  }

  /// The fields for responses that the server sends without calling the proxy (``HTTPServer/Options/rejectionFields``).
  public var rejectionFields: HTTPFields {
    var fields = HTTPFields()
    ProxyFailure.status(cache: engine.options.name, forward: nil).append(to: &fields)
    return fields
  }

  /// Returns the response to a request. Does not suspend if the response is in memory.
  public func respond(to request: HTTPServerRequest) async -> HTTPServerResponse {
    let start = options.onExchange == nil ? nil : Optional(ContinuousClock.now)
    var response: HTTPServerResponse
    do throws(Rejection) {
      response = try await responseOrRejection(to: request)
    } catch {
      request.content?.cancel()
      response = error.response ?? error.failure.response(cache: engine.options.name)
    }
    if let start { report(&response, request, since: start) }
    return response
  }

  /// Returns the response to a request without waiting, if the cache holds it in memory and may use it as it is. It is
  /// the response that ``respond(to:)`` would return. Returns nil if ``respond(to:)`` must be called.
  public func respondAtOnce(to request: HTTPServerRequest) -> HTTPServerResponse? {
    guard request.method == .get || request.method == .head, request.content == nil else { return nil }
    let start = options.onExchange == nil ? nil : Optional(ContinuousClock.now)
    guard let head = try? forwardedHead(request),
      let stored = engine.responseInMemory(request.method, head.url, head.fields, policy: policy),
      let bytes = stored.bytes
    else { return nil }
    var response = HTTPServerResponse(status: stored.status, fields: returned(stored.fields), body: .bytes(bytes))
    if let start { report(&response, request, since: start) }
    return response
  }

  /// Makes the response call the log when it has been sent.
  private func report(
    _ response: inout HTTPServerResponse, _ request: HTTPServerRequest, since start: ContinuousClock.Instant
  ) {
    guard let onExchange = options.onExchange else { return }
    let cacheResult = ProxyRecord.cacheResult(cacheStatus: response.fields.values(of: "Cache-Status").last)
    response.onEnd = { end in
      onExchange(
        ProxyRecord(
          request, status: end.status, contentBytes: end.contentBytes, isComplete: end.isComplete,
          duration: ContinuousClock.now - start, cacheStatus: cacheResult))
    }
  }

  /// A response that the proxy itself creates instead of forwarding the request.
  private struct Rejection: Error {
    var failure = ProxyFailure(500, "")
    var response: HTTPServerResponse?

    init(_ status: Int, _ text: String) { failure = ProxyFailure(status, text) }
    init(_ error: HTTPTransportError, _ forward: ForwardReason? = nil) {
      failure = ProxyFailure(error)
      failure.forward = forward
    }
    init(_ response: HTTPServerResponse) { self.response = response }
  }

  private func responseOrRejection(to request: HTTPServerRequest) async throws(Rejection) -> HTTPServerResponse {
    if !options.allowsCrossSite, !engine.transport.identity.isEmpty, RequestSite.isForeignChange(request) {
      throw Rejection(403, CachingProxy.crossSite)
    }
    let forwarded = try await forward(request)
    let cached: CachedResponse
    let forward = Locked<ForwardReason?>(nil)
    do throws(HTTPTransportError) {
      cached = try await engine.response(to: forwarded, policy, limitsStaleness: options.policy == nil) { reason in
        forward.withLock { $0 = reason }
      }
    } catch {
      throw Rejection(error, forward.withLock { $0 })
    }
    cached.revalidation?.runInBackground()
    let content = cached.response.body
    return HTTPServerResponse(
      status: cached.response.status, fields: returned(cached.response.fields),
      body: content.takeBytes().map { .bytes($0) } ?? .stream(content))
  }

  // To upstream

  private func forward(_ request: HTTPServerRequest) async throws(Rejection) -> HTTPRequest {
    let head = try forwardedHead(request)
    guard let url = URL(string: head.url) else { throw CachingProxy.noPath }
    var forwarded = HTTPRequest(
      method: request.method, url: url, fields: head.fields, body: try await body(request), timeouts: options.timeouts,
      followsRedirects: false)
    forwarded.onInterim = { [sendInterim = request.sendInterim] response in
      var response = response
      ForwardedFields.dropConnection(&response.fields)
      sendInterim(response)
    }
    return forwarded
  }

  /// A request's head for upstream: the text of the URL, and the fields.
  private func forwardedHead(_ request: HTTPServerRequest) throws(Rejection) -> (url: String, fields: HTTPFields) {
    if request.method.rawValue == "CONNECT" || request.method.rawValue == "TRACE" {
      throw Rejection(405, "Method Not Allowed: \(request.method)")
    }
    if passage.isMarked(request.fields) { throw Rejection(508, CachingProxy.loop) }
    var fields = ForwardedFields.request(request.fields)
    if request.method == .options { try countForwards(&fields, request) }
    let target = try originForm(request)
    guard let url = upstream.address(target: target) else { throw CachingProxy.noPath }
    fields.append(ForwardedFields.via, passage.mark(minorVersion: request.minorVersion))
    if options.addsForwarded { fields.append("Forwarded", CachingProxy.forwarded(request)) }
    return (url, fields)
  }

  private static let loop =
    "Loop Detected: this request has passed through this proxy before, so the upstream server leads back to it; the "
    + "proxy's operator must configure another upstream server"

  private static let crossSite =
    "Forbidden: a page of another site must not make changes with this proxy's credentials; the proxy's operator can "
    + "allow it (larder proxy --allow-cross-site)"

  private static var noPath: Rejection { Rejection(400, "Bad Request: the target is not a URL path") }

  /// Applies `Max-Forwards`: OPTIONS may be addressed to an intermediary (RFC 9110 §7.6.2), and `*` to the server that
  /// receives it.
  private func countForwards(_ fields: inout HTTPFields, _ request: HTTPServerRequest) throws(Rejection) {
    let maximumForwards = fields["Max-Forwards"].flatMap { Int($0) }
    if request.target == "*" || maximumForwards == 0 { throw Rejection(HTTPServerResponse(status: 204)) }
    if let maximumForwards, maximumForwards > 0 { fields["Max-Forwards"] = "\(maximumForwards - 1)" }
  }

  /// The target as path and query. A target in absolute form must name this host, as the client knows it, or upstream.
  private func originForm(_ request: HTTPServerRequest) throws(Rejection) -> String {
    if let host = request.fields[ForwardedFields.host], !isServed(host) {
      throw Rejection(421, CachingProxy.misdirected(host))
    }
    if request.target.utf8.first == UInt8(ascii: "/") { return request.target }
    guard let (origin, rest) = Upstream.splitOrigin(request.target) else {
      throw CachingProxy.noPath
    }
    let path = rest.hasPrefix("/") ? String(rest) : "/" + rest
    if origin == upstream.origin {
      if upstream.basePath.isEmpty { return path }
      if let reference = upstream.proxyReference(request.target) { return reference }
    } else if let host = request.fields[ForwardedFields.host], Upstream.splitOrigin("http://\(host)")?.origin == origin
    {
      return path
    }
    throw Rejection(421, "Misdirected Request: this proxy serves only one server")
  }

  /// True for the hosts of this proxy. A page in a browser could make any other name resolve to this machine, and so
  /// read through the proxy what its own origin must not read (RFC 9110 §17.1).
  private func isServed(_ authority: String) -> Bool {
    let host = Upstream.host(ofAuthority: authority[...])
    if host.utf8.first == UInt8(ascii: "[") || CachingProxy.isAddress(host) { return true }
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") || name == upstream.host || options.hosts.contains(name)
      || options.hosts.contains("*")
  }

  /// True for an IPv4 address: no host name ends in a number.
  private static func isAddress(_ host: Substring) -> Bool {
    !host.isEmpty && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  private static func misdirected(_ host: String) -> String {
    "Misdirected Request: this proxy does not serve the name '\(host.prefix(253))'; its operator can add the name"
  }

  private func body(_ request: HTTPServerRequest) async throws(Rejection) -> HTTPBody {
    guard let content = request.content else { return .none }
    guard let length = content.length, length <= options.readsContentFirst else {
      return .stream(length: content.length, open: { content })
    }
    do { return .bytes(try await content.collect(upTo: length)) } catch {
      throw Rejection(error as? HTTPTransportError ?? .cancelled)
    }
  }

  private static func forwarded(_ request: HTTPServerRequest) -> String {
    let address = request.client.contains(":") ? "\"[\(request.client)]\"" : request.client
    let host = (request.fields[ForwardedFields.host] ?? "").filter { $0 != "\"" && $0 != "\\" }
    return "for=\(address);host=\"\(host)\";proto=http"
  }

  // To the client

  /// The fields of a response for the client.
  private func returned(_ fields: HTTPFields) -> HTTPFields {
    guard ForwardedFields.mayChange(fields) else { return fields }
    var fields = fields
    ForwardedFields.dropConnection(&fields)
    for name in ForwardedFields.references where fields.contains(name) {
      if let value = fields[name], let reference = upstream.proxyReference(value) { fields[name] = reference }
    }
    return fields
  }
}
