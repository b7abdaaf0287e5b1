import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: scheduled requests take effect in the order of the calls", .timeLimit(.minutes(5)))
struct ScheduledOrderTests {
  private static let rounds = 200

  /// A copy of some rows; no later request is sent to the service.
  private func copied(_ count: Int = 8) async throws -> (store: OfflineODataProvider, rig: StoreRig) {
    let server = try ScriptedRows(count).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    return (try await rig.open(["rows": "Rows"]), rig)
  }

  private func update(_ id: Int, _ text: String) -> ODataRequest {
    .single(.update("Rows(\(id))", to: ODataEntity(properties: [ODataProperty("Text", .string(text))])))
  }

  private func create(_ id: Int, _ text: String) -> ODataRequest {
    let properties = [ODataProperty("ID", .int32(Int32(id))), ODataProperty("Text", .string(text))]
    return .single(.create(ODataEntity(properties: properties), in: "Rows"))
  }

  /// The text of a row in the response to a read; nil for other responses.
  private func text(_ execution: ODataRequestExecution, _ store: OfflineODataProvider) async throws -> String? {
    guard case .entity(let entity)? = try await execution.finalResponse()?.single?.payload(model: store.model),
      case .string(let text)? = entity["Text"]
    else { return nil }
    return text
  }

  @Test("two updates and a read, scheduled one after another: the read sees the second, and so it stays")
  func updates() async throws {
    let (store, rig) = try await copied()
    var wrong: [String] = []
    for round in 0..<Self.rounds {
      let first = store.schedule(update(1, "first \(round)"))
      let between = store.schedule(.read("Rows(1)"))
      let second = store.schedule(update(1, "second \(round)"))
      let behind = store.schedule(.read("Rows(1)"))
      let seen = [try await text(between, store), try await text(behind, store)]
      _ = (try await first.finalResponse(), try await second.finalResponse())
      if seen != ["first \(round)", "second \(round)"] { wrong.append("\(round) read \(seen)") }
      let last = try await store.readEntity("Rows(1)")?["Text"]
      if last != .string("second \(round)") { wrong.append("\(round) left \(String(describing: last))") }
    }
    #expect(wrong == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("a creation, an update of what it makes, a deletion, and the creation anew")
  func creations() async throws {
    let (store, rig) = try await copied()
    var wrong: [String] = []
    for round in 0..<Self.rounds {
      let id = 1000 + round
      let executions = [
        store.schedule(create(id, "made")), store.schedule(update(id, "changed")),
        store.schedule(.single(.delete("Rows(\(id))"))), store.schedule(create(id, "again")),
      ]
      let count = store.schedule(.read("Rows(\(id))"))
      for (place, execution) in executions.enumerated() {
        do { _ = try await execution.finalResponse() } catch { wrong.append("\(round).\(place) \(error)") }
      }
      do {
        let seen = try await text(count, store)
        if seen != "again" { wrong.append("\(round) read \(seen ?? "nothing")") }
      } catch { wrong.append("\(round) read \(error)") }
    }
    #expect(wrong == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("one that is cancelled and one that fails leave the order of those around them")
  func cancelled() async throws {
    let (store, rig) = try await copied()
    var wrong: [String] = []
    for round in 0..<Self.rounds {
      let first = store.schedule(update(1, "first \(round)"))
      let cancelled = store.schedule(update(1, "cancelled \(round)"))
      let failing = store.schedule(update(99, "nobody"))
      let last = store.schedule(update(1, "last \(round)"))
      let read = store.schedule(.read("Rows(1)"))
      cancelled.cancel()
      _ = try await first.finalResponse()
      await #expect(throws: OfflineODataError.self) { _ = try await failing.finalResponse() }
      _ = try await last.finalResponse()
      let seen = try await text(read, store)
      if seen != "last \(round)" { wrong.append("\(round) read \(seen ?? "nothing")") }
    }
    #expect(wrong == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("after the store was closed while requests waited, and opened again")
  func reopened() async throws {
    let (store, rig) = try await copied()
    for round in 0..<10 {
      let waiting = (0..<50).map { store.schedule(update(1 + $0 % 8, "round \(round).\($0)")) }
      try await store.close()
      for execution in waiting { #expect(execution.status == .completed || execution.status == .cancelled) }
      // What was acknowledged was made, in its order: the calls behind the first that was cancelled made nothing.
      let done = waiting.map { $0.status == .completed }
      #expect(done == done.sorted { $0 && !$1 })
      try await store.open()
      let first = store.schedule(update(2, "first"))
      let second = store.schedule(update(2, "second"))
      let read = store.schedule(.read("Rows(2)"))
      #expect(try await text(read, store) == "second")
      _ = (try await first.finalResponse(), try await second.finalResponse())
    }
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("from many threads: each thread's calls in their order")
  func threads() async throws {
    let (store, rig) = try await copied()
    let wrong = await withTaskGroup(of: [String].self) { group in
      for id in 1...8 {
        group.addTask {
          let executions = await withCheckedContinuation { done in
            Thread.detachNewThread {
              done.resume(returning: (0..<100).map { store.schedule(update(id, "\(id).\($0)")) })
            }
          }
          for execution in executions { _ = try? await execution.finalResponse() }
          let last = try? await store.readEntity("Rows(\(id))")?["Text"]
          return last == .string("\(id).99") ? [] : ["\(id): \(String(describing: last))"]
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(wrong == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("calls of other kinds see what was scheduled before: blocking ones, JSON, values of types, pending changes")
  func others() async throws {
    struct Row: Decodable, Sendable {
      enum CodingKeys: String, CodingKey { case text = "Text" }
      var text: String
    }
    let (store, rig) = try await copied()
    var wrong: [String] = []
    for round in 0..<Self.rounds {
      store.schedule(update(1, "a \(round)"))
      let typed = try await store.read(Row.self, "Rows(1)")
      if typed?.text != "a \(round)" { wrong.append("\(round) typed \(typed?.text ?? "-")") }
      store.schedule(update(1, "b \(round)"))
      if try await !store.text("Rows(1)").contains("b \(round)") { wrong.append("\(round) JSON") }
      store.schedule(update(1, "c \(round)"))
      let blocked = await withCheckedContinuation { done in
        Thread.detachNewThread { done.resume(returning: Result { try store.executeBlocking(.read("Rows(1)")) }) }
      }
      let bytes = try blocked.get().single?.payloadBytes ?? []
      if !String(decoding: bytes, as: UTF8.self).contains("c \(round)") { wrong.append("\(round) blocking") }
      store.schedule(create(2000 + round, "new"))
      if try await store.undoAllPendingChanges() < 2 { wrong.append("\(round) undo") }
    }
    #expect(wrong == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("a listener may query the store and wait for the result")
  func reentry() async throws {
    final class ReadingListener: ODataRequestListener {
      let store: OfflineODataProvider
      let seen = Mutex<[String]>([])
      let ends = Tally("ends")
      init(_ store: OfflineODataProvider) { self.store = store }
      private func read() {
        Thread.detachNewThread { [self] in
          let response = try? store.executeBlocking(.read("Rows(1)"))
          let text = String(decoding: response?.single?.payloadBytes ?? [], as: UTF8.self)
          seen.withLock { $0.append(text) }
          ends.add()
        }
      }
      func requestServerResponse(_ execution: ODataRequestExecution) { read() }
      func requestFinished(_ execution: ODataRequestExecution) { read() }
    }
    let (store, rig) = try await copied()
    let listener = ReadingListener(store)
    store.schedule(update(1, "mine"), listener: listener)
    try await listener.ends.wait(for: 2)
    #expect(listener.seen.withLock { $0.count { $0.contains("mine") } } == 2)
    try await store.close()
    withExtendedLifetime(rig) {}
  }
}
