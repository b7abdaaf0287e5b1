import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Responses of the engine", .timeLimit(.minutes(5)))
struct CachedResponseTests {
  @Test("a fresh response is stored and used; a stale one is validated; a 304 renews it")
  func lifeOfAnEntry() async throws {
    let rig = EngineRig { request, index in
      if request.fields[.ifNoneMatch] == "\"1\"" {
        return .init(304, ["ETag": "\"1\"", "Cache-Control": "max-age=10"])
      }
      return .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "one")
    }
    #expect(try await rig.line() == "200 one network")
    #expect(try await rig.line() == "200 one memory")
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line() == "200 one validated")
    #expect(try await rig.line() == "200 one memory")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] ?? "-" } == ["-", "\"1\""])
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("Age and Cache-Status describe the response (RFC 9111 §5.1, RFC 9211)")
  func fields() async throws {
    let rig = EngineRig { _, _ in .init(200, ["Cache-Control": "max-age=10"], "one") }
    var response = try await rig.response()
    _ = try await response.response.body.collect()
    #expect(response.response.fields["Cache-Status"] == "larder; fwd=uri-miss")
    rig.clock.pass(seconds: 3)
    response = try await rig.response()
    #expect(response.response.fields["Cache-Status"] == "larder; hit; ttl=7")
    #expect(response.response.fields["Age"] == "3")
    #expect(response.age == .seconds(3))
    #expect(response.isFinal)
  }

  @Test("an error of the server does not change the stored response; a full response replaces it")
  func replacement() async throws {
    let rig = EngineRig { _, index in
      switch index {
      case 1: .init(500, [:], "sorry")
      case 0: .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "one")
      default: .init(200, ["ETag": "\"2\"", "Cache-Control": "max-age=10"], "two")
      }
    }
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line() == "500 sorry network")
    #expect(rig.shelf["http://h/a"]?.metadata.fields[.etag] == "\"1\"")
    #expect(try await rig.line() == "200 two network")
    #expect(try await rig.line() == "200 two memory")
  }

  @Test("variants of one URL lie apart, under an index (RFC 9111 §4.1)")
  func variants() async throws {
    let rig = EngineRig { request, _ in
      let language = request.fields[.acceptLanguage] ?? "-"
      return .init(200, ["Vary": "Accept-Language", "Cache-Control": "max-age=10"], language)
    }
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de network")
    #expect(try await rig.line("/a", ["Accept-Language": "en"]) == "200 en network")
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de memory")
    #expect(try await rig.line("/a", ["Accept-Language": "en"]) == "200 en memory")
    #expect(rig.shelf.keys.count == 3)
  }

  @Test("callers with different credentials never meet; their names are nowhere in the keys")
  func callers() async throws {
    let rig = EngineRig { request, _ in
      .init(200, ["Cache-Control": "max-age=10"], request.fields[.authorization] ?? "-")
    }
    #expect(try await rig.line("/a", [.authorization: "Bearer anna"]) == "200 Bearer anna network")
    #expect(try await rig.line("/a", [.authorization: "Bearer bert"]) == "200 Bearer bert network")
    #expect(try await rig.line() == "200 - network")
    #expect(try await rig.line("/a", [.authorization: "Bearer anna"]) == "200 Bearer anna memory")
    #expect(!rig.shelf.keys.joined().contains("anna"))
  }

  @Test("a change makes what is stored of its target outdated (RFC 9111 §4.4)")
  func invalidation() async throws {
    let rig = EngineRig { request, index in
      request.method == .put
        ? .init(204, ["Location": "/b"]) : .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=100"], "\(index)")
    }
    _ = try await rig.line()
    _ = try await rig.line("/b")
    _ = try await rig.line("/c")
    #expect(try await rig.line(method: .put) == "204  network")
    #expect(try await rig.line() == "200 4 network")
    #expect(try await rig.line("/b") == "200 5 network")
    #expect(try await rig.line("/c") == "200 2 memory")
  }

  @Test("only-if-cached gets 504 if nothing is stored (RFC 9111 §5.2.1.7)")
  func onlyIfCached() async throws {
    let rig = EngineRig()
    #expect(try await rig.line("/a", [.cacheControl: "only-if-cached"]) == "504  generated")
    #expect(try await rig.line(policy: .cacheOnly) == "504  generated")
  }

  @Test("Stale content is returned if the server is unreachable, by stale-if-error or by the policy (RFC 5861 §4)")
  func staleIfError() async throws {
    let rig = EngineRig { request, index in
      index < 2
        ? .init(200, ["Cache-Control": request.url.path == "/a" ? "max-age=1, stale-if-error=60" : "max-age=1"], "old")
        : .failure(.cannotConnect(host: "h", reason: "gone"))
    }
    _ = try await rig.line()
    _ = try await rig.line("/b")
    rig.clock.pass(seconds: 10)
    #expect(try await rig.line() == "200 old memory")
    await #expect(throws: HTTPTransportError.cannotConnect(host: "h", reason: "gone")) { try await rig.line("/b") }
    #expect(try await rig.line("/b", policy: .staleWhenUnreachable) == "200 old memory")
  }
}
