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
/// A responder starts on the connection's thread. One that answers without suspending is answered at once; when it first
/// suspends it goes on elsewhere, and the thread serves others. So it must never block.
/// A client that leaves cancels the responder's task.
///
/// What is refused without asking the responder, with `Connection: close`:
/// - 400: a malformed head, and whatever different readers could read differently: `Content-Length` together with
///   `Transfer-Encoding`, or twice; white space before a colon; folded lines; line feeds without carriage return; NUL;
///   no `Host`, several, or one that is no host; `Expect: 100-continue` without content (RFC 9112 §§2 to 7);
/// - 408, without an answer: a head that takes longer than ``Options/headTimeout``, however it trickles;
/// - 413, 414, 431: content, target or head beyond the limits; 417: an expectation other than `100-continue`;
/// - 501: a transfer coding other than `chunked`; 505: another major version.
///
/// The framing of content is taken off here and never handed on, so leniency in it (line feeds in chunk sizes) cannot
/// lead another server astray.
public final class HTTPServer: Sendable {
  /// Answers a request.
  public typealias Responder = @Sendable (HTTPServerRequest) async -> HTTPServerResponse

  /// Answers a request without waiting for anything, or nil where the responder has to be asked.
  public typealias ImmediateResponder = @Sendable (HTTPServerRequest) -> HTTPServerResponse?

  /// Where a server listens, and what it puts up with.
  public struct Options: Sendable {
    /// The IP address to listen on, version 4 or 6.
    public var host = "127.0.0.1"
    /// Whether this machine alone reaches the address (RFC 6890 §2.2.2, §2.2.3); false also for what is no address.
    public var isLoopback: Bool {
      guard let address = try? SocketAddress(host: host, port: 0).text else { return false }
      return address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
    /// The port; 0 for any that is free.
    public var port = 0
    /// Threads that serve connections, 1 to 64; nil for one a processor, up to 4.
    public var threads: Int?
    /// Connections at once; more wait to be accepted.
    public var maximumConnections = 4096
    /// Connections at once from one address; more are closed. Nil is without limit.
    public var maximumConnectionsPerClient: Int?
    /// Bytes of a request's head, its target included, and of a response's; 4 KiB to 1 MiB. A connection takes three times
    /// as much memory. A request past it gets 431, and so does one with more than one field to 128 bytes of it (256); one
    /// whose response is past it gets 502.
    public var maximumHead = 32 << 10
    /// Bytes of a request's target.
    public var maximumTarget = 16 << 10
    /// Bytes of a request's content.
    public var maximumContent = Int.max
    /// How long a request's head may take.
    public var headTimeout = Duration.seconds(20)
    /// How long a connection may be silent between requests, and how long a client may neither send nor take a byte.
    public var idleTimeout = Duration.seconds(60)
    /// Header fields of responses that the server sends without asking the responder, such as `Cache-Status`. Fields that delimit
    /// the content are left out.
    public var refusalFields: HTTPFields = [:]
    /// Is told of requests that the server answered by itself.
    public var onRefusal: (@Sendable (HTTPServerRejection) -> Void)?

    /// The defaults.
    public init() {}
  }

  /// The port that the server listens on.
  public let port: Int

  private let engine: ServerEngine

  /// Binds the address and begins to serve.
  ///
  /// - Parameters:
  ///   - options: the address and the limits.
  ///   - atOnce: is asked first for requests without content, on the connection's thread, which it must not block: an answer
  ///     that it has costs no task.
  ///   - responder: answers all other requests, each in a task of its own.
  public init(
    _ options: Options = Options(), atOnce: ImmediateResponder? = nil, responder: @escaping Responder
  ) throws(HTTPServerError) {
    try options.validate()
    let listener = try ListeningSocket(host: options.host, port: options.port)
    port = listener.port
    engine = try ServerEngine(options, atOnce: atOnce, responder: responder)
    try engine.start(listener)
  }

  /// How many connections are open.
  public var connectionCount: Int { engine.connections.count }

  /// Ends in order: accepts nothing more, closes idle connections, waits for running exchanges, then cancels them.
  ///
  /// - Parameter grace: how long exchanges may take to end by themselves.
  ///
  /// Returns when all connections are closed. Calling it again waits for the same end; a shorter grace counts.
  public func stop(grace: Duration = .seconds(10)) async { await engine.stop(grace: grace) }

  /// A server that is dropped stops in the background, without grace.
  deinit { engine.requestStop(grace: .zero) }
}

extension HTTPServer.Options {
  func validate() throws(HTTPServerError) {
    func check(_ isRight: Bool, _ what: String) throws(HTTPServerError) {
      if !isRight { throw .invalidOption(what) }
    }
    try check((0...65_535).contains(port), "a port is a number from 0 to 65535")
    try check(threads.map { (1...64).contains($0) } ?? true, "threads must be 1 to 64")
    try check(maximumConnections > 0, "maximumConnections must be 1 or more")
    try check(maximumConnectionsPerClient.map { $0 > 0 } ?? true, "maximumConnectionsPerClient must be 1 or more")
    try check((4 << 10...1 << 20).contains(maximumHead), "maximumHead must be 4 KiB to 1 MiB")
    try check(maximumTarget > 0, "maximumTarget must be 1 or more")
    try check(maximumContent >= 0, "maximumContent must be 0 or more")
    try check(headTimeout > .zero && idleTimeout > .zero, "time-outs must be positive")
  }
}
