import Foundation
import LarderContent
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Interrupted and resumed downloads (RFC 9111 §3.3)", .timeLimit(.minutes(5)))
struct InterruptionTests {
  static let head: HTTPFields = ["ETag": "\"v1\"", "Cache-Control": "max-age=60"]

  static func read(_ response: CachedResponse) async -> (String, HTTPTransportError?) {
    var bytes: [UInt8] = []
    do {
      for try await chunk in response.response.body { bytes += chunk }
      return (PartialSamples.text(bytes), nil)
    } catch {
      return (PartialSamples.text(bytes), error as? HTTPTransportError)
    }
  }

  @Test("The received part is stored, and only the rest is requested")
  func resumes() async throws {
    let rig = EngineRig()
    async let broken = Self.read(rig.response())
    let first = await rig.network.exchange(0)
    var head = Self.head
    head[.contentLength] = "10"
    first.respond(200, head, length: 10)
    first.send("abcd")
    first.breakOff()
    #expect(try await broken == ("abcd", .connectionLost(reason: "broken by the test")))
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([0..<4], length: 10))
    #expect(try await rig.range("1-2") == "206 bc memory")
    async let whole = rig.line([:])
    let second = await rig.network.exchange(1)
    #expect(second.request.fields["Range"] == "bytes=4-")
    #expect(second.request.fields["If-Range"] == "\"v1\"")
    head[.contentLength] = "6"
    head["Content-Range"] = "bytes 4-9/10"
    second.respond(206, head, length: 6)
    second.send("efghij")
    second.finish()
    #expect(try await whole == "200 abcdefghij network")
    #expect(try await rig.line([:]) == "200 abcdefghij memory")
  }

  @Test("An interrupted completion is stored together with the previous content")
  func breaksAgain() async throws {
    let rig = EngineRig()
    let content = Array("abcdefghijklmnopqrst".utf8)
    rig.shelf.put(
      PartialSamples.parts([0..<4, 16..<20], of: content, length: 20, fields: ["ETag": "\"v1\""]), "http://h/a")
    async let broken = Self.read(rig.response())
    let first = await rig.network.exchange(0)
    #expect(first.request.fields["Range"] == "bytes=4-15")
    var head = Self.head
    head["Content-Range"] = "bytes 4-15/20"
    first.respond(206, head, length: 12)
    first.send("efgh")
    first.breakOff()
    #expect(try await broken.0 == "abcdefgh")
    let entry = try #require(rig.shelf["http://h/a"])
    #expect(entry.metadata.content == .parts([0..<8, 16..<20], length: 20))
    #expect(PartialSamples.text(try await entry.read(0..<12)) == "abcdefghqrst")
  }

  @Test("a server that keeps sending after the missing part does not delay the reader")
  func sendsOn() async throws {
    let rig = EngineRig()
    rig.shelf.put(
      PartialSamples.parts([0..<4], of: PartialSamples.bytes(10), length: 10, fields: ["ETag": "\"v1\""]),
      "http://h/a")
    let task = immediately { try await rig.line([:]) }
    let exchange = await rig.network.exchange(0)
    var head = Self.head
    head["Content-Range"] = "bytes 4-9/10"
    exchange.respond(206, head)
    exchange.send("efghij")
    for _ in 0..<64 { exchange.send([UInt8](repeating: 0, count: 1 << 14)) }
    exchange.finish()
    #expect(try await task.value == "200 abcdefghij network")
    #expect(exchange.untaken >= 32)
    #expect(try await rig.line([:]) == "200 abcdefghij memory")
  }

  @Test("nothing is kept without a validator or a length, nor in place of a whole response")
  func notStored() async throws {
    for (fields, length) in [(["Content-Length": "10"], 10), (["ETag": "\"v1\""], nil)] as [(HTTPFields, Int?)] {
      let rig = EngineRig()
      async let broken = Self.read(rig.response())
      let exchange = await rig.network.exchange(0)
      exchange.respond(200, fields, length: length)
      exchange.send("abcd")
      exchange.breakOff()
      #expect(try await broken.0 == "abcd")
      #expect(rig.shelf["http://h/a"] == nil)
    }
    let rig = EngineRig()
    rig.shelf.put(PartialSamples.whole(Array("old".utf8)), "http://h/a")
    async let broken = Self.read(rig.response())
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["ETag": "\"v2\"", "Content-Length": "10"], length: 10)
    exchange.send("abcd")
    exchange.breakOff()
    #expect(try await broken.0 == "abcd")
    #expect(rig.shelf["http://h/a"]?.metadata.content == .whole)
  }

  @Test("If a reader leaves a long download, the received part is stored for the next one")
  func abandoned() async throws {
    let rig = EngineRig(configure: { $0.abandonedByteLimit = 0 })
    var response: CachedResponse? = nil
    async let begun = rig.response()
    let first = await rig.network.exchange(0)
    var head = Self.head
    head[.contentLength] = "10"
    first.respond(200, head, length: 10)
    first.send("abcd")
    response = try await begun
    var reading = response?.response.body.makeAsyncIterator()
    #expect(try await reading?.next() == Array("abcd".utf8))
    reading = nil
    response = nil
    await first.contentEnded()
    await rig.engine.close()
    #expect(rig.shelf["http://h/a"]?.metadata.content == .parts([0..<4], length: 10))
  }

  @Test("over a real connection: an interrupted download resumes where it stopped")
  func overTheWire() async throws {
    let content = PartialSamples.bytes(300_000)
    let server = try ScriptedServer { request in
      if request.index == 0 {
        return .response(200, fields: Self.head, bytes: content).truncated(to: 100_000)
      }
      var origin = RangedOrigin(content)
      origin.fields = ["Cache-Control": "max-age=60"]
      let response = origin.response(HTTPRequest(url: URL(filePath: "/"), fields: request.fields))
      return .response(response.status, fields: response.fields, bytes: response.content)
    }
    defer { server.stop() }
    let cache = MemoryCache()
    let engine = HTTPCache(cache: cache, transport: try CurlTransport())
    let url = server.url("/a")
    let (bytes, error) = try await Self.read(engine.response(to: HTTPRequest(url: url)))
    #expect(error != nil)
    let entry = try #require(try await cache.entry(forKey: url.absoluteString))
    #expect(entry.metadata.content == .parts([0..<bytes.utf8.count], length: 300_000))
    let whole = try await engine.response(to: HTTPRequest(url: url))
    #expect(try await whole.response.body.collect() == content)
    let range = try await engine.response(to: HTTPRequest(url: url, fields: ["Range": "bytes=99990-100009"]))
    #expect(range.origin == .memory)
    #expect(try await range.response.body.collect() == Array(content[99_990..<100_010]))
    #expect(server.requests.map { $0.fields["Range"] ?? "all" } == ["all", "bytes=\(bytes.utf8.count)-"])
    await engine.close()
  }
}
