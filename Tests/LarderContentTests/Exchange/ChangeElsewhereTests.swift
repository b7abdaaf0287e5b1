import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

/// Two engines over one folder stand for two processes: they share nothing but its files.
@Suite("Changes by another process during transfers (RFC 9111 §4.4)", .timeLimit(.minutes(5)))
struct ChangeElsewhereTests {
  enum Place: CaseIterable {
    case files, memoryOverFiles
  }

  private static func cache(_ place: Place, _ folder: TemporaryFolder) async throws -> any Cache {
    switch place {
    case .files: try FileCache(path: folder.file("files"))
    case .memoryOverFiles: TieredCache(memory: MemoryCache(), disk: try FileCache(path: folder.file("files")))
    }
  }

  /// An engine whose network accepts every PUT, and leaves GET to the test.
  private static func rig(_ place: Place, _ folder: TemporaryFolder) async throws -> EngineRig {
    EngineRig({ request, _ in request.method == .put ? .init(204) : nil }, over: try await cache(place, folder))
  }

  private func respond(_ exchange: ManualExchange, _ text: String) {
    exchange.respond(200, ["Cache-Control": "max-age=60"], length: text.utf8.count)
    exchange.send(text)
    exchange.finish()
  }

  @Test(
    "a response from before the change is not stored, and no later request gets it", arguments: Place.allCases)
  func change(place: Place) async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (try await Self.rig(place, folder), try await Self.rig(place, folder))
    let first = immediately { try await other.line() }
    let old = await other.network.exchange(0)
    #expect(try await one.line(method: .put) == "204  network")
    let second = immediately { try await other.line() }
    let new = await other.network.exchange(1)
    respond(old, "old")
    #expect(try await first.value == "200 old network")
    respond(new, "new")
    #expect(try await second.value == "200 new network")
    #expect(try await one.line().hasPrefix("200 new "))
    #expect(try await other.line().hasPrefix("200 new "))
    #expect(one.network.requests.count == 1 && other.network.requests.count == 2)
  }

  @Test(
    "a response that is no longer in the files when it is invalidated is not returned from another process's memory",
    arguments: [false, true])
  func evicted(isVariant: Bool) async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (
      try await Self.rig(.memoryOverFiles, folder), try await Self.rig(.memoryOverFiles, folder)
    )
    let first = immediately { try await other.line() }
    let exchange = await other.network.exchange(0)
    var fields: HTTPFields = ["Cache-Control": "max-age=60"]
    if isVariant { fields["Vary"] = "Accept-Language" }
    exchange.respond(200, fields, length: 3)
    exchange.send("old")
    exchange.finish()
    #expect(try await first.value == "200 old network")
    #expect(try await other.line().hasPrefix("200 old "))
    // Room is made for another entry: of the variant first, which is older than the index.
    let small = try FileCache(path: folder.file("files"), byteLimit: isVariant ? 4300 : 4096)
    let metadata = CacheMetadata(url: "u", status: 200, requestTime: 1, responseTime: 1)
    try await small.store(CacheEntry(metadata: metadata, bytes: [UInt8](repeating: 0, count: 3900)), forKey: "u")
    #expect(try await small.entry(forKey: "u") != nil)
    #expect(try await one.line(policy: .cacheOnly).hasPrefix("504"))
    #expect(try await one.line(method: .put) == "204  network")
    #expect(try await other.line(policy: .cacheOnly).hasPrefix("504"))
  }

  @Test("a response from before everything was removed is not kept", arguments: Place.allCases)
  func removal(place: Place) async throws {
    let folder = try TemporaryFolder()
    let (one, other) = (try await Self.rig(place, folder), try await Self.rig(place, folder))
    let first = immediately { try await other.line() }
    let old = await other.network.exchange(0)
    try await one.engine.removeAll()
    respond(old, "old")
    #expect(try await first.value == "200 old network")
    let second = immediately { try await other.line() }
    respond(await other.network.exchange(1), "new")
    #expect(try await second.value == "200 new network")
  }
}
