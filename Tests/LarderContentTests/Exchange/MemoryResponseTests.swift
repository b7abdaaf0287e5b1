import Foundation
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("Immediate responses equal those of the full lookup", .timeLimit(.minutes(5)))
struct MemoryResponseTests {
  /// Two engines before the same network: one over a cache with its entries in memory, one that has to read each.
  private struct Pair {
    let clock = RigClock()
    let near: HTTPCache
    let far: HTTPCache
    let nearNetwork: ManualNetwork
    let farNetwork: ManualNetwork

    init(_ script: @escaping @Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted?) {
      nearNetwork = ManualNetwork(script)
      farNetwork = ManualNetwork(script)
      var options = HTTPCacheOptions()
      options.environment = .at { [clock] in clock.now }
      near = HTTPCache(
        cache: TieredCache(memory: MemoryCache(), disk: MemoryCache()), transport: nearNetwork, options: options)
      far = HTTPCache(cache: QueriedCache(), transport: farNetwork, options: options)
    }

    /// Both engines' responses in one line each.
    func lines(_ query: CacheQuery) async throws -> (near: String, far: String) {
      (try await Pair.line(near, query), try await Pair.line(far, query))
    }

    private static func line(_ engine: HTTPCache, _ query: CacheQuery) async throws -> String {
      let cached = try await engine.response(
        to: query.request, policy: query.policy, override: FreshnessOverride(ttl: query.lifetime))
      let fields = cached.response.fields.map { "\($0.name): \($0.value)" }.joined(separator: "|")
      let length = cached.response.body.length.map(String.init) ?? "-"
      let text = String(decoding: try await cached.response.body.collect(), as: UTF8.self)
      await engine.settled()
      let age = cached.age?.components.seconds ?? -1
      return "\(cached.response.status) \(fields) [\(length)] \(text) \(cached.origin) \(age) \(cached.isFinal)"
    }
  }

  /// Entries that have to be read: the protocol's default for what is in memory.
  private struct QueriedCache: Cache {
    private let inner = MemoryCache()
    func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { try await inner.entry(forKey: key) }
    func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
      try await inner.store(entry, forKey: key)
    }
    func removeEntry(forKey key: String) async throws(CacheError) { try await inner.removeEntry(forKey: key) }
    func removeAll() async throws(CacheError) { try await inner.removeAll() }
    func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
      try await inner.update(entry, to: metadata, forKey: key)
    }
  }

  struct CacheQuery: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.get
    var path: String
    var fields: HTTPFields = [:]
    var policy = ContentPolicy.standard
    var lifetime: Duration?
    /// Whether it is served from memory once all has been stored.
    var inMemory = false

    var request: HTTPRequest {
      HTTPRequest(
        method: method, url: URL(string: "http://h\(path)") ?? URL(fileURLWithPath: "/"), fields: fields)
    }

    var testDescription: String {
      "\(method) \(path) \(fields.map { "\($0.name): \($0.value)" }) \(policy) \(lifetime.map { "\($0)" } ?? "")"
    }
  }

  /// What the server says, by path.
  private static let script: @Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted? = { request, _ in
    let fresh: HTTPFields = ["Cache-Control": "max-age=100", "ETag": "\"1\"", "Date": "Fri, 15 Jan 2027 08:00:00 GMT"]
    var fields = fresh
    switch request.url.path() {
    case "/old": fields = ["Cache-Control": "max-age=1, stale-while-revalidate=10", "ETag": "\"1\""]
    case "/checked": fields = ["Cache-Control": "no-cache", "ETag": "\"1\""]
    case "/language":
      fields.append("Vary", "Accept-Language")
      fields.append("Content-Language", request.fields[.acceptLanguage] ?? "en")
    case "/any": fields.append("Vary", "*")
    case "/group": fields.append("Cache-Groups", "\"g\"")
    case "/aged": fields.append("Age", "7")
    case "/never": fields = ["Cache-Control": "no-store"]
    case "/moved": return .init(301, ["Location": "/", "Cache-Control": "max-age=100"], "moved")
    case "/part" where request.fields["Range"] != nil:
      return .init(206, ["Content-Range": "bytes 0-2/6", "ETag": "\"1\"", "Cache-Control": "max-age=100"], "par")
    default: break
    }
    if request.fields[.ifNoneMatch] == "\"1\"" { return .init(304, fields) }
    return .init(200, fields, request.method == .head ? "" : "content of \(request.url.path())")
  }

  private static let queries: [CacheQuery] = [
    .init(path: "/plain", inMemory: true), .init(method: .head, path: "/plain", inMemory: true),
    .init(path: "/plain?query=1", inMemory: true), .init(path: "/aged", inMemory: true),
    .init(path: "/moved", inMemory: true),
    .init(path: "/plain#fragment", inMemory: true), .init(path: "/old"), .init(path: "/checked"), .init(path: "/never"),
    .init(path: "/any"), .init(path: "/group"), .init(path: "/part", fields: ["Range": "bytes=0-2"]),
    .init(path: "/part", fields: ["Range": "bytes=1-1"]),
    .init(path: "/language", fields: ["Accept-Language": "de"], inMemory: true),
    .init(path: "/language", fields: ["Accept-Language": "fr"], inMemory: true),
    .init(method: .head, path: "/language", fields: ["Accept-Language": "de"], inMemory: true),
    .init(path: "/language", fields: ["Accept-Language": "de;q=0.5, fr"], inMemory: true),
    .init(path: "/language", inMemory: true),
    .init(path: "/plain", fields: ["Authorization": "a"], inMemory: true),
    .init(path: "/plain", fields: ["Authorization": "b"], inMemory: true),
    .init(path: "/plain", fields: ["Cache-Control": "only-if-cached"], inMemory: true),
    .init(path: "/unknown", fields: ["Cache-Control": "only-if-cached"]),
    .init(path: "/plain", fields: ["Cache-Control": "no-cache"]),
    .init(path: "/plain", fields: ["Cache-Control": "no-store"]),
    .init(path: "/plain", fields: ["Cache-Control": "max-age=0"]),
    .init(path: "/plain", fields: ["Cache-Control": "max-age=50"], inMemory: true),
    .init(path: "/plain", fields: ["Cache-Control": "min-fresh=99"]),
    .init(path: "/old", fields: ["Cache-Control": "max-stale"], inMemory: true),
    .init(path: "/plain", fields: ["If-None-Match": "\"1\""]),
    .init(path: "/plain", fields: ["If-Modified-Since": "Fri, 15 Jan 2027 08:00:00 GMT"]),
    .init(path: "/plain", fields: ["Range": "bytes=0-2"]), .init(method: .post, path: "/other"),
    .init(path: "/plain", policy: .reload), .init(path: "/plain", policy: .cacheOnly, inMemory: true),
    .init(path: "/old", policy: .cacheElseNetwork, inMemory: true), .init(path: "/unknown", policy: .cacheOnly),
    .init(path: "/checked", lifetime: .seconds(60), inMemory: true), .init(path: "/old", lifetime: .seconds(1)),
  ]

  @Test("Sequences of all requests over time: equal responses, and equal requests to the server")
  func sameResponses() async throws {
    let pair = Pair(MemoryResponseTests.script)
    for pause in [0, 3, 0, 7, 95, 1000] as [Int64] {
      pair.clock.pass(seconds: pause)
      for query in MemoryResponseTests.queries {
        let (near, far) = try await pair.lines(query)
        #expect(
          near.replacing("disk", with: "memory") == far.replacing("disk", with: "memory"), "\(query.testDescription)"
        )
      }
    }
    func sent(_ network: ManualNetwork) -> [String] {
      network.requests.map { request in
        "\(request.method) \(request.url) \(request.fields.map { "\($0.name): \($0.value)" })"
      }
    }
    #expect(sent(pair.nearNetwork) == sent(pair.farNetwork))
  }

  @Test(
    "A response in memory is returned without suspension; nil means that the full lookup is needed", arguments: queries)
  func inMemory(_ query: CacheQuery) async throws {
    let pair = Pair(MemoryResponseTests.script)
    for query in MemoryResponseTests.queries where query.path != "/unknown" && query.policy == .standard {
      _ = try await pair.lines(query)
    }
    pair.clock.pass(seconds: 3)
    let count = pair.nearNetwork.requests.count
    guard query.lifetime == nil else { return }
    let response = pair.near.responseInMemory(
      query.method, query.request.url.absoluteString, query.fields, policy: query.policy)
    #expect((response != nil) == query.inMemory)
    #expect(pair.nearNetwork.requests.count == count)
    guard let response else { return }
    let long = try await pair.far.response(to: query.request, policy: query.policy)
    #expect(response.status == long.response.status)
    #expect(response.fields == long.response.fields)
    #expect(try await response.bytes == long.response.body.collect())
  }

  @Test("Entries that are unreadable, invalidated or evicted from memory are not returned at once")
  func notAtHand() async throws {
    let memory = MemoryCache(byteLimit: 4000)
    let network = ManualNetwork(MemoryResponseTests.script)
    let engine = HTTPCache(cache: memory, transport: network)
    func isAtHand(_ path: String) -> Bool { engine.responseInMemory(.get, "http://h\(path)", [:]) != nil }
    func send(_ path: String, _ method: HTTPMethod = .get) async throws {
      let request = CacheQuery(method: method, path: path).request
      _ = try await engine.response(to: request, override: FreshnessOverride(ttl: .seconds(60))).response.body.collect()
      await engine.settled()
    }
    #expect(!isAtHand("/plain"))
    let fresh = CacheMetadata(
      url: "http://h/plain", status: 200, fields: ["Cache-Control": "max-age=100"],
      requestTime: engine.options.environment.unixMilliseconds,
      responseTime: engine.options.environment.unixMilliseconds)
    try await memory.store(CacheEntry(metadata: fresh, bytes: [1]), forKey: "http://h/plain")
    #expect(isAtHand("/plain"))
    try await send("/plain", .post)
    #expect(!isAtHand("/plain"))
    try await memory.store(CacheEntry(metadata: fresh, bytes: [1]), forKey: "http://h/plain")
    #expect(isAtHand("/plain"))
    for index in 0..<8 { try await memory.store(CacheEntry(metadata: fresh, bytes: [1]), forKey: "http://h/\(index)") }
    #expect(!isAtHand("/plain"))
    #expect(isAtHand("/7"))
    #expect(engine.responseInMemory(.get, "no URL", [:]) == nil)
  }
}
