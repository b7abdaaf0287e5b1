import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The thread that accepts connections, enforces their limits, and watches for events that libmicrohttpd misses.
///
/// libmicrohttpd does not notice that the client of a suspended connection has left. It also misses a client that left
/// right after its last bytes: the end of the stream is then reported together with the bytes, and libmicrohttpd
/// handles only those. And a head that arrives in small pieces never looks idle to it.
final class Listener: Sendable {
  private struct State {
    var stopDeadline: ContinuousClock.Instant?
    var hasStopped = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private enum Mark {
    static let listening = UInt64.max
    static let wake = UInt64.max - 1
  }

  private let poller: Int32
  private let waker: Int32
  private let state = Locked(State())
  /// There are too many connections: no connection is accepted until one is closed.
  private let isFull = Atomic(false)

  init() throws(HTTPServerError) {
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    waker = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard poller >= 0, waker >= 0 else { throw .failed(ListeningSocket.text(errno)) }
    change(EPOLL_CTL_ADD, waker, EPOLLIN.rawValue, mark: Mark.wake)
  }

  deinit {
    close(poller)
    close(waker)
  }

  // From any thread

  /// Starts to watch for the disconnection of a connection's client. It is reported once, until the descriptor is closed.
  func watch(_ connection: ClientConnection) { watch(EPOLL_CTL_ADD, connection) }

  /// Watches a connection again whose client's disconnection was reported before the connection was suspended.
  func watchAgain(_ connection: ClientConnection) { watch(EPOLL_CTL_MOD, connection) }

  private func watch(_ operation: Int32, _ connection: ClientConnection) {
    change(
      operation, connection.descriptor, UInt32(larder_epoll_peer_closed) | EPOLLONESHOT.rawValue,
      mark: UInt64(connection.descriptor))
  }

  /// Called when a connection was removed.
  func noteRoom() { if isFull.load(ordering: .relaxed) { wake() } }

  func wake() { eventfd_write(waker, 1) }

  func requestStop(grace: Duration) {
    state.withLock { state in
      let deadline = ContinuousClock.now + grace
      state.stopDeadline = state.stopDeadline.map { min($0, deadline) } ?? deadline
    }
    wake()
  }

  func stop(grace: Duration) async {
    requestStop(grace: grace)
    await withCheckedContinuation { continuation in
      let hasStopped = state.withLock { state in
        if !state.hasStopped { state.waiters.append(continuation) }
        return state.hasStopped
      }
      if hasStopped { continuation.resume() }
    }
  }

  private func change(_ operation: Int32, _ descriptor: Int32, _ events: UInt32, mark: UInt64) {
    var event = unsafe epoll_event()
    // A union with only numbers in it, and a pointer to a local value for the call alone.
    unsafe event.events = events
    unsafe event.data.u64 = mark
    _ = unsafe epoll_ctl(poller, operation, descriptor, &event)
  }

  // The thread

  /// Starts the thread, which holds the engine until everything has ended.
  func start(_ engine: ServerEngine, _ socket: ListeningSocket) throws(HTTPServerError) {
    guard DetachedThread.start({ [self] in run(engine, socket) }) else { throw .failed("no thread can be started") }
  }

  private func run(_ engine: ServerEngine, _ socket: ListeningSocket) {
    var isListening = listen(socket, true)
    var isStopping = false
    var lastSweep = CoarseClock.now
    var disconnectedClients = DisconnectedClients()
    let tick = min(500, max(10, engine.options.headTimeout.milliseconds / 4))
    while true {
      let isIdle = engine.connections.count == 0 && isListening && !isStopping
      let pause = min(tick, disconnectedClients.pause(now: CoarseClock.now) ?? tick)
      if wait(isIdle ? -1 : Int32(pause), engine, &disconnectedClients) { acceptAll(engine, socket) }
      disconnectedClients.shutReceivingAgain(engine.connections, now: CoarseClock.now)
      if let deadline = state.withLock({ $0.stopDeadline }) {
        if !isStopping {
          isStopping = true
          if isListening { isListening = listen(socket, false) }
          close(socket.descriptor)
          engine.beginStopping()
        }
        if engine.connections.count == 0 || ContinuousClock.now >= deadline { break }
      } else {
        isListening = keepLimit(engine, socket, isListening)
      }
      let now = CoarseClock.now
      if now - lastSweep >= tick {
        lastSweep = now
        engine.closeLate()
        if isStopping { engine.closeIdle() }
      }
    }
    engine.finish()
    let waiters = state.withLock { state in
      state.hasStopped = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits for events. Returns true if clients want to connect.
  private func wait(_ milliseconds: Int32, _ engine: ServerEngine, _ disconnectedClients: inout DisconnectedClients)
    -> Bool
  {
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
      let count = unsafe Int(epoll_wait(poller, events.baseAddress, Int32(events.count), milliseconds))
      var wantsAccept = false
      for index in 0..<max(count, 0) {
        switch unsafe events[index].data.u64 {
        case Mark.listening: wantsAccept = true
        case Mark.wake:
          var number = eventfd_t()
          unsafe _ = eventfd_read(waker, &number)
        case let descriptor:
          guard let connection = engine.connections[Int32(truncatingIfNeeded: descriptor)] else { break }
          // Recorded first: an exchange that is suspended from here on watches the connection again.
          connection.noteDisconnect()
          if connection.exchange?.abortIfDisconnected() != true {
            disconnectedClients.add(connection, now: CoarseClock.now)
          }
        }
      }
      return wantsAccept
    }
  }

  private func acceptAll(_ engine: ServerEngine, _ socket: ListeningSocket) {
    let options = engine.options
    while engine.connections.count < options.connectionLimit {
      var address = SocketAddress()
      let descriptor = unsafe address.withMutablePointer { address, length in
        unsafe larder_accept(socket.descriptor, address, length)
      }
      if descriptor < 0 {
        // Out of descriptors: some connections must be closed first.
        if errno == EMFILE || errno == ENFILE { isFull.store(true, ordering: .relaxed) }
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      if let limit = options.connectionLimitPerClient, engine.connections.count(of: address.text) >= limit {
        close(descriptor)
      } else {
        engine.add(descriptor, address)
      }
    }
    isFull.store(true, ordering: .relaxed)
  }

  /// Stops listening if there are too many connections, and starts again when there is room.
  private func keepLimit(_ engine: ServerEngine, _ socket: ListeningSocket, _ isListening: Bool) -> Bool {
    guard isFull.load(ordering: .relaxed) else { return isListening }
    if isListening { return listen(socket, false) }
    guard engine.connections.count < engine.options.connectionLimit else { return false }
    isFull.store(false, ordering: .relaxed)
    return listen(socket, true)
  }

  private func listen(_ socket: ListeningSocket, _ listens: Bool) -> Bool {
    change(listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, socket.descriptor, EPOLLIN.rawValue, mark: Mark.listening)
    return listens
  }
}
