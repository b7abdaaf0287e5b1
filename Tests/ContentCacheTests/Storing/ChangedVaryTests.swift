import ContentCache
import HTTPCore
import Testing

@Suite("Entity tags and Vary that differ between variants (RFC 9111 §4.1, §4.3.4)", .timeLimit(.minutes(5)))
struct ChangedVaryTests {
  private static let german: HTTPFields = ["Accept-Language": "de"]
  private static let english: HTTPFields = ["Accept-Language": "en"]

  /// A server that compresses on the fly, and then makes the tag weak.
  private static func compressing(_ request: HTTPRequest) -> HandNetwork.Scripted {
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
  func weakAnswer() async throws {
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
    options.now = { rig.clock.now }
    let offline = HTTPCache(cache: rig.shelf, transport: NotModifiedTransport(), options: options)
    let error = await #expect(throws: HTTPTransportError.self) {
      try await EngineRig.line(offline.answer(rig.request("/a", Self.english)))
    }
    #expect(error?.isTransient == true)
    rig.clock.pass(seconds: 11)
    #expect(try await EngineRig.line(offline.answer(rig.request("/a", Self.german))) == "200 de validated")
  }
}

/// Fields of both, those of the second in place of the first one's.
func + (left: HTTPFields, right: HTTPFields) -> HTTPFields {
  var fields = left
  for field in right { fields[field.name] = field.value }
  return fields
}
