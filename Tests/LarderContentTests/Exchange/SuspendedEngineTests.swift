import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("A suspended content manager", .timeLimit(.minutes(5)))
struct SuspendedEngineTests {
  private static let fresh: HTTPFields = ["Cache-Control": "max-age=1000"]

  private static func kind(_ manager: ContentManager, _ query: ContentQuery<String>) async -> String {
    do throws(ContentError) { return try await manager.content(of: query).value } catch {
      if case .transport(.suspended) = error.category { return "suspended" }
      return "\(error.category)"
    }
  }

  @Test("ends transfers in progress, rejects queries by name, and works again when it is resumed")
  func life() async throws {
    let folder = try TemporaryFolder()
    let rig = EngineRig(over: try FileCache(path: folder.file("cache")))
    let manager = ContentManager(engine: rig.engine)
    let query = ContentQuery<String>(rig.request().url)
    let other = ContentQuery<String>(rig.request("/b").url)
    async let running = Self.kind(manager, query)
    let exchange = await rig.network.exchange(0)
    try await manager.suspend()
    #expect(await running == "suspended")
    await exchange.headGivenUp()
    #expect(await Self.kind(manager, query) == "suspended")
    let removal = await #expect(throws: ContentError.self) { try await manager.removeContent(of: query) }
    #expect(removal?.cause as? CacheError == .suspended && removal?.url == query.url)
    let removals = await #expect(throws: ContentError.self) { try await manager.removeAll() }
    #expect(removals?.cause as? CacheError == .suspended && removals?.url == nil && removals?.exchange == nil)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    #expect(rig.network.requests.count == 1)
    try await manager.resume()
    async let again = Self.kind(manager, query)
    let second = await rig.network.exchange(1)
    second.respond(200, Self.fresh, length: 3)
    second.send("one")
    second.finish()
    #expect(await again == "one")
    await rig.engine.settled()
    // Kept, and used after the next suspension.
    try await manager.suspend()
    try await manager.suspend()
    try await manager.resume()
    try await manager.resume()
    #expect(await Self.kind(manager, query) == "one")
    #expect(rig.network.requests.count == 2)
    await manager.close()
    try await manager.suspend()
    try await manager.resume()
    async let late = Self.kind(manager, other)
    let third = await rig.network.exchange(2)
    third.respond(200, length: 3)
    third.send("two")
    third.finish()
    #expect(await late == "two")
  }

  @Test(
    "A request that bypasses the cache ends too",
    arguments: [(.options, [:]), (.get, ["Cache-Control": "no-store"])] as [(HTTPMethod, HTTPFields)])
  func passing(method: HTTPMethod, fields: HTTPFields) async throws {
    let rig = EngineRig()
    let engine = rig.engine
    let request = rig.request("/a", method: method, fields)
    let requesting = Task { try await engine.response(to: request) }
    let exchange = await rig.network.exchange(0)
    try await engine.suspend()
    // It has ended by now: this comes too late.
    exchange.fail(.connectionLost(reason: "late"))
    await #expect(throws: HTTPTransportError.suspended) { _ = try await requesting.value }
  }

  @Test("a change that a suspension ends makes what is stored invalid: it may have taken effect")
  func change() async throws {
    let folder = try TemporaryFolder()
    let rig = EngineRig(
      { request, _ in request.method == .get ? ManualNetwork.Scripted(200, Self.fresh, "one") : nil },
      over: try FileCache(path: folder.file("cache")))
    #expect(try await rig.line() == "200 one network")
    await rig.engine.settled()
    _ = try await rig.line()
    #expect(rig.network.requests.count == 1)
    let engine = rig.engine
    let request = rig.request("/a", method: .post)
    let posting = Task { try await engine.response(to: request) }
    _ = await rig.network.exchange(1)
    try await engine.suspend()
    await #expect(throws: HTTPTransportError.suspended) { _ = try await posting.value }
    try await engine.resume()
    #expect(try await rig.line() == "200 one network")
  }
}
