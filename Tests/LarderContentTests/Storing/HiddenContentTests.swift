import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("An error never replaces or removes a stored success", .timeLimit(.minutes(5)))
struct HiddenContentTests {
  typealias Scripted = ManualNetwork.Scripted

  static let success = Scripted(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "one")

  /// A rig that has stored ``success``, which is stale by now; then come the responses of a list, and no connection
  /// after them.
  static func rig(_ responses: [Scripted], over cache: (any Cache)? = nil) async throws -> EngineRig {
    let all = [success] + responses
    let rig = EngineRig(
      { _, index in index < all.count ? all[index] : .failure(.cannotConnect(host: "h", reason: "a test")) },
      over: cache)
    #expect(try await rig.line() == "200 one network")
    rig.clock.pass(seconds: 11)
    return rig
  }

  static func detail(_ response: CachedResponse) -> String? {
    let said = response.response.fields.values(of: "Cache-Status").joined(separator: ", ")
    return (try? CacheStatus.list(said))?.last?.detail
  }

  @Test(
    "other errors than 404 and 410 change nothing in it and are not stored in its place",
    arguments: [400, 401, 403, 405, 409, 414, 422, 428, 429, 431, 451, 500, 501, 503, 511],
    ["max-age=600", "private", "public, max-age=600", nil])
  func otherErrors(status: Int, said: String?) async throws {
    let fields: HTTPFields = said.map { ["Cache-Control": $0] } ?? [:]
    let rig = try await Self.rig([.init(status, fields, "no"), .init(304, ["ETag": "\"1\""])])
    #expect(try await rig.line() == "\(status) no network")
    #expect(rig.shelf.keys == ["http://h/a"])
    #expect(try await rig.line(policy: .cacheOnly) == "200 one memory")
    #expect(try await rig.line() == "200 one validated")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\""])
  }

  @Test(
    "a 404, 410 or redirect that may not be stored changes nothing in it either",
    arguments: [(404, "no-store"), (410, "no-store"), (302, nil), (307, "no-cache"), (308, "no-store")]
      as [(Int, String?)])
  func notStorable(status: Int, said: String?) async throws {
    let fields: HTTPFields = said.map { ["Cache-Control": $0] } ?? [:]
    let rig = try await Self.rig([.init(status, fields, "no")])
    #expect(try await rig.line() == "\(status) no network")
    let stored = try await rig.response(policy: .staleWhenUnreachable)
    #expect(try await EngineRig.line(stored) == "200 one memory")
    #expect(Self.detail(stored) == nil)
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }

  @Test(
    "a 404, 410 or redirect that may be stored hides it while fresh, and offline queries still get it, marked",
    arguments: [
      (404, "gone"), (410, "gone"), (300, "moved"), (301, "moved"), (302, "moved"), (303, "moved"), (307, "moved"),
      (308, "moved"),
    ], ProvidedCache.allCases)
  func hides(status: (code: Int, word: String), over kind: ProvidedCache) async throws {
    let provided = try await kind.make()
    let hiding = Scripted(status.code, ["Cache-Control": "max-age=60", "ETag": "\"not\""], "not here")
    let rig = try await Self.rig([hiding, hiding], over: provided.cache)
    #expect(try await rig.line() == "\(status.code) not here network")
    for _ in 0..<2 {
      let fresh = try await rig.response()
      #expect(fresh.response.status == status.code && fresh.origin != .network)
      #expect(fresh.response.fields.values(of: "Cache-Status").last?.contains("; hit") == true)
      #expect(try await fresh.response.body.collect() == Array("not here".utf8))
    }
    #expect(rig.network.requests.count == 2)
    for policy in [ContentPolicy.cacheOnly, .cacheElseNetwork] {
      let stored = try await rig.response(policy: policy)
      #expect(stored.response.status == 200)
      #expect(Self.detail(stored) == status.word && stored.hiddenBy == status.code)
      #expect(try await stored.response.body.collect() == Array("one".utf8))
    }
    // Once it is stale, the request is sent with the validators of the success.
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line() == "\(status.code) not here network")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\""])
    // Without a network: an error, or the success where the query accepts stale content.
    rig.clock.pass(seconds: 61)
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
    let stored = try await rig.response(policy: .staleWhenUnreachable)
    #expect(stored.response.status == 200)
    #expect(Self.detail(stored) == status.word && stored.hiddenBy == status.code)
    #expect(try await stored.response.body.collect() == Array("one".utf8))
  }

  @Test(
    "A 304 to its validators makes it current again, and removes the response that hid it",
    arguments: ProvidedCache.allCases)
  func confirmed(over kind: ProvidedCache) async throws {
    let provided = try await kind.make()
    let rig = try await Self.rig(
      [
        .init(404, ["Cache-Control": "max-age=60"], "gone"),
        .init(304, ["ETag": "\"1\"", "Cache-Control": "max-age=100"]),
      ], over: provided.cache)
    #expect(try await rig.line() == "404 gone network")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line() == "200 one validated")
    let back = try await rig.response()
    #expect(back.response.status == 200 && Self.detail(back) == nil && back.hiddenBy == nil)
    #expect(back.origin != .network)
  }

  @Test("a new 200 replaces all of it", arguments: ProvidedCache.allCases)
  func replaced(over kind: ProvidedCache) async throws {
    let provided = try await kind.make()
    let rig = try await Self.rig(
      [
        .init(410, ["Cache-Control": "max-age=60"], "gone"), .init(200, ["Cache-Control": "max-age=10"], "two"),
      ], over: provided.cache)
    #expect(try await rig.line() == "410 gone network")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line() == "200 two network")
    rig.clock.pass(seconds: 11)
    let stored = try await rig.response(policy: .cacheOnly)
    #expect(try await stored.response.body.collect() == Array("two".utf8))
    #expect(Self.detail(stored) == nil)
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
  }

  @Test("a response to a query says that it is gone", arguments: [(404, true), (410, true), (301, false)])
  func responses(status: Int, isGone: Bool) async throws {
    let rig = try await Self.rig([.init(status, ["Cache-Control": "max-age=60"], "no")])
    let manager = ContentManager(engine: rig.engine)
    var query = ContentQuery<String>(rig.request().url)
    query.followsRedirects = false
    let before = try await manager.content(of: with(query, .cacheOnly))
    #expect(before.hiddenBy == nil && !before.isGone)
    await #expect(throws: ContentError.self) { try await manager.content(of: query) }
    let after = try await manager.content(of: with(query, .cacheOnly))
    #expect(after.value == "one" && after.httpStatus == 200)
    #expect(after.hiddenBy == status && after.isGone == isGone)
  }

  private func with(_ query: ContentQuery<String>, _ policy: ContentPolicy) -> ContentQuery<String> {
    var query = query
    query.policy = policy
    return query
  }

  @Test("stale-if-error does not return a hidden success while the server is reachable")
  func staleIfError() async throws {
    let generous: HTTPFields = ["ETag": "\"1\"", "Cache-Control": "max-age=10, stale-if-error=100000"]
    let rig = EngineRig { _, index in
      switch index {
      case 0: .init(200, generous, "one")
      case 1: .init(404, ["Cache-Control": "max-age=60"], "gone")
      case 2: .init(503, [:], "down")
      default: .failure(.connectionLost(reason: "a test"))
      }
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line() == "404 gone network")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line() == "503 down network")
    await #expect(throws: HTTPTransportError.self) { try await rig.line() }
    #expect(try await rig.line("/a", ["Cache-Control": "stale-if-error=100000"]).hasPrefix("404 gone"))
    #expect(try await rig.line(policy: .staleWhenUnreachable) == "200 one memory")
  }

  @Test("what is stored where there is no success is stored as before, and hides nothing")
  func withoutSuccess() async throws {
    let rig = EngineRig { _, index in
      .init(index == 0 ? 404 : 403, ["Cache-Control": "max-age=60"], "\(index)")
    }
    #expect(try await rig.line() == "404 0 network")
    #expect(try await rig.line() == "404 0 memory")
    #expect(try await rig.line(policy: .cacheOnly) == "404 0 memory")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line() == "403 1 network")
    #expect(try await rig.line() == "403 1 memory")
    #expect(rig.shelf.keys == ["http://h/a"])
  }

  @Test("after an unsafe request the server is asked, whatever hides the success")
  func invalidated() async throws {
    let rig = try await Self.rig([
      .init(404, ["Cache-Control": "max-age=60"], "gone"), .init(201), .init(200, ["ETag": "\"2\""], "two"),
    ])
    #expect(try await rig.line() == "404 gone network")
    #expect(try await rig.line(method: .put) == "201  network")
    #expect(try await rig.line() == "200 two network")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }

  @Test("forgetting a resource forgets both")
  func forgotten() async throws {
    let rig = try await Self.rig([.init(404, ["Cache-Control": "max-age=60"], "gone")])
    #expect(try await rig.line() == "404 gone network")
    try await rig.engine.removeContent(of: rig.request())
    #expect(rig.shelf.keys == [])
  }

  @Test("losing either record costs a request and gives no wrong response")
  func eviction() async throws {
    for losesSuccess in [true, false] {
      let rig = try await Self.rig([
        .init(404, ["Cache-Control": "max-age=60"], "gone"), .init(404, ["Cache-Control": "max-age=60"], "again"),
      ])
      #expect(try await rig.line() == "404 gone network")
      let lost = try #require(rig.shelf.keys.first { ($0 == "http://h/a") == losesSuccess })
      try await rig.shelf.removeEntry(forKey: lost)
      #expect(try await rig.line() == "404 again network")
      #expect(rig.network.requests.last?.fields[.ifNoneMatch] == (losesSuccess ? nil : "\"1\""))
      #expect(try await rig.line() == "404 again memory")
      #expect(try await rig.line(policy: .cacheOnly) == (losesSuccess ? "404 again memory" : "200 one memory"))
    }
  }

  @Test("an error to a request that the success was not selected for does not take its place")
  func otherRequests() async throws {
    let rig = EngineRig { request, _ in
      request.fields.isEmpty
        ? .init(200, ["Cache-Control": "max-age=1000", "ETag": "\"1\""], "one")
        : .init(403, ["Cache-Control": "max-age=60"], "no")
    }
    #expect(try await rig.line() == "200 one network")
    #expect(try await rig.line("/a", ["If-Match": "\"2\""]) == "403 no network")
    #expect(try await rig.line("/a", ["Cache-Control": "no-cache"]) == "403 no network")
    #expect(try await rig.line() == "200 one memory")
    rig.clock.pass(seconds: 100)
    #expect(try await rig.line() == "200 one memory")
  }

  @Test("a response that arrived before the success was stored does not hide it")
  func older() async throws {
    let rig = EngineRig()
    let slow = immediately { try await rig.line("/a", ["If-Match": "\"0\""]) }
    let first = await rig.network.exchange(0)
    first.respond(404, ["Cache-Control": "max-age=60"], length: 4)
    first.send("go")
    await first.taken(but: 0)
    rig.clock.pass(seconds: 2)
    let fast = immediately { try await rig.line() }
    let second = await rig.network.exchange(1)
    second.respond(200, ["Cache-Control": "max-age=60"], length: 3)
    second.send("new")
    second.finish()
    #expect(try await fast.value == "200 new network")
    first.send("ne")
    first.finish()
    #expect(try await slow.value == "404 gone network")
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("statuses that no cache may store, whatever they say (RFC 6585 §§3 to 6)", arguments: [428, 429, 431, 511])
  func neverStored(status: Int) async throws {
    let rig = EngineRig { _, index in
      .init(status, ["Cache-Control": "public, max-age=600", "Expires": "Fri, 01 Jan 2100 00:00:00 GMT"], "\(index)")
    }
    #expect(try await rig.line() == "\(status) 0 network")
    #expect(try await rig.line(override: .init(ttl: .seconds(100))) == "\(status) 1 network")
    #expect(rig.shelf.keys == [])
  }
}

@Suite("Responses that hide the variants of a URL", .timeLimit(.minutes(5)))
struct HiddenVariantsTests {
  private static func rig(hiding: ManualNetwork.Scripted) async throws -> EngineRig {
    let rig = EngineRig { request, index in
      let language = request.fields["Accept-Language"] ?? "-"
      let fields: HTTPFields = ["Vary": "Accept-Language", "ETag": "\"\(language)\"", "Cache-Control": "max-age=10"]
      if index < 2 { return .init(200, fields, language) }
      if index == 2 { return hiding }
      return request.fields[.ifNoneMatch] == "\"\(language)\"" ? .init(304, fields) : .init(200, fields, "\(index)")
    }
    for language in ["de", "fr"] { _ = try await rig.line("/a", ["Accept-Language": language]) }
    rig.clock.pass(seconds: 11)
    return rig
  }

  @Test("a 404 without Vary hides all of them, until one is confirmed")
  func all() async throws {
    let rig = try await Self.rig(hiding: .init(404, ["Cache-Control": "max-age=60"], "gone"))
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "404 gone network")
    for language in ["de", "fr", "es"] {
      #expect(try await rig.line("/a", ["Accept-Language": language]) == "404 gone memory")
    }
    for language in ["de", "fr"] {
      let fields: HTTPFields = ["Accept-Language": language]
      let stored = try await rig.response("/a", fields, policy: .cacheOnly)
      #expect(HiddenContentTests.detail(stored) == "gone")
      #expect(try await EngineRig.line(stored) == "200 \(language) memory")
    }
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line("/a", ["Accept-Language": "fr"]) == "200 fr validated")
    #expect(try await rig.line("/a", ["Accept-Language": "fr"]) == "200 fr memory")
    let stored = try await rig.response("/a", ["Accept-Language": "de"], policy: .cacheOnly)
    #expect(HiddenContentTests.detail(stored) == nil)
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de validated")
  }

  @Test("a 404 with their Vary hides one of them")
  func one() async throws {
    let rig = try await Self.rig(
      hiding: .init(404, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], "gone"))
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "404 gone network")
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "404 gone memory")
    #expect(try await rig.line("/a", ["Accept-Language": "fr"]) == "200 fr validated")
    let stored = try await rig.response("/a", ["Accept-Language": "de"], policy: .cacheOnly)
    #expect(HiddenContentTests.detail(stored) == "gone")
    #expect(try await EngineRig.line(stored) == "200 de memory")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de validated")
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de memory")
  }

  @Test("a 403 to one of them changes nothing", arguments: [nil, "Accept-Language", "Accept"])
  func forbidden(vary: String?) async throws {
    var fields: HTTPFields = ["Cache-Control": "max-age=60"]
    fields["Vary"] = vary
    let rig = try await Self.rig(hiding: .init(403, fields, "no"))
    let before = rig.shelf.keys
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "403 no network")
    #expect(rig.shelf.keys == before)
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 de validated")
    #expect(try await rig.line("/a", ["Accept-Language": "fr"]) == "200 fr validated")
  }

  @Test("forgetting the resource forgets what hides them", arguments: [nil, "Accept-Language"])
  func forgotten(vary: String?) async throws {
    var fields: HTTPFields = ["Cache-Control": "max-age=60"]
    fields["Vary"] = vary
    let rig = try await Self.rig(hiding: .init(404, fields, "gone"))
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "404 gone network")
    try await rig.engine.removeContent(of: rig.request())
    #expect(rig.shelf.keys == [])
  }
}

@Suite("A response to HEAD hides a success like one to GET (RFC 9111 §4.3.5)", .timeLimit(.minutes(5)))
struct HiddenByHeadTests {
  private static func rig(_ status: Int, _ fields: HTTPFields) async throws -> EngineRig {
    try await HiddenContentTests.rig([
      .init(status, fields), .init(304, ["ETag": "\"1\"", "Cache-Control": "max-age=100"]),
    ])
  }

  @Test("one that may be stored hides the success; GET is sent with its validators", arguments: [404, 410, 301, 308])
  func hides(status: Int) async throws {
    let rig = try await Self.rig(status, [:])
    #expect(try await rig.line(method: .head) == "\(status)  network")
    let stored = try await rig.response(policy: .cacheOnly)
    #expect(HiddenContentTests.detail(stored) == (status < 400 ? "moved" : "gone"))
    #expect(try await EngineRig.line(stored) == "200 one memory")
    #expect(try await rig.line() == "200 one validated")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
    let back = try await rig.response()
    #expect(HiddenContentTests.detail(back) == nil)
  }

  @Test(
    "others change nothing",
    arguments: [(404, "no-store"), (410, "no-store"), (302, nil), (401, "max-age=60"), (500, "max-age=60"), (429, nil)]
      as [(Int, String?)])
  func others(status: Int, said: String?) async throws {
    let rig = try await Self.rig(status, said.map { ["Cache-Control": $0] } ?? [:])
    #expect(try await rig.line(method: .head) == "\(status)  network")
    let stored = try await rig.response(policy: .cacheElseNetwork)
    #expect(HiddenContentTests.detail(stored) == nil)
    #expect(try await EngineRig.line(stored) == "200 one memory")
  }

  @Test("a later 200 shows it again")
  func shown() async throws {
    let rig = try await HiddenContentTests.rig([
      .init(404, ["Cache-Control": "max-age=60"], "gone"),
      .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=60"]),
    ])
    #expect(try await rig.line() == "404 gone network")
    #expect(try await rig.line(method: .head) == "404  memory")
    rig.clock.pass(seconds: 61)
    #expect(try await rig.line(method: .head) == "200  network")
    #expect(try await rig.line() == "200 one memory")
  }
}
