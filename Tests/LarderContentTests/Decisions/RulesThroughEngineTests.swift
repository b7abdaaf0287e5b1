import Foundation
import LarderContent
import LarderHTTP
import Testing

@Suite("The caching rules in the engine", .timeLimit(.minutes(5)))
struct RulesThroughEngineTests {
  @Test("a HEAD that confirms a stale response renews it, and gets all its fields (RFC 9111 §4.3.5)")
  func headRenews() async throws {
    let rig = EngineRig { request, _ in
      request.method == .head
        ? .init(200, ["Cache-Control": "max-age=100", "B": "2"])
        : .init(200, ["Cache-Control": "max-age=10", "A": "1", "B": "1"], "one")
    }
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 11)
    let head = try await rig.response(method: .head)
    _ = try await head.response.body.collect()
    #expect(head.response.fields["A"] == "1")
    #expect(head.response.fields["B"] == "2")
    let get = try await rig.response()
    #expect(get.origin == .memory)
    #expect(get.response.fields["A"] == "1")
    #expect(get.response.fields["B"] == "2")
    #expect(rig.network.requests.map(\.method) == [.get, .head])
  }

  @Test("a HEAD that shows another representation has the stored one validated", arguments: [200, 404, 410])
  func headInvalidates(status: Int) async throws {
    let rig = EngineRig { request, _ in
      request.method == .head
        ? .init(status, ["ETag": "\"2\""]) : .init(200, ["Cache-Control": "max-age=10", "ETag": "\"1\""], "one")
    }
    _ = try await rig.line()
    // A fresh response serves HEAD itself, so the network must be requested.
    _ = try await rig.response(method: .head, ["Cache-Control": "no-cache"]).response.body.collect()
    #expect(try await rig.line() == "200 one network")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }

  @Test("A response to POST that represents the resource is stored for GET (RFC 9110 §9.3.3)")
  func post() async throws {
    let rig = EngineRig { _, index in
      .init(200, ["Cache-Control": "max-age=10", "Content-Location": "http://H:80/a"], "\(index)")
    }
    #expect(try await rig.line(method: .post) == "200 0 network")
    #expect(try await rig.line() == "200 0 memory")
    #expect(try await rig.line(method: .put) == "200 1 network")
    #expect(try await rig.line() == "200 2 network")
  }

  @Test("fields that no-cache and Connection name are not given again (§3.1, §5.2.2.4)")
  func namedFields() async throws {
    let rig = EngineRig { _, _ in
      .init(200, ["Cache-Control": "max-age=9, no-cache=\"A\"", "Connection": "b", "A": "1", "B": "2", "C": "3"], "x")
    }
    _ = try await rig.line()
    let response = try await rig.response()
    #expect(response.origin == .memory)
    #expect(response.response.fields["A"] == nil)
    #expect(response.response.fields["B"] == nil)
    #expect(response.response.fields["C"] == "3")
  }

  @Test("no-store on either side, and the query's time to live, which does not overcome it")
  func noStore() async throws {
    let rig = EngineRig { request, index in
      .init(200, ["Cache-Control": request.url.path() == "/n" ? "no-store" : "max-age=10"], "\(index)")
    }
    let long = FreshnessOverride(ttl: .seconds(100))
    #expect(try await rig.line("/n", override: long) == "200 0 network")
    #expect(try await rig.line("/n", override: long) == "200 1 network")
    #expect(try await rig.line("/a", ["Cache-Control": "no-store"]) == "200 2 network")
    #expect(try await rig.line() == "200 3 network")
    rig.clock.pass(seconds: 50)
    #expect(try await rig.line(override: long) == "200 3 memory")
    #expect(try await rig.line(override: .init(ttl: .seconds(50))) == "200 4 network")
  }

  @Test("tags of other variants are sent too; a 304 that names one selects it for this request (§4.3.1, §4.3.4)")
  func variantTags() async throws {
    let rig = EngineRig { request, _ in
      request.fields[.ifNoneMatch] == nil
        ? .init(200, ["Vary": "Foo", "ETag": "\"1\"", "Cache-Control": "max-age=10"], "one")
        : .init(304, ["Vary": "Foo", "ETag": "\"1\"", "Cache-Control": "max-age=10"])
    }
    #expect(try await rig.line("/a", ["Foo": "a"]) == "200 one network")
    #expect(try await rig.line("/a", ["Foo": "b"]) == "200 one validated")
    #expect(try await rig.line("/a", ["Foo": " b "]) == "200 one memory")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }

  @Test("a 304 with another tag is not used: the request is sent again without conditions (§4.3.4)")
  func foreignTag() async throws {
    let rig = EngineRig { request, index in
      request.fields[.ifNoneMatch] == nil
        ? .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "\(index)") : .init(304, ["ETag": "\"2\""])
    }
    #expect(try await rig.line() == "200 0 network")
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line() == "200 2 network")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1\"", nil])
  }

  @Test("a group that an unsafe request names has its members validated, and others not (RFC 9875 §3)")
  func groups() async throws {
    let rig = EngineRig { request, index in
      if request.method == .post { return .init(204, ["Cache-Group-Invalidation": "\"g\""]) }
      let group = request.url.path() == "/a" ? "\"f\", \"g\"" : "\"f\""
      return .init(200, ["Cache-Control": "max-age=100", "Cache-Groups": group], "\(index)")
    }
    #expect(try await rig.line("/a") == "200 0 network")
    #expect(try await rig.line("/b") == "200 1 network")
    #expect(try await rig.line("/a") == "200 0 memory")
    _ = try await rig.line("/c", method: .post)
    #expect(try await rig.line("/b") == "200 1 memory")
    #expect(try await rig.line("/a") == "200 3 network")
    #expect(try await rig.line("/a") == "200 3 memory")
  }

  @Test("a clock that goes back has the response validated, and never makes it younger (§4.2.3)")
  func clockBack() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=100"], "\(index)") }
    #expect(try await rig.line() == "200 0 network")
    rig.clock.pass(seconds: -3600)
    #expect(try await rig.line() == "200 1 network")
    rig.clock.pass(seconds: 99)
    #expect(try await rig.line() == "200 1 memory")
  }
}
