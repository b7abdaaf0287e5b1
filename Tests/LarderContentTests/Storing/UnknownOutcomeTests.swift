import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Unsafe requests whose outcome is unknown (RFC 9111 §4.4)", .timeLimit(.minutes(5)))
struct UnknownOutcomeTests {
  private static func rig(_ error: HTTPTransportError) -> EngineRig {
    EngineRig { request, index in
      if request.method != .get { return .failure(error) }
      return request.fields[.ifNoneMatch] == "\"1\""
        ? .init(304, ["ETag": "\"1\""]) : .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=100"], "one")
    }
  }

  @Test(
    "what they may have changed is validated, and not removed",
    arguments: [
      HTTPTransportError.connectionLost(reason: "x"), .timeout(phase: "idle"), .timeout(phase: "total"), .cancelled,
      .protocolViolation("x"), .other("x"),
    ], [HTTPMethod.post, .put, .patch, .delete])
  func unknown(error: HTTPTransportError, method: HTTPMethod) async throws {
    let rig = Self.rig(error)
    for path in ["/a", "/b"] { _ = try await rig.line(path) }
    await #expect(throws: error) { try await rig.line(method: method) }
    #expect(try await rig.line(policy: .cacheOnly) == "200 one memory")
    #expect(try await rig.line() == "200 one validated")
    #expect(try await rig.line() == "200 one memory")
    #expect(try await rig.line("/b") == "200 one memory")
  }

  @Test(
    "one that was never sent changes nothing",
    arguments: [
      HTTPTransportError.hostNotFound(host: "h"), .cannotConnect(host: "h", reason: "x"), .tls(host: "h", reason: "x"),
      .invalidRequest("x"), .notSupported("x"),
    ])
  func notSent(error: HTTPTransportError) async throws {
    let rig = Self.rig(error)
    _ = try await rig.line()
    await #expect(throws: error) { try await rig.line(method: .put) }
    #expect(try await rig.line() == "200 one memory")
  }

  @Test("nor does a safe one", arguments: [HTTPMethod.options, HTTPMethod(rawValue: "PROPFIND")])
  func safe(method: HTTPMethod) async throws {
    let rig = Self.rig(.connectionLost(reason: "x"))
    _ = try await rig.line()
    await #expect(throws: HTTPTransportError.self) { try await rig.line(method: method) }
    #expect(try await rig.line() == "200 one memory")
  }

  @Test("one that is cancelled while it is in progress counts too", arguments: ProvidedCache.allCases)
  func cancelled(over kind: ProvidedCache) async throws {
    let provided = try await kind.make()
    let rig = EngineRig(
      { request, _ in
        if request.method != .get { return nil }
        return request.fields[.ifNoneMatch] == "\"1\""
          ? .init(304, ["ETag": "\"1\""]) : .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=100"], "one")
      }, over: provided.cache)
    _ = try await rig.line()
    let put = immediately { try await rig.line(method: .put) }
    _ = await rig.network.exchange(1)
    put.cancel()
    await #expect(throws: HTTPTransportError.cancelled) { try await put.value }
    #expect(try await rig.line() == "200 one validated")
  }

  @Test("a response in progress when the request is sent is not treated as newer than its effect")
  func inProgress() async throws {
    let rig = EngineRig { request, index in
      if request.method == .put { return .failure(.connectionLost(reason: "x")) }
      return index > 1 ? .init(200, ["Cache-Control": "max-age=100"], "new") : nil
    }
    let get = immediately { try await rig.line() }
    let exchange = await rig.network.exchange(0)
    await #expect(throws: HTTPTransportError.self) { try await rig.line(method: .put) }
    exchange.respond(200, ["Cache-Control": "max-age=100"], length: 3)
    exchange.send("old")
    exchange.finish()
    #expect(try await get.value == "200 old network")
    #expect(try await rig.line() == "200 new network")
  }
}

@Suite("A response without Date gets one (RFC 9110 §6.6.1)", .timeLimit(.minutes(5)))
struct MissingDateTests {
  @Test("the time when it came, which stays as it was when stored")
  func fixed() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=\(index == 0 ? 10 : 0)"], "one") }
    let came = HTTPDate.text(rig.clock.now / 1000)
    let first = try await rig.response()
    #expect(first.response.fields.values(of: .date) == [came])
    _ = try await first.response.body.collect()
    rig.clock.pass(seconds: 5)
    let hit = try await rig.response()
    #expect(hit.origin == .memory && hit.response.fields.values(of: .date) == [came])
    rig.clock.pass(seconds: 6)
    let second = try await rig.response()
    #expect(second.origin == .network)
    #expect(second.response.fields[.date] == HTTPDate.text(rig.clock.now / 1000))
  }

  @Test("one that has one keeps it; what the cache does not keep gets one as well", arguments: ["GET", "HEAD", "PUT"])
  func passedOn(method: String) async throws {
    let rig = EngineRig { _, index in
      .init(200, index == 0 ? ["Cache-Control": "no-store"] : ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
    }
    let method = HTTPMethod(rawValue: method)
    let first = try await rig.response(method: method)
    #expect(first.response.fields.values(of: .date) == [HTTPDate.text(rig.clock.now / 1000)])
    let second = try await rig.response(method: method)
    #expect(second.response.fields.values(of: .date) == ["Sun, 06 Nov 1994 08:49:37 GMT"])
  }

  @Test("a 304 without one brings the stored response's up to date")
  func notModified() async throws {
    let rig = EngineRig { _, index in
      index == 0
        ? .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "one") : .init(304, ["ETag": "\"1\""])
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 11)
    _ = try await rig.line()
    let hit = try await rig.response()
    #expect(hit.response.fields.values(of: .date) == [HTTPDate.text(rig.clock.now / 1000)])
  }

  @Test("changes since the second before are requested: one within that second counts (RFC 9111 §4.3.1)")
  func withinTheSecond() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=10"], "\(index)") }
    let came = rig.clock.now / 1000
    _ = try await rig.line()
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line() == "200 1 network")
    #expect(rig.network.requests.last?.fields[.ifModifiedSince] == HTTPDate.text(came - 1))
  }
}
