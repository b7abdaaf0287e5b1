import Foundation
import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("Scheduled changes of one resource reach the service in the order of the calls", .timeLimit(.minutes(5)))
struct ChangeOrderTests {
  private func patch(_ path: String, _ name: String) -> ODataRequest {
    .single(.update(path, to: ODataEntity(properties: [ODataProperty("Name", .string(name))])))
  }

  private func create(_ id: Int32?, _ name: String) -> ODataRequest {
    let key = id.map { [ODataProperty("ID", .int32($0))] } ?? []
    return .single(.create(ODataEntity(properties: key + [ODataProperty("Name", .string(name))]), in: "Products"))
  }

  /// Responds to a change, and records when it came and when the response was sent.
  private final class Order: Sendable {
    let events = Mutex<[String]>([])
    let arrived = Tally("arrived requests")
    func note(_ text: String) { events.withLock { $0.append(text) } }
    var all: [String] { events.withLock { $0 } }
  }

  private static func name(_ request: HTTPRequest) async -> String {
    guard case .bytes(let bytes) = request.body else { return request.method.rawValue }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.firstRange(of: "\"Name\":\"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) } ?? text
  }

  @Test("200 rounds: a creation with its key, updates in three spellings, a deletion, the creation again")
  func rounds() async throws {
    let order = Order()
    let rig = try StoreRig { request in
      order.note(await Self.name(request))
      return .status(204)
    }
    let store = try await rig.openStore()
    var wrong: [String] = []
    for round in 0..<200 {
      order.events.withLock { $0 = [] }
      let root = rig.root.absoluteString
      let requests: [ODataRequest] = [
        create(Int32(round), "1"), patch("Products(\(round))", "2"), patch("Products(ID=\(round))/Name", "3"),
        patch("\(root)Products(\(round))", "4"), .single(.delete("Products(\(round))?x=1")),
        create(Int32(round), "6"),
      ]
      for execution in requests.map({ store.schedule($0) }) { _ = try await execution.finalResponse() }
      if order.all != ["1", "2", "3", "4", "DELETE", "6"] { wrong.append("\(round): \(order.all)") }
    }
    #expect(wrong == [])
    try await store.close()
  }

  @Test("requests for one resource wait for the change before; others continue at once")
  func dependence() async throws {
    // What is scheduled while the first is in progress, and whether it waits for it.
    let table: [(first: ODataRequest, then: ODataRequest, waits: Bool)] = [
      (patch("Products(1)", "a"), patch("Products(1)", "b"), true),
      (patch("Products(1)", "a"), patch("Products(2)", "b"), false),
      (patch("Products(1)", "a"), patch("Products(1)/Name", "b"), true),
      (patch("Products(1)/Name", "a"), .single(.delete("Products(1)")), true),
      (patch("Products(1)", "a"), .single(.invokeAction("Products(1)/S.Close")), true),
      (.single(.createLink("Products(1)/Parts", to: "Products(2)")), patch("Products(1)", "b"), true),
      (create(7, "a"), patch("Products(7)", "b"), true),
      (create(7, "a"), patch("Products(8)", "b"), false),
      (create(7, "a"), create(8, "b"), true),
      (create(nil, "a"), create(nil, "b"), true),
      (create(nil, "a"), patch("Products(1)", "b"), false),
      (.single(.delete("Products(7)")), create(7, "b"), true),
      (patch("Products/$filter(ID gt 1)/$each", "a"), patch("Products(2)", "b"), true),
      (patch("Products(1)", "a"), patch("Others(1)", "b"), false),
      (patch("Me", "a"), patch("Me/Name", "b"), true),
      (patch("Products(1)", "a"), .read("Products(1)"), false),
      (
        .batch(ODataBatchRequest([.changeSet([.update("Products(1)", to: ODataEntity(properties: []))])])),
        patch("Products(1)", "b"), true
      ),
    ]
    for (number, row) in table.enumerated() {
      let gate = AsyncGate()
      let arrived = Tally("requests of row \(number)")
      let count = Atomic(0)
      let rig = try StoreRig { request in
        let place = count.add(1, ordering: .sequentiallyConsistent).newValue
        arrived.add()
        if place == 1 { await gate.wait() }
        return request.url.lastPathComponent == "$batch" ? .status(500) : .status(204)
      }
      let store = try await rig.openStore { $0.useCache = false }
      let first = store.schedule(row.first)
      try await arrived.wait(for: 1)
      let second = store.schedule(row.then)
      if row.waits {
        // One that waits for nothing, scheduled behind it, passes it: what waits had its chance to go.
        _ = try await store.schedule(patch("Free(1)", "c")).finalResponse()
        #expect(count.load(ordering: .sequentiallyConsistent) == 2, "row \(number)")
      } else {
        _ = try await second.finalResponse()
        #expect(first.status == .initialized || first.status == .inProgress, "row \(number)")
      }
      gate.open()
      for execution in [first, second] { for await _ in execution.events {} }
      #expect(count.load(ordering: .sequentiallyConsistent) == (row.waits ? 3 : 2), "row \(number)")
      try await store.close()
    }
  }

  @Test("one that is cancelled while it waits, and one that fails, leave the order of those around them")
  func cancelled() async throws {
    let gate = AsyncGate()
    let order = Order()
    let rig = try StoreRig { request in
      let name = await Self.name(request)
      order.note(name)
      order.arrived.add()
      if name == "1" { await gate.wait() }
      order.note(name + " done")
      return name == "3" ? .status(500, "{}") : .status(204)
    }
    let store = try await rig.openStore { $0.useCache = false }
    let executions = ["1", "2", "3", "4"].map { store.schedule(patch("Products(1)", $0)) }
    try await order.arrived.wait(for: 1)
    executions[1].cancel()
    for await _ in executions[1].events {}
    _ = try await store.schedule(patch("Free(1)", "free")).finalResponse()
    #expect(order.all == ["1", "free", "free done"])
    gate.open()
    for execution in executions { for await _ in execution.events {} }
    #expect(order.all == ["1", "free", "free done", "1 done", "3", "3 done", "4", "4 done"])
    #expect(executions.map(\.status) == [.completed, .cancelled, .failed, .completed])
    try await store.close()
  }

  @Test("closing ends waiting requests; opened again, changes continue in order")
  func reopened() async throws {
    let gate = AsyncGate()
    let arrived = Tally("arrived requests")
    let rig = try StoreRig { _ in
      arrived.add()
      await gate.wait()
      return .status(204)
    }
    let store = try await rig.openStore()
    let executions = (0..<100).map { store.schedule(patch("Products(1)", "\($0)")) }
    try await arrived.wait(for: 1)
    async let closed: Void = store.close()
    for execution in executions { for await _ in execution.events {} }
    gate.open()
    try await closed
    #expect(executions.allSatisfy { $0.status == .cancelled })
    let order = Order()
    rig.service.respond { request in
      order.note(await Self.name(request))
      return .status(204)
    }
    try await store.open()
    for execution in (0..<50).map({ store.schedule(patch("Products(1)", "\($0)")) }) {
      _ = try await execution.finalResponse()
    }
    #expect(order.all == (0..<50).map(String.init))
    try await store.close()
  }

  @Test("from many threads: each thread's changes in their order, those of different resources beside each other")
  func threads() async throws {
    let order = Order()
    let rig = try StoreRig { request in
      order.note("\(request.url.lastPathComponent) \(await Self.name(request))")
      return .status(204)
    }
    let store = try await rig.openStore()
    await withTaskGroup(of: Void.self) { group in
      for id in 1...8 {
        group.addTask {
          let executions = await withCheckedContinuation { done in
            Thread.detachNewThread {
              done.resume(returning: (0..<50).map { store.schedule(patch("Products(\(id))", "\($0)")) })
            }
          }
          for execution in executions { for await _ in execution.events {} }
        }
      }
    }
    for id in 1...8 {
      let names = order.all.filter { $0.hasPrefix("Products(\(id)) ") }
      #expect(names == (0..<50).map { "Products(\(id)) \($0)" })
    }
    try await store.close()
  }
}
