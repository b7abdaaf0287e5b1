import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Long queues", .timeLimit(.minutes(3)))
struct LongQueueTests {
  /// The duration of a query, the shortest of three runs.
  private func time(_ rig: UploadRig, _ path: String) async throws -> Duration {
    var best = Duration.seconds(3600)
    for _ in 1...3 {
      let begin = ContinuousClock.now
      _ = try await rig.store.readJSON(path, options: OfflineODataResultOptions(version: .v4))
      best = min(best, .now - begin)
    }
    return best
  }

  @Test(
    "Listing eight times as many requests takes about eight times as long",
    arguments: [
      "RequestQueue?$orderby=RequestID desc", "RequestQueue?$expand=CustomHeaders,AffectedEntity",
      "RequestQueue?$filter=RequestMethod eq 'POST'&$count=true&$top=10",
      "RequestQueue?$expand=DependentRequests($expand=AffectedEntity($select=Name))",
    ])
  func listing(query: String) async throws {
    let few = try await UploadRig(orders: 0)
    try await few.createMany(250, isChain: true)
    let many = try await UploadRig(orders: 0)
    try await many.createMany(2000, isChain: true)
    #expect(try await many.store.readCount("RequestQueue") == 2000)
    let (short, long) = (try await time(few, query), try await time(many, query))
    let ratio = long / short
    print("\(query): \(short) for 250 requests, \(long) for 2000, \(ratio) times")
    // An algorithm that reads all others for each one would take 64 times as long.
    #expect(ratio < 28)
  }

  @Test(
    "A request and its dependents are found without reading the others",
    arguments: ["RequestQueue(3)", "RequestQueue?$filter=RequestID eq 3", "RequestQueue?$expand=DependentRequests"])
  func finding(query: String) async throws {
    let rig = try await UploadRig(orders: 0)
    try await rig.createMany(5, isChain: true)
    let store = try rig.open
    let steps = try await store.read { snapshot in
      try Explanation(try store.preparedQuery(query, snapshot).plan, on: snapshot.connection).steps
    }
    // Only a query for the whole queue reads all of it.
    for step in steps where !step.path.isEmpty || steps.count == 1 {
      #expect(!step.plan.contains { $0.contains("SCAN") }, "\(step)")
    }
  }

  @Test("The requests of a unit, and the units before it, are found without reading the others")
  func units() async throws {
    let rig = try await UploadRig()
    let first = try await rig.update(try await rig.row("Orders", 1), ["Total": .int32(5)])
    _ = try await rig.update(try await rig.row("Orders", 2), ["Total": .int32(5)], unit: first)
    _ = try await rig.update(try await rig.row("Orders", 3), ["Total": .int32(5)])
    let store = try rig.open
    let rows = try await store.read { snapshot in
      try (1...3).map { try ChangeQueue(snapshot.connection).entries(inUnit: $0).map(\.id) }
    }
    #expect(rows == [[1, 2], [], [3]])
    let plans = try await store.read { snapshot in
      let sql = "EXPLAIN QUERY PLAN SELECT state FROM larder_request WHERE id IN (\(ChangeQueue.ofUnit))"
      return try snapshot.connection.rows(sql, .integer(1)) { (row) throws(StorageError) in try row.text(3) }
    }
    #expect(!plans.contains { $0.hasPrefix("SCAN larder_request") }, "\(plans)")
    #expect(plans.contains { $0.contains("larder_request_member") }, "\(plans)")
  }

  @Test("Whether a change names a row is found without reading the others")
  func named() async throws {
    let rig = try await UploadRig()
    let plans = try await rig.open.read { snapshot in
      try snapshot.connection.rows("EXPLAIN QUERY PLAN \(Connection.namingRow)", .integer(1)) {
        (row) throws(StorageError) in try row.text(3)
      }
    }
    #expect(!plans.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(plans)")
    #expect(plans.contains { $0.hasPrefix("SEARCH n USING PRIMARY KEY (row=?") }, "\(plans)")
  }
}
