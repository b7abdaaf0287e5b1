import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

/// The server is a tool of every other suite, so it is tested without any transport: over `curl`'s own program.
@Suite("The scripted server", .timeLimit(.minutes(5)))
struct ScriptedServerTests {
  private func curl(_ arguments: String...) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["curl", "-s", "-S", "--noproxy", "*"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { ended in
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        continuation.resume(returning: (ended.terminationStatus, String(decoding: output, as: UTF8.self)))
      }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }

  @Test("A request is read completely and gets the scripted response")
  func wholeExchange() async throws {
    let server = try ScriptedServer { .response(201, fields: ["ETag": "\"1\""], body: "seen \($0.text)") }
    defer { server.stop() }
    let (status, output) = try await curl("-i", "-X", "MERGE", "-d", "abc", server.url("/a?b=c").absoluteString)
    #expect(status == 0)
    #expect(output == "HTTP/1.1 201 Created\r\nETag: \"1\"\r\nContent-Length: 8\r\n\r\nseen abc")
    let request = try #require(server.requests.first)
    #expect(
      request.method == .merge && request.path == "/a" && request.query == "b=c" && request.body == Array("abc".utf8))
    #expect(server.faults.isEmpty)
  }

  @Test("Connections are persistent and counted")
  func keepAlive() async throws {
    let server = try ScriptedServer(responses: [
      .response(200, body: "1"), .chunked(pieces: ["2", "3"]), .response(204),
    ])
    defer { server.stop() }
    let url = server.url.absoluteString
    #expect(try await curl(url, url, url).output == "123")
    #expect(server.connectionCount == 1)
    #expect(server.requests.map(\.indexOnConnection) == [0, 1, 2])
    try await server.waitForClosedConnections()
  }

  @Test(
    "Each fault has curl's error",
    arguments: [
      (ScriptedServer.Response.close, Int32(52)), (.reset, 56), (.raw("rubbish\r\n"), 1),
      (.response(200, body: "abcdef").truncated(to: 3), 18), (.chunked(pieces: ["abcdef"]).truncated(to: 5), 18),
      (.response(200, fields: ["Content-Length": "99"], body: "short").closing(silently: true), 18),
      (.response(200, body: "ok").http10(), 0), (.chunked(pieces: ["a"]).http10(), 0),
      (.response(200, body: "ok").drippingHead(every: .milliseconds(1)), 0),
      (.response(200, body: "ok").after(interim: 103, fields: ["Link": "<a>"]), 0),
    ] as [(ScriptedServer.Response, Int32)])
  func faults(response: ScriptedServer.Response, code: Int32) async throws {
    let server = try ScriptedServer { _ in response }
    defer { server.stop() }
    let (status, _) = try await curl(server.url.absoluteString)
    #expect(status == code)
  }

  @Test("A gate delays a response until the test opens it, and stop ends blocked requests")
  func gate() async throws {
    let gate = ScriptedServer.Gate()
    let server = try ScriptedServer { $0.path == "/hang" ? .hang : .response(200, body: "late").paused(by: gate) }
    async let paused = curl(server.url.absoluteString)
    async let hung = curl(server.url("/hang").absoluteString)
    try await gate.waitUntilReached()
    try await server.waitForRequests(2)
    gate.open()
    #expect(try await paused.output == "late")
    server.stop()
    #expect(try await hung.status == 52)
    #expect(server.closedConnectionCount == 2)
  }
}
