import Foundation
import LarderHTTP
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOnline

@Suite("A late response never replaces a newer one in the technical cache", .timeLimit(.minutes(5)))
struct LateResponseTests {
  /// A service whose first request for `A` after the `warmUp` first ones waits for the gate; `response` gives each in
  /// the order in which they were sent.
  private struct Late {
    let rig: StoreRig
    let gate = AsyncGate()
    let heldRequests = Tally("held requests")

    init(after warmUp: Int = 0, _ response: @escaping @Sendable (Int, HTTPRequest) -> StubService.Response) throws {
      let reads = Atomic(0)
      rig = try StoreRig()
      rig.service.respond { [gate, heldRequests] request in
        let index = reads.add(1, ordering: .relaxed).oldValue
        if index == warmUp {
          heldRequests.add()
          await gate.wait()
        }
        return response(index, request)
      }
    }

    /// Sends `first`, which waits, then `second` to its end, then lets the first end.
    func run(_ store: OnlineODataStore, _ first: ODataRequest, _ second: ODataRequest) async throws {
      async let late = store.calls(first)
      try await heldRequests.wait(for: 1)
      await store.calls(second)
      gate.open()
      _ = await late
    }

    /// What the cache holds of a path.
    func stored(_ store: OnlineODataStore, _ path: String = "A") async throws -> ODataSingleResponse? {
      try store.setPassive(true)
      return try await store.read(path).cached
    }
  }

  @Test("the first read is slow, the second is sent later and finished first")
  func slowFirst() async throws {
    let late = try Late { index, _ in .ok(#"{"v":\#(index)}"#) }
    let store = try await late.rig.openStore()
    try await late.run(store, .read("A"), .read("A"))
    #expect(text(try await late.stored(store)) == #"{"v":1}"#)
    try await store.close()
  }

  @Test("other resources, and later reads of the same, are stored as ever")
  func others() async throws {
    let late = try Late { index, _ in .ok(#"{"v":\#(index)}"#) }
    let store = try await late.rig.openStore()
    try await late.run(store, .read("A"), .read("B"))
    #expect(text(try await store.read("A").last) == #"{"v":2}"#)
    #expect(text(try await late.stored(store)) == #"{"v":2}"#)
    #expect(text(try await late.stored(store, "B")) == #"{"v":1}"#)
    try await store.close()
  }

  @Test("a late 404 or 410 removes nothing that was read since", arguments: [404, 410])
  func lateRemoval(status: Int) async throws {
    let late = try Late { index, _ in index == 0 ? .status(status) : .ok(#"{"v":1}"#) }
    let store = try await late.rig.openStore()
    try await late.run(store, .read("A"), .read("A"))
    #expect(text(try await late.stored(store)) == #"{"v":1}"#)
    try await store.close()
  }

  @Test("a late success brings nothing back that a 404 or 410 has removed since", arguments: [404, 410])
  func removedSince(status: Int) async throws {
    let late = try Late { index, _ in index == 0 ? .ok(#"{"v":0}"#) : .status(status) }
    let store = try await late.rig.openStore()
    try await late.run(store, .read("A"), .read("A"))
    #expect(try await late.stored(store) == nil)
    try await store.close()
  }

  @Test("a late 304 renews nothing that a later 304 has renewed")
  func lateNotModified() async throws {
    let late = try Late(after: 1) { index, _ in
      index == 0
        ? .ok(#"{"v":0}"#, ["ETag": "\"1\""]) : .status(304, "", ["ETag": "\"1\"", "X-Index": "\(index)"])
    }
    let store = try await late.rig.openStore()
    _ = try await store.read("A")
    try await late.run(store, .read("A"), .read("A"))
    #expect(try await late.stored(store)?.fields["X-Index"] == "2")
    try await store.close()
  }

  @Test("a late batch changes nothing of a part that was read since, and keeps its other parts")
  func lateBatch() async throws {
    let late = try Late { index, request in
      index == 0 ? BatchTests.response(request) { _, _ in (200, #"{"batch":true}"#) } : .ok(#"{"single":true}"#)
    }
    let store = try await late.rig.openStore()
    try await late.run(store, BatchTests.batch([.read("A"), .read("B")]), .read("A"))
    #expect(text(try await late.stored(store)) == #"{"single":true}"#)
    #expect(text(try await late.stored(store, "B")) == #"{"batch":true}"#)
    try await store.close()
  }

  @Test("what a late part of a batch says is gone stays, where it was read since")
  func lateBatchRemoval() async throws {
    let late = try Late { index, request in
      index == 0 ? BatchTests.response(request) { _, _ in (404, "{}") } : .ok(#"{"single":true}"#)
    }
    let store = try await late.rig.openStore()
    try await late.run(store, BatchTests.batch([.read("A")]), .read("A"))
    #expect(text(try await late.stored(store)) == #"{"single":true}"#)
    try await store.close()
  }

  @Test("the order is remembered while earlier requests are in progress, and no longer")
  func memory() {
    var order = SendOrder()
    func key(_ url: String, _ variant: UInt8 = 0) -> CacheKey { CacheKey(url: url, scope: [1], variant: [variant]) }
    func store(_ url: String, _ variant: UInt8 = 0) -> CacheChange {
      .store(key(url, variant), TechnicalCacheEntry(status: 200, fields: [:], payload: []))
    }
    let (first, second, third) = (order.begin(), order.begin(), order.begin())
    order.note(store("A"), sentAs: third)
    order.end(third)
    #expect(order.count == 1)
    #expect(!order.allows(store("A"), sentAs: second))
    #expect(order.allows(store("A", 1), sentAs: second))
    #expect(order.allows(store("B"), sentAs: second))
    #expect(!order.allows(.remove(key("A", 1)), sentAs: second))
    order.note(.remove(key("B")), sentAs: second)
    #expect(!order.allows(store("B", 7), sentAs: first))
    order.end(first)
    #expect(!order.allows(store("A"), sentAs: second))
    #expect(order.count == 1)
    order.end(second)
    #expect(order.count == 0)
    let fourth = order.begin()
    order.note(store("A"), sentAs: fourth)
    #expect(order.count == 0)
  }
}
