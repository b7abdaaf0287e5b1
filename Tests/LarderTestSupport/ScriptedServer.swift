import Dispatch
public import Foundation
import Synchronization

/// A small HTTP/1.1 server on the loopback interface. The test defines every response and every fault.
///
/// ```swift
/// let server = try ScriptedServer { request in
///   request.path == "/Products" ? .response(200, fields: ["ETag": "\"1\""], body: "[]") : .response(404)
/// }
/// defer { server.stop() }
/// let response = try await transport.send(HTTPRequest(url: server.url("/Products")))
/// #expect(server.requests.map(\.target) == ["/Products"])
/// ```
///
/// - Responses: ``Response`` (a response, raw bytes, or a fault), created by a closure or taken in turn from a list.
/// - Order without sleeping: a ``Gate`` holds a response, or each of its parts, until the test opens it;
///   ``waitForRequests(_:within:)`` and ``waitForClosedConnections(_:within:)`` suspend until something has happened.
/// - What was heard: ``requests``, ``connectionCount``, ``closedConnectionCount``, ``faults``.
///
/// One thread a connection. The handler is called on those threads, so it may block, and two calls may run at once.
/// HTTP/1.1 keep-alive, HTTP/1.0, request content by length and chunked, and `Expect: 100-continue` are served.
/// Trailer fields of a chunked request are read and dropped. There is no TLS.
public final class ScriptedServer: Sendable {
  /// Responds to a request.
  public typealias Handler = @Sendable (Request) -> Response

  /// Options of the server.
  public struct Options: Sendable {
    /// False: request content is counted (``Request/contentLength``) but not kept, for large uploads.
    public var keepsContent = true
    /// Where set, each piece of request content (at most 64 KiB) is read only after one release of this gate.
    public var contentGate: Gate?
    /// If set, is called as soon as a request's head is there; a response is sent at once, the content stays unread,
    /// and the connection ends. The request is recorded without content.
    public var onHead: (@Sendable (Request) -> Response?)?
    /// The size of each connection's receive buffer in bytes, where the system's own is too large for the test.
    public var receiveBuffer: Int?

    /// The defaults: content is kept and read at once.
    public init() {}
  }

  /// The port on 127.0.0.1, below 32768.
  public let port: Int

  let handler: Handler
  let options: Options
  private let listener: Socket
  private let stopper = Waker()
  private let threads = DispatchGroup()
  private let state = Mutex(State())
  private let arrived = Tally("requests")
  private let opened = Tally("connections")
  private let closed = Tally("closed connections")

  private struct State {
    var stopped = false
    var requests: [Request] = []
    var faults: [String] = []
    var live: [Int: Waker] = [:]
  }

  /// Starts a server whose responses are created by a closure.
  public init(_ options: Options = Options(), handler: @escaping Handler) throws {
    self.options = options
    self.handler = handler
    (listener, port) = try Socket.listenOnFreePort()
    threads.enter()
    Thread.detachNewThread { [self] in
      acceptConnections()
      threads.leave()
    }
  }

  /// Starts a server that returns the responses of a list, one for each request. After the last it returns 500 and records a fault.
  public convenience init(_ options: Options = Options(), responses: [Response]) throws {
    try self.init(options) { request in
      guard request.index < responses.count else {
        return .response(500, body: "no response is scripted for request \(request.index)")
      }
      return responses[request.index]
    }
  }

  /// `http://127.0.0.1:PORT/`.
  public var url: URL { url("/") }

  /// The URL of a path (with its query) on this server. The text goes into the URL as it is.
  public func url(_ path: String) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      preconditionFailure("not a URL path: \(path)")
    }
    return url
  }

  /// Every request heard so far, in the order in which they were complete.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// What clients did wrong, as sentences: bytes that are no HTTP, content that broke off.
  public var faults: [String] { state.withLock { $0.faults } }

  /// How many connections have been accepted.
  public var connectionCount: Int { opened.value }

  /// How many of them have ended, from either side.
  public var closedConnectionCount: Int { closed.value }

  /// Suspends until `count` requests have been received in total, and returns all of them.
  ///
  /// Throws ``WaitTimeout`` past `limit`, which only a failing test reaches.
  @discardableResult
  public func waitForRequests(_ count: Int = 1, within limit: Duration = .seconds(60)) async throws -> [Request] {
    try await arrived.wait(for: count, within: limit)
    return requests
  }

  /// Suspends until `count` connections have been accepted in all.
  public func waitForConnections(_ count: Int = 1, within limit: Duration = .seconds(60)) async throws {
    try await opened.wait(for: count, within: limit)
  }

  /// Suspends until `count` connections have ended in all: how a test sees that a client really hung up.
  public func waitForClosedConnections(_ count: Int = 1, within limit: Duration = .seconds(60)) async throws {
    try await closed.wait(for: count, within: limit)
  }

  /// Ends every connection, waits for every thread and frees the port. Safe to call twice.
  public func stop() {
    let live: [Waker] = state.withLock { state in
      state.stopped = true
      return Array(state.live.values)
    }
    stopper.wake()
    for waker in live { waker.wake() }
    threads.wait()
    stopper.close()
    listener.close()
  }

  deinit { listener.close() }

  var isStopped: Bool { state.withLock { $0.stopped } }

  /// The place of the next request among all, from 0.
  func record(_ make: (Int) -> Request) -> Request {
    let request = state.withLock { state in
      let request = make(state.requests.count)
      state.requests.append(request)
      return request
    }
    arrived.add()
    return request
  }

  func note(fault: String) { state.withLock { $0.faults.append(fault) } }

  private func acceptConnections() {
    while !isStopped {
      guard listener.waitReadable(or: stopper), !isStopped else { continue }
      guard let socket = listener.accept(receiveBuffer: options.receiveBuffer) else { continue }
      serve(socket)
    }
  }

  private func serve(_ socket: Socket) {
    let waker = Waker()
    let number = opened.value + 1
    let accepted = state.withLock { state in
      if !state.stopped { state.live[number] = waker }
      return !state.stopped
    }
    guard accepted else { return socket.close() }
    opened.add()
    threads.enter()
    Thread.detachNewThread { [self] in
      Connection(number: number, socket: socket, waker: waker, server: self).run()
      socket.close()
      state.withLock { $0.live[number] = nil }
      waker.close()
      closed.add()
      threads.leave()
    }
  }
}
