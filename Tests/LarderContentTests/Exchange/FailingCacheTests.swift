import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("A failing cache does not fail requests", .timeLimit(.minutes(5)))
struct FailingCacheTests {
  @Test(
    "If any step fails, responses are still returned",
    arguments: [
      ShelfCache.Step.entry, .store, .remove, .update, .makeWriter, .append, .commit,
    ])
  func everyStep(step: ShelfCache.Step) async throws {
    let rig = EngineRig { request, _ in
      switch request.method {
      case .put: .init(204)
      case .head: .init(200, ["ETag": "\"2\""])
      default:
        request.fields.contains(.ifNoneMatch)
          ? .init(304) : .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=1", "Cache-Groups": "\"g\""], "one")
      }
    }
    let user: HTTPFields = [.authorization: "Bearer x"]
    // With entries that were stored before, and without.
    _ = try await rig.line()
    rig.shelf.fail(step)
    for fields in [[:], user] {
      #expect(try await rig.line("/a", fields).hasPrefix("200 one"))
      rig.clock.pass(seconds: 5)
      #expect(try await rig.line("/a", fields).hasPrefix("200 one"))
      #expect(try await rig.line("/b", fields).hasPrefix("200 one"))
      #expect(try await rig.line(method: .head, fields).hasPrefix("200  "))
      #expect(try await rig.line(method: .put, fields) == "204  network")
      #expect(try await rig.line("/a", fields).hasPrefix("200 one"))
    }
    // Nothing is removed here, where everything else works.
    #expect(rig.diagnostics.all.isEmpty == (step == .remove))
  }

  @Test("a write that fails in the middle leaves every reader with all of the content")
  func inTheMiddle() async throws {
    let rig = EngineRig(nil) { $0.readAheadByteLimit = 4 }
    let tasks = (0..<3).map { _ in immediately { try await rig.line("/a?secret=1") } }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: 15)
    exchange.send("one")
    await exchange.taken(but: 0)
    rig.shelf.fail(.append, .full(path: "shelf"))
    for text in ["two", "thr", "fou", "fiv"] { exchange.send(text) }
    exchange.finish()
    for task in tasks { #expect(try await task.value == "200 onetwothrfoufiv network") }
    #expect(rig.shelf.keys.isEmpty)
    #expect(rig.diagnostics.all.count == 1)
    let failure = try #require(rig.diagnostics.first("cacheWriteFailed"))
    #expect(failure.module == "LarderContent" && failure.level == .warning && failure.fields == ["url": "http://h/a"])
    #expect(failure.error as? CacheError == .full(path: "shelf"))
  }

  @Test("a reader that is behind when spooled content cannot be read back gets it from the server once more")
  func unreadableSpool() async throws {
    let rig = EngineRig()
    let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    let opening = immediately { try await rig.response() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(200, fields, length: 9)
    let first = try await opening.value
    var content = first.response.body.makeAsyncIterator()
    for piece in ["one", "two"] {
      exchange.send(piece)
      #expect(try await content.next() == Array(piece.utf8))
    }
    rig.shelf.fail(.read)
    let late = immediately { try await rig.line() }
    let again = await rig.network.exchange(1)
    again.respond(200, fields, length: 9)
    again.send("onetwoend")
    again.finish()
    #expect(try await late.value == "200 onetwoend network")
    exchange.send("end")
    exchange.finish()
    #expect(try await content.next() == Array("end".utf8))
    #expect(try await content.next() == nil)
    #expect(rig.diagnostics.all.count == 1)
  }

  @Test("content that cannot be read is dropped and fetched again")
  func unreadable() async throws {
    let rig = EngineRig { _, _ in .init(200, ["Cache-Control": "max-age=60"], "new") }
    let metadata = CacheMetadata(
      url: "http://h/a", status: 200, fields: ["Cache-Control": "max-age=60"], requestTime: rig.clock.now,
      responseTime: rig.clock.now)
    let entry = CacheEntry(metadata: metadata, length: 3) { _ throws(CacheError) in
      throw CacheError.corrupt(path: "shelf", reason: "a test")
    }
    rig.shelf.put(entry, "http://h/a")
    #expect(try await rig.line() == "200 new network")
    #expect(rig.shelf.log.first == "remove http://h/a")
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("an entry that is gone when its 304 comes is fetched again, without a condition")
  func vanished() async throws {
    let rig = EngineRig { request, _ in
      request.fields.contains(.ifNoneMatch)
        ? .init(304, ["ETag": "\"1\""]) : .init(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "new")
    }
    let metadata = CacheMetadata(
      url: "http://h/a", status: 200, fields: ["ETag": "\"1\""], requestTime: rig.clock.now,
      responseTime: rig.clock.now)
    let entry = CacheEntry(metadata: metadata, length: 3) { _ throws(CacheError) in throw CacheError.gone }
    rig.shelf.put(entry, "http://h/a")
    #expect(try await rig.line() == "200 new network")
    #expect(rig.network.requests.map { $0.fields[.ifNoneMatch] } == ["\"1\"", nil])
  }

  @Test("a 304 about something else is followed by a request without a condition")
  func foreign304() async throws {
    let rig = EngineRig { request, index in
      request.fields.contains(.ifNoneMatch)
        ? .init(304, ["ETag": "\"9\""])
        : .init(200, ["ETag": "\"\(index)\"", "Cache-Control": "max-age=1"], "v\(index)")
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 5)
    #expect(try await rig.line() == "200 v2 network")
  }

  @Test("an error that unreadable stale content was to replace is discarded if the second request fails too")
  func unreadableStale() async throws {
    let rig = EngineRig()
    let metadata = CacheMetadata(
      url: "http://h/a", status: 200, fields: ["Cache-Control": "max-age=1, stale-if-error=60", "ETag": "\"1\""],
      requestTime: rig.clock.now, responseTime: rig.clock.now)
    let entry = CacheEntry(metadata: metadata, length: 3) { _ throws(CacheError) in throw CacheError.gone }
    rig.shelf.put(entry, "http://h/a")
    rig.clock.pass(seconds: 5)
    let task = immediately { try await rig.line() }
    let exchange = await rig.network.exchange(0)
    exchange.respond(503, length: 1 << 20)
    await rig.network.exchange(1).fail(.connectionLost(reason: "x"))
    await #expect(throws: HTTPTransportError.connectionLost(reason: "x")) { try await task.value }
    // That response is no longer read.
    await exchange.contentEnded()
  }

  @Test(
    "responses stored for clients are found again, although the cache has evicted what their keys are computed from")
  func droppedSalt() async throws {
    let rig = EngineRig { _, index in .init(200, ["Cache-Control": "max-age=100"], "\(index)") }
    let anna: HTTPFields = [.authorization: "Bearer anna"]
    #expect(try await rig.line("/a", anna) == "200 0 network")
    try await rig.shelf.removeEntry(forKey: " #salt")
    for index in 0..<64 { _ = try await rig.line("/b\(index)") }
    var options = HTTPCacheOptions()
    options.environment = .at { rig.clock.now }
    let next = HTTPCache(cache: rig.shelf, transport: rig.network, options: options)
    #expect(try await EngineRig.line(next.response(to: rig.request("/a", anna))) == "200 0 memory")
  }
}
