public import LarderHTTP

/// An HTTP/1.1 server (and 1.0) on libmicrohttpd.
///
/// ```swift
/// let server = try HTTPServer { request in
///   HTTPServerResponse(status: 200, text: "You asked for \(request.target)")
/// }
/// print("http://127.0.0.1:\(server.port)/")
/// await server.stop()
/// ```
///
/// A responder starts on the connection's thread. If it returns without suspending, its response is sent at once. When
/// it first suspends, it continues on another thread, and the connection's thread serves other connections. So a
/// responder must never block. If a client leaves, the responder's task is cancelled.
///
/// What is rejected without calling the responder, with `Connection: close`:
/// - 400: a malformed head, and anything that different readers could read differently: `Content-Length` together with
///   `Transfer-Encoding`, or twice; white space before a colon; folded lines; line feeds without carriage return; NUL;
///   no `Host`, several, or an invalid one; `Expect: 100-continue` without content (RFC 9112 §§2 to 7);
/// - 408, without a response: a head that takes longer than ``Options/headTimeout``, even if its bytes arrive steadily;
/// - 413, 414, 431: content, target or head beyond the limits; 417: an expectation other than `100-continue`;
/// - 501: a transfer coding other than `chunked`; 505: another major version.
///
/// The framing of content is removed here and never passed on. So leniency in it (line feeds in chunk sizes) cannot
/// mislead another server.
public final class HTTPServer: Sendable {
  /// Returns the response to a request.
  public typealias Responder = @Sendable (HTTPServerRequest) async -> HTTPServerResponse

  /// Returns the response to a request without waiting, or nil if the responder must be called.
  public typealias ImmediateResponder = @Sendable (HTTPServerRequest) -> HTTPServerResponse?

  /// The address and the limits of a server.
  public struct Options: Sendable {
    /// The IP address to listen on, version 4 or 6.
    public var host = "127.0.0.1"
    /// Whether the address is reachable from this machine only (RFC 6890 §2.2.2, §2.2.3); false also if it is not an
    /// address.
    public var isLoopback: Bool {
      guard let address = try? SocketAddress(host: host, port: 0).text else { return false }
      return address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
    /// The port; 0 for any free port.
    public var port = 0
    /// The number of threads that serve connections, 1 to 64; nil for one for each processor, up to 4.
    public var threads: Int?
    /// The maximum number of connections; more wait to be accepted.
    public var connectionLimit = 4096
    /// The maximum number of connections from one address; more are closed. Nil for no limit.
    public var connectionLimitPerClient: Int?
    /// The maximum size in bytes of a request's head, including its target, and of a response's; 4 KiB to 1 MiB. A
    /// connection uses three times as much memory. A larger request is rejected with 431, and so is one with more than
    /// one field for each 128 bytes of this size (256). A larger response is replaced by 502.
    public var headByteLimit = 32 << 10
    /// The maximum size of a request's target in bytes.
    public var targetByteLimit = 16 << 10
    /// The maximum size of a request's content in bytes.
    public var contentByteLimit = Int.max
    /// The maximum time to receive a request's head.
    public var headTimeout = Duration.seconds(20)
    /// How long a connection may be idle between requests, and how long a client may neither send nor receive a byte.
    public var idleTimeout = Duration.seconds(60)
    /// Header fields of responses that the server sends without calling the responder, such as `Cache-Status`. Fields
    /// that delimit the content are omitted.
    public var rejectionFields: HTTPFields = [:]
    /// Called for requests that the server rejected without calling the responder.
    public var onRejection: (@Sendable (HTTPServerRejection) -> Void)?

    /// Creates the default options.
    public init() {}
  }

  /// The port that the server listens on.
  public let port: Int

  private let engine: ServerEngine

  /// Binds the address and starts to serve.
  ///
  /// - Parameters:
  ///   - options: the address and the limits.
  ///   - atOnce: called first for requests without content, on the connection's thread, which it must not block. If it
  ///     returns a response, no task is needed.
  ///   - responder: responds to all other requests, each in a task of its own.
  public init(
    _ options: Options = Options(), atOnce: ImmediateResponder? = nil, responder: @escaping Responder
  ) throws(HTTPServerError) {
    try options.validate()
    let listener = try ListeningSocket(host: options.host, port: options.port)
    port = listener.port
    engine = try ServerEngine(options, atOnce: atOnce, responder: responder)
    try engine.start(listener)
  }

  /// The number of open connections.
  public var connectionCount: Int { engine.connections.count }

  /// Stops the server in order: accepts no more connections, closes idle ones, waits for running exchanges, then
  /// cancels them.
  ///
  /// - Parameter grace: how long running exchanges may take to end.
  ///
  /// Returns when all connections are closed. A second call waits for the same end; a shorter grace counts.
  public func stop(grace: Duration = .seconds(10)) async { await engine.stop(grace: grace) }

  /// A server that is released stops in the background, without grace.
  deinit { engine.requestStop(grace: .zero) }
}

extension HTTPServer.Options {
  func validate() throws(HTTPServerError) {
    func check(_ isValid: Bool, _ requirement: String) throws(HTTPServerError) {
      if !isValid { throw .invalidOption(requirement) }
    }
    try check((0...65_535).contains(port), "port must be 0 to 65535")
    try check(threads.map { (1...64).contains($0) } ?? true, "threads must be 1 to 64")
    try check(connectionLimit > 0, "connectionLimit must be 1 or more")
    try check(connectionLimitPerClient.map { $0 > 0 } ?? true, "connectionLimitPerClient must be 1 or more")
    try check((4 << 10...1 << 20).contains(headByteLimit), "headByteLimit must be 4 KiB to 1 MiB")
    try check(targetByteLimit > 0, "targetByteLimit must be 1 or more")
    try check(contentByteLimit >= 0, "contentByteLimit must be 0 or more")
    try check(headTimeout > .zero && idleTimeout > .zero, "time-outs must be positive")
  }
}
