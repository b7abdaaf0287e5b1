import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Ranges through the engine (RFC 9110 §14, RFC 9111 §3.3, §3.4)", .timeLimit(.minutes(5)))
struct RangesThroughEngineTests {
  static let alphabet = RangedOrigin("abcdefghijklmnopqrstuvwxyz")

  @Test("a complete response serves any range, and says which")
  func fromWhole() async throws {
    let rig = EngineRig(Self.alphabet)
    #expect(try await rig.line([:]) == "200 abcdefghijklmnopqrstuvwxyz network")
    #expect(try await rig.range("0-1") == "206 ab memory")
    #expect(try await rig.range("-3") == "206 xyz memory")
    #expect(try await rig.range("24-") == "206 yz memory")
    #expect(try await rig.range("30-") == "416  memory")
    let response = try await rig.response("/a", ["Range": "bytes=2-4"])
    #expect(response.response.fields["Content-Range"] == "bytes 2-4/26")
    #expect(response.response.fields["Content-Length"] == "3")
    #expect(response.response.fields["Cache-Status"] == "larder; hit; ttl=60")
    #expect(response.response.body.length == 3)
    #expect(rig.network.requests.count == 1)
  }

  @Test("several ranges of a whole are a multipart")
  func multipart() async throws {
    let rig = EngineRig(RangedOrigin(PartialSamples.bytes(1000)))
    _ = try await rig.line([:])
    let response = try await rig.response("/a", ["Range": "bytes=0-1,500-501"])
    let text = PartialSamples.text(try await response.response.body.collect())
    let type = try #require(response.response.fields["Content-Type"])
    #expect(type.hasPrefix("multipart/byteranges; boundary="))
    let boundary = type.dropFirst("multipart/byteranges; boundary=".count)
    #expect(text.components(separatedBy: "--\(boundary)").count == 4)
    #expect(text.contains("Content-Range: bytes 500-501/1000\r\n\r\ngh\r\n"))
    #expect(response.response.fields["Content-Length"] == String(text.utf8.count))
  }

  @Test("a stored part serves the ranges inside it, for as long as it is fresh")
  func fromPart() async throws {
    let rig = EngineRig(Self.alphabet)
    #expect(try await rig.range("-6") == "206 uvwxyz network")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([20..<26], length: 26))
    #expect(try await rig.range("-6") == "206 uvwxyz memory")
    #expect(try await rig.range("22-23") == "206 wx memory")
    #expect(try await rig.range("24-") == "206 yz memory")
    #expect(try await rig.range("-1") == "206 z memory")
    #expect(rig.network.requests.count == 1)
    rig.clock.pass(seconds: 61)
    #expect(try await rig.range("22-23") == "206 wx validated")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"v1\"")
    #expect(try await rig.range("22-23") == "206 wx memory")
  }

  @Test("two parts are combined, and what lies between is fetched when it is wanted")
  func combines() async throws {
    let rig = EngineRig(Self.alphabet)
    #expect(try await rig.range("0-4") == "206 abcde network")
    #expect(try await rig.range("10-14") == "206 klmno network")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([0..<5, 10..<15], length: 26))
    #expect(try await rig.range("2-12") == "206 cdefghijklm network")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([0..<15], length: 26))
    #expect(try await rig.line([:]) == "200 abcdefghijklmnopqrstuvwxyz network")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .whole)
    #expect(try await rig.line([:]) == "200 abcdefghijklmnopqrstuvwxyz memory")
    #expect(
      rig.requestedRanges == ["bytes=0-4", "bytes=10-14 if \"v1\"", "bytes=5-9 if \"v1\"", "bytes=15- if \"v1\""])
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("A completed response has its Cache-Status (RFC 9211 §2.2)")
  func cacheStatus() async throws {
    let rig = EngineRig(Self.alphabet)
    _ = try await rig.range("0-4")
    let response = try await rig.response("/a")
    #expect(response.response.fields["Cache-Status"] == "larder; fwd=partial; fwd-status=206")
    #expect(response.response.fields["Content-Length"] == "26")
    #expect(response.response.fields["Content-Range"] == nil)
    #expect(response.response.body.length == 26)
  }

  @Test("a representation that has changed meanwhile is never mixed with the stored one")
  func changed() async throws {
    let rig = EngineRig { request, index in
      var origin = RangedOrigin(index == 0 ? "abcdefghij" : "ABCDEFGHIJ")
      origin.etag = index == 0 ? "\"v1\"" : "\"v2\""
      return origin.scripted(request)
    }
    #expect(try await rig.range("0-4") == "206 abcde network")
    // If-Range fails, the server sends everything, the request still gets its range.
    let response = try await rig.response("/a", ["Range": "bytes=3-6"])
    #expect(response.response.fields["Content-Range"] == "bytes 3-6/10")
    #expect(response.response.fields["Cache-Status"] == "larder; fwd=partial; fwd-status=200")
    #expect(try await EngineRig.line(response) == "206 DEFG network")
    #expect(try await rig.line([:]) == "200 ABCDEFGHIJ memory")
  }

  @Test(
    "if a server ignores If-Range, or contradicts itself, the client's request is sent again",
    arguments: [
      ManualNetwork.Scripted(206, ["ETag": "\"v2\"", "Content-Range": "bytes 5-9/10"], "FGHIJ"),
      .init(206, ["Content-Range": "bytes 5-9/10"], "FGHIJ"),
      .init(206, ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/11"], "FGHIJ"), .init(206, ["ETag": "\"v1\""], "FGHIJ"),
      .init(206, ["ETag": "\"v1\"", "Content-Range": "bytes 0-4/10"], "ABCDE"),
      .init(416, ["Content-Range": "bytes */10"]), .init(304, ["ETag": "\"v1\""]),
    ])
  func contradiction(response: ManualNetwork.Scripted) async throws {
    let rig = EngineRig { request, index in
      if index == 1 { return response }
      return RangedOrigin("abcdefghij").scripted(request)
    }
    _ = try await rig.range("0-4")
    #expect(try await rig.line([:]) == "200 abcdefghij network")
    #expect(rig.requestedRanges == ["bytes=0-4", "bytes=5- if \"v1\"", "all"])
    #expect(try await rig.line([:]) == "200 abcdefghij memory")
  }

  @Test("an error of the server goes to the client and leaves the parts")
  func serverError() async throws {
    let rig = EngineRig { request, index in
      index == 1 ? .init(503, [:], "busy") : RangedOrigin("abcdefghij").scripted(request)
    }
    _ = try await rig.range("0-4")
    #expect(try await rig.line([:]) == "503 busy network")
    #expect(try await rig.range("1-2") == "206 bc memory")
    #expect(try await rig.line([:]) == "200 abcdefghij network")
  }

  @Test("without a strong validator parts are not combined; the newer takes the place of the older")
  func weak() async throws {
    var origin = Self.alphabet
    origin.etag = "W/\"v1\""
    let rig = EngineRig(origin)
    _ = try await rig.range("0-4")
    #expect(try await rig.range("3-6") == "206 defg network")
    #expect(try await rig.range("4-5") == "206 ef memory")
    #expect(try await rig.range("0-1") == "206 ab network")
    #expect(rig.requestedRanges == ["bytes=0-4", "bytes=3-6", "bytes=0-1"])
  }

  @Test("no-store keeps parts out of the cache, earlier ones too, but not out of the response (RFC 9111 §5.2.2.5)")
  func noStore() async throws {
    let rig = EngineRig { request, index in
      var origin = Self.alphabet
      if index > 0 { origin.fields[.cacheControl] = "no-store" }
      return origin.scripted(request)
    }
    _ = try await rig.range("0-4")
    #expect(try await rig.range("3-6") == "206 defg network")
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await rig.range("20-21", ["Cache-Control": "no-store"]) == "206 uv network")
  }

  @Test("a part of what is stored whole leaves the whole where it is")
  func partOfWhole() async throws {
    let rig = EngineRig { request, index in
      var request = request
      // A server that knows ranges, but no conditions.
      request.fields[.ifNoneMatch] = nil
      return Self.alphabet.scripted(request)
    }
    _ = try await rig.line([:])
    rig.clock.pass(seconds: 61)
    #expect(try await rig.range("0-1") == "206 ab network")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .whole)
    #expect(try await rig.line([:]) == "200 abcdefghijklmnopqrstuvwxyz memory")
  }

  @Test("several ranges from the server, other units and parts without a range are not kept")
  func notStored() async throws {
    let responses: [ManualNetwork.Scripted] = [
      .init(206, ["Content-Type": "multipart/byteranges; boundary=a", "Cache-Control": "max-age=9"], "--a"),
      .init(206, ["Content-Range": "items 0-1/2", "Cache-Control": "max-age=9"], "ab"),
      .init(206, ["Cache-Control": "max-age=9"], "ab"),
      .init(206, ["Content-Range": "bytes 5-2/9", "Cache-Control": "max-age=9"], "ab"),
    ]
    let rig = EngineRig { _, index in responses[index] }
    for response in responses {
      #expect(try await rig.range("0-1") == "206 \(response.body) network")
      #expect(rig.shelf["http://h/a"] == nil)
    }
    // Nor a 206 that was not requested.
    let odd = EngineRig { _, _ in .init(206, ["Content-Range": "bytes 0-1/9", "Cache-Control": "max-age=9"], "ab") }
    #expect(try await odd.line([:]) == "206 ab network")
    #expect(odd.shelf["http://h/a"] == nil)
  }

  @Test("content that is shorter than its Content-Range is kept as what it is")
  func shorter() async throws {
    let rig = EngineRig { request, index in
      index == 0
        ? .init(206, ["Content-Range": "bytes 4-9/20", "Cache-Control": "max-age=9"], "efghi")
        : .init(200, [:], "other")
    }
    _ = try await rig.range("4-9")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([4..<9], length: 20))
    #expect(try await rig.range("5-8") == "206 fghi memory")
    #expect(try await rig.range("4-9") == "200 other network")
  }

  @Test("HEAD has no ranges, and is forwarded where only parts are stored")
  func head() async throws {
    let rig = EngineRig { request, _ in
      request.method == .head ? .init(200, ["ETag": "\"v1\"", "A": "new"]) : Self.alphabet.scripted(request)
    }
    _ = try await rig.range("0-4")
    #expect(try await rig.line("/a", method: .head, ["Range": "bytes=0-1"]) == "200  network")
    #expect(rig.shelf["http://h/a"]?.metadata.fields["A"] == "new")
    _ = try await rig.line([:])
    #expect(try await rig.line("/a", method: .head, ["Range": "bytes=0-1"]) == "200  memory")
  }

  @Test("requests that must not go to the network get the parts that are there, else 504")
  func offline() async throws {
    let rig = EngineRig(Self.alphabet)
    _ = try await rig.range("0-4")
    #expect(try await rig.range("1-2", ["Cache-Control": "only-if-cached"]) == "206 bc memory")
    #expect(try await rig.range("4-5", ["Cache-Control": "only-if-cached"]) == "504  generated")
    #expect(try await rig.line("/a", policy: .cacheOnly) == "504  generated")
  }

  @Test("everybody who waits for the whole shares its completion")
  func shared() async throws {
    let rig = EngineRig()
    async let first = rig.range("0-4")
    let part = await rig.network.exchange(0)
    part.respond(
      206, ["ETag": "\"v1\"", "Cache-Control": "max-age=9", "Content-Range": "bytes 0-4/10"], length: 5)
    part.send("abcde")
    part.finish()
    #expect(try await first == "206 abcde network")
    async let one = rig.line([:])
    let rest = await rig.network.exchange(1)
    async let two = rig.line([:])
    rest.respond(206, ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/10", "Cache-Control": "max-age=9"], length: 5)
    rest.send("fg")
    rest.send("hij")
    rest.finish()
    #expect(try await one == "200 abcdefghij network")
    #expect(["200 abcdefghij network", "200 abcdefghij memory"].contains(try await two))
    #expect(rig.network.requests.count == 2)
  }

  @Test("variants are completed each by itself (RFC 9111 §4.1)")
  func variants() async throws {
    let rig = EngineRig { request, _ in
      let language = request.fields["Accept-Language"] ?? ""
      var origin = RangedOrigin(language == "de" ? "eins zwei drei" : "one two three ")
      origin.etag = "\"\(language)\""
      origin.fields["Vary"] = "Accept-Language"
      return origin.scripted(request)
    }
    #expect(try await rig.range("0-3", ["Accept-Language": "de"]) == "206 eins network")
    #expect(try await rig.range("0-2", ["Accept-Language": "en"]) == "206 one network")
    #expect(try await rig.line(["Accept-Language": "de"]) == "200 eins zwei drei network")
    #expect(try await rig.line(["Accept-Language": "en"]) == "200 one two three  network")
    #expect(try await rig.line(["Accept-Language": "de"]) == "200 eins zwei drei memory")
    #expect(
      rig.requestedRanges == ["bytes=0-3", "bytes=0-2", "bytes=4- if \"de\"", "bytes=3- if \"en\""])
  }

  @Test("A cache that cannot read its parts is bypassed")
  func unreadable() async throws {
    let rig = EngineRig(Self.alphabet)
    _ = try await rig.range("0-4")
    let metadata = try #require(rig.shelf["http://h/a"]?.metadata)
    let read: @Sendable (Range<Int>) async throws(CacheError) -> [UInt8] = { _ throws(CacheError) in throw .gone }
    rig.shelf.put(CacheEntry(metadata: metadata, length: 5, read: read), "http://h/a")
    #expect(try await rig.range("1-2") == "206 bc network")
    rig.shelf.put(CacheEntry(metadata: metadata, length: 5, read: read), "http://h/a")
    #expect(try await rig.line([:]) == "200 abcdefghijklmnopqrstuvwxyz network")
    #expect(rig.diagnostics.all.count == 2)
  }
}
