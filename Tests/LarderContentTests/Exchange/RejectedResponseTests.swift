import Foundation
import LarderContent
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Responses that are neither stored nor returned", .timeLimit(.minutes(5)))
struct RejectedResponseTests {
  @Test("a 304 to a request without a condition (RFC 9110 §15.4.5)", arguments: ["GET", "HEAD", "POST", "OPTIONS"])
  func unaskedNotModified(method: String) async throws {
    let rig = EngineRig { _, _ in .init(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"]) }
    await #expect(
      throws: HTTPTransportError.protocolViolation(
        "the server sent 304 (Not Modified) for a request without a condition")
    ) {
      try await rig.line(method: HTTPMethod(rawValue: method))
    }
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await rig.line(method: HTTPMethod(rawValue: method), ["If-None-Match": "\"1\""]) == "304  network")
  }

  @Test("a 304 that confirms nothing, and comes again to the request without the cache's condition")
  func uselessNotModified() async throws {
    let rig = EngineRig { _, index in
      index == 0 ? .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=1"], "one") : .init(304, ["ETag": "\"2\""])
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
    #expect(rig.network.requests.map { $0.fields.contains(.ifNoneMatch) } == [false, true, false])
    #expect(rig.shelf["http://h/a"]?.metadata.fields[.etag] == "\"1\"")
    // What is stored may still stand in for it, as for any other failure.
    #expect(try await rig.line(policy: .staleWhenUnreachable) == "200 one memory")
  }

  @Test(
    "content whose length cannot be determined (RFC 9112 §6.3)",
    arguments: ["99999999999999999999", "5, 6", "five", "-1", ""])
  func length(text: String) async throws {
    let rig = EngineRig { _, _ in .init(200, ["Content-Length": text, "Cache-Control": "max-age=60"], "hello") }
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("the same over a real connection")
  func lengthOverTheWire() async throws {
    let server = try ScriptedServer { _ in
      .raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 99999999999999999999\r\n\r\nhello")
    }
    defer { server.stop() }
    let cache = MemoryCache()
    let engine = HTTPCache(cache: cache, transport: try CurlTransport())
    await #expect(throws: HTTPTransportError.self) { try await engine.response(to: HTTPRequest(url: server.url)) }
    await engine.close()
    #expect(try await cache.entry(forKey: server.url.absoluteString) == nil)
  }
}
