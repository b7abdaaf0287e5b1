@_spi(Stores) import LarderCore
@_spi(Stores) public import LarderHTTP
public import LarderService

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A network in memory: it responds by routes, records the requests, and fails when the test says so.
///
/// ```swift
/// let transport = ScriptedTransport()
/// transport.route("GET headline", "Rain")
/// transport.route("POST orders") { request in HTTPTestReply(#"{"id": 7}"#, status: 201) }
/// ```
///
/// A request that no route fits gets the status 404, with a message that names it.
public final class ScriptedTransport: HTTPTransport {
  /// Responds to a request. A thrown ``LarderHTTP/HTTPTransportError`` is the error of the request.
  public typealias Handler = @Sendable (HTTPTestRequest) async throws -> HTTPTestReply

  private struct Route {
    let pattern: RequestPattern
    let handler: Handler
  }

  private struct PlannedFault {
    let fault: HTTPTestFault
    let pattern: RequestPattern?
    var count: Int

    var isStatus: Bool { if case .status = fault { true } else { false } }
  }

  private struct State {
    var routes: [Route] = []
    var fallback: Handler?
    var log: [HTTPTestRequest] = []
    var faults: [PlannedFault] = []
    var isOffline = false
    var latency = Duration.zero

    mutating func takeFault(for request: HTTPTestRequest) -> HTTPTestFault? {
      takeFault { $0.pattern?.matches(request) ?? true }
    }

    mutating func takeFault(where isTaken: (PlannedFault) -> Bool) -> HTTPTestFault? {
      guard let index = faults.firstIndex(where: isTaken) else { return nil }
      let fault = faults[index].fault
      faults[index].count -= 1
      if faults[index].count <= 0 { faults.remove(at: index) }
      return fault
    }
  }

  /// The URL that paths of routes and requests are relative to; it ends with a slash.
  public let root: URL
  /// The clock that the latency passes on.
  public let clock: LarderTestClock
  private let state = Locked(State())

  /// Creates a transport without routes.
  ///
  /// - Parameters:
  ///   - root: the URL that paths are relative to.
  ///   - clock: the clock of the latency.
  public init(root: URL = ScriptedTransport.defaultRoot, clock: LarderTestClock = LarderTestClock()) {
    self.root = root.absoluteString.hasSuffix("/") ? root : root.appending(path: "/")
    self.clock = clock
  }

  /// `https://service.test/`
  public static let defaultRoot = URL(string: "https://service.test/") ?? URL(filePath: "/")

  /// Creates a transport that replays recorded exchanges, by method and URL. Several exchanges for one URL are replayed in
  /// their order, and the last one again and again. Routes that are added later replace exchanges.
  public convenience init(
    replaying recording: RecordedExchanges, root: URL = ScriptedTransport.defaultRoot,
    clock: LarderTestClock = LarderTestClock()
  ) {
    self.init(root: root, clock: clock)
    let replay = Replay(recording)
    setFallback { try replay.reply(to: $0) }
  }

  // MARK: Routes

  /// Sets the response to all requests that fit a pattern. A later route replaces an earlier one.
  ///
  /// - Parameters:
  ///   - pattern: a method and a path relative to the root, such as `GET Orders` or `PATCH Orders(*)`. `*` matches any
  ///     text, also as the method. A pattern without `?` fits every query. The transport of an ``ODataTestService`` also
  ///     uses it for the requests in batches, such as those of uploads.
  ///   - reply: the response.
  public func route(_ pattern: String, _ reply: HTTPTestReply) { route(pattern) { _ in reply } }

  /// Sets the code that responds to all requests that fit a pattern.
  public func route(_ pattern: String, _ handler: @escaping Handler) {
    state.withLock { $0.routes.append(Route(pattern: RequestPattern(pattern), handler: handler)) }
  }

  /// Sets the code that responds to requests without a route.
  func setFallback(_ handler: @escaping Handler) {
    state.withLock { $0.fallback = handler }
  }

  // MARK: Faults

  /// Whether there is no network: requests fail with `cannotConnect`, and are not recorded.
  public var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// The time that each request waits on ``clock`` before it is carried out.
  ///
  /// ```swift
  /// transport.latency = .milliseconds(50)
  /// async let load: Void = model.load()
  /// await transport.clock.waitForSleepers()
  /// #expect(model.isLoading)
  /// transport.clock.advance(by: .milliseconds(50))
  /// await load
  /// ```
  public var latency: Duration {
    get { state.withLock { $0.latency } }
    set { state.withLock { $0.latency = newValue } }
  }

  /// Lets the next requests fail.
  ///
  /// - Parameters:
  ///   - fault: the failure.
  ///   - times: the number of requests that fail.
  ///   - pattern: which requests fail, as in a route; nil for all. A fault of the connection that is planned for a
  ///     request in a batch is one of the whole batch.
  public func fail(next fault: HTTPTestFault, times: Int = 1, on pattern: String? = nil) {
    guard times > 0 else { return }
    state.withLock {
      $0.faults.append(PlannedFault(fault: fault, pattern: pattern.map(RequestPattern.init), count: times))
    }
  }

  /// Removes the failures that have not happened yet.
  public func clearFaults() { state.withLock { $0.faults = [] } }

  // MARK: Requests

  /// The requests that were sent, in their order: `GET Orders?$top=1`, `POST $batch`. Requests that failed are among them,
  /// unless the transport was offline.
  public var requests: [String] { log.map(\.description) }

  /// The requests that were sent, with their fields and their content.
  public var log: [HTTPTestRequest] { state.withLock { $0.log } }

  /// Forgets the requests that were sent.
  public func clearRequests() { _ = state.withLock { exchange(&$0.log, with: []) } }

  // MARK: Batches

  /// Adds a request in a batch to the requests.
  func record(_ request: HTTPTestRequest) { state.withLock { $0.log.append(request) } }

  /// Takes the fault of the connection that is planned for one of the requests in a batch.
  func takeConnectionFault(for requests: [HTTPTestRequest]) -> HTTPTestFault? {
    state.withLock { state in
      state.takeFault { planned in
        guard !planned.isStatus, let pattern = planned.pattern else { return false }
        return requests.contains(where: pattern.matches)
      }
    }
  }

  /// The response to a request in a batch by a fault with a status, else by a route; nil if there is neither.
  func plannedReply(to request: HTTPTestRequest) async throws -> HTTPTestReply? {
    let (fault, handler) = state.withLock { state in
      (
        state.takeFault { $0.isStatus && $0.pattern?.matches(request) == true },
        state.routes.last { $0.pattern.matches(request) }?.handler
      )
    }
    if case .status(let status, let fields) = fault { return HTTPTestReply.status(status, fields: fields) }
    return try await handler?(request)
  }

  /// Responds to a request.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    do { return try await respond(to: request) } catch let error as HTTPTransportError { throw error } catch {
      throw error is CancellationError ? .cancelled : .other("\(error)")
    }
  }

  private func respond(to request: HTTPRequest) async throws -> HTTPResponse {
    try Task.checkCancellation()
    let received = HTTPTestRequest(
      method: request.method, url: request.url, path: path(of: request.url), fields: request.fields,
      body: try await ScriptedTransport.content(request.body), encodedPath: encodedPath(of: request.url))
    let (latency, isOffline) = state.withLock { state in
      if !state.isOffline { state.log.append(received) }
      return (state.latency, state.isOffline)
    }
    guard !isOffline else {
      throw HTTPTransportError.cannotConnect(host: request.url.host() ?? "", reason: "the transport is offline")
    }
    try await clock.sleep(for: latency)
    let (fault, handler) = state.withLock { state in
      (
        state.takeFault(for: received),
        state.routes.last { $0.pattern.matches(received) }?.handler ?? state.fallback
      )
    }
    switch fault {
    case .error(let error): throw error
    case .status(let status, let fields): return response(HTTPTestReply.status(status, fields: fields), to: request)
    case .responseLost, .truncatedContent, nil: break
    }
    let reply = try await handler?(received) ?? ScriptedTransport.noRoute(received)
    if fault == .responseLost { throw HTTPTransportError.connectionLost(reason: "the response was lost") }
    let response = response(reply, to: request)
    return reply.isTruncated || fault == .truncatedContent ? truncated(response, reply.body) : response
  }

  private func response(_ reply: HTTPTestReply, to request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status: reply.status, fields: reply.fields, url: request.url,
      body: HTTPBodyStream(request.method == .head ? [] : reply.body))
  }

  private func truncated(_ response: HTTPResponse, _ body: [UInt8]) -> HTTPResponse {
    let half = Locked<[UInt8]?>(Array(body.prefix(body.count / 2)))
    var response = response
    response.body = HTTPBodyStream(
      length: body.count,
      next: {
        guard let bytes = half.withLock({ $0.take() }), !bytes.isEmpty else {
          throw HTTPTransportError.connectionLost(reason: "the content was interrupted")
        }
        return bytes
      })
    return response
  }

  private static func noRoute(_ request: HTTPTestRequest) -> HTTPTestReply {
    HTTPTestReply("There is no route for '\(request)'.", status: 404)
  }

  private static func content(_ body: HTTPBody) async throws -> [UInt8] {
    switch body {
    case .none: []
    case .bytes(let bytes): bytes
    case .stream(_, let open): try await open().collect()
    }
  }

  // MARK: Paths

  private func encodedPath(of url: URL) -> String {
    let (text, root) = (url.absoluteString, root.absoluteString)
    return text.hasPrefix(root) ? String(text.dropFirst(root.count)) : text + "/" == root ? "" : text
  }

  private func path(of url: URL) -> String {
    let path = encodedPath(of: url)
    return PercentEncoding.decode(path) ?? path
  }
}

/// Which requests a route or a fault is for: `GET Orders(*)`.
struct RequestPattern: Sendable {
  private let text: [Character]
  private let hasQuery: Bool

  init(_ text: String) {
    self.text = Array(text)
    hasQuery = text.contains("?")
  }

  func matches(_ request: HTTPTestRequest) -> Bool {
    let path = hasQuery ? request.path[...] : request.path.prefix { $0 != "?" }
    return RequestPattern.matches(text[...], Array("\(request.method) \(path)")[...])
  }

  private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
    var (pattern, text) = (pattern, text)
    /// The rest of the pattern after the last `*`, and the text at which it was tried last.
    var retry: (pattern: ArraySlice<Character>, text: ArraySlice<Character>)?
    while !text.isEmpty {
      if pattern.first == "*" {
        pattern = pattern.dropFirst()
        retry = (pattern, text)
      } else if pattern.first == text.first {
        (pattern, text) = (pattern.dropFirst(), text.dropFirst())
      } else if let (rest, tried) = retry {
        (pattern, text) = (rest, tried.dropFirst())
        retry = (rest, text)
      } else {
        return false
      }
    }
    return pattern.allSatisfy { $0 == "*" }
  }
}

/// Recorded exchanges and which of them were replayed.
private final class Replay: Sendable {
  private let exchanges: [RecordedExchange]
  private let used = Locked<Set<Int>>([])

  init(_ recording: RecordedExchanges) { exchanges = recording.exchanges }

  func reply(to request: HTTPTestRequest) throws -> HTTPTestReply {
    let candidates = exchanges.indices.filter {
      exchanges[$0].matches(method: request.method, url: request.url.absoluteString)
    }
    guard let last = candidates.last else {
      return HTTPTestReply(
        "The recording has no response to '\(request.method) \(request.url.absoluteString)'. Add it with 'larder record'.",
        status: 404)
    }
    let index = used.withLock { used in
      let index = candidates.first { !used.contains($0) } ?? last
      used.insert(index)
      return index
    }
    let exchange = exchanges[index]
    return HTTPTestReply(status: exchange.status, fields: exchange.fields, body: exchange.body)
  }
}
