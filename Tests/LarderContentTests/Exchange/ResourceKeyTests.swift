import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("The resource that a request is about", .timeLimit(.minutes(5)))
struct ResourceKeyTests {
  @Test(
    "equal spellings of a URL are one key (RFC 9110 §4.2.3, RFC 3986 §6.2.2)",
    arguments: [
      ("HTTP://Host:80", "http://host/"), ("https://h:443/a", "https://h/a"), ("http://h:/a#f", "http://h/a"),
      ("http://h?q", "http://h/?q"), ("http://h/%7ea%2Db?%41=%5f", "http://h/~a-b?A=_"),
      ("http://h/a%c3%a9", "http://h/a%C3%A9"), ("http://h/%2f%27+%20", "http://h/%2F%27+%20"),
      ("http://h/a%2Fb", "http://h/a%2Fb"), ("http://h/%zz%4", "http://h/%zz%4"),
      ("http://h/%25%37%65", "http://h/%257e"),
      ("http://h:8080/A/../b", "http://h:8080/A/../b"), ("http://h/%", "http://h/%"),
    ])
  func spellings(url: String, key: String) {
    #expect(ResourceKey.normalised(url) == key)
    #expect(ResourceKey.normalised(key) == key)
  }

  @Test(
    "the Host of a request names the resource with its URL (RFC 9110 §7.1)",
    arguments: [
      (nil, "http://h/a"), ("h", "http://h/a"), ("H:80", "http://h/a"), ("other", "http://h/a ^other"),
      ("Other:81", "http://h/a ^other:81"),
    ] as [(String?, String)])
  func hosts(host: String?, resource: String) {
    let found = ResourceKey.of("http://h/a", host: host)
    #expect(found == resource)
    #expect(ResourceKey.url(of: found) == "http://h/a")
    #expect(ResourceKey.origin(of: found) == "http://h")
  }

  @Test("responses for another Host are stored apart, and a change by one Host invalidates its own only")
  func storedApart() async throws {
    let rig = EngineRig { request, _ in
      .init(200, ["Cache-Control": "max-age=60"], request.fields["Host"] ?? "url's own")
    }
    #expect(try await rig.line("/a", ["Host": "one"]) == "200 one network")
    #expect(try await rig.line("/a") == "200 url's own network")
    #expect(try await rig.line("/a", ["Host": "two"]) == "200 two network")
    #expect(try await rig.line("/a", ["Host": "ONE"]) == "200 one memory")
    #expect(try await rig.line("/a", ["Host": "h"]) == "200 url's own memory")
    _ = try await rig.line("/a", method: .post, ["Host": "one"])
    #expect(try await rig.line("/a") == "200 url's own memory")
    #expect(try await rig.line("/a", ["Host": "one"]) == "200 one network")
    let url = rig.request("/a").url
    try await rig.engine.removeContent(of: HTTPRequest(url: url, fields: ["Host": "two"]))
    #expect(try await rig.line("/a", ["Host": "two"]) == "200 two network")
  }

  @Test("equal spellings share a stored response, and each request keeps its spelling")
  func shared() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=60"], "\(index)") }
    #expect(try await rig.line("/%7eA?x=%c3%a9") == "200 0 network")
    #expect(rig.network.requests.last?.url.absoluteString == "http://h/%7eA?x=%c3%a9")
    #expect(try await rig.line("/~A?x=%C3%A9") == "200 0 memory")
    #expect(try await rig.line("/%7E%41?x=%C3%a9") == "200 0 memory")
    #expect(try await rig.line("/~a?x=%C3%A9") == "200 1 network")
    _ = try await rig.line("/%7EA?x=%C3%A9", method: .put)
    #expect(try await rig.line("/~A?x=%C3%A9") == "200 3 network")
  }

  @Test("entries that an earlier version stored under another spelling are found, invalidated and removed")
  func former() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=60"], "new\(index)") }
    func store(_ key: String) async throws {
      let now = rig.clock.now
      let metadata = CacheMetadata(
        url: key, status: 200, fields: ["Cache-Control": "max-age=60"], requestTime: now, responseTime: now)
      try await rig.shelf.store(CacheEntry(metadata: metadata, bytes: Array("old".utf8)), forKey: key)
    }
    try await store("http://h/%7ea")
    #expect(try await rig.line("/%7ea", policy: .cacheOnly) == "200 old memory")
    #expect(rig.shelf["http://h/%7ea"] == nil)
    #expect(try await rig.line("/~a") == "200 old memory")
    try await store("http://h/%7eb")
    _ = try await rig.line("/%7eb", method: .delete)
    #expect(try await rig.line("/%7eb") == "200 new1 network")
    try await store("http://h/%7ec")
    try await rig.engine.removeContent(of: rig.request("/%7ec"))
    #expect(try await rig.line("/%7ec") == "200 new2 network")
  }
}
