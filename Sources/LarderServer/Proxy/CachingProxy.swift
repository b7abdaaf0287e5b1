public import LarderContent
import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A reverse proxy: gives clients the resources of one upstream server, by way of a content cache.
///
/// ```swift
/// let engine = HTTPCache(cache: MemoryCache(), transport: transport)
/// let proxy = CachingProxy(engine, upstream: try Upstream(url))
/// let server = try HTTPServer(atOnce: { proxy.respondAtOnce(to: $0) }) { await proxy.respond(to: $0) }
/// ```
///
/// The transport must hand content on as it is (`CurlTransport.Options.decodesContent = false`) and add no fields of its own.
///
/// What passes and what changes:
/// - Fields of the connection stay on each side, those that `Connection` names too (RFC 9110 §7.6.1). `Host` becomes
///   upstream's. `Via` is added to requests. `Forwarded` (RFC 7239) only on demand: a server that trusts it would take
///   every client for a local one.
/// - Ranges, conditions and codings are the client's own and are answered by the cache's rules; content is never recoded.
/// - `Location` and `Content-Location` that lead to upstream lead to the proxy. Cookies pass as they are.
/// - Redirects are answers. Interim responses (1xx) of upstream are passed on to the client whose request they are for.
/// - 502: upstream cannot be reached or does not speak HTTP; 504: it took too long, or `only-if-cached` was not;
///   a stored response takes their place where the rules allow it. Content that breaks off breaks off at the client too.
/// - 508: the request has passed this proxy before, so upstream leads back to it (RFC 9110 §7.6.3).
/// - 403: a page of another site sent a request that may change something, and the transport has credentials of its own.
/// - 405: `CONNECT` and `TRACE`. 421: a target of another host, or a `Host` that is not this proxy's. `OPTIONS *` is
///   answered here.
/// - A stored response whose validation is due but not urgent (`stale-while-revalidate`) is renewed in the background.
public final class CachingProxy: Sendable {
  /// How a proxy forwards.
  public struct Options: Sendable {
    /// Limits on the time of an exchange with upstream.
    public var timeouts = HTTPTimeouts()
    /// The name in `Via`: a token. Digits by chance are added, by which the proxy recognises its own requests.
    public var name = "larder"
    /// How far stored responses are relied on; by default stale ones answer where upstream does not.
    public var policy = ContentPolicy.staleWhenUnreachable
    /// Lets pages of other sites send requests that may change something (POST, PUT, …) although the transport has credentials
    /// of its own, such as a client certificate. By default they are rejected with 403: such a page would act in the name of
    /// these credentials. Where the transport has none, all requests pass.
    public var allowsCrossSite = false
    /// Adds `Forwarded` with the client's address, the host it asked for and the scheme.
    public var addsForwarded = false
    /// Content up to this size is read before it is forwarded, so that it can be sent again where a kept connection to
    /// upstream turns out to be closed.
    public var readsContentFirst = 64 << 10
    /// Names by which clients may call the proxy, in lower case, besides addresses, `localhost` and upstream's own name; a
    /// `*` among them lets any pass. What is called otherwise is refused with 421, as a page in a browser could have its own
    /// name pointed at this machine.
    public var hosts: Set<String> = []
    /// Is told of each request when its response has been sent.
    public var onExchange: (@Sendable (ProxyRecord) -> Void)?

    /// The defaults.
    public init() {}
  }

  private let engine: HTTPCache
  private let upstream: Upstream
  private let options: Options
  private let passage: Passage

  /// Joins an engine and an upstream server.
  public init(_ engine: HTTPCache, upstream: Upstream, options: Options = Options()) {
    self.engine = engine
    self.upstream = upstream
    self.options = options
    passage = Passage(name: options.name)
  }

  /// The fields for responses that the server gives without asking the proxy (``HTTPServer/Options/refusalFields``).
  public var refusalFields: HTTPFields {
    var fields = HTTPFields()
    ProxyFailure.status(cache: engine.options.name, forward: nil).append(to: &fields)
    return fields
  }

  /// Answers one request. It does not suspend where the answer is in memory.
  public func respond(to request: HTTPServerRequest) async -> HTTPServerResponse {
    let start = options.onExchange == nil ? nil : Optional(ContinuousClock.now)
    var response: HTTPServerResponse
    do throws(Refusal) {
      response = try await answer(request)
    } catch {
      request.content?.cancel()
      response = error.response ?? error.failure.response(cache: engine.options.name)
    }
    if let start { report(&response, request, since: start) }
    return response
  }

  /// Answers a request without waiting for anything, where the cache has its answer at hand and may use it as it is: the
  /// same as ``respond(to:)`` would. Nil where that has to be asked.
  public func respondAtOnce(to request: HTTPServerRequest) -> HTTPServerResponse? {
    guard request.method == .get || request.method == .head, request.content == nil else { return nil }
    let start = options.onExchange == nil ? nil : Optional(ContinuousClock.now)
    guard let head = try? forwardedHead(request),
      let stored = engine.answerAtHand(request.method, head.url, head.fields, policy: options.policy),
      let bytes = stored.bytes
    else { return nil }
    var response = HTTPServerResponse(status: stored.status, fields: returned(stored.fields), body: .bytes(bytes))
    if let start { report(&response, request, since: start) }
    return response
  }

  /// Has the log told of the exchange when the response has been sent.
  private func report(
    _ response: inout HTTPServerResponse, _ request: HTTPServerRequest, since start: ContinuousClock.Instant
  ) {
    guard let onExchange = options.onExchange else { return }
    let word = ProxyRecord.word(cacheStatus: response.fields.values(of: "Cache-Status").last)
    response.onEnd = { end in
      onExchange(
        ProxyRecord(
          request, status: end.status, contentBytes: end.contentBytes, isComplete: end.isComplete,
          duration: ContinuousClock.now - start, cacheStatus: word))
    }
  }

  /// An answer of the proxy's own.
  private struct Refusal: Error {
    var failure = ProxyFailure(500, "")
    var response: HTTPServerResponse?

    init(_ status: Int, _ text: String) { failure = ProxyFailure(status, text) }
    init(_ error: HTTPTransportError, _ forward: ForwardReason? = nil) {
      failure = ProxyFailure(error)
      failure.forward = forward
    }
    init(_ response: HTTPServerResponse) { self.response = response }
  }

  private func answer(_ request: HTTPServerRequest) async throws(Refusal) -> HTTPServerResponse {
    if !options.allowsCrossSite, !engine.transport.identity.isEmpty, RequestSite.isForeignChange(request) {
      throw Refusal(403, CachingProxy.crossSite)
    }
    let forwarded = try await forward(request)
    let answer: CachedResponse
    let forward = Locked<ForwardReason?>(nil)
    do throws(HTTPTransportError) {
      answer = try await engine.answer(forwarded, options.policy) { reason in forward.withLock { $0 = reason } }
    } catch {
      throw Refusal(error, forward.withLock { $0 })
    }
    answer.revalidation?.runInBackground()
    let content = answer.response.body
    return HTTPServerResponse(
      status: answer.response.status, fields: returned(answer.response.fields),
      body: content.takeBytes().map { .bytes($0) } ?? .stream(content))
  }

  // To upstream

  private func forward(_ request: HTTPServerRequest) async throws(Refusal) -> HTTPRequest {
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

  /// A request's head as upstream gets it: the text of the URL, and the fields.
  private func forwardedHead(_ request: HTTPServerRequest) throws(Refusal) -> (url: String, fields: HTTPFields) {
    if request.method.rawValue == "CONNECT" || request.method.rawValue == "TRACE" {
      throw Refusal(405, "Method Not Allowed: \(request.method)")
    }
    if passage.isMarked(request.fields) { throw Refusal(508, CachingProxy.loop) }
    var fields = ForwardedFields.request(request.fields)
    if request.method == .options { try countForwards(&fields, request) }
    let target = try originForm(request)
    guard let url = upstream.address(target: target) else { throw CachingProxy.noPath }
    fields.append(ForwardedFields.via, passage.mark(minorVersion: request.minorVersion))
    if options.addsForwarded { fields.append("Forwarded", CachingProxy.forwarded(request)) }
    return (url, fields)
  }

  private static let loop =
    "Loop Detected: this request has passed this proxy before, so its upstream server leads back to it; whoever runs it has to "
    + "name another upstream server"

  private static let crossSite =
    "Forbidden: a page of another site may not change anything in the name of this proxy's credentials; whoever runs it can "
    + "allow that (larder proxy --allow-cross-site)"

  private static var noPath: Refusal { Refusal(400, "Bad Request: the target is no path of a URL") }

  /// OPTIONS may be meant for one on the way (RFC 9110 §7.6.2); `*` is meant for the server that hears it.
  private func countForwards(_ fields: inout HTTPFields, _ request: HTTPServerRequest) throws(Refusal) {
    let left = fields["Max-Forwards"].flatMap { Int($0) }
    if request.target == "*" || left == 0 { throw Refusal(HTTPServerResponse(status: 204)) }
    if let left, left > 0 { fields["Max-Forwards"] = "\(left - 1)" }
  }

  /// The target as path and query. In absolute form it must name this host, as the client knows it, or upstream.
  private func originForm(_ request: HTTPServerRequest) throws(Refusal) -> String {
    if let host = request.fields[ForwardedFields.host], !isServed(host) {
      throw Refusal(421, CachingProxy.misdirected(host))
    }
    if request.target.utf8.first == UInt8(ascii: "/") { return request.target }
    guard let (origin, rest) = Upstream.splitOrigin(request.target) else {
      throw CachingProxy.noPath
    }
    let path = rest.hasPrefix("/") ? String(rest) : "/" + rest
    if origin == upstream.origin {
      if upstream.basePath.isEmpty { return path }
      if let own = upstream.ownReference(request.target) { return own }
    } else if let host = request.fields[ForwardedFields.host], Upstream.splitOrigin("http://\(host)")?.origin == origin
    {
      return path
    }
    throw Refusal(421, "Misdirected Request: this proxy is for one server")
  }

  /// True for hosts by which this proxy may be called. Any other name could be one that a page in a browser has had pointed
  /// at this machine, to read through the proxy what its own origin must not (RFC 9110 §17.1).
  private func isServed(_ authority: String) -> Bool {
    let host = Upstream.host(ofAuthority: authority[...])
    if host.utf8.first == UInt8(ascii: "[") || CachingProxy.isAddress(host) { return true }
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") || name == upstream.host || options.hosts.contains(name)
      || options.hosts.contains("*")
  }

  /// True for an IPv4 address: no name ends in a number.
  private static func isAddress(_ host: Substring) -> Bool {
    !host.isEmpty && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  private static func misdirected(_ host: String) -> String {
    "Misdirected Request: this proxy is not called '\(host.prefix(253))'; whoever runs it can add that name"
  }

  private func body(_ request: HTTPServerRequest) async throws(Refusal) -> HTTPBody {
    guard let content = request.content else { return .none }
    guard let length = content.length, length <= options.readsContentFirst else {
      return .stream(length: content.length, open: { content })
    }
    do { return .bytes(try await content.collect(upTo: length)) } catch {
      throw Refusal(error as? HTTPTransportError ?? .cancelled)
    }
  }

  private static func forwarded(_ request: HTTPServerRequest) -> String {
    let address = request.client.contains(":") ? "\"[\(request.client)]\"" : request.client
    let host = (request.fields[ForwardedFields.host] ?? "").filter { $0 != "\"" && $0 != "\\" }
    return "for=\(address);host=\"\(host)\";proto=http"
  }

  // To the client

  /// A response's fields as the client gets them.
  private func returned(_ fields: HTTPFields) -> HTTPFields {
    guard ForwardedFields.mayChange(fields) else { return fields }
    var fields = fields
    ForwardedFields.dropConnection(&fields)
    for name in ForwardedFields.references where fields.contains(name) {
      if let reference = fields[name], let own = upstream.ownReference(reference) { fields[name] = own }
    }
    return fields
  }
}
