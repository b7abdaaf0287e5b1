import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A client's connection, from accepting to closing.
///
/// libmicrohttpd owns the descriptor and closes it after the connection has left ``ConnectionTable``. Code that finds
/// the connection in the table, and holds the table's lock, may use the descriptor.
final class ClientConnection: Sendable {
  let descriptor: Int32
  /// The client's address, without port.
  let client: String
  /// The index of the server thread that serves the connection.
  let thread: Int
  /// When the connection began to wait for the head of a request, in the clock's milliseconds; 0 while an exchange
  /// runs.
  let awaitingSince: Atomic<Int64>
  /// The daemon's thread that serves the connection, once it does.
  let servingThread = Atomic<UInt>(0)
  /// The listener was notified that the client has ended its side.
  private let disconnectNotice = Atomic(false)
  /// True once a response has been sent on this connection.
  private let isKept = Atomic(false)
  private let hasShutReceiving = Atomic(false)
  /// True if the client ended its side, rather than the server.
  private let hasDisconnected = Atomic(false)
  private let current = Locked<ServerExchange?>(nil)

  init(descriptor: Int32, client: String, thread: Int, now: Int64) {
    self.descriptor = descriptor
    self.client = client
    self.thread = thread
    awaitingSince = Atomic(now)
  }

  /// The running exchange.
  var exchange: ServerExchange? { current.withLock { $0 } }

  /// Called when the first line of a request was received.
  func begin(_ exchange: ServerExchange) { _ = current.withLock { Swift.exchange(&$0, with: exchange) } }

  /// Called when the whole head of a request was received.
  func headIsWhole() { awaitingSince.store(0, ordering: .relaxed) }

  func end(now: Int64) {
    isKept.store(true, ordering: .relaxed)
    _ = current.withLock { $0.take() }
    awaitingSince.store(now, ordering: .relaxed)
  }

  /// True if the head of a request is overdue. A kept connection may be idle before the head begins, and the begin of
  /// the head is not known, so the connection gets both times.
  func isLate(now: Int64, head: Int64, idle: Int64) -> Bool {
    let since = awaitingSince.load(ordering: .relaxed)
    guard since != 0 else { return false }
    return now - since > (isKept.load(ordering: .relaxed) ? head + idle : head)
  }

  /// True once the listener was notified that the client has ended its side. It is not notified again.
  var isDisconnecting: Bool { disconnectNotice.load(ordering: .sequentiallyConsistent) }

  func noteDisconnect() {
    if !hasShutReceiving.load(ordering: .sequentiallyConsistent) { hasDisconnected.store(true, ordering: .relaxed) }
    disconnectNotice.store(true, ordering: .sequentiallyConsistent)
  }

  /// Sends bytes to the socket directly, while libmicrohttpd sends nothing. The caller must keep the connection from
  /// being closed during the call. Returns how many bytes were sent.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    // The bytes are read during the call.
    unsafe bytes.withUnsafeBytes { unsafe larder_send(descriptor, $0.baseAddress, $0.count) }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// True if the client has ended its side. The caller must keep the connection from being closed during the call.
  ///
  /// After this side has shut down receiving, the system does not distinguish the two sides. Then only an earlier
  /// notification counts, or a reset.
  var isPeerGone: Bool {
    if hasDisconnected.load(ordering: .relaxed) { return true }
    let events = hasShutReceiving.load(ordering: .relaxed) ? 0 : Int16(larder_poll_peer_closed)
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    // The pointer is to a local value, for the call alone.
    return unsafe poll(&request, 1, 0) > 0
  }

  /// Shuts the socket down in one direction or in both; libmicrohttpd then closes the connection.
  func shut(_ direction: Direction) {
    // Set before the call, so that the resulting event is not attributed to the client.
    if direction == .receiving { hasShutReceiving.store(true, ordering: .sequentiallyConsistent) }
    _ = shutdown(descriptor, direction.flag)
  }

  enum Direction {
    /// Shuts down receiving. Bytes that have arrived are still read.
    case receiving
    case both

    fileprivate var flag: Int32 {
      switch self {
      case .receiving: Int32(SHUT_RD)
      case .both: Int32(SHUT_RDWR)
      }
    }
  }
}

/// The open connections by descriptor.
final class ConnectionTable: Sendable {
  private struct State {
    var open: [Int32: ClientConnection] = [:]
    var perClient: [String: Int] = [:]
    var perThread: [Int]
    var whenEmpty: (@Sendable () -> Void)?
  }

  private let state: Locked<State>

  init(threads: Int) { state = Locked(State(perThread: Array(repeating: 0, count: threads))) }

  var count: Int { state.withLock { $0.open.count } }

  /// The number of connections of each thread.
  var perThread: [Int] { state.withLock { $0.perThread } }

  func count(of client: String) -> Int { state.withLock { $0.perClient[client] ?? 0 } }

  func insert(_ connection: ClientConnection) {
    state.withLock { state in
      state.open[connection.descriptor] = connection
      state.perClient[connection.client, default: 0] += 1
      state.perThread[connection.thread] += 1
    }
  }

  func remove(_ connection: ClientConnection) {
    let whenEmpty = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.open[connection.descriptor] === connection else { return nil }
      state.open[connection.descriptor] = nil
      state.perThread[connection.thread] -= 1
      let remaining = (state.perClient[connection.client] ?? 1) - 1
      state.perClient[connection.client] = remaining > 0 ? remaining : nil
      return state.open.isEmpty ? state.whenEmpty : nil
    }
    whenEmpty?()
  }

  /// Removes all connections, after all daemons have ended and closed them.
  func removeAll() {
    _ = state.withLock { state in
      state.perClient = [:]
      state.perThread = state.perThread.map { _ in 0 }
      return exchange(&state.open, with: [:])
    }
  }

  subscript(descriptor: Int32) -> ClientConnection? { state.withLock { $0.open[descriptor] } }

  /// Calls a function with a connection that is still open, which cannot be closed during the call. Returns false if it
  /// is closed.
  func whileOpen(_ connection: ClientConnection, _ body: (ClientConnection) -> Void) -> Bool {
    state.withLock { state in
      guard state.open[connection.descriptor] === connection else { return false }
      body(connection)
      return true
    }
  }

  var all: [ClientConnection] { state.withLock { Array($0.open.values) } }

  /// Calls a function for each connection. None of them can be closed during the calls; the function must not block.
  func forEach(_ body: (ClientConnection) -> Void) {
    state.withLock { state in
      for connection in state.open.values { body(connection) }
    }
  }

  /// Sets a handler that is called each time the last connection is removed.
  func onEmpty(_ handler: @escaping @Sendable () -> Void) {
    _ = state.withLock { exchange(&$0.whenEmpty, with: handler) }
  }
}

/// Milliseconds of a clock that never goes back. It is read on every request, so the coarse clock is used.
enum CoarseClock {
  static var now: Int64 {
    var time = timespec()
    // The pointer is to a local value, for the call alone.
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
