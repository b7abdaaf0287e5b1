import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A port of 127.0.0.1 below 32768 that nothing listens on now, for servers that need a port number to start.
///
/// Another process may take it before the server does; start again with another port where it cannot bind.
public func freeLoopbackPort() throws -> Int {
  let (socket, port) = try ScriptedServer.Socket.listenOnFreePort()
  socket.close()
  return port
}

/// A system call that failed.
public struct SocketError: Error, CustomStringConvertible {
  /// The call and the system's reason.
  public let description: String

  init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// Wakes a thread out of `poll`: a pipe.
final class Waker: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32
  private let isClosed = Mutex(false)

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe: \(String(cString: strerror(errno)))")
    readEnd = ends[0]
    writeEnd = ends[1]
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  /// Safe to call at any time from anywhere, also after ``close()``.
  func wake() {
    isClosed.withLock { isClosed in
      if isClosed { return }
      var byte: UInt8 = 1
      _ = write(writeEnd, &byte, 1)
    }
  }

  /// Gives the descriptors back; called by the thread that waits, when it waits no more.
  func close() {
    isClosed.withLock { isClosed in
      if isClosed { return }
      isClosed = true
      _ = systemClose(readEnd)
      _ = systemClose(writeEnd)
    }
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
  }

  deinit { close() }
}

extension ScriptedServer {
  /// A non-blocking socket; each wait also ends when a waker is called and `stop` returns true.
  final class Socket: Sendable {
    private let descriptor: Int32
    private let isClosed = Atomic(false)

    private init(_ descriptor: Int32) {
      self.descriptor = descriptor
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    func close() {
      if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { _ = systemClose(descriptor) }
    }

    /// Listens on a random free port between 20000 and 32000, below the range for outgoing connections.
    static func listenOnFreePort() throws -> (Socket, Int) {
      for _ in 0..<200 {
        let port = Int.random(in: 20_000..<32_000)
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        let candidate = Socket(descriptor)
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if withLoopback(port, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 256) == 0 {
          return (candidate, port)
        }
        candidate.close()
      }
      throw SocketError("bind, 200 ports tried")
    }

    static func connect(toPort port: Int) -> Socket? {
      let descriptor = socket(AF_INET, streamType, 0)
      guard descriptor >= 0 else { return nil }
      let connected = withLoopback(port) { systemConnect(descriptor, $0, $1) } == 0
      let socket = Socket(descriptor)
      if !connected { socket.close() }
      return connected ? socket : nil
    }

    func accept(receiveBuffer: Int?) -> Socket? {
      let accepted = systemAccept(descriptor, nil, nil)
      guard accepted >= 0 else { return nil }
      Socket.set(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
      if let receiveBuffer { Socket.set(accepted, SOL_SOCKET, SO_RCVBUF, Int32(receiveBuffer)) }
      return Socket(accepted)
    }

    /// Closing will send a reset.
    func resetOnClose() {
      var linger = linger(l_onoff: 1, l_linger: 0)
      _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// True where there is something to read; false where the waker was called.
    func waitReadable(or waker: Waker) -> Bool {
      var polled = [item(POLLIN), Socket.item(waker)]
      _ = poll(&polled, 2, -1)
      if polled[1].revents != 0 { waker.drain() }
      return polled[0].revents != 0
    }

    /// What the peer sent; empty at its end; `nil` where it broke off or the server stops.
    func receive(or waker: Waker, stop: () -> Bool) -> [UInt8]? {
      while !stop() {
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &room, room.count, 0)
        if count >= 0 { return Array(room.prefix(count)) }
        guard errno == EAGAIN || errno == EINTR else { return nil }
        _ = waitReadable(or: waker)
      }
      return nil
    }

    /// False where the peer left or the server stops.
    func send(_ bytes: [UInt8], or waker: Waker, stop: () -> Bool) -> Bool {
      var sent = 0
      while sent < bytes.count {
        if stop() { return false }
        let count = bytes.withUnsafeBytes { all in
          let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
          return systemSend(descriptor, rest.baseAddress, rest.count)
        }
        if count > 0 {
          sent += count
          continue
        }
        guard errno == EAGAIN || errno == EINTR else { return false }
        var polled = [item(POLLOUT), Socket.item(waker)]
        _ = poll(&polled, 2, -1)
        if polled[1].revents != 0 { waker.drain() }
      }
      return true
    }

    /// Waits for the waker or for the time to pass (`nil`: no limit); false where the peer has left or the server stops.
    func staysOpen(for time: Duration?, or waker: Waker, stop: () -> Bool) -> Bool {
      if stop() { return false }
      let deadline = time.map { ContinuousClock.now + $0 }
      // Bytes that came early (pipelining) would make every poll return at once: then only a broken connection counts.
      let events = (peek() == .bytes ? 0 : Int32(POLLIN)) | peerClosed
      while true {
        let left = deadline.map { max(0, Int32((($0 - .now) / .milliseconds(1)).rounded(.up))) } ?? -1
        var polled = [item(events), Socket.item(waker)]
        let count = poll(&polled, 2, left)
        if count < 0 && errno == EINTR { continue }
        if polled[1].revents != 0 { waker.drain() }
        if stop() || polled[0].revents & Int16(Int32(POLLERR | POLLHUP) | peerClosed) != 0 { return false }
        if polled[0].revents != 0 && peek() == .end { return false }
        if deadline == nil || polled[0].revents != 0 || left == 0 { return true }
        if let deadline, deadline <= .now { return true }
      }
    }

    enum Readable { case first, second, stopped }

    static func firstReadable(_ first: Socket, _ second: Socket, or waker: Waker, stop: () -> Bool) -> Readable {
      while !stop() {
        var polled = [first.item(POLLIN), second.item(POLLIN), item(waker)]
        _ = poll(&polled, 3, -1)
        if polled[2].revents != 0 { waker.drain() }
        if polled[0].revents != 0 { return .first }
        if polled[1].revents != 0 { return .second }
      }
      return .stopped
    }

    private enum Peeked { case bytes, end, nothing }

    private func peek() -> Peeked {
      var byte: UInt8 = 0
      let count = recv(descriptor, &byte, 1, peekFlag)
      return count > 0 ? .bytes : count == 0 ? .end : errno == EAGAIN ? .nothing : .end
    }

    private func item(_ events: some BinaryInteger) -> pollfd {
      pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }

    private static func item(_ waker: Waker) -> pollfd { pollfd(fd: waker.readEnd, events: Int16(POLLIN), revents: 0) }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
      var value = value
      _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withLoopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(UInt16(port)).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }
}

#if canImport(Glibc)
  private let streamType = Int32(SOCK_STREAM.rawValue)
  private func systemClose(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
  private func systemAccept(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?
  ) -> Int32 { Glibc.accept(descriptor, address, length) }
  private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    Glibc.connect(descriptor, address, length)
  }
  private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
  }
  private let peekFlag = Int32(MSG_PEEK)
  /// `POLLRDHUP`, which the module does not have: the peer has closed, also where bytes of it are still unread.
  private let peerClosed: Int32 = 0x2000
#else
  private let streamType = SOCK_STREAM
  private func systemClose(_ descriptor: Int32) -> Int32 { Darwin.close(descriptor) }
  private func systemAccept(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?
  ) -> Int32 { Darwin.accept(descriptor, address, length) }
  private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    Darwin.connect(descriptor, address, length)
  }
  private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    var on: Int32 = 1
    _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    return Darwin.send(descriptor, bytes, count, 0)
  }
  private let peekFlag = MSG_PEEK
  private let peerClosed: Int32 = 0
#endif
