import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

@Suite("Hits with an immediate response", .timeLimit(.minutes(5)))
struct ProxyAtOnceTests {
  private static func upstream(_ request: ScriptedServer.Request, _ date: String) -> ScriptedServer.Response {
    var fields: HTTPFields = ["Cache-Control": "max-age=100", "ETag": "\"1\"", "Date": date]
    switch request.path {
    case "/large": return .response(200, fields: fields, body: String(repeating: "x", count: 100_000))
    case "/middle": return .response(200, fields: fields, body: String(repeating: "y", count: 60_000))
    case "/empty": return .response(200, fields: fields)
    case "/gone": return .response(404, fields: fields, body: "gone")
    case "/never": return .response(200, fields: ["Cache-Control": "no-store", "Date": date], body: "never")
    case "/language":
      fields.append("Vary", "Accept-Language")
      return .response(200, fields: fields, body: "in \(request.fields["Accept-Language"] ?? "any")")
    case "/coding":
      fields.append("Vary", "Accept-Encoding, Via")
      return .response(200, fields: fields, body: "as \(request.fields["Accept-Encoding"] ?? "any")")
    case "/moved":
      fields.append("Location", "http://\(request.fields["Host"] ?? "")/plain")
      fields.append("Content-Location", "http://\(request.fields["Host"] ?? "")/other")
      return .response(301, fields: fields, body: "moved")
    default: break
    }
    if request.fields["If-None-Match"] == "\"1\"" { return .response(304, fields: fields) }
    fields.append("X-Odd", "caf\u{E9}\u{7}\tend")
    return .response(200, fields: fields, body: request.method == .head ? "" : "content of \(request.target)")
  }

  /// A request's line and fields, and whether it is served at once when all have been requested before.
  private static let requests: [(text: String, atOnce: Bool)] = [
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n", true), ("HEAD /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    ("GET /plain HTTP/1.0\r\n", true), ("GET /plain?a=%20b HTTP/1.1\r\nHost: localhost\r\n", true),
    ("GET /pl|ain%7 HTTP/1.1\r\nHost: [::1]:80\r\n", true), ("GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    ("GET /middle HTTP/1.1\r\nHost: 127.0.0.1\r\n", true), ("HEAD /large HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    ("GET /empty HTTP/1.1\r\nHost: 127.0.0.1\r\n", true), ("HEAD /empty HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    ("GET /gone HTTP/1.1\r\nHost: 127.0.0.1\r\n", true), ("GET /moved HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    ("GET http://127.0.0.1:PORT/plain HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n", true),
    ("GET /language HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: de\r\n", true),
    ("GET /language HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: fr\r\n", true),
    ("HEAD /language HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: fr\r\n", true),
    ("GET /language HTTP/1.1\r\nHost: 127.0.0.1\r\n", true),
    // A field of the connection is not forwarded, and so selects nothing.
    ("GET /language HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: de\r\nConnection: accept-language\r\n", true),
    ("GET /coding HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip, br\r\n", true),
    ("GET /coding HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: br,gzip\r\n", true),
    ("GET /coding HTTP/1.0\r\nAccept-Encoding: gzip\r\n", true),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: a\r\n", true),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: only-if-cached\r\n", true),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-cache\r\nConnection: cache-control\r\n", true),
    ("GET /unknown HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: only-if-cached\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-cache\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-store\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: max-age=0\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: min-fresh=101\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: \"1\"\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=0-2\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: evil.example\r\n", false),
    ("GET http://127.0.0.1:1/plain HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n", false),
    ("GET plain HTTP/1.1\r\nHost: 127.0.0.1\r\n", false), ("GET /never HTTP/1.1\r\nHost: 127.0.0.1\r\n", false),
    ("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n", false), ("TRACE /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n", false),
    ("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n", false),
    ("POST /other HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n", false),
  ]

  @Test(
    "Bytes and log lines equal those of the responder: fresh, older, expired, and validated again")
  func sameBytes() async throws {
    let roads = try TwoRoads(handler: ProxyAtOnceTests.upstream)
    var count = 0
    for pause in [0, 0, 7, 100, 3] as [Int64] {
      roads.clock.pass(seconds: pause)
      for (text, _) in ProxyAtOnceTests.requests {
        let content = text.contains("Content-Length") ? "ab" : ""
        for end in ["", "Connection: close\r\n"] where !end.isEmpty || text.contains("HTTP/1.0") {
          let short = try await roads.short.bytes("\(text)\(end)\r\n\(content)")
          #expect(short == (try await roads.long.bytes("\(text)\(end)\r\n\(content)")), "\(text)")
          #expect(short.hasPrefix("HTTP/1.1 "), "\(text)")
          count += 1
        }
      }
      // A record may come after the next request's.
      #expect(try await roads.short.log(count).sorted() == (try await roads.long.log(count).sorted()))
    }
    #expect(roads.long.respondedAtOnce.isEmpty)
    await roads.stop()
  }

  @Test("Which requests get one")
  func which() async throws {
    let roads = try TwoRoads(handler: ProxyAtOnceTests.upstream)
    func send(_ text: String) async throws -> String {
      try await roads.short.bytes(
        "\(text)Connection: close\r\n\r\n\(text.contains("Content-Length") ? "ab" : "")")
    }
    for (text, _) in ProxyAtOnceTests.requests { _ = try await send(text) }
    for (text, atOnce) in ProxyAtOnceTests.requests {
      let before = roads.short.respondedAtOnce.count
      _ = try await send(text)
      #expect((roads.short.respondedAtOnce.count > before) == atOnce, "\(text)")
    }
    roads.clock.pass(seconds: 101)
    let before = roads.short.respondedAtOnce.count
    #expect(try await send("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n").contains("fwd=stale"))
    #expect(roads.short.respondedAtOnce.count == before)
    #expect(try await send("GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n").contains("; hit"))
    #expect(roads.short.respondedAtOnce.count == before + 1)
    await roads.stop()
  }

  @Test("They keep their order if pipelined with misses and requests with content")
  func pipeline() async throws {
    let roads = try TwoRoads(handler: ProxyAtOnceTests.upstream)
    var text = ""
    var expected: [String] = []
    for index in 0..<60 {
      switch index % 6 {
      case 0: text += "GET /new\(index) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      case 1: text += "HEAD /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      case 2: text += "POST /other HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\nab"
      case 3: text += "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      default: text += "GET /plain HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      }
      expected.append(
        [
          "content of /new\(index)", "", "content of /other", String(repeating: "x", count: 100_000),
          "content of /plain",
        ][
          min(index % 6, 4)])
    }
    let client = try RawClient(port: roads.short.server.port)
    try await client.send(text)
    for (index, content) in expected.enumerated() {
      let response = try await client.response(isHead: index % 6 == 1)
      #expect(response.status == 200)
      #expect(response.text == content)
    }
    #expect(roads.short.respondedAtOnce.count >= 30)
    #expect(try await roads.short.log(60).allSatisfy { $0.contains(" true ") })
    await roads.stop()
  }

  @Test("Clients that disconnect, with or without reading, leave no resources", arguments: [true, false])
  func departure(_ resets: Bool) async throws {
    let roads = try TwoRoads(handler: ProxyAtOnceTests.upstream)
    for path in ["/plain", "/large", "/middle"] {
      _ = try await roads.short.bytes("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    }
    for path in ["/plain", "/large", "/middle"] {
      let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      for _ in 0..<4 {
        let client = try RawClient(port: roads.short.server.port, receiveBuffer: 4096)
        try await client.send(String(repeating: request, count: path == "/plain" ? 3 : 100))
        if path == "/plain" { _ = try await client.response() }
        if resets { client.reset() } else { client.close() }
      }
    }
    let deadline = ContinuousClock.now + .seconds(50)
    while roads.short.server.connectionCount > 0, ContinuousClock.now < deadline { await Task.yield() }
    #expect(roads.short.server.connectionCount == 0)
    // Each that got a response has been logged, whole or broken.
    let responded = roads.short.respondedAtOnce.count
    #expect(try await roads.short.log(3 + responded).count == 3 + responded)
    await roads.stop()
  }

  @Test("During a shutdown, each response is complete or absent, and the last has close", arguments: [0, 10])
  func shutdown(_ grace: Int) async throws {
    let roads = try TwoRoads(handler: ProxyAtOnceTests.upstream)
    let server = roads.short.server
    _ = try await roads.short.bytes("GET /middle HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    let running = Tally("clients that got a response")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          guard let client = try? RawClient(port: server.port) else { return }
          var isFirst = true
          var saysClose = false
          while let response = try? await client.exchange("GET /middle HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") {
            #expect(response.body.count == 60_000)
            #expect(!saysClose)
            saysClose = response.fields["Connection"] == "close"
            if isFirst { running.add() }
            isFirst = false
          }
        }
      }
      group.addTask {
        try? await running.wait(for: 8)
        await server.stop(grace: .seconds(grace))
      }
    }
    await server.stop()
    #expect(server.connectionCount == 0)
    await roads.stop()
  }
}

@Suite("Servers with an immediate responder", .timeLimit(.minutes(5)))
struct ServerAtOnceTests {
  @Test("It is called first, only for requests without content, and the end of its response is reported")
  func order() async throws {
    let (requested, ended) = (Lines("asked"), Lines("ended"))
    let server = try HTTPServer(
      .patient,
      atOnce: { request in
        requested.add("\(request.method) \(request.target)")
        guard request.target != "/later" else { return nil }
        return HTTPServerResponse(
          status: 200, fields: ["X": "1"], body: .bytes(Array("at once".utf8)),
          onEnd: { ended.add("\($0.status) \($0.contentBytes) \($0.isComplete)") })
      }
    ) { request in
      await Task.yield()
      let count = (try? await request.content?.collect().count) ?? 0
      return HTTPServerResponse(status: 200, text: "later \(count)")
    }
    let client = try RawClient(port: server.port)
    #expect(try await client.exchange("GET /now HTTP/1.1\r\nHost: a\r\n\r\n").text == "at once")
    #expect(try await client.exchange("HEAD /now HTTP/1.1\r\nHost: a\r\n\r\n", isHead: true).fields["X"] == "1")
    #expect(try await client.exchange("GET /later HTTP/1.1\r\nHost: a\r\n\r\n").text == "later 0")
    let put = "PUT /now HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    #expect(try await client.exchange(put).text == "later 3")
    let empty = "PUT /now HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
    #expect(try await client.exchange(empty).text == "at once")
    #expect(try await client.exchange("GET /now HTTP/1.1\r\n\r\n").status == 400)
    #expect(requested.all == ["GET /now", "HEAD /now", "GET /later", "PUT /now"])
    #expect(try await ended.wait(for: 3) == ["200 7 true", "200 0 true", "200 7 true"])
    await server.stop()
  }
}
