import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Transports without a network", .timeLimit(.minutes(5)))
struct PluggedNetworkTests {
  /// A shelf that holds one response, got long ago.
  private func shelf(_ fields: HTTPFields) async throws -> (ShelfCache, HTTPRequest) {
    let rig = EngineRig { _, _ in .init(200, fields, "old") }
    _ = try await rig.line()
    return (rig.shelf, rig.request())
  }

  @Test(
    "a network that responds with 304 makes expired content usable, whatever its validator",
    arguments: [
      ["Cache-Control": "max-age=1", "ETag": "\"1\""],
      ["Cache-Control": "max-age=1", "ETag": "W/\"1\""],
      ["Cache-Control": "max-age=1", "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"],
      ["Cache-Control": "max-age=1"],
      ["Cache-Control": "max-age=1, must-revalidate", "ETag": "\"1\""],
      ["Cache-Control": "no-cache", "ETag": "\"1\""],
    ] as [HTTPFields])
  func notModified(fields: HTTPFields) async throws {
    let (shelf, request) = try await shelf(fields)
    var options = HTTPCacheOptions()
    options.environment = .at { 1_900_000_000_000 }
    let manager = ContentManager(cache: shelf, transport: NotModifiedTransport(), options: options)
    let response = try await manager.content(of: ContentQuery<String>(request.url))
    #expect(response.value == "old")
    #expect(response.origin == .validated)
  }

  @Test("what is not stored, and changes, fail there as without connection")
  func notStored() async throws {
    let manager = ContentManager(cache: ShelfCache(), transport: NotModifiedTransport())
    var query = ContentQuery<String>(EngineRig().request().url)
    let error = await #expect(throws: ContentError.self) { try await manager.content(of: query) }
    #expect(error?.isNoConnectionError == true)
    query.method = .post
    query.fields[.ifNoneMatch] = "*"
    let second = await #expect(throws: ContentError.self) { try await manager.content(of: query) }
    #expect(second?.isNoConnectionError == true)
  }

  @Test("without a network expired content is used where the policy says so")
  func offline() async throws {
    let (shelf, request) = try await shelf(["Cache-Control": "max-age=1", "ETag": "\"1\""])
    var options = HTTPCacheOptions()
    options.environment = .at { 1_900_000_000_000 }
    let manager = ContentManager(cache: shelf, transport: OfflineTransport(), options: options)
    var query = ContentQuery<String>(request.url)
    let error = await #expect(throws: ContentError.self) { try await manager.content(of: query) }
    #expect(error?.isNoConnectionError == true)
    for policy in [ContentPolicy.staleWhenUnreachable, .cacheElseNetwork, .cacheOnly] {
      query.policy = policy
      #expect(try await manager.content(of: query).value == "old")
    }
  }
}
