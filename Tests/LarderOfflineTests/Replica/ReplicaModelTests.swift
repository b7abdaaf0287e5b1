import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// A service's orders, and the expected rows of a store after downloads of two defining queries.
private struct ShopModel {
  struct Order: Equatable {
    var total: Int
    var items: [Int: String]
    var tags: Set<String>
  }

  /// The orders at the service.
  var orders: [Int: Order] = [:]
  /// The orders in the last download of `full`.
  var expected: [Int: Order] = [:]
  /// The orders in the store: total, the queries that have it (1 `full`, 2 `even`), items and tags.
  var stored: [Int: (total: Int, queries: Int, items: [Int: String], tags: Set<String>)] = [:]
  var storedTags: Set<String> = []

  mutating func change(_ random: inout PrintedSeed) {
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let id = Int.random(in: 1...20, using: &random)
      switch Int.random(in: 0...5, using: &random) {
      case 0: orders[id] = nil
      case 1: orders[id]?.total += 1
      case 2: orders[id]?.items[Int.random(in: 1...4, using: &random)] = "t\(Int.random(in: 0...9, using: &random))"
      case 3: orders[id]?.items[Int.random(in: 1...4, using: &random)] = nil
      case 4:
        let tag = "tag\(Int.random(in: 1...5, using: &random))"
        if orders[id]?.tags.remove(tag) == nil { orders[id]?.tags.insert(tag) }
      default: if orders[id] == nil { orders[id] = Order(total: id, items: [1: "a"], tags: ["tag1"]) }
      }
    }
  }

  static func json(_ id: Int, _ order: Order) -> String {
    let items = order.items.sorted { $0.key < $1.key }.map { "{\"No\":\($0.key),\"Text\":\"\($0.value)\"}" }
    let tags = order.tags.sorted().map { "{\"Name\":\"\($0)\"}" }
    return """
      {"ID":\(id),"Total":\(order.total),"Items":[\(items.joined(separator: ","))],"Tags":[\(tags.joined(separator: ","))]}
      """
  }

  /// The rows in pages; some rows occur twice.
  static func pages(_ rows: [String], _ random: inout PrintedSeed) -> [String] {
    var pages: [String] = []
    var rest = rows[...]
    repeat {
      let page = rest.prefix(Int.random(in: 1...8, using: &random))
      pages.append("{\"@context\":\"#Orders\",\"value\":[\(page.joined(separator: ","))]}")
      rest = rest.dropFirst(page.count)
      if let last = page.last, Bool.random(using: &random), !rest.isEmpty { rest = [last] + rest }
    } while !rest.isEmpty
    return pages
  }

  mutating func tookFull() {
    expected = orders
    storedTags = orders.values.reduce(into: []) { $0.formUnion($1.tags) }
    for (id, order) in orders {
      stored[id] = (order.total, (stored[id]?.queries ?? 0) | 1, order.items, order.tags)
    }
    for (id, row) in stored where orders[id] == nil {
      stored[id] = row.queries & 2 == 0 ? nil : (row.total, 2, [:], row.tags.intersection(storedTags))
    }
  }

  mutating func tookEven() {
    for (id, order) in orders where id % 2 == 0 {
      let before = stored[id]
      stored[id] = (order.total, (before?.queries ?? 0) | 2, before?.items ?? [:], before?.tags ?? [])
    }
    for (id, row) in stored where row.queries & 2 != 0 && (orders[id] == nil || id % 2 != 0) {
      stored[id] = row.queries & 1 == 0 ? nil : (row.total, 1, row.items, row.tags)
    }
  }

  /// The changes since the last download of `full`, as a delta.
  mutating func delta() -> String {
    var rows: [String] = []
    for id in expected.keys.sorted() where orders[id] == nil {
      rows.append("{\"@removed\":{\"reason\":\"deleted\"},\"ID\":\(id)}")
      stored[id] = nil
    }
    for (id, order) in orders.sorted(by: { $0.key < $1.key }) where expected[id] != order {
      rows.append(Self.json(id, order))
      stored[id] = (order.total, (stored[id]?.queries ?? 0) | 1, order.items, order.tags)
      storedTags.formUnion(order.tags)
    }
    expected = orders
    return "{\"@context\":\"#Orders/$delta\",\"value\":[\(rows.joined(separator: ","))]}"
  }

  var outline: [String] {
    stored.sorted { $0.key < $1.key }.map { id, row in
      let items = row.items.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }.joined(separator: ",")
      return "\(id)|\(row.total)|\(row.queries)|\(items)|\(row.tags.sorted().joined(separator: ","))"
    }
  }
}

@Suite("Random downloads", .timeLimit(.minutes(3)))
struct ReplicaModelTests {
  static let outline = """
    SELECT o.ID, o.Total, o."@queries",
    coalesce((SELECT group_concat(x) FROM (SELECT i.No || i.Text AS x FROM {Orders/Items} i
      WHERE i."@parent" = o."@id" ORDER BY i.No)), ''),
    coalesce((SELECT group_concat(x) FROM (SELECT t.Name AS x FROM {Orders/Tags} l JOIN {Tags} t ON t."@id" = l.target
      WHERE l.source = o."@id" ORDER BY t.Name)), '')
    FROM {Orders} o ORDER BY o.ID
    """

  @Test("the store equals a dictionary after whole reads, deltas, interrupted and dropped reads in any order")
  func random() async throws {
    var random = PrintedSeed(for: "the store's rows")
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop)
    // Their bits are assigned in this order.
    try await rig.download("full", "Orders", pages: ["{\"value\":[]}"])
    try await rig.download("even", "Orders", pages: ["{\"value\":[]}"])
    var model = ShopModel()
    var identities: [String: String] = [:]
    for step in 0..<60 {
      model.change(&random)
      switch Int.random(in: 0...4, using: &random) {
      case 0, 1:
        let rows = model.orders.sorted { $0.key < $1.key }.map { ShopModel.json($0.key, $0.value) }
        try await whole("full", ShopModel.pages(rows, &random), rig, &random)
        model.tookFull()
      case 2:
        let rows = model.orders.sorted { $0.key < $1.key }.filter { $0.key % 2 == 0 }
          .map { "{\"ID\":\($0.key),\"Total\":\($0.value.total)}" }
        try await whole("even", ShopModel.pages(rows, &random), rig, &random)
        model.tookEven()
      default: try await rig.delta("full", "Orders", [model.delta()], version: .v401)
      }
      let storedRows = try await rig.rows(Self.outline)
      #expect(storedRows == model.outline, "step \(step), seed \(random.seed)")
      if storedRows != model.outline { return }
      #expect(try await rig.rows("SELECT Name FROM {Tags} ORDER BY 1") == model.storedTags.sorted())
      // Remaining rows keep their identities.
      let now = try await rig.rows("SELECT ID, \"@id\" FROM {Orders}").reduce(into: [String: String]()) {
        let parts = $1.split(separator: "|")
        $0[String(parts[0])] = String(parts[1])
      }
      for (id, identity) in now { if let before = identities[id] { #expect(before == identity, "order \(id)") } }
      identities = now
      if step % 10 == 0 { try await rig.replica.sweep() }
    }
    try await rig.replica.database.checkIntegrity()
  }

  /// A whole read; before it, some reads are interrupted and dropped, or interrupted and resumed.
  private func whole(
    _ name: String, _ pages: [String], _ rig: ReplicaRig, _ random: inout PrintedSeed
  ) async throws {
    if Int.random(in: 0...3, using: &random) == 0 {
      let dropped = try await rig.begin(name, "Orders")
      _ = try await rig.page(pages[0], of: dropped)
      if Bool.random(using: &random) { try await dropped.discard() }
    }
    var read = try await rig.begin(name, "Orders")
    for (number, page) in pages.enumerated() {
      _ = try await rig.page(page, of: read, version: .v401)
      try await read.save(position: "\(number)")
      guard Int.random(in: 0...3, using: &random) == 0 else { continue }
      let resumed = try await GenerationRead.resume(rig.replica, query: read.query, table: read.table)
      read = try #require(resumed)
      #expect(read.position == "\(number)")
    }
    _ = try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1)
  }

  @Test("a full-text index is created when it is needed, and dropped when rows change")
  func search() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.replica.prepareSearch([0])
    try await rig.load(
      "Customers", "{\"value\":[{\"ID\":1,\"Name\":\"Blue Bird\"},{\"ID\":2,\"Home\":{\"City\":\"Blue\"}}]}")
    try await rig.replica.prepareSearch([0])
    let state = try await rig.replica.read { (snapshot) throws(StorageError) in snapshot.state }
    let index = try #require(state.search[0])
    let sql =
      "SELECT c.ID FROM {Customers} c WHERE c.\"@id\" IN (SELECT rowid FROM \(index) WHERE \(index) MATCH 'blue')"
    #expect(try await rig.rows(sql + " ORDER BY 1") == ["1", "2"])
    try await rig.replica.sweep()
    #expect(try await rig.rows(sql).count == 2)
    try await rig.load("Customers", "{\"value\":[{\"ID\":1,\"Name\":\"Red Bird\"}]}")
    let after = try await rig.replica.read { (snapshot) throws(StorageError) in snapshot.state }
    #expect(after.search[0] == nil)
    try await rig.replica.sweep()
    #expect(try await rig.rows("SELECT name FROM sqlite_schema WHERE name LIKE 's1%'") == [])
  }

  @Test("an index is created while unfinished ones are removed")
  func searchAndSweep() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let rows = (0..<5000).map { "{\"ID\":\($0),\"Name\":\"Bird \($0) of many words that take their time\"}" }
    try await rig.load("Customers", "{\"value\":[\(rows.joined(separator: ","))]}")
    try await withThrowingTaskGroup(of: Void.self) { group in
      let isCreated = Atomic(false)
      group.addTask {
        try await rig.replica.prepareSearch([0])
        isCreated.store(true, ordering: .relaxed)
      }
      while !isCreated.load(ordering: .relaxed) { try await rig.replica.sweep() }
      try await group.waitForAll()
    }
    try await rig.replica.sweep()
    let state = try await rig.replica.read { (snapshot) throws(StorageError) in snapshot.state }
    let index = try #require(state.search[0])
    #expect(try await rig.rows("SELECT count(*) FROM \(index) WHERE \(index) MATCH 'bird'") == ["5000"])
  }

  @Test("indexes that the application requests exist at once, and in later generations")
  func indexes() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load("Customers", "{\"value\":[{\"ID\":1}]}")
    #expect(try await rig.replica.addIndex(on: "Customers", ["Home/City", "Name"]))
    #expect(try await rig.replica.addIndex(on: "Customers", ["Mails"]) == false)
    let plan = "EXPLAIN QUERY PLAN SELECT ID FROM {Customers} WHERE \"Home/City\" = 'x' AND Name > 'y'"
    #expect(try await rig.rows(plan).contains { $0.contains("USING INDEX") })
    try await rig.load("Customers", "{\"value\":[{\"ID\":2}]}")
    #expect(try await rig.rows(plan).contains { $0.contains("USING INDEX") })
    let orders = "EXPLAIN QUERY PLAN SELECT ID FROM {Orders} WHERE CustomerID = 1"
    try await rig.load("Orders", "{\"value\":[{\"ID\":2}]}")
    #expect(try await rig.rows(orders).contains { $0.contains("USING INDEX") })
  }

  @Test("removing a query removes its tables; rows of other queries stay")
  func removal() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.download("a", "Orders", pages: ["{\"value\":[{\"ID\":1,\"Tags\":[{\"Name\":\"x\"}]}]}"])
    try await rig.download("b", "Tags", pages: ["{\"value\":[{\"Name\":\"y\"}]}"])
    try await rig.replica.removeQuery("a")
    try await rig.replica.sweep()
    #expect(try await rig.rows("SELECT count(*) FROM {Orders}") == ["0"])
    #expect(try await rig.rows("SELECT Name FROM {Tags}") == ["y"])
    #expect(try await rig.rows("SELECT count(*) FROM {Orders/Tags}") == ["0"])
    #expect(try await rig.rows("SELECT name FROM larder_table ORDER BY 1") == ["Tags"])
    try await rig.replica.clear()
    #expect(try await rig.rows("SELECT count(*) FROM {Tags}") == ["0"])
    #expect(try await rig.replica.queries().map(\.name) == ["b"])
    try await rig.download("b", "Tags", pages: ["{\"value\":[{\"Name\":\"z\"}]}"])
    #expect(try await rig.rows("SELECT Name FROM \"Tags\"") == ["z"])
  }
}
