import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

/// Each race with its order fixed: the network and the commit of the cache wait for the test.
@Suite("Changes during transfers (RFC 9111 §4.4)", .timeLimit(.minutes(5)))
struct ChangeMeanwhileTests {
  private static let fresh: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

  private func rig() -> EngineRig {
    EngineRig(
      { request, index in
        request.method == .put
          ? .init(204, ["Cache-Group-Invalidation": "\"g\""]) : .init(200, Self.fresh, "\(index)")
      }, commitsSlowly: true)
  }

  @Test("a response that is being stored when its resource changes is validated before it is used")
  func changeDuringCommit() async throws {
    let rig = rig()
    let first = immediately { try await rig.line() }
    await rig.slow.committing()
    let change = immediately { try await rig.line(method: .put) }
    _ = await rig.network.exchange(1)
    rig.slow.release()
    #expect(try await first.value == "200 0 network")
    #expect(try await change.value == "204  network")
    #expect(try await rig.line() == "200 2 network")
  }

  @Test("of what is being stored when all is removed nothing is there afterwards")
  func removalDuringCommit() async throws {
    let rig = rig()
    let first = immediately { try await rig.line() }
    await rig.slow.committing()
    let removal = immediately { try await rig.engine.removeAll() }
    rig.slow.release()
    try await removal.value
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await first.value == "200 0 network")
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("of what is being stored when its content is removed nothing is there afterwards")
  func removalOfOneDuringCommit() async throws {
    let rig = rig()
    let first = immediately { try await rig.line() }
    await rig.slow.committing()
    let removal = immediately { try await rig.engine.removeContent(of: rig.request()) }
    rig.slow.release()
    try await removal.value
    #expect(rig.shelf.keys.isEmpty)
    #expect(try await first.value == "200 0 network")
    #expect(rig.shelf.keys.isEmpty)
  }

  @Test("a response to HEAD that is older than a change does not undo the invalidation by the change (§4.3.5)")
  func changeDuringHead() async throws {
    let rig = EngineRig { request, _ in
      switch request.method {
      case .head: nil
      case .put: .init(204)
      default: .init(200, Self.fresh, "x")
      }
    }
    #expect(try await rig.line() == "200 x network")
    rig.clock.pass(seconds: 61)
    let head = immediately { try await rig.line(method: .head) }
    let exchange = await rig.network.exchange(1)
    #expect(try await rig.line(method: .put) == "204  network")
    exchange.respond(200, Self.fresh, length: 0)
    exchange.finish()
    #expect(try await head.value == "200  network")
    #expect(try await rig.line() == "200 x network")
    #expect(rig.network.requests.last?.fields[.ifNoneMatch] == "\"1\"")
  }
}
