import Foundation
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Connections", .timeLimit(.minutes(5)))
struct ConnectionTests {
  @Test("Consecutive requests share a connection", arguments: Rig.allCases)
  func reuse(rig: Rig) async throws {
    try await withServer({ .response(200, body: $0.target) }) { server async throws in
      try await rig.run { transport async throws in
        for index in 0..<10 {
          #expect(try await transport.exchange(HTTPRequest(url: server.url("/\(index)"))).content == "/\(index)")
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.indexOnConnection) == Array(0..<10))
      }
    }
  }

  @Test(
    "A reused connection that the server closed: only idempotent requests are repeated (RFC 9110 §9.2.2)",
    arguments: [
      (HTTPMethod.get, "none", 2), (.put, "none", 2), (.delete, "none", 2), (.post, "connectionLost", 1),
      (.patch, "connectionLost", 1), (.merge, "connectionLost", 1),
    ])
  func stale(method: HTTPMethod, error: String, heard: Int) async throws {
    // The second request on the first connection is read, and the connection closed without a response: the client
    // cannot know whether it was carried out.
    let handler: ScriptedServer.Handler = { $0.connection == 1 && $0.indexOnConnection == 1 ? .close : .response(200) }
    for content in [HTTPBody.none, .text("x")] where method != .get || content.length == 0 {
      try await withServer(handler) { server async throws in
        try await Rig.curl.run { transport async throws in
          _ = try await transport.exchange(HTTPRequest(url: server.url("/first")))
          let request = HTTPRequest(method: method, url: server.url("/second"), body: content)
          #expect(name(await failure(of: transport, request)) == error)
          let second = server.requests.filter { $0.path == "/second" }
          #expect(second.count == heard)
          #expect(second.allSatisfy { $0.body.count == content.length })
        }
      }
    }
  }

  @Test("A repeated request streams its content again from the start")
  func staleStream() async throws {
    let handler: ScriptedServer.Handler = { $0.connection == 1 && $0.indexOnConnection == 1 ? .close : .response(200) }
    try await withServer(handler) { server async throws in
      try await Rig.curl.run { transport async throws in
        _ = try await transport.exchange(HTTPRequest(url: server.url))
        let body = HTTPBody.stream(length: nil, open: { HTTPBodyStream(Array("streamed".utf8)) })
        _ = try await transport.exchange(HTTPRequest(method: .put, url: server.url, body: body))
        #expect(server.requests.map(\.text) == ["", "streamed", "streamed"])
      }
    }
  }

  @Test("Cancelling the task closes the connection, before the head and in the content", arguments: Rig.allCases)
  func cancelTask(rig: Rig) async throws {
    try await withServer({
      $0.path == "/hang" ? .hang : .response(200, fields: ["Content-Length": "9"], body: "half")
    }) { server async throws in
      try await rig.run { transport async throws in
        for (count, path) in [(1, "/hang"), (2, "/half")] {
          let task = Task { await failure(of: transport, HTTPRequest(url: server.url(path))) }
          try await server.waitForRequests(count)
          task.cancel()
          #expect(await task.value == .cancelled)
          try await server.waitForClosedConnections(count)
        }
      }
    }
  }

  @Test("A cancelled task sends nothing", arguments: Rig.allCases)
  func cancelledBefore(rig: Rig) async throws {
    try await withServer({ _ in .response(200) }) { server async throws in
      try await rig.run { transport async throws in
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          return await failure(of: transport, HTTPRequest(url: server.url))
        }
        #expect(await task.value == .cancelled)
        #expect(server.requests.isEmpty)
      }
    }
  }

  @Test("Dropping the response, abandoning its content or cancelling it closes the connection", arguments: Rig.allCases)
  func dropBody(rig: Rig) async throws {
    try await withServer({ _ in .response(200, fields: ["Content-Length": "9"], body: "half") }) {
      server async throws in
      try await rig.run { transport async throws in
        do { _ = try await transport.send(HTTPRequest(url: server.url)) }
        try await server.waitForClosedConnections(1)
        let left = try await transport.send(HTTPRequest(url: server.url))
        for try await _ in left.body { break }
        try await server.waitForClosedConnections(2)
        let cancelled = try await transport.send(HTTPRequest(url: server.url))
        cancelled.body.cancel()
        try await server.waitForClosedConnections(3)
        await #expect(throws: HTTPTransportError.cancelled) { try await cancelled.body.collect() }
      }
    }
  }

  @Test("Shutting down ends running requests; later requests fail")
  func shutdown() async throws {
    try await withServer({ _ in .hang }) { server async throws in
      let transport = try CurlTransport()
      let task = Task { await failure(of: transport, HTTPRequest(url: server.url)) }
      try await server.waitForRequests()
      await transport.close()
      #expect(await task.value == .cancelled)
      #expect(name(await failure(of: transport, HTTPRequest(url: server.url))) == "other")
      await transport.close()
    }
  }

  @Test("A body outlives its transport")
  func bodyOutlives() async throws {
    let gate = ScriptedServer.Gate()
    try await withServer({ _ in .chunked(pieces: ["a", "b"], gate: gate) }) { server async throws in
      gate.release()
      var options = CurlTransport.Options()
      options.proxy = .none
      do {
        let response = try await CurlTransport(options).send(HTTPRequest(url: server.url))
        gate.open()
        #expect(try await response.body.collect() == Array("ab".utf8))
      }
      try await server.waitForClosedConnections()
    }
  }

  @Test("No more connections to a host than allowed")
  func connectionLimit() async throws {
    let gate = ScriptedServer.Gate()
    try await withServer({ _ in .response(200).paused(by: gate) }) { server async throws in
      try await Rig.curl.run({ $0.connectionLimitPerHost = 2 }) { transport async throws in
        let tasks = (0..<6).map { _ in Task { await failure(of: transport, HTTPRequest(url: server.url)) } }
        try await gate.waitUntilReached(2)
        gate.open()
        for task in tasks { #expect(await task.value == nil) }
        #expect(server.connectionCount <= 2 && server.requests.count == 6)
      }
    }
  }
}
