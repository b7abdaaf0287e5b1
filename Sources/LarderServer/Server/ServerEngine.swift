import CLarderMicroHTTPD
import LarderCore
import LarderHTTP
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the parts of a running server share: libmicrohttpd's daemons, one a thread, and the listener that feeds them.
///
/// The listener accepts connections in libmicrohttpd's place, as that can neither stop accepting safely under load nor
/// limit connections over several threads. Its thread owns the engine and ends the daemons.
final class ServerEngine: Sendable {
  private enum Phase: UInt8, AtomicRepresentable {
    case serving
    /// Running exchanges end; their connections are closed.
    case stopping
    /// Everything is broken off; no connection may be suspended any more.
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

  /// Starts all threads; on failure none is left and the socket is closed.
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
    // The engine outlives its daemons: the listener's thread, which stops them, holds it.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    guard let daemon = unsafe Daemon(options, context: context) else {
      throw .failed("libmicrohttpd cannot be started: \(ListeningSocket.text(errno))")
    }
    daemons.withLock { $0.append(daemon) }
  }

  /// Gives an accepted connection to the thread that has the fewest.
  func add(_ descriptor: Int32, _ address: SocketAddress) {
    let load = connections.perThread
    let thread = load.indices.min { load[$0] < load[$1] } ?? 0
    let connection = ClientConnection(
      descriptor: descriptor, client: address.text, thread: thread, now: CoarseClock.now)
    // Known before libmicrohttpd's thread can ask for it.
    connections.insert(connection)
    listener.watch(connection)
    // They are ended by the thread that calls this.
    let daemon = daemons.withLock { $0[thread] }
    let isTaken = daemon.add(descriptor, address)
    if !isTaken { connections.remove(connection) }
  }

  /// Answers requests that libmicrohttpd is about to refuse without having asked, of connections of this thread.
  func answerUnheard(thread: UInt) {
    // None of them can be closed meanwhile: their thread is this one.
    for connection in connections.all where connection.servingThread.load(ordering: .relaxed) == thread {
      connection.exchange?.answerUnheard()
    }
  }

  // The end

  func requestStop(grace: Duration) { listener.requestStop(grace: grace) }

  func stop(grace: Duration) async { await listener.stop(grace: grace) }

  /// Running exchanges may end; who waits for a request goes.
  func beginStopping() {
    phase.store(.stopping, ordering: .sequentiallyConsistent)
    closeIdle()
  }

  /// Closes connections that wait for a request; one that has arrived already is still answered.
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

  /// Breaks off what still runs, and ends libmicrohttpd's threads.
  func finish() {
    phase.store(.closing, ordering: .sequentiallyConsistent)
    for connection in connections.all { connection.exchange?.abort() }
    connections.forEach { $0.shut(.both) }
    stopDaemons()
    // One that its daemon had been given but not taken up yet is closed without a word.
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
/// Sendable: adding connections and stopping are allowed from any thread, and stopping happens once, when nobody else has
/// the daemon any more.
@safe private struct Daemon: @unchecked Sendable {
  private let pointer: OpaquePointer
  /// What the daemon's log leads to.
  private let log: UnsafeMutablePointer<larder_mhd_log>

  init?(_ options: HTTPServer.Options, context: UnsafeMutableRawPointer) {
    let idleSeconds = (options.idleTimeout.milliseconds + 999) / 1000
    let callbacks = unsafe larder_mhd_callbacks(
      target: serverReadsTarget, handler: serverHandles, completed: serverCompletes, connection: serverNotesConnection,
      unescape: serverUnescapes)
    unsafe log = .allocate(capacity: 1)
    unsafe log.initialize(to: larder_mhd_log(notices: serverNotices, context: context))
    // libmicrohttpd reads into one half: a head, and what is behind it. The other has room for what it notes of the
    // fields, 64 bytes each, and for the head of the response.
    let memory = 3 * options.maximumHead
    let seconds = UInt32(min(idleSeconds, Int64(Int32.max / 1000)))
    guard let pointer = unsafe larder_mhd_start(callbacks, context, log, memory, seconds) else {
      unsafe log.deallocate()
      return nil
    }
    unsafe self.pointer = pointer
  }

  /// False where the connection was not taken; its descriptor is closed then.
  func add(_ descriptor: Int32, _ address: SocketAddress) -> Bool {
    unsafe address.withPointer { unsafe MHD_add_connection(pointer, descriptor, $0, $1) } == .YES
  }

  func stop() {
    unsafe MHD_stop_daemon(pointer)
    unsafe log.deallocate()
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, within what a century has.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let limited = min(max(seconds, 0), 3_155_760_000)
    return limited * 1000 + (attoseconds > 0 ? (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000 : 0)
  }
}
