import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
import LarderHTTP
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The shared state of a running server: libmicrohttpd's daemons, one for each thread, and the listener that passes
/// connections to them.
///
/// The listener accepts connections instead of libmicrohttpd, because libmicrohttpd can neither stop accepting safely
/// under load nor limit connections over several threads. The listener's thread owns the engine and ends the daemons.
final class ServerEngine: Sendable {
  private enum Phase: UInt8, AtomicRepresentable {
    case serving
    /// Running exchanges may end; their connections are closed then.
    case stopping
    /// Everything is aborted; no connection may be suspended any more.
    case closing
  }

  let options: HTTPServer.Options
  let atOnce: HTTPServer.ImmediateResponder?
  let responder: HTTPServer.Responder
  let connections: ConnectionTable
  let listener: Listener
  private let threadCount: Int
  private let phase = Atomic(Phase.serving)
  private let daemons = Locked<[Daemon]>([])

  init(
    _ options: HTTPServer.Options, atOnce: HTTPServer.ImmediateResponder?, responder: @escaping HTTPServer.Responder
  ) throws(HTTPServerError) {
    self.options = options
    self.atOnce = atOnce
    self.responder = responder
    threadCount = options.threads ?? min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    connections = ConnectionTable(threads: threadCount)
    listener = try Listener()
  }

  var isStopping: Bool { phase.load(ordering: .relaxed) != .serving }
  var isClosing: Bool { phase.load(ordering: .sequentiallyConsistent) == .closing }

  /// Starts all threads. If this fails, no thread is left and the socket is closed.
  func start(_ socket: ListeningSocket) throws(HTTPServerError) {
    do throws(HTTPServerError) {
      for _ in 0..<threadCount { try addDaemon() }
      connections.onEmpty { [listener] in listener.wake() }
      try listener.start(self, socket)
    } catch {
      stopDaemons()
      close(socket.descriptor)
      throw error
    }
  }

  private func addDaemon() throws(HTTPServerError) {
    // The engine outlives its daemons: the listener's thread, which stops them, retains it.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    guard let daemon = unsafe Daemon(options, context: context) else {
      throw .failed("libmicrohttpd cannot be started: \(ListeningSocket.text(errno))")
    }
    daemons.withLock { $0.append(daemon) }
  }

  /// Passes an accepted connection to the thread that has the fewest.
  func add(_ descriptor: Int32, _ address: SocketAddress) {
    let load = connections.perThread
    let thread = load.indices.min { load[$0] < load[$1] } ?? 0
    let connection = ClientConnection(
      descriptor: descriptor, client: address.text, thread: thread, now: CoarseClock.now)
    // Inserted before libmicrohttpd's thread can look it up.
    connections.insert(connection)
    listener.watch(connection)
    // The daemons are ended by the thread that calls this.
    let daemon = daemons.withLock { $0[thread] }
    let isAdded = daemon.add(descriptor, address)
    if !isAdded { connections.remove(connection) }
  }

  /// Sends responses to requests that libmicrohttpd is about to reject without calling the server, on connections of
  /// this thread.
  func rejectUndeliveredHead(thread: UInt) {
    // None of them can be closed during the loop: they belong to this thread.
    for connection in connections.all where connection.servingThread.load(ordering: .relaxed) == thread {
      connection.exchange?.rejectUndeliveredHead()
    }
  }

  // The end

  func requestStop(grace: Duration) { listener.requestStop(grace: grace) }

  func stop(grace: Duration) async { await listener.stop(grace: grace) }

  /// Begins to stop: running exchanges may end, and connections without a request are closed.
  func beginStopping() {
    phase.store(.stopping, ordering: .sequentiallyConsistent)
    closeIdle()
  }

  /// Closes idle connections. A request that has already arrived still gets its response.
  func closeIdle() {
    connections.forEach { if $0.awaitingSince.load(ordering: .relaxed) != 0 { $0.shut(.receiving) } }
  }

  /// Closes connections whose request's head is overdue.
  func closeLate() {
    let now = CoarseClock.now
    let head = options.headTimeout.milliseconds
    let idle = options.idleTimeout.milliseconds
    connections.forEach { if $0.isLate(now: now, head: head, idle: idle) { $0.shut(.both) } }
  }

  /// Aborts what is still running, and ends libmicrohttpd's threads.
  func finish() {
    phase.store(.closing, ordering: .sequentiallyConsistent)
    for connection in connections.all { connection.exchange?.abort() }
    connections.forEach { $0.shut(.both) }
    stopDaemons()
    // A connection that its daemon had received but not started is closed without a response.
    connections.removeAll()
  }

  private func stopDaemons() {
    let daemons = self.daemons.withLock { daemons in
      defer { daemons = [] }
      return daemons
    }
    for daemon in daemons { daemon.stop() }
  }
}

/// One of libmicrohttpd's daemons, with its thread.
///
/// Sendable: connections may be added and the daemon stopped from any thread. It is stopped once, when no other code
/// has the daemon any more.
@safe private struct Daemon: @unchecked Sendable {
  private let pointer: OpaquePointer
  /// The context of the daemon's log.
  private let log: UnsafeMutablePointer<larder_mhd_log>

  init?(_ options: HTTPServer.Options, context: UnsafeMutableRawPointer) {
    let idleSeconds = (options.idleTimeout.milliseconds + 999) / 1000
    let callbacks = unsafe larder_mhd_callbacks(
      target: serverReadsTarget, handler: serverHandles, completed: serverCompletes, connection: serverNotesConnection,
      unescape: serverUnescapes)
    unsafe log = .allocate(capacity: 1)
    unsafe log.initialize(to: larder_mhd_log(notices: serverNotices, context: context))
    // libmicrohttpd reads into one half: a head, and the bytes after it. The other half holds its records of the
    // fields, 64 bytes each, and the head of the response.
    let memory = 3 * options.headByteLimit
    let seconds = UInt32(min(idleSeconds, Int64(Int32.max / 1000)))
    guard let pointer = unsafe larder_mhd_start(callbacks, context, log, memory, seconds) else {
      unsafe log.deallocate()
      return nil
    }
    unsafe self.pointer = pointer
  }

  /// Passes a connection to the daemon. Returns false if it was not accepted; its descriptor is closed then.
  func add(_ descriptor: Int32, _ address: SocketAddress) -> Bool {
    unsafe address.withPointer { unsafe MHD_add_connection(pointer, descriptor, $0, $1) } == .YES
  }

  func stop() {
    unsafe MHD_stop_daemon(pointer)
    unsafe log.deallocate()
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded up, and limited to the length of a century.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let limited = min(max(seconds, 0), 3_155_760_000)
    return limited * 1000 + (attoseconds > 0 ? (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000 : 0)
  }
}
