import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Entity tags and Vary that differ between variants (RFC 9111 §4.1, §4.3.4)", .timeLimit(.minutes(5)))
struct ChangedVaryTests {
  private static let german: HTTPFields = ["Accept-Language": "de"]
  private static let english: HTTPFields = ["Accept-Language": "en"]

  /// A server that compresses on the fly, and then makes the tag weak.
  private static func compressing(_ request: HTTPRequest) -> ManualNetwork.Scripted {
    let head: HTTPFields = ["Vary": "Accept-Encoding", "Cache-Control": "max-age=10"]
    if request.fields.contains(.ifNoneMatch) { return .init(304, head + ["ETag": "\"x\""]) }
    return request.fields.contains("Accept-Encoding")
      ? .init(200, head + ["ETag": "W/\"x\"", "Content-Encoding": "gzip"], "zipped")
      : .init(200, head + ["ETag": "\"x\""], "plain")
  }

  @Test("a weak tag of another variant is not offered: it may name another coding (RFC 9110 §8.8.3.3)")
  func weakTag() async throws {
    let rig = EngineRig { request, _ in Self.compressing(request) }
    #expect(try await rig.line("/a", ["Accept-Encoding": "gzip"]) == "200 zipped network")
    #expect(try await rig.line() == "200 plain network")
    #expect(try await rig.line() == "200 plain memory")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, nil])
  }

  @Test("a 304 that names an offered tag as weak confirms nothing: the request is sent again (§4.3.4)")
  func weakResponse() async throws {
    let rig = EngineRig { request, _ in
      let head: HTTPFields = ["Vary": "Foo", "Cache-Control": "max-age=10"]
      return request.fields.contains(.ifNoneMatch)
        ? .init(304, head + ["ETag": "W/\"1\""])
        : .init(200, head + ["ETag": "\"1\""], request.fields["Foo"] ?? "-")
    }
    #expect(try await rig.line("/a", ["Foo": "a"]) == "200 a network")
    #expect(try await rig.line("/a", ["Foo": "b"]) == "200 b network")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1\"", nil])
  }

  @Test("offline, what was stored for another language is not confirmed for this one")
  func offline() async throws {
    let rig = EngineRig { request, _ in
      let language = request.fields[.acceptLanguage] ?? "-"
      let head: HTTPFields = ["Vary": "Accept-Language", "Cache-Control": "max-age=10"]
      return .init(200, head + ["ETag": "\"\(language)\""], language)
    }
    #expect(try await rig.line("/a", Self.german) == "200 de network")
    var options = HTTPCacheOptions()
    options.environment = .at { rig.clock.now }
    let offline = HTTPCache(cache: rig.shelf, transport: NotModifiedTransport(), options: options)
    let error = await #expect(throws: HTTPTransportError.self) {
      try await EngineRig.line(offline.response(to: rig.request("/a", Self.english)))
    }
    #expect(error?.isTransient == true)
    rig.clock.pass(seconds: 11)
    #expect(try await EngineRig.line(offline.response(to: rig.request("/a", Self.german))) == "200 de validated")
  }

  @Test("an entry under the URL's own key whose Vary the request does not match is not used (§4.1)")
  func storedWithoutIndex() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=10"], "new") }
    for (vary, line) in [("Foo", "200 new network"), ("*", "200 new network"), ("", "200 old memory")] {
      let metadata = CacheMetadata(
        url: "http://h/a", status: 200, fields: ["Cache-Control": "max-age=100", "Vary": vary],
        requestTime: rig.clock.now, responseTime: rig.clock.now)
      rig.shelf.put(CacheEntry(metadata: metadata, bytes: Array("old".utf8)), "http://h/a")
      #expect(try await rig.line("/a", ["Foo": "1"]) == line, "Vary: \(vary)")
    }
  }

  @Test(
    "A Vary changed by a 304 or a response to HEAD applies from then on (§3.2)",
    arguments: [HTTPMethod.get, .head])
  func changed(method: HTTPMethod) async throws {
    let rig = EngineRig { request, index in
      let language = request.fields[.acceptLanguage] ?? "-"
      let head: HTTPFields = ["Vary": "Accept-Language", "Cache-Control": "max-age=100", "ETag": "\"1\""]
      switch index {
      case 0: return .init(200, ["Cache-Control": "max-age=10", "ETag": "\"1\""], "de")
      case 1: return .init(request.method == .head ? 200 : 304, head)
      default: return .init(200, head + ["ETag": "\"\(index)\""], language)
      }
    }
    #expect(try await rig.line("/a", Self.german) == "200 de network")
    rig.clock.pass(seconds: 11)
    _ = try await rig.line("/a", method: method, Self.german)
    #expect(try await rig.line("/a", Self.german) == "200 de memory")
    #expect(try await rig.line("/a", Self.english) == "200 en network")
    #expect(try await rig.line("/a", Self.english) == "200 en memory")
    #expect(try await rig.line("/a", Self.german).hasPrefix("200 de"))
    #expect(try await rig.line("/a", Self.german) == "200 de memory")
  }

  @Test("a variant whose Vary a 304 changes is selected by the new one")
  func changedVariant() async throws {
    let rig = EngineRig { request, index in
      switch index {
      case 0: .init(200, ["Vary": "Foo", "Cache-Control": "max-age=10", "ETag": "\"1\""], "one")
      case 1: .init(304, ["Vary": "Foo, Bar", "Cache-Control": "max-age=100", "ETag": "\"1\""])
      default: .init(200, ["Vary": "Foo, Bar", "Cache-Control": "max-age=100"], "two")
      }
    }
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "1"]) == "200 one network")
    rig.clock.pass(seconds: 11)
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "1"]) == "200 one validated")
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "1"]) == "200 one memory")
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "2"]) == "200 two network")
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "2"]) == "200 two memory")
    #expect(try await rig.line("/a", ["Foo": "1", "Bar": "1"]) == "200 one memory")
  }

  @Test(
    "a stored response that a 304 or a response to HEAD changes to `Vary: *` is removed",
    arguments: [HTTPMethod.get, .head])
  func star(method: HTTPMethod) async throws {
    let rig = EngineRig { request, index in
      index == 1
        ? .init(request.method == .head ? 200 : 304, ["Vary": "*", "Cache-Control": "max-age=100", "ETag": "\"1\""])
        : .init(200, ["Cache-Control": "max-age=10", "ETag": "\"1\""], "\(index)")
    }
    #expect(try await rig.line() == "200 0 network")
    rig.clock.pass(seconds: 11)
    _ = try await rig.line(method: method)
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await rig.line() == "200 2 network")
  }

  @Test("what a part with another Vary completes is selected by that", arguments: ["Foo", "*"])
  func part(vary: String) async throws {
    let rig = EngineRig { request, _ in
      request.fields.contains("Range")
        ? .init(
          206, ["Vary": vary, "ETag": "\"v1\"", "Content-Range": "bytes 4-9/10", "Cache-Control": "max-age=60"],
          "efghij")
        : .init(200, ["Vary": "Foo", "ETag": "\"v2\"", "Cache-Control": "max-age=60"], "other")
    }
    rig.shelf.put(
      PartialSamples.parts([0..<4], of: PartialSamples.bytes(10), length: 10, fields: ["ETag": "\"v1\""]),
      "http://h/a")
    #expect(try await rig.line("/a", ["Foo": "1"]) == "200 abcdefghij network")
    #expect(
      try await rig.line("/a", ["Foo": "1"]) == (vary == "*" ? "200 other network" : "200 abcdefghij memory"))
    #expect(try await rig.line("/a", ["Foo": "2"]) == "200 other network")
  }
}

/// Fields of both, those of the second in place of the first one's.
func + (left: HTTPFields, right: HTTPFields) -> HTTPFields {
  var fields = left
  for field in right { fields[field.name] = field.value }
  return fields
}
