import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

/// A request that must be rejected, with its status.
private struct Shape: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  var status = 400

  var testDescription: String { name }

  static func get(_ name: String, _ fields: String, _ status: Int = 400) -> Shape {
    Shape(name: name, text: "GET / HTTP/1.1\r\n\(fields)\r\n\r\n", status: status)
  }

  static let all: [Shape] = [
    .get("no Host (RFC 9112 §3.2)", "X: 1"),
    .get("two Hosts (RFC 9112 §3.2)", "Host: a\r\nHost: a"),
    .get("a Host with a space (RFC 9112 §3.2)", "Host: a b"),
    .get("a Host with a path", "Host: a/b"),
    .get("a Host with a user", "Host: u@a"),
    .get("an expectation without content (RFC 9110 §10.1.1)", "Host: a\r\nExpect: 100-continue"),
    .get("the same with a length of 0", "Host: a\r\nContent-Length: 0\r\nExpect: 100-continue"),
    .get("white space before a colon (RFC 9112 §5.1)", "Host: a\r\nX : 1"),
    .get("a folded line (RFC 9112 §5.2)", "Host: a\r\nX: 1\r\n 2"),
    .get("a folded first line of fields", " X: 1\r\nHost: a"),
    .get("a folded last line", "X: 1\r\nHost: a\r\n\tb"),
    .get("NUL in a value", "Host: a\r\nX: 1\u{0}2"),
    .get("NUL in a name", "Host: a\r\nX\u{0}Y: 1"),
    .get("a control character in a value", "Host: a\r\nX: 1\u{1}2"),
    .get("CR alone in a value (RFC 9112 §2.2)", "Host: a\r\nX: 1\rY: 2"),
    .get("a line feed alone between fields (RFC 9112 §2.2)", "Host: a\nX: 1"),
    .get("no name", "Host: a\r\n: 1"),
    .get("a name that is no token", "Host: a\r\nX(1): 1"),
    .get("no colon", "Host: a\r\nnonsense"),
    Shape(name: "a line feed alone at the end", text: "GET / HTTP/1.1\r\nHost: a\r\n\n"),
    Shape(name: "a line feed alone after the first line", text: "GET / HTTP/1.1\nHost: a\r\n\r\n"),
    Shape(name: "two spaces in the first line", text: "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
    Shape(name: "a space in the target", text: "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
    Shape(name: "NUL in the target", text: "GET /a\u{0}b HTTP/1.1\r\nHost: a\r\n\r\n"),
    Shape(name: "a letter beyond ASCII in the target", text: "GET /\u{E9} HTTP/1.1\r\nHost: a\r\n\r\n"),
    Shape(name: "no version", text: "GET /\r\nHost: a\r\n\r\n"),
    Shape(name: "another major version", text: "GET / HTTP/2.0\r\nHost: a\r\n\r\n", status: 505),
    Shape(name: "a method that is no token", text: "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"),
    post("Content-Length and Transfer-Encoding (RFC 9112 §6.1)", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
    post("the same the other way round", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
    post("two equal Content-Lengths", "Content-Length: 5\r\nContent-Length: 5"),
    post("two different Content-Lengths (RFC 9112 §6.3)", "Content-Length: 5\r\nContent-Length: 6"),
    post("a list of Content-Lengths", "Content-Length: 5, 5"),
    post("a signed Content-Length", "Content-Length: +5"),
    post("a Content-Length with white space in it", "Content-Length: 5 5"),
    post("a negative Content-Length", "Content-Length: -5"),
    post("a hexadecimal Content-Length", "Content-Length: 0x5"),
    post("an empty Content-Length", "Content-Length:"),
    post("a Content-Length beyond 64 bits", "Content-Length: 99999999999999999999", 413),
    post("Transfer-Encoding twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    post("chunked not alone", "Transfer-Encoding: chunked, identity", 501),
    post("an unknown transfer coding", "Transfer-Encoding: gzip", 501),
    post("white space behind a transfer coding", "Transfer-Encoding: chunked ", 501),
    post("a tab behind a transfer coding", "Transfer-Encoding: chunked\t", 501),
    post("a transfer coding that looks like chunked", "Transfer-Encoding: xchunked", 501),
    post("an unknown expectation", "Content-Length: 5\r\nExpect: wonders", 417),
    Shape(
      name: "Transfer-Encoding in HTTP/1.0",
      text: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    Shape(name: "content beyond the limit", text: head("Content-Length: 2000000"), status: 413),
    Shape(
      name: "a target beyond the limit",
      text: "GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", status: 414),
    Shape(
      name: "a target beyond the head's limit",
      text: "GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: a\r\n\r\n", status: 414),
    .get("a head beyond the limit", "Host: a\r\nX: \(String(repeating: "a", count: 40_000))", 431),
    .get("more fields than are taken", "Host: a" + String(repeating: "\r\nX: 1", count: 256), 431),
    .get(
      "many small fields", "Host: a" + String(repeating: "\r\nX: 1", count: 5000), 431),
  ]

  private static func head(_ fields: String) -> String { "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }

  private static func post(_ name: String, _ fields: String, _ status: Int = 400) -> Shape {
    Shape(name: name, text: head(fields) + "hello", status: status)
  }
}

@Suite("What the server rejects", .timeLimit(.minutes(5)))
struct ServerHardeningTests {
  private static func options() -> HTTPServer.Options {
    var options = HTTPServer.Options.patient
    options.contentByteLimit = 1_000_000
    return options
  }

  @Test("Ambiguous requests are rejected, and the connection is closed", arguments: Shape.all)
  private func smuggling(_ shape: Shape) async throws {
    let targets = Mutex<[String]>([])
    let rejections = Mutex<[HTTPServerRejection]>([])
    var options = Self.options()
    options.onRejection = { rejection in rejections.withLock { $0.append(rejection) } }
    let server = try HTTPServer(options) { request in
      targets.withLock { $0.append(request.target) }
      return HTTPServerResponse(status: 200, text: "taken")
    }
    let client = try RawClient(port: server.port)
    // The server may have closed before all is sent.
    try? await client.send(shape.text + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    let response = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(targets.withLock { $0 } == [])
    #expect(response.hasPrefix("HTTP/1.1 \(shape.status) "), "\(response.prefix(200))")
    #expect(response.lowercased().contains("connection: close"))
    #expect(response.ranges(of: "HTTP/1.1 ").count == 1, "\(response)")
    await server.stop()
    // A request that was rejected after its first line is reported.
    for rejection in rejections.withLock({ $0 }) {
      #expect(rejection.client == "127.0.0.1")
      #expect(rejection.status == shape.status)
    }
  }

  @Test(
    "Broken chunks end the content with an error, and close the connection",
    arguments: [
      ("zz\r\nhello\r\n0\r\n\r\n", 400), ("5\r\nhelloX0\r\n\r\n", 400), ("-5\r\nhello\r\n0\r\n\r\n", 400),
      ("FFFFFFFFFFFFFFFFFF\r\nhello", 413), ("\r\nhello\r\n0\r\n\r\n", 400), ("5 \r\nhello\r\n0\r\n\r\n", 400),
    ])
  func brokenChunks(_ content: String, _ status: Int) async throws {
    let failure = Mutex<(any Error)?>(nil)
    let hasEnded = Tally("ended responders")
    let server = try HTTPServer(.patient) { request in
      do { _ = try await request.content?.collect() } catch { failure.withLock { $0 = error } }
      hasEnded.add()
      return HTTPServerResponse(status: 200, text: "taken")
    }
    let client = try RawClient(port: server.port)
    try await client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + content + "GET /x HTTP/1.1\r\n\r\n")
    let response = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response.prefix(200))")
    try await hasEnded.wait(for: 1)
    #expect(failure.withLock { $0 } as? HTTPTransportError == .connectionLost(reason: "the client disconnected"))
    await server.stop()
  }

  @Test("Chunks beyond the limit end with 413")
  func tooManyChunks() async throws {
    let failure = Mutex<(any Error)?>(nil)
    let hasEnded = Tally("ended responders")
    let server = try HTTPServer(Self.options()) { request in
      do { _ = try await request.content?.collect() } catch { failure.withLock { $0 = error } }
      hasEnded.add()
      return HTTPServerResponse(status: 200, text: "taken")
    }
    let client = try RawClient(port: server.port)
    let chunk = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
    try await client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    // 16 chunks are past the limit; the server may close meanwhile.
    try? await client.send(String(repeating: chunk, count: 16))
    let response = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(response.hasPrefix("HTTP/1.1 413 "))
    try await hasEnded.wait(for: 1)
    #expect(failure.withLock { $0 } as? HTTPTransportError == .bodyTooLarge(limit: 1_000_000))
    await server.stop()
  }

  @Test("A slow head has a deadline", arguments: [0, 1])
  func slowHead(_ earlierExchanges: Int) async throws {
    var options = HTTPServer.Options()
    options.headTimeout = .milliseconds(500)
    options.idleTimeout = .milliseconds(500)
    let server = try HTTPServer(options) { _ in HTTPServerResponse(status: 200, text: "ok") }
    let client = try await Self.client(of: server, after: earlierExchanges)
    let head = Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 4000))".utf8)
    // One byte each 10 ms would take 40 s.
    let sent = try await client.trickle(head, every: 10)
    #expect(sent < 2000)
    await server.stop()
  }

  /// A client whose connection has carried this number of exchanges. On a busy machine its own request may be late: then another
  /// one tries.
  private static func client(of server: HTTPServer, after exchanges: Int) async throws -> RawClient {
    while true {
      try Task.checkCancellation()
      let client = try RawClient(port: server.port)
      do {
        for _ in 0..<exchanges {
          #expect(try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "ok")
        }
        return client
      } catch is RawClient.Failure {}
    }
  }

  @Test("Beyond the connection limit clients wait; beyond the limit for one client they are closed")
  func connectionLimits() async throws {
    var options = HTTPServer.Options.patient
    options.connectionLimit = 3
    let server = try HTTPServer(options) { _ in HTTPServerResponse(status: 200, text: "ok") }
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
    for client in clients { #expect(try await client.exchange(request).text == "ok") }
    let late = try RawClient(port: server.port)
    try await late.send(request)
    #expect(server.connectionCount == 3)
    clients[1].close()
    #expect(try await late.response().text == "ok")
    await server.stop()

    options.connectionLimitPerClient = 2
    let strict = try HTTPServer(options) { _ in HTTPServerResponse(status: 200, text: "ok") }
    let pair = try (0..<2).map { _ in try RawClient(port: strict.port) }
    for client in pair { #expect(try await client.exchange(request).text == "ok") }
    let third = try RawClient(port: strict.port)
    #expect(try await third.readToEnd() == [])
    await strict.stop()
  }

  @Test("A thousand connections are served concurrently")
  func manyConnections() async throws {
    try RawClient.allowDescriptors(2300)
    let server = try HTTPServer(.patient) { _ in HTTPServerResponse(status: 200, text: "ok") }
    let clients = try (0..<1000).map { _ in try RawClient(port: server.port) }
    for _ in 0..<2 {
      for client in clients { try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
      for client in clients { #expect(try await client.response().text == "ok") }
    }
    #expect(server.connectionCount == clients.count)
    await server.stop()
  }
}
