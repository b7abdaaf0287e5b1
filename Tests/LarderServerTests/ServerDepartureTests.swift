import Foundation
import LarderHTTP
import LarderServer
import LarderTestSupport
import Testing

@Suite("Clients that disconnect during a request", .timeLimit(.minutes(5)))
struct ServerDepartureTests {
  private static let parts = [
    "", "GET /", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: 1",
    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\npart",
    "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\npa",
    "PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\npart",
  ]

  /// The server's one thread is held meanwhile, so that the bytes and their end are there together.
  @Test("Their connections are closed long before any deadline", arguments: parts, [true, false])
  func departure(_ part: String, _ resets: Bool) async throws {
    let reached = Tally("held threads")
    let gate = DispatchSemaphore(value: 0)
    var options = HTTPServer.Options.patient
    options.threads = 1
    let server = try HTTPServer(options) { request in
      if request.target == "/hold" {
        reached.add()
        hold(gate)
      }
      if request.target != "/unread" { _ = try? await request.content?.collect() }
      return HTTPServerResponse(status: 200, text: "ok")
    }
    let first = try RawClient(port: server.port)
    try await first.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    try await reached.wait(for: 1)
    for _ in 0..<5 {
      let client = try RawClient(port: server.port)
      try await client.send(part)
      if resets { client.reset() } else { client.close() }
    }
    gate.signal()
    #expect(try await first.response().text == "ok")
    try await server.settle(at: 1)
    #expect(try await first.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "ok")
    await server.stop()
  }

  @Test("A client that has only closed its sending side still gets a response", arguments: [10, 10_000_000])
  func halfClosed(_ size: Int) async throws {
    let server = try HTTPServer(.patient) { _ in
      HTTPServerResponse(status: 200, body: .bytes([UInt8](repeating: 65, count: size)))
    }
    let client = try RawClient(port: server.port)
    try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    client.endSending()
    #expect(try await client.response().body.count == size)
    #expect(try await client.readToEnd() == [])
    await server.stop()
  }
}

/// Blocks the thread, which a responder must not do but to test.
private func hold(_ gate: DispatchSemaphore) { gate.wait() }

extension HTTPServer {
  /// Waits until no more connections than these are open.
  fileprivate func settle(at count: Int) async throws {
    let deadline = ContinuousClock.now + .seconds(50)
    while connectionCount > count {
      guard ContinuousClock.now < deadline else {
        throw RawClient.Failure(description: "\(connectionCount) connections are still open")
      }
      await Task.yield()
    }
  }
}
