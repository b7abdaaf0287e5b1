import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

/// RFC 9111 §4: where several stored responses fit, the most recent one is used.
@Suite("A late response never replaces a newer one in the content cache", .timeLimit(.minutes(5)))
struct LateResponseTests {
  private static let fresh: HTTPFields = ["Cache-Control": "max-age=60"]

  private func respond(_ exchange: ManualExchange, _ text: String, _ fields: HTTPFields = fresh) {
    exchange.respond(200, fields, length: text.utf8.count)
    exchange.send(text)
    exchange.finish()
  }

  @Test("the first request is slow, a reload that is sent later is finished first")
  func slowFirst() async throws {
    let rig = EngineRig()
    let first = immediately { try await rig.line() }
    let old = await rig.network.exchange(0)
    let second = immediately { try await rig.line("/a", ["Cache-Control": "no-cache"]) }
    respond(await rig.network.exchange(1), "new")
    #expect(try await second.value == "200 new network")
    respond(old, "old")
    #expect(try await first.value == "200 old network")
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("the later one is stored where both come in their order")
  func inOrder() async throws {
    let rig = EngineRig()
    let first = immediately { try await rig.line() }
    let old = await rig.network.exchange(0)
    let second = immediately { try await rig.line("/a", ["Cache-Control": "no-cache"]) }
    let new = await rig.network.exchange(1)
    respond(old, "old")
    #expect(try await first.value == "200 old network")
    respond(new, "new")
    #expect(try await second.value == "200 new network")
    #expect(try await rig.line() == "200 new memory")
  }

  @Test("another representation of the resource is stored, however late it comes")
  func otherVariant() async throws {
    let rig = EngineRig()
    let fields = Self.fresh + ["Vary": "Accept-Language"]
    let first = immediately { try await rig.line("/a", ["Accept-Language": "de"]) }
    let german = await rig.network.exchange(0)
    let second = immediately {
      try await rig.line("/a", ["Accept-Language": "en", "Cache-Control": "no-cache"])
    }
    respond(await rig.network.exchange(1), "english", fields)
    #expect(try await second.value == "200 english network")
    respond(german, "deutsch", fields)
    #expect(try await first.value == "200 deutsch network")
    #expect(try await rig.line("/a", ["Accept-Language": "de"]) == "200 deutsch memory")
    #expect(try await rig.line("/a", ["Accept-Language": "en"]) == "200 english memory")
  }
}
