import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Queries while the server cannot be reached (RFC 9111 §4.2.4, RFC 5861 §4)", .timeLimit(.minutes(5)))
struct UnreachableQueryTests {
  typealias Scripted = ManualNetwork.Scripted

  private static func rig(_ fields: HTTPFields, _ failure: Scripted) async throws -> ManagerRig {
    let rig = ManagerRig { _, index in index == 0 ? Scripted(200, fields, "old") : failure }
    _ = try await rig.manager.content(of: rig.query(soft: 10, ttl: 20))
    return rig
  }

  @Test(
    "stale content is used before and after the soft TTL, and after the TTL",
    arguments: [5, 15, 25, 2_000_000] as [Int64],
    [Scripted.failure(.cannotConnect(host: "h", reason: "a test")), Scripted(503, [:], "busy")])
  func policy(seconds: Int64, failure: Scripted) async throws {
    let rig = try await Self.rig([:], failure)
    var query = rig.query(soft: 10, ttl: 20)
    query.policy = .staleWhenUnreachable
    rig.rig.clock.pass(seconds: seconds)
    let response = try await rig.manager.content(of: query)
    #expect(response.value == "old")
    #expect(!response.isIntermediate)
    #expect(
      await rig.trace(query)
        == (seconds == 15 ? ["intermediate old memory", "final old memory"] : ["final old memory"]))
  }

  @Test(
    "stale-if-error applies in the same way after stale-while-revalidate", arguments: [ContentPolicy.standard, .reload])
  func staleIfError(policy: ContentPolicy) async throws {
    let fields: HTTPFields = ["Cache-Control": "max-age=10, stale-while-revalidate=10, stale-if-error=20"]
    let rig = ManagerRig { _, index in index == 0 ? Scripted(200, fields, "old") : Scripted(500) }
    _ = try await rig.manager.content(of: rig.query())
    rig.rig.clock.pass(seconds: 15)
    var query = rig.query()
    query.policy = policy
    #expect((try? await rig.manager.content(of: query).value) == (policy == .standard ? "old" : nil))
    rig.rig.clock.pass(seconds: 20)
    #expect((try? await rig.manager.content(of: query).value) == nil)
  }

  @Test("a revalidation that is asked for returns the server's failure")
  func explicit() async throws {
    let rig = try await Self.rig([:], Scripted(503, [:], "busy"))
    var query = rig.query(soft: 10, ttl: 20)
    query.policy = .staleWhenUnreachable
    rig.rig.clock.pass(seconds: 15)
    let intermediate = try await rig.manager.stream(query, takesIntermediate: true)
    #expect(try await intermediate.response.body.collect() == Array("old".utf8))
    #expect(try await intermediate.revalidation?.response().response.status == 503)
  }

  @Test(
    "an error without a lifetime of its own is fresh for seconds, whatever the TTL of the query",
    arguments: [404, 410, 405, 414, 501],
    [[:], ["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"]] as [HTTPFields])
  func errors(status: Int, fields: HTTPFields) async throws {
    let rig = ManagerRig { _, index in index == 0 ? Scripted(status, fields, "none") : Scripted(200, [:], "there") }
    let query = rig.query(ttl: 604_800)
    await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(rig.rig.network.requests.count == 1)
    rig.rig.clock.pass(seconds: 11)
    #expect(try await rig.manager.content(of: query).value == "there")
  }
}
