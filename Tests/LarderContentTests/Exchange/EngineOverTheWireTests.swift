import Foundation
import LarderContent
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("The engine over real connections", .timeLimit(.minutes(5)))
struct EngineOverTheWireTests {
  private func withEngine(
    _ handler: @escaping ScriptedServer.Handler, _ work: (ScriptedServer, HTTPCache) async throws -> Void
  ) async throws {
    let server = try ScriptedServer(handler: handler)
    defer { server.stop() }
    let engine = HTTPCache(cache: MemoryCache(), transport: try CurlTransport())
    try await work(server, engine)
    await engine.close()
  }

  @Test("stored, used, validated, on one kept connection")
  func life() async throws {
    try await withEngine({ request in
      request.fields.contains(.ifNoneMatch)
        ? .response(304, fields: ["ETag": "\"1\""])
        : .response(200, fields: ["ETag": "\"1\"", "Cache-Control": "no-cache"], body: "hello")
    }) { server, engine in
      var lines: [String] = []
      for _ in 0..<3 { lines.append(try await EngineRig.line(engine.response(to: HTTPRequest(url: server.url)))) }
      #expect(lines == ["200 hello network", "200 hello validated", "200 hello validated"])
      #expect(server.requests.map { $0.fields[.ifNoneMatch] ?? "-" } == ["-", "\"1\"", "\"1\""])
      #expect(server.connectionCount == 1)
    }
  }

  @Test("fifty requests at once, one of them on the wire; when all leave, the connection ends")
  func collapse() async throws {
    let gate = ScriptedServer.Gate()
    try await withEngine({ _ in
      .chunked(fields: ["Cache-Control": "max-age=60"], pieces: ["one", "two"], gate: gate)
    }) { server, engine in
      let request = HTTPRequest(url: server.url)
      let tasks = (0..<50).map { _ in Task { try await EngineRig.line(engine.response(to: request)) } }
      try await server.waitForRequests(1)
      gate.open()
      for task in tasks { #expect(try await task.value.hasPrefix("200 onetwo ")) }
      #expect(server.requests.count == 1)
    }
    // So much content that only the end of the connection stops the server: a response that came whole would leave
    // its connection open for the next request.
    let shut = ScriptedServer.Gate()
    let pieces = Array(repeating: String(repeating: "never", count: 13_000), count: 2_000)
    try await withEngine({ _ in .chunked(pieces: pieces, gate: shut) }) { server, engine in
      let request = HTTPRequest(url: server.url)
      let tasks = (0..<3).map { _ in Task { try await EngineRig.line(engine.response(to: request)) } }
      try await server.waitForRequests(1)
      for task in tasks { task.cancel() }
      for task in tasks { await #expect(throws: (any Error).self) { try await task.value } }
      shut.open()
      try await server.waitForClosedConnections(1)
    }
  }

  @Test("a truncated response is completed by a range, byte for byte")
  func completion() async throws {
    let whole = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try await withEngine({ request in
      guard let range = request.fields["Range"]?.dropFirst(6).dropLast(1), let start = Int(range) else {
        return .response(200, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=60"], bytes: whole).truncated(
          to: 150_000)
      }
      return .response(
        206,
        fields: [
          "ETag": "\"1\"", "Cache-Control": "max-age=60",
          "Content-Range": "bytes \(start)-\(whole.count - 1)/\(whole.count)",
        ], bytes: Array(whole[start...]))
    }) { server, engine in
      let request = HTTPRequest(url: server.url)
      await #expect(throws: (any Error).self) { try await engine.response(to: request).response.body.collect() }
      await engine.settled()
      let response = try await engine.response(to: request)
      #expect(response.response.status == 200)
      #expect(try await response.response.body.collect() == whole)
      #expect(try await engine.response(to: request).response.body.collect() == whole)
      #expect(server.requests.count == 2)
      #expect(server.requests.last?.fields["If-Range"] == "\"1\"")
    }
  }
}
