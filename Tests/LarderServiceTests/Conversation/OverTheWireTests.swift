import Foundation
import LarderCore
import LarderCurl
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("A conversation over real connections", .timeLimit(.minutes(5)))
struct OverTheWireTests {
  static func conversation(
    _ server: ScriptedServer, authentication: (any HTTPAuthentication)? = nil, clock: TestClock = TestClock()
  ) throws -> ODataConversation {
    var options = ODataConversationOptions()
    options.environment = clock.environment()
    return try ODataConversation(
      root: server.url("/s/"), transport: try CurlTransport(), authentication: authentication, options: options)
  }

  @Test("a read is repeated if its response is interrupted; a change is not")
  func brokenOff() async throws {
    let clock = TestClock()
    let server = try ScriptedServer(responses: [
      .response(200, body: String(repeating: "x", count: 1000)).truncated(to: 10), .close, .response(200, body: "{}"),
      .close,
    ])
    defer { server.stop() }
    let service = try Self.conversation(server, clock: clock)
    #expect(try await service.send(.read("P")).payloadBytes == Array("{}".utf8))
    #expect(clock.sleeps.count == 2)
    let change = ODataSingleRequest(.create, "P", body: .bytes([0x7B, 0x7D], contentType: "application/json"))
    let error = await serviceError { _ = try await service.send(change) }
    guard case .communication? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(server.requests.map(\.method) == [.get, .get, .get, .post])
  }

  @Test("a streamed upload is sent again from its beginning for a new token and for CSRF, and for no other reason")
  func upload() async throws {
    let opened = Atomic(0)
    let media = ODataRequestBody.stream(length: 200_000, contentType: "image/png") {
      opened.add(1, ordering: .relaxed)
      let sent = Atomic(0)
      return HTTPBodyStream(length: 200_000) {
        sent.add(1, ordering: .relaxed).newValue <= 20 ? [UInt8](repeating: 7, count: 10_000) : nil
      }
    }
    let server = try ScriptedServer { request in
      if request.method == .head {
        return .response(200, fields: ["X-CSRF-Token": "T", "Set-Cookie": "SAP_SESSIONID=1; path=/; HttpOnly"])
      }
      if request.fields[.authorization] != "Bearer new" { return .response(401) }
      if request.fields[.csrfToken] != "T" || request.fields[.cookie] != "SAP_SESSIONID=1" {
        return .response(403, fields: ["X-CSRF-Token": "Required"])
      }
      return .response(204)
    }
    defer { server.stop() }
    let authentication = BearerAuthentication(identity: "ann") { rejected in rejected == nil ? "old" : "new" }
    let service = try Self.conversation(server, authentication: authentication)
    let response = try await service.send(.updateMedia("P(1)/$value", to: media))
    #expect(response.httpStatus == 204)
    #expect(server.requests.last?.contentLength == 200_000)
    // 401, then 403, then with the CSRF token 401 again for the provider's first token, then the successful upload.
    #expect(server.requests.map(\.method) == [.put, .put, .head, .put, .put])
    #expect(opened.load(ordering: .relaxed) == 4)
  }

  @Test("a large media resource is received in chunks, and the transfer ends if its reader stops")
  func download() async throws {
    let server = try ScriptedServer { request in
      request.path.hasSuffix("big")
        ? .large(pattern: [UInt8](repeating: 1, count: 65_536), times: 16_384)
        : .response(
          404, fields: ["Content-Type": "application/json"], body: #"{"error":{"code":"N","message":"none"}}"#)
    }
    defer { server.stop() }
    let service = try Self.conversation(server)
    var seen = 0
    do {
      let media = try await service.stream(.readMedia("big"))
      for try await chunk in media.body {
        seen += chunk.count
        if seen > 1_000_000 { break }
      }
    }
    try await server.waitForClosedConnections(1)
    #expect(seen < 64 << 20)
    let error = await serviceError { _ = try await service.stream(.readMedia("small")) }
    #expect(error?.payload?.code == "N")
  }

  @Test("cancelling the caller ends the transfer and throws a cancellation")
  func cancellation() async throws {
    let server = try ScriptedServer(responses: [.hang])
    defer { server.stop() }
    let service = try Self.conversation(server)
    let task = Task { try await service.send(.read("P")) }
    try await server.waitForRequests(1)
    task.cancel()
    let error = await serviceError { _ = try await task.value }
    #expect(error?.isCancelled == true)
    try await server.waitForClosedConnections(1)
  }

  @Test("credentials are not sent to another origin after a redirect, and cookies from there are not stored")
  func redirect() async throws {
    let other = try ScriptedServer { _ in .response(200, fields: ["Set-Cookie": "evil=1; Path=/"], body: "{}") }
    defer { other.stop() }
    let target = other.url("/x").absoluteString
    let server = try ScriptedServer { request in
      request.path == "/s/P" ? .response(302, fields: ["Location": target]) : .response(200, body: "{}")
    }
    defer { server.stop() }
    let service = try Self.conversation(server, authentication: BearerAuthentication(token: "t"))
    _ = try await service.send(.read("P"))
    _ = try await service.send(.read("Q"))
    #expect(other.requests.first?.fields[.authorization] == nil)
    #expect(server.requests.last?.fields[.cookie] == nil)
    #expect(server.requests.last?.fields[.authorization] == "Bearer t")
  }

  @Test("requests to an unreachable service fail as offline, a change at once, a read after repetitions")
  func notThere() async throws {
    let port = try LoopbackPort.free()
    let clock = TestClock()
    var options = ODataConversationOptions()
    options.environment = clock.environment()
    let service = try ODataConversation(
      root: try #require(URL(string: "http://127.0.0.1:\(port)/s/")), transport: try CurlTransport(), options: options)
    let error = await serviceError { _ = try await service.send(.read("P")) }
    guard case .communication(.cannotConnect)? = error?.category else {
      Issue.record("another category: \(String(describing: error))")
      return
    }
    #expect(error?.isTransient == true)
    #expect(clock.sleeps.count == 3)
  }
}
