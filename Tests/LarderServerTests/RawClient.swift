import Foundation
import LarderHTTP
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A client that sends exactly the given bytes, over a socket to the loopback.
///
/// Its calls block threads of their own: those of Dispatch also run Swift's tasks on Linux. Each read may take 60 seconds,
/// which only a failing test reaches.
final class RawClient: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Response: Sendable, Equatable {
    var status: Int
    var fields: HTTPFields
    var body: [UInt8]
    /// The content with its framing as it came.
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  private let descriptor: Int32
  private let isOpen = Mutex(true)
  /// Bytes read beyond the last response.
  private let rest = Mutex<[UInt8]>([])

  init(port: Int, receiveBuffer: Int? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBuffer.map({ Int32($0) }) {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(description: "no connection: \(errno)") }
  }

  deinit { close() }

  /// Raises the process's limit of open files where it is lower.
  static func allowDescriptors(_ count: rlim_t) throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur < count else { return }
    limit.rlim_cur = count
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw Failure(description: "\(count) open files are not allowed here")
    }
  }

  /// Ends the connection in order.
  func close() {
    let wasOpen = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    if wasOpen { Glue.close(descriptor) }
  }

  /// Ends this side of it; responses can still be read.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends it with a reset.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) async throws {
    try await onThread { try self.write(bytes) }
  }

  /// Sends a request and reads its response.
  func exchange(_ text: String, isHead: Bool = false) async throws -> Response {
    try await send(text)
    return try await response(isHead: isHead)
  }

  /// Reads one response, its chunks joined.
  func response(isHead: Bool = false) async throws -> Response {
    try await onThread { try self.readResponse(isHead: isHead) }
  }

  /// Reads until the server closes; a reset ends it too.
  func readToEnd() async throws -> [UInt8] {
    try await onThread {
      var all = self.take()
      while let more = try self.receive(orReset: true) { all += more }
      return all
    }
  }

  /// Reads about so many bytes.
  func read(atLeast count: Int) async throws -> Int {
    try await onThread {
      var read = self.take().count
      while read < count, let more = try self.receive() { read += more.count }
      return read
    }
  }

  /// Sends byte after byte, as many milliseconds apart, until the server closes; returns how many went out.
  func trickle(_ bytes: [UInt8], every milliseconds: Int32) async throws -> Int {
    try await onThread {
      for (index, byte) in bytes.enumerated() {
        // A connection without errors is not readable here: this is the pause, and the look whether it has ended.
        var request = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&request, 1, milliseconds) > 0 { return index }
        do { try self.write([byte]) } catch { return index }
      }
      return bytes.count
    }
  }

  private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
  }

  private func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glue.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard count > 0 else { throw Failure(description: "the connection broke while sending: \(errno)") }
      sent += count
    }
  }

  private func take() -> [UInt8] {
    rest.withLock { rest in
      defer { rest = [] }
      return rest
    }
  }

  private func receive(orReset: Bool = false) throws -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count == 0 || (count < 0 && orReset && (errno == ECONNRESET || errno == EPIPE)) { return nil }
    guard count > 0 else { throw Failure(description: "nothing to read: \(errno)") }
    return Array(chunk[..<count])
  }

  private func readResponse(isHead: Bool) throws -> Response {
    var bytes = self.take()
    func more() throws {
      guard let next = try receive() else {
        throw Failure(
          description: "closed after \(bytes.count) bytes: \(String(decoding: bytes.prefix(300), as: UTF8.self))")
      }
      bytes += next
    }
    func line() throws -> String {
      while true {
        if let end = bytes.firstIndex(of: 0x0A) {
          defer { bytes.removeFirst(end + 1) }
          return String(decoding: bytes[..<end].filter { $0 != 0x0D }, as: UTF8.self)
        }
        try more()
      }
    }
    func take(_ count: Int) throws -> [UInt8] {
      while bytes.count < count { try more() }
      defer { bytes.removeFirst(count) }
      return Array(bytes[..<count])
    }
    let status = try line().split(separator: " ")
    guard status.count >= 2, let code = Int(status[1]) else { throw Failure(description: "no status line") }
    var fields = HTTPFields()
    while case let line = try line(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { throw Failure(description: "no colon") }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append(HTTPFieldName(String(line[..<colon])), String(value))
    }
    var response = Response(status: code, fields: fields, body: [])
    if isHead || code == 204 || code == 304 || code < 200 {
    } else if fields["Transfer-Encoding"] == "chunked" {
      while case let size = try line(), let count = Int(size, radix: 16), count > 0 {
        response.body += try take(count)
        _ = try line()
      }
      _ = try line()
    } else if let length = fields[.contentLength].flatMap({ Int($0) }) {
      response.body = try take(length)
    } else {
      while let next = try receive() { bytes += next }
      response.body = bytes
      bytes = []
    }
    let left = bytes
    rest.withLock { $0 = left }
    return response
  }
}

/// The system's functions that the client's own hide.
private enum Glue {
  static func close(_ descriptor: Int32) {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Musl.close(descriptor)
    #endif
  }

  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
      Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }
}
