import Foundation
import LarderContent
import LarderHTTP
import Testing

@Suite("Cache-Status of the engine (RFC 9211 §2)", .timeLimit(.minutes(5)))
struct CacheStatusThroughEngineTests {
  private static func status(_ response: CachedResponse) throws -> CacheStatus {
    let said = response.response.fields.values(of: .cacheStatus).joined(separator: ", ")
    return try #require(try CacheStatus.list(said).last)
  }

  private static let fresh = ManualNetwork.Scripted(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10"], "one")

  struct Line: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.get
    var fields: HTTPFields = [:]
    var policy = ContentPolicy.standard
    /// What is said where nothing, something fresh, or something stale is stored.
    var reasons: [ForwardReason?]
    var testDescription: String { "\(method) \(fields) \(policy)" }
  }

  static let lines: [Line] = [
    Line(reasons: [.uriMiss, nil, .stale]),
    Line(fields: ["Cache-Control": "no-cache"], reasons: [.uriMiss, .request, .stale]),
    Line(fields: ["Cache-Control": "no-store"], reasons: [.uriMiss, .request, .stale]),
    Line(fields: ["Cache-Control": "max-age=0"], reasons: [.uriMiss, .request, .stale]),
    Line(fields: ["Cache-Control": "min-fresh=100"], reasons: [.uriMiss, .request, .stale]),
    Line(fields: ["If-Match": "\"1\""], reasons: [.uriMiss, .request, .stale]),
    Line(fields: ["If-Unmodified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"], reasons: [.uriMiss, .request, .stale]),
    Line(policy: .reload, reasons: [.uriMiss, .request, .stale]),
    Line(policy: .staleWhenUnreachable, reasons: [.uriMiss, nil, .stale]),
    Line(method: .head, reasons: [.uriMiss, nil, .stale]),
    Line(method: .head, fields: ["Cache-Control": "no-cache"], reasons: [.uriMiss, .request, .stale]),
    Line(method: .post, reasons: [.method, .method, .method]),
    Line(method: .delete, fields: ["If-Match": "\"1\""], reasons: [.method, .method, .method]),
    Line(method: .options, reasons: [.method, .method, .method]),
  ]

  @Test("The reason for forwarding a request (§2.2)", arguments: lines)
  func reasons(line: Line) async throws {
    for (state, reason) in zip(0..., line.reasons) {
      let rig = EngineRig { _, _ in Self.fresh }
      if state > 0 { _ = try await rig.line() }
      if state > 1 { rig.clock.pass(seconds: 11) }
      let response = try await rig.response(method: line.method, line.fields, policy: line.policy)
      let status = try Self.status(response)
      #expect(status.forward == reason, "\(state)")
      #expect(status.isHit == (reason == nil))
    }
  }

  @Test("content with a GET has the cache stay out of it (§2.2)")
  func content() async throws {
    let rig = EngineRig { _, _ in Self.fresh }
    var request = rig.request()
    request.body = .bytes(Array("x".utf8))
    #expect(try Self.status(try await rig.engine.response(to: request)).forward == .bypass)
  }

  @Test("a request that no stored variant fits is a vary-miss (§2.2)")
  func varyMiss() async throws {
    let rig = EngineRig { _, _ in .init(200, ["Vary": "A", "Cache-Control": "max-age=10"], "one") }
    _ = try await rig.line("/a", ["A": "1"])
    #expect(try Self.status(try await rig.response("/a", ["A": "2"])).forward == .varyMiss)
  }

  @Test("stored is not reported before the content is stored: whether it will be is unknown (§2.5)")
  func unknown() async throws {
    let small = MemoryCache(byteLimit: 1 << 16, entryByteLimit: 2)
    for cache in [nil, small] as [(any Cache)?] {
      let rig = EngineRig({ _, _ in Self.fresh }, over: cache)
      let response = try await rig.response()
      #expect(try Self.status(response).isStored == false)
      #expect(try await EngineRig.line(response) == "200 one network")
      // What the head cannot say, the response reports at its end.
      #expect(response.isStored == (cache == nil))
    }
  }

  @Test("stored is reported for a response without content, which is stored before it is passed on (§2.5)")
  func empty() async throws {
    for fails in [false, true] {
      let rig = EngineRig { _, _ in .init(204, ["Cache-Control": "max-age=10"]) }
      if fails { rig.shelf.fail(.commit, .full(path: "shelf")) }
      #expect(try Self.status(try await rig.response()).isStored != fails)
      #expect(rig.shelf.keys.isEmpty == fails)
    }
  }

  @Test(
    "stored is said after a 304 where the stored response has been brought up to date (§2.5)",
    arguments: [(false, nil, true), (true, nil, false), (false, "no-store", false)] as [(Bool, String?, Bool)])
  func validated(fails: Bool, said: String?, isStored: Bool) async throws {
    let rig = EngineRig { _, index in
      index == 0 ? Self.fresh : .init(304, ["ETag": "\"1\"", "Cache-Control": said ?? "max-age=10"])
    }
    _ = try await rig.line()
    rig.clock.pass(seconds: 11)
    if fails { rig.shelf.fail(.update, .full(path: "shelf")) }
    let response = try await rig.response()
    let status = try Self.status(response)
    #expect(status.forward == .stale && status.forwardStatus == 304)
    #expect(status.isStored == isStored)
    #expect(response.isStored == isStored)
    #expect(try await EngineRig.line(response) == "200 one validated")
  }

  @Test("a stored response in place of a failure says why the request went on (§2.1, §2.2)")
  func stale() async throws {
    let rig = EngineRig { _, index in index == 0 ? Self.fresh : .init(503) }
    _ = try await rig.line()
    rig.clock.pass(seconds: 11)
    let status = try Self.status(try await rig.response(policy: .staleWhenUnreachable))
    #expect(!status.isHit && status.forward == .stale && status.forwardStatus == 503 && status.timeToLive == -1)
  }
}
