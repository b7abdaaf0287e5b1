import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: a row goes with the last query that returns it", .timeLimit(.minutes(5)))
struct SharedRowsTests {
  typealias Service = SharedRowsService

  private static let items = Service.Expand.navigation("Items", "Items", isMany: true, [])
  private static let tags = Service.Expand.navigation("Tags", "Tags", isMany: true, [])
  private static let product = Service.Expand.navigation("Product", "Products", isMany: false, [])
  private static let notes = Service.Expand.navigation("Notes", "Notes", isMany: true, [])

  private static func has(_ name: String, _ test: @escaping @Sendable (Int) -> Bool)
    -> @Sendable ([String: Int?]) -> Bool
  {
    { ($0[name] ?? nil).map(test) ?? false }
  }

  /// Defining queries that share tables in all combinations.
  static let sets: [[Service.Query]] = [
    [
      .init(
        name: "a", set: "Orders",
        options: "$expand=Items($expand=Product,Notes),Customer($expand=Region),Tags",
        expand: [
          .navigation("Items", "Items", isMany: true, [product, notes]),
          .navigation(
            "Customer", "Customers", isMany: false, [.navigation("Region", "Regions", isMany: false, [])]), tags,
        ])
    ],
    [
      .init(
        name: "a", set: "Orders", options: "$filter=Total gt 5&$expand=Items,Tags", filter: has("Total") { $0 > 5 },
        expand: [items, tags]),
      .init(name: "b", set: "Items", options: "$filter=Kind eq 1", filter: has("Kind") { $0 == 1 }),
      .init(name: "c", set: "Tags"),
    ],
    [
      .init(
        name: "a", set: "Orders", options: "$filter=Total le 6&$expand=Items($expand=Product)",
        filter: has("Total") { $0 <= 6 }, expand: [.navigation("Items", "Items", isMany: true, [product])]),
      .init(
        name: "b", set: "Orders", options: "$filter=Total ge 4&$expand=Items,Tags", filter: has("Total") { $0 >= 4 },
        expand: [items, tags]),
      .init(
        name: "c", set: "Items", options: "$filter=Kind eq 2&$expand=Product", filter: has("Kind") { $0 == 2 },
        expand: [product]),
    ],
    [
      // Orders hold items, and items among the query's own hold orders.
      .init(
        name: "a", set: "Items", options: "$filter=Kind eq 1&$expand=Order($expand=Items)",
        filter: has("Kind") { $0 == 1 }, expand: [.navigation("Order", "Orders", isMany: false, [items])])
    ],
    [
      .init(
        name: "a", set: "Tags", options: "$expand=Orders($expand=Items,Tags)",
        expand: [.navigation("Orders", "Orders", isMany: true, [items, tags])]),
      .init(
        name: "b", set: "Orders", options: "$filter=Total gt 7&$expand=Tags", filter: has("Total") { $0 > 7 },
        expand: [tags]),
    ],
  ]

  private func open(_ queries: [Service.Query], _ server: ScriptedServer) async throws -> (
    StoreRig, OfflineODataProvider
  ) {
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    for query in queries { try await store.add(OfflineODataDefiningQuery(query.name, query.url)) }
    try await store.open()
    return (rig, store)
  }

  @Test(
    "after random histories of deltas and whole reads a store holds what a fresh clone holds", arguments: sets.indices)
  func random(_ number: Int) async throws {
    let queries = Self.sets[number]
    var random = PrintedSeed(for: "held rows \(number)")
    let service = Service(queries)
    let server = try service.serve()
    defer { server.stop() }
    for _ in 0..<6 { service.change { $0.change(&random) } }
    let (rig, store) = try await open(queries, server)
    for step in 0..<40 {
      service.change { $0.change(&random) }
      service.useNestedDeltas(Bool.random(using: &random))
      if Bool.random(using: &random), let one = queries.randomElement(using: &random) {
        try await store.download([one.name])
        service.change { $0.change(&random) }
      }
      if Int.random(in: 0...9, using: &random) == 0, let one = queries.randomElement(using: &random),
        let row = try await store.store?.replica.query(one.name)
      {
        try await store.store?.replica.database.write { (connection) throws(StorageError) in
          try connection.readWhole(row.id)
        }
      }
      try await store.download()
      // What one query's delta leaves in doubt for another, that one's next download settles.
      try await store.download()
      let (other, fresh) = try await open(queries, server)
      let (result, wanted) = (try await Service.outline(store), try await Service.outline(fresh))
      #expect(result == wanted, "step \(step), seed \(random.seed)")
      try await fresh.close()
      #expect(other.folder.path != rig.folder.path)
      if result != wanted { break }
    }
    try await store.store?.replica.database.checkIntegrity()
    try await store.close()
  }

  // MARK: One at a time

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var query = "Orders?$expand=Items($expand=Product),Tags"
    let delta: String
    /// The keys of orders, items, products and tags that are left.
    let left: [String]
    var isWhole = false
  }

  /// Order 1 has items 1 and 2, order 2 has item 3; items 1 and 3 have product 1, item 2 has product 2; both have tag 1.
  static let before = """
    {"ID":1,"Items":[{"ID":1,"OrderID":1,"ProductID":1,"Product":{"ID":1}},
    {"ID":2,"OrderID":1,"ProductID":2,"Product":{"ID":2}}],"Tags":[{"ID":1}]},
    {"ID":2,"Items":[{"ID":3,"OrderID":2,"ProductID":1,"Product":{"ID":1}}],"Tags":[{"ID":1}]}
    """

  static let cases = [
    Case(
      testDescription: "4.0: an order is deleted",
      delta: #"{"@odata.context":"$metadata#Orders/$deletedEntity","id":"Orders(1)","reason":"deleted"}"#,
      left: ["2", "3", "1", "1"]),
    Case(
      testDescription: "4.01: an order is deleted", delta: #"{"@removed":{"reason":"deleted"},"ID":1}"#,
      left: ["2", "3", "1", "1"]),
    Case(
      testDescription: "an order leaves the query", delta: #"{"@removed":{"reason":"changed"},"ID":1}"#,
      left: ["2", "3", "1", "1"]),
    Case(testDescription: "no items", delta: #"{"ID":1,"Items":[]}"#, left: ["1 2", "3", "1", "1"]),
    Case(
      testDescription: "fewer items",
      delta: #"{"ID":1,"Items":[{"ID":1,"OrderID":1,"ProductID":1,"Product":{"ID":1}}]}"#,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "a nested delta with a deletion",
      delta: #"{"ID":1,"Items@delta":[{"@removed":{"reason":"deleted"},"ID":2}]}"#, left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "a nested delta with a removal",
      delta: #"{"ID":1,"Items@delta":[{"@removed":{"reason":"changed"},"ID":2}]}"#, left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "a deleted link",
      delta:
        ##"{"@odata.context":"#Orders/$deletedLink","source":"Orders(1)","relationship":"Items","target":"Items(2)"}"##,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "the deleted link of the other end",
      delta:
        ##"{"@odata.context":"#Items/$deletedLink","source":"Items(2)","relationship":"Order","target":"Orders(1)"}"##,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "a link deleted and made again",
      delta:
        ##"{"@odata.context":"#Orders/$deletedLink","source":"Orders(1)","relationship":"Items","target":"Items(2)"},"##
        + ##"{"@odata.context":"#Orders/$link","source":"Orders(1)","relationship":"Items","target":"Items(2)"}"##,
      left: ["1 2", "1 2 3", "1 2", "1"]),
    Case(
      testDescription: "an item is deleted",
      delta: ##"{"@odata.context":"$metadata#Items/$deletedEntity","id":"Items(2)","reason":"deleted"}"##,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "an item is deleted, and only its id says whose it is",
      delta: ##"{"@removed":{"reason":"deleted"},"@id":"Items(2)"}"##, left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "an item has another product",
      delta: #"{"ID":1,"Items@delta":[{"ID":2,"OrderID":1,"ProductID":3,"Product":{"ID":3}}]}"#,
      left: ["1 2", "1 2 3", "1 3", "1"]),
    Case(
      testDescription: "an item has no product",
      delta: #"{"ID":1,"Items@delta":[{"ID":2,"OrderID":1,"ProductID":null,"Product":null}]}"#,
      left: ["1 2", "1 2 3", "1", "1"]),
    Case(
      testDescription: "an item's product is gone, its number is not",
      delta: #"{"ID":1,"Items@delta":[{"ID":2,"OrderID":1,"ProductID":2,"Product":null}]}"#,
      left: ["1 2", "1 2 3", "1", "1"]),
    Case(
      testDescription: "an item goes to the other order",
      delta: #"{"ID":1,"Items":[]},{"ID":2,"Items":[{"ID":1,"OrderID":2},{"ID":3,"OrderID":2}]}"#,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "the same, the other way round",
      delta: #"{"ID":2,"Items":[{"ID":1,"OrderID":2},{"ID":3,"OrderID":2}]},{"ID":1,"Items":[]}"#,
      left: ["1 2", "1 3", "1", "1"]),
    Case(
      testDescription: "no tags any more", delta: #"{"ID":1,"Tags":[]},{"ID":2,"Tags":[]}"#,
      left: ["1 2", "1 2 3", "1 2", ""]),
    Case(testDescription: "no tags of one", delta: #"{"ID":1,"Tags":[]}"#, left: ["1 2", "1 2 3", "1 2", "1"]),
    Case(
      testDescription: "all goes",
      delta: #"{"@removed":{"reason":"changed"},"ID":1},{"@removed":{"reason":"deleted"},"ID":2}"#,
      left: ["", "", "", ""]),
    Case(
      testDescription: "an order goes and comes again",
      delta:
        #"{"@removed":{"reason":"changed"},"ID":1},{"ID":1,"Items":[{"ID":2,"OrderID":1,"ProductID":2,"Product":{"ID":2}}]}"#,
      left: ["1 2", "2 3", "1 2", "1"]),
    Case(testDescription: "what is not told stays", delta: #"{"ID":1,"Total":5}"#, left: ["1 2", "1 2 3", "1 2", "1"]),
    Case(
      testDescription: "items go on behind a link: all is read",
      delta: #"{"ID":1,"Items":[{"ID":1,"OrderID":1}],"Items@odata.nextLink":"Orders(1)/Items?$skip=1"}"#,
      left: ["1 2", "1 2 3", "1 2", "1"], isWhole: true),
    Case(
      testDescription: "some of the items: all is read", query: "Orders?$expand=Items($top=2;$expand=Product),Tags",
      delta: #"{"ID":1,"Items@delta":[{"ID":2,"OrderID":3,"ProductID":2}]}"#, left: ["1 2", "1 2 3", "1 2", "1"]),
  ]

  @Test("what a delta takes out goes with all that nothing else holds", arguments: cases)
  func delta(_ one: Case) async throws {
    let (rig, server) = try Self.rig(one.delta)
    defer { server.stop() }
    let store = try await rig.open(["q": one.query])
    let report = try await store.download()
    #expect(report.queries.map(\.strategy) == [one.isWhole ? .whole : .changes])
    #expect(try await Self.keys(store) == one.left)
    try await store.close()
  }

  /// A service that responds with orders 1 and 2 the first time, then with changes; a whole read behind that with later
  /// rows, where there are any.
  private static func rig(
    _ delta: String, first: String = before, later: String? = nil
  ) throws -> (StoreRig, ScriptedServer) {
    let isLater = Mutex(false)
    let server = try OddService(metadata: Service.metadata) { requested, _ in
      switch requested {
      case _ where requested.hasPrefix("Orders?$deltatoken"):
        OddService.json(
          "{\"@odata.context\":\"$metadata#Orders/$delta\",\"value\":[\(delta)],\"@odata.deltaLink\":\"Orders?$deltatoken=2\"}"
        )
      case _ where requested.hasPrefix("Orders?"):
        isLater.withLock { isLater in
          defer { isLater = true }
          let rows = isLater ? later ?? first : first
          return OddService.json("{\"value\":[\(rows)],\"@odata.deltaLink\":\"Orders?$deltatoken=1\"}")
        }
      case "Orders(1)", "Items(1)": .response(204)
      case _ where requested.contains("/Tags/$ref"): .response(204)
      case "Items": .response(204, fields: ["OData-EntityId": "Items(9)"])
      case _ where requested.hasPrefix("Items?"):
        OddService.json("{\"value\":[{\"ID\":1,\"OrderID\":1},{\"ID\":2,\"OrderID\":1}]}")
      default: nil
      }
    }.serve()
    return (try StoreRig(server.url("/s/").absoluteString), server)
  }

  private static func keys(_ store: OfflineODataProvider) async throws -> [String] {
    let lines = try await Service.outline(store)
    return ["Orders", "Items", "Products", "Tags"].map { set in
      lines.filter { $0.hasPrefix(set + " ") }.map { line in
        line.split(separator: " ")[1].replacingOccurrences(of: "integer(", with: "").replacingOccurrences(
          of: ")", with: "")
      }.sorted().joined(separator: " ")
    }
  }

  @Test("items that a second query reads whole stay as long as it does")
  func secondQuery() async throws {
    let (rig, server) = try Self.rig(
      #"{"@removed":{"reason":"deleted"},"ID":1},{"@removed":{"reason":"deleted"},"ID":2}"#)
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags", "i": "Items"])
    try await store.download()
    #expect(try await Self.keys(store)[1] == "1 2")
    try await store.removeDefiningQuery("i")
    #expect(try await Self.keys(store)[1] == "")
    try await store.close()
  }

  @Test("a row with a pending change, or that a pending change refers to, stays until that is gone")
  func pendingChange() async throws {
    let (rig, server) = try Self.rig(#"{"@removed":{"reason":"deleted"},"ID":1}"#)
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags"])
    try await store.update("Items(2)", to: ODataEntity(properties: [ODataProperty("Kind", .int32(7))]))
    try await store.download()
    // The service has deleted the order, not said so of its items.
    #expect(try await store.text("Items").contains("\"Kind\":7"))
    #expect(try await !store.text("Items?$filter=ID eq 1").contains("\"ID\":1"))
    try await store.close()
  }

  @Test(
    "what an entity held goes with the next delta behind its uploaded deletion, though the delta does not mention it")
  func uploadedDeletion() async throws {
    let (rig, server) = try Self.rig("")
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags"])
    try await store.delete("Orders(1)")
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 1, "\(report)")
    try await store.download()
    #expect(try await Self.keys(store) == ["2", "3", "1", "1"])
    try await store.close()
  }

  @Test(
    "a row that an uploaded change moves out of a query goes with the next delta, though the delta does not mention it",
    arguments: [false, true])
  func uploadedMove(isAlsoDownloaded: Bool) async throws {
    let (rig, server) = try Self.rig("")
    defer { server.stop() }
    let queries: KeyValuePairs =
      isAlsoDownloaded
      ? ["q": "Orders?$expand=Items($expand=Product),Tags", "i": "Items"]
      : ["q": "Orders?$expand=Items($expand=Product),Tags"]
    let store = try await rig.open(queries)
    let before = try await Self.keys(store)
    try await store.update("Items(1)", to: ODataEntity(properties: [ODataProperty("OrderID", .null)]))
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 1, "\(report)")
    #expect(try await Self.keys(store)[1] == before[1])
    try await store.download()
    #expect(try await Self.keys(store)[1] == (isAlsoDownloaded ? before[1] : "2 3"), "\(before)")
    try await store.close()
  }

  @Test("what an uploaded change of links takes the last hold from goes with the next delta")
  func uploadedUnlinking() async throws {
    let (rig, server) = try Self.rig("")
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags"])
    let before = try await Self.keys(store)
    let tag = try #require(before[3].split(separator: " ").last)
    for order in [1, 2] { _ = try? await store.deleteLink("Orders(\(order))/Tags/$ref?$id=Tags(\(tag))") }
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 0, "\(report)")
    try await store.download()
    #expect(try await !Self.keys(store)[3].split(separator: " ").contains(tag), "\(before)")
    try await store.close()
  }

  @Test("an uploaded creation that no query returns goes with a download of all of them", arguments: [false, true])
  func uploadedCreation(isWhole: Bool) async throws {
    let (rig, server) = try Self.rig("")
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items", "i": "Items"])
    let before = try await Self.keys(store)[1]
    _ = try await store.create(ODataEntity(properties: [ODataProperty("ID", .int32(9))]), in: "Items")
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 1, "\(report)")
    #expect(try await Self.keys(store)[1] == before + " 9")
    // Of one query alone the other may return it still.
    try await store.download(["q"], whole: isWhole)
    #expect(try await Self.keys(store)[1] == before + " 9")
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store)[1] == before)
    try await store.close()
  }

  @Test(
    "a row that a change names stays until the change is gone, by deltas and whole reads", arguments: [false, true])
  func namedRow(isWhole: Bool) async throws {
    let (rig, server) = try Self.rig(
      #"{"ID":1,"Items":[{"ID":1,"OrderID":1,"ProductID":1,"Product":{"ID":1}}]}"#,
      later: #"{"ID":1,"Items":[{"ID":1,"OrderID":1,"ProductID":1,"Product":{"ID":1}}]}"#)
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags"])
    let item = ODataEntity(properties: [
      ODataProperty("ID", .int32(9)), ODataProperty("OrderID", .int32(1)), ODataProperty("ProductID", .int32(2)),
    ])
    _ = try await store.create(item, in: "Items")
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store)[2] == "1 2")
    _ = try await store.undoAllPendingChanges()
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store)[2] == "1")
    try await store.close()
  }

  @Test("a row that only a deletion refers to goes, by deltas and whole reads", arguments: [false, true])
  func rowOfDeletion(isWhole: Bool) async throws {
    let (rig, server) = try Self.rig(
      #"{"@removed":{"reason":"deleted"},"ID":1}"#,
      later: #"{"ID":2,"Items":[{"ID":3,"OrderID":2,"ProductID":1,"Product":{"ID":1}}],"Tags":[{"ID":1}]}"#)
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Product),Tags"])
    // The service has deleted its order and its product, which the deletion can do without.
    try await store.delete("Items(2)")
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store) == ["2", "3", "1", "1"])
    #expect(try await store.readCount("RequestQueue") == 1)
    try await store.close()
  }

  @Test("a row that contains a deleted one stays until the deletion is gone, for its path", arguments: [false, true])
  func rowAboveDeletion(isWhole: Bool) async throws {
    let (rig, server) = try Self.rig(
      #"{"ID":1,"Items":[]}"#, first: #"{"ID":1,"Items":[{"ID":1,"OrderID":1,"Notes":[{"ID":5}]}]}"#,
      later: #"{"ID":1,"Items":[]}"#)
    defer { server.stop() }
    let store = try await rig.open(["q": "Orders?$expand=Items($expand=Notes)"])
    try await store.delete("Items(1)/Notes(5)")
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store)[1] == "1")
    _ = try await store.undoAllPendingChanges()
    try await store.download(whole: isWhole)
    #expect(try await Self.keys(store)[1] == "")
    try await store.close()
  }
}
