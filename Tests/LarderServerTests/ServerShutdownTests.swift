import Dispatch
import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

@Suite("Shutting down the server", .timeLimit(.minutes(5)))
struct ServerShutdownTests {
  @Test("Running exchanges complete within the grace period, and idle connections are closed immediately")
  func grace() async throws {
    let reached = Tally("responders that wait")
    let opened = Tally("openings of the gate")
    let server = try HTTPServer(.patient) { request in
      if request.target == "/wait" {
        reached.add()
        try? await opened.wait(for: 1)
      }
      return HTTPServerResponse(status: 200, text: "whole")
    }
    let idle = try RawClient(port: server.port)
    #expect(try await idle.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "whole")
    let busy = try RawClient(port: server.port)
    try await busy.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
    try await reached.wait(for: 1)
    async let end: Void = server.stop(grace: .seconds(3600))
    #expect(try await idle.readToEnd() == [])
    #expect(throws: RawClient.Failure.self) { _ = try RawClient(port: server.port) }
    opened.add()
    let response = try await busy.response()
    #expect(response.text == "whole")
    #expect(response.fields["Connection"] == "close")
    await end
  }

  @Test("Exchanges that do not end are cancelled: suspended, sending, receiving; stopping twice is safe")
  func cancellation() async throws {
    let reached = Tally("responders that wait")
    let ended = Tally("cancelled responders")
    let server = try HTTPServer(.patient) { request in
      if request.target == "/stream" {
        let stream = HTTPBodyStream(
          next: {
            reached.add()
            await forever()
            throw HTTPTransportError.cancelled
          }, abandon: { ended.add() })
        return HTTPServerResponse(status: 200, body: .stream(stream))
      }
      reached.add()
      if request.target == "/content" {
        _ = try? await request.content?.collect()
      } else {
        await forever()
      }
      ended.add()
      return HTTPServerResponse(status: 200)
    }
    let requests = [
      "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
      "PUT /content HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\npart",
    ]
    var clients: [RawClient] = []
    for (index, request) in requests.enumerated() {
      clients.append(try RawClient(port: server.port))
      try await clients[index].send(request)
      try await reached.wait(for: index + 1)
    }
    async let first: Void = server.stop(grace: .seconds(3600))
    await server.stop(grace: .zero)
    await first
    try await ended.wait(for: 3)
    #expect(server.connectionCount == 0)
    await server.stop()
  }

  @Test("A server without references stops")
  func dropped() async throws {
    let client: RawClient
    do {
      let server = try HTTPServer(.patient) { _ in HTTPServerResponse(status: 200, text: "ok") }
      client = try RawClient(port: server.port)
      #expect(try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "ok")
    }
    #expect(try await client.readToEnd() == [])
  }

  @Test("Clients that connect during a shutdown are disconnected too", arguments: 0..<20)
  func lateClients(_ round: Int) async throws {
    let server = try HTTPServer(.patient) { _ in HTTPServerResponse(status: 200) }
    let clients = try (0..<50).map { _ in try RawClient(port: server.port) }
    await server.stop(grace: .zero)
    #expect(server.connectionCount == 0)
    for client in clients { #expect(try await client.readToEnd() == []) }
  }

  @Test("A request that arrived before the shutdown gets a response, also from a waiting responder")
  func arrived() async throws {
    let reached = Tally("requests")
    let opened = Tally("openings of the gate")
    let thread = DispatchSemaphore(value: 0)
    var options = HTTPServer.Options.patient
    options.threads = 2
    let server = try HTTPServer(options) { request in
      reached.add()
      if request.target == "/block" { hold(thread) } else { try? await opened.wait(for: 1) }
      return HTTPServerResponse(status: 200, text: "whole")
    }
    // The server's threads take turns: the first and the third client share one.
    let blocking = try RawClient(port: server.port)
    try await blocking.send("GET /block HTTP/1.1\r\nHost: a\r\n\r\n")
    try await reached.wait(for: 1)
    let idle = try RawClient(port: server.port)
    let waiting = try RawClient(port: server.port)
    while server.connectionCount < 3 { await Task.yield() }
    // It lies in the socket: the thread is held up.
    try await waiting.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
    async let end: Void = server.stop(grace: .seconds(3600))
    #expect(try await idle.readToEnd() == [])
    thread.signal()
    try await reached.wait(for: 2)
    opened.add()
    #expect(try await waiting.response().text == "whole")
    #expect(try await blocking.response().text == "whole")
    await end
  }

  @Test("A client that disconnects while its responder blocks the thread is noticed when the responder waits")
  func leftBefore() async throws {
    let reached = Tally("requests")
    let ended = Tally("cancelled responders")
    let thread = DispatchSemaphore(value: 0)
    var options = HTTPServer.Options.patient
    options.threads = 2
    let server = try HTTPServer(options) { _ in
      reached.add()
      hold(thread)
      await forever()
      ended.add()
      return HTTPServerResponse(status: 200)
    }
    let leaving = try RawClient(port: server.port)
    try await leaving.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart")
    try await reached.wait(for: 1)
    let other = try RawClient(port: server.port)
    while server.connectionCount < 2 { await Task.yield() }
    leaving.close()
    other.close()
    // The other thread has closed the later one: the earlier one has been heard of.
    while server.connectionCount > 1 { await Task.yield() }
    thread.signal()
    try await ended.wait(for: 1)
    await server.stop()
  }

  @Test("Clients that connect and disconnect at random, and a shutdown meanwhile", arguments: 0..<6)
  func chaos(_ round: UInt64) async throws {
    var generator = PrintedSeed(for: "server chaos \(round)", default: round)
    let server = try HTTPServer(.patient) { request in
      for _ in 0..<(request.target.utf8.count % 4) { await Task.yield() }
      if request.target.contains("read") { _ = try? await request.content?.collect() }
      let left = Mutex(request.target.utf8.count * 3)
      let stream = HTTPBodyStream(
        next: {
          if left.withLock({ $0 }) % 2 == 0 { await Task.yield() }
          return left.withLock { left in
            left -= 1
            return left < 0 ? nil : [UInt8](repeating: 1, count: 20_000)
          }
        })
      return HTTPServerResponse(status: 200, body: .stream(stream))
    }
    let plans = (0..<60).map { _ in (0..<4).map { _ in Int.random(in: 0..<100, using: &generator) } }
    await withTaskGroup(of: Void.self) { group in
      for plan in plans {
        group.addTask {
          guard let client = try? RawClient(port: server.port) else { return }
          for step in plan {
            let path = "/" + String(repeating: step % 2 == 0 ? "read" : "x", count: step % 7)
            try? await client.send(
              "PUT \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n"
                + String(repeating: "a", count: step % 5 == 0 ? 100 : 30_000))
            if step % 5 == 0 { return step % 2 == 0 ? client.reset() : client.close() }
            if step % 3 == 0 { _ = try? await client.response() }
          }
        }
      }
      group.addTask { await server.stop(grace: .milliseconds(Int(round) * 20)) }
    }
    await server.stop()
    #expect(server.connectionCount == 0)
  }
}

/// Holds this thread up.
private func hold(_ semaphore: DispatchSemaphore) { semaphore.wait() }
