import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@Suite("Stored content that is damaged after its beginning", .timeLimit(.minutes(5)))
struct DamagedContentTests {
  /// An entry of so many bytes that can be read up to a place, and how much of it was read.
  private static func entry(_ length: Int, damagedAt place: Int, _ rig: EngineRig) -> CacheEntry {
    let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    let metadata = CacheMetadata(
      url: "http://h/a", status: 200, fields: fields, requestTime: rig.clock.now, responseTime: rig.clock.now)
    return CacheEntry(metadata: metadata, length: length) { range throws(CacheError) in
      guard range.upperBound <= place else { throw CacheError.corrupt(path: "shelf", reason: "a test") }
      return [UInt8](repeating: 0x6F, count: range.count)
    }
  }

  @Test(
    "Up to the limit the server is requested instead; beyond it the intact part is returned, then an error",
    arguments: [(100_000, true), (1 << 20, true), (1 << 20 + 1, false), (3 << 20, false)])
  func limit(length: Int, isChecked: Bool) async throws {
    let rig = EngineRig { _, _ in .init(200, ["Cache-Control": "max-age=60"], "new") }
    rig.shelf.put(Self.entry(length, damagedAt: length - 1, rig), "http://h/a")
    let response = try await rig.response()
    if isChecked {
      #expect(try await EngineRig.line(response) == "200 new network")
      #expect(rig.network.requests.first?.fields.contains(.ifNoneMatch) == false)
    } else {
      #expect(response.origin == .disk)
      var count = 0
      await #expect(throws: HTTPTransportError.self) {
        for try await bytes in response.response.body { count += bytes.count }
      }
      #expect(count == (length - 1) / 65_536 * 65_536)
    }
    #expect(rig.diagnostics.all.count == 1)
    let damage = try #require(rig.diagnostics.first("entryDamaged"))
    #expect(damage.level == .error && damage.fields == ["url": "http://h/a"])
    #expect(damage.error as? CacheError == .corrupt(path: "shelf", reason: "a test"))
  }

  @Test("With the caller's limit, content of any length is checked first")
  func ownLimit() async throws {
    let rig = EngineRig { _, _ in
      .init(200, [:], "new")
    } configure: {
      $0.checkedByteLimit = .max
    }
    rig.shelf.put(Self.entry(3 << 20, damagedAt: (3 << 20) - 1, rig), "http://h/a")
    #expect(try await rig.line() == "200 new network")
    let whole = EngineRig { _, _ in
      nil
    } configure: {
      $0.checkedByteLimit = .max
    }
    whole.shelf.put(Self.entry(3 << 20, damagedAt: .max, whole), "http://h/a")
    #expect(try await whole.response().response.body.collect().count == 3 << 20)
  }

  @Test("Ranges are checked like whole content", arguments: ["bytes=0-99999", "bytes=0-9,99990-99999"])
  func ranges(range: String) async throws {
    let rig = EngineRig { _, _ in .init(200, ["Cache-Control": "max-age=60"], "new") }
    rig.shelf.put(Self.entry(200_000, damagedAt: 99_999, rig), "http://h/a")
    let response = try await rig.response("/a", ["Range": range])
    #expect(response.origin == .network)
    response.response.body.cancel()
    #expect(rig.network.requests.count == 1)
  }

  @Test("If stored content is damaged, the value comes from the server, for any content length")
  func value() async throws {
    let rig = ManagerRig { _, _ in .init(200, ["Cache-Control": "max-age=60"], "new") }
    rig.rig.shelf.put(Self.entry(3 << 20, damagedAt: 2 << 20, rig.rig), "http://h/a")
    #expect(await rig.trace(rig.query()) == ["final new network"])
    var query = rig.query()
    query.policy = .cacheOnly
    rig.rig.shelf.put(Self.entry(3 << 20, damagedAt: 2 << 20, rig.rig), "http://h/a")
    let trace = await rig.trace(query)
    #expect(trace.count == 1 && trace.first?.hasPrefix("error transport") == true, "\(trace)")
  }

  @Test("A stored response is checked before a part completes it")
  func completion() async throws {
    let rig = EngineRig { request, _ in
      request.fields.contains(.range)
        ? .init(
          206, ["ETag": "\"1\"", "Content-Range": "bytes 100000-100002/100003", "Cache-Control": "max-age=60"], "end")
        : .init(200, ["ETag": "\"2\"", "Cache-Control": "max-age=60"], "new")
    }
    let fields: HTTPFields = [
      "Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Length": "100003",
    ]
    let metadata = CacheMetadata(
      url: "http://h/a", status: 200, fields: fields, requestTime: rig.clock.now, responseTime: rig.clock.now,
      content: .parts([0..<100_000], length: 100_003))
    rig.shelf.put(
      CacheEntry(metadata: metadata, length: 100_000) { range throws(CacheError) in
        guard range.upperBound < 100_000 else { throw CacheError.corrupt(path: "shelf", reason: "a test") }
        return [UInt8](repeating: 0x6F, count: range.count)
      }, "http://h/a")
    #expect(try await rig.line() == "200 new network")
    #expect(rig.network.requests.map { $0.fields.contains(.range) } == [true, false])
  }
}
