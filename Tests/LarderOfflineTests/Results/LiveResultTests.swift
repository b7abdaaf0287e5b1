import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Live results", .timeLimit(.minutes(1)))
struct LiveResultTests {
  private static func rig() async throws -> ReplicaRig { try await ReplicaRig(metadata: ResultModels.v4) }

  /// Titles of orders above a number, live.
  private static func results(_ replica: Replica) -> OfflineODataLiveResults<String> {
    let source = LiveSource(replica: replica) { snapshot in
      let text = "Orders?$filter=ID gt 10&$select=ID&$orderby=ID"
      let url = try ODataBinder(model: snapshot.plan.model).bind(try ODataParser(.v401).relativeURL(text), text: text)
      return ResultRun(
        plan: try QueryWriter(plan: snapshot.plan, state: snapshot.state).plan(url), url: url,
        form: ResultForm(version: .v4, metadata: .none), model: snapshot.plan.model)
    }
    return OfflineODataLiveResults({ replica.changes.isEnded ? nil : source }) { run, connection in
      String(decoding: try run.json(connection).bytes, as: UTF8.self)
    }
  }

  private static func insert(_ replica: Replica, _ table: String, _ id: Int64) async throws {
    let number = try #require(replica.plan.table(table)).number
    try await replica.write { (snapshot) throws(StorageError) in
      let key = table == "Orders" ? "ID" : "Name"
      try snapshot.connection.run(
        "INSERT INTO \(snapshot.state.tables[number])(\"@id\", \"@type\", \"\(key)\") VALUES(?, 0, ?)", .integer(id),
        .integer(id))
      try snapshot.connection.logChange([number])
    }
  }

  private static func result(_ ids: [Int]) -> String {
    "{\"value\":[\(ids.map { "{\"ID\":\($0)}" }.joined(separator: ","))]}"
  }

  @Test("The first result comes at once, then only different ones: unrelated and invisible changes are skipped")
  func only() async throws {
    let replica = try await LiveResultTests.rig().replica
    var iterator = LiveResultTests.results(replica).makeAsyncIterator()
    #expect(try await iterator.next() == LiveResultTests.result([]))
    try await LiveResultTests.insert(replica, "Orders", 11)
    #expect(try await iterator.next() == LiveResultTests.result([11]))
    try await LiveResultTests.insert(replica, "Customers", 500)
    try await LiveResultTests.insert(replica, "Orders", 1)
    try await LiveResultTests.insert(replica, "Orders", 12)
    #expect(try await iterator.next() == LiveResultTests.result([11, 12]))
    for id in 13...30 { try await LiveResultTests.insert(replica, "Orders", Int64(id)) }
    #expect(try await iterator.next() == LiveResultTests.result(Array(11...30)))
    try await replica.close()
    #expect(try await iterator.next() == nil)
  }

  @Test("A change of another process, here of another connection to the file")
  func others() async throws {
    let rig = try await LiveResultTests.rig()
    var iterator = LiveResultTests.results(rig.replica).makeAsyncIterator()
    #expect(try await iterator.next() == LiveResultTests.result([]))
    let other = try await Replica.open(
      path: rig.replica.database.path, key: try RigKey.fromEnvironment(), synchronous: .normal)
    try await LiveResultTests.insert(other, "Orders", 77)
    #expect(try await iterator.next() == LiveResultTests.result([77]))
    try await other.close()
    try await rig.replica.close()
  }

  @Test("Cancelling the waiting task ends the sequence")
  func cancelled() async throws {
    let rig = try await LiveResultTests.rig()
    let results = LiveResultTests.results(rig.replica)
    let (first, seen) = AsyncStream.makeStream(of: String.self)
    let waiting = Task {
      var count = 0
      for try await result in results {
        count += 1
        seen.yield(result)
      }
      return count
    }
    for await result in first {
      #expect(result == LiveResultTests.result([]))
      break
    }
    waiting.cancel()
    #expect(try await waiting.value == 1)
    try await rig.replica.close()
  }

  @Test("The observed value is updated, and stays when the store is closed")
  @MainActor func observed() async throws {
    let rig = try await LiveResultTests.rig()
    let result = OfflineODataLiveResult(LiveResultTests.results(rig.replica))
    let running = Task { await result.run() }
    while result.value == nil, !Task.isCancelled { await Task.yield() }
    try await LiveResultTests.insert(rig.replica, "Orders", 40)
    while result.value != LiveResultTests.result([40]), !Task.isCancelled { await Task.yield() }
    try await rig.replica.close()
    await running.value
    #expect(result.error == nil && result.value == LiveResultTests.result([40]))
  }
}
