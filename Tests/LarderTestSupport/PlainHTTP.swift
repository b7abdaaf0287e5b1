import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a service said to ``PlainHTTP``.
public struct PlainResponse: Sendable {
  /// The status code.
  public let status: Int
  /// The header fields by their names in lower case; several of one name are joined by a comma.
  public let fields: [String: String]
  /// The content.
  public let body: [UInt8]

  /// The content as text.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The content as JSON, of Foundation's types.
  public func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(body), options: [.fragmentsAllowed]) }
}

/// The reason why ``PlainHTTP`` received no response.
public struct PlainHTTPError: Error, Sendable, CustomStringConvertible {
  /// What went wrong.
  public let description: String
}

/// HTTP/1.0 over a blocking socket to the loopback interface: one connection for each request, closed after the response.
///
/// Tests send requests with it where none of Larder's own code may be involved.
public enum PlainHTTP {
  /// Sends one request and reads the whole response. Each read or write may take 20 seconds.
  ///
  /// `target` is sent as it is: percent-encoding is the caller's.
  public static func send(
    _ method: String = "GET", port: Int, target: String, fields: [String: String] = [:], body: [UInt8] = []
  ) throws(PlainHTTPError) -> PlainResponse {
    guard let descriptor = loopbackSocket() else { throw failure("the socket could not be created") }
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard withLoopbackAddress(port: port, { connect(descriptor, $0, $1) }) == 0 else {
      throw failure("no connection to port \(port)")
    }
    var head = "\(method) \(target) HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\n"
    if !body.isEmpty || method == "POST" || method == "PUT" || method == "PATCH" {
      head += "Content-Length: \(body.count)\r\n"
    }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
    try write(Array((head + "\r\n").utf8) + body, to: descriptor)
    return try parse(readAll(descriptor))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(PlainHTTPError) {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glue.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]), flags) }
      guard count > 0 else { throw failure("the connection was lost while sending") }
      sent += count
    }
  }

  private static func readAll(_ descriptor: Int32) throws(PlainHTTPError) -> [UInt8] {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count == 0 { return all }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("the response is incomplete: \(String(cString: strerror(errno)))")
      }
      all.append(contentsOf: chunk[..<count])
    }
  }

  private static func parse(_ bytes: [UInt8]) throws(PlainHTTPError) -> PlainResponse {
    guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { throw failure("the response has no head") }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, let status = Int(words[1]) else { throw failure("the response has no status line") }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw failure("a header line without a colon") }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      fields[name] = fields[name].map { $0 + ", " + value } ?? value
    }
    let body = Array(bytes[end.upperBound...])
    if let length = fields["content-length"].flatMap(Int.init), length > body.count, status != 304 {
      throw failure("\(body.count) of \(length) bytes of content")
    }
    return PlainResponse(status: status, fields: fields, body: body)
  }

  private static func failure(_ what: String) -> PlainHTTPError { PlainHTTPError(description: what) }
}

/// The system's `send`, which ``PlainHTTP/send(_:port:target:fields:body:)`` hides.
private enum Glue {
  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #elseif canImport(Musl)
      Musl.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #else
      Darwin.send(descriptor, bytes.baseAddress, bytes.count, flags)
    #endif
  }
}
