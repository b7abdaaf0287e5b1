import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderOData
import LarderObjects
import LarderOffline
import LarderOnline
import LarderService
import LarderTesting
import Testing

/// The stores on a service for tests.
@Suite("Stores for tests", .timeLimit(.minutes(2)))
struct ServiceStoreTests {
  private enum Failure: Error { case noCollection }

  private func note(_ note: String) -> ODataEntity { ODataEntity(properties: [ODataProperty("Note", .string(note))]) }

  @Test("An online store reads and changes, and has its cache offline")
  func online() async throws {
    let service = try Shop.service()
    let store = try await service.onlineStore()
    let read = try await store.execute(.read("Orders?$orderby=ID"))
    guard case .collection(let orders)? = try read.single?.payload() else { throw Failure.noCollection }
    #expect(orders.entities.map { $0["Note"] } == [.string("tea"), .string("milk")])
    _ = try await store.execute(.create(note("bread"), in: "Orders"))
    #expect(service.rows("Orders").map { $0["Note"] } == ["tea", "milk", "bread"])
    service.isOffline = true
    await #expect(throws: ODataServiceError.self) { try await store.execute(.read("Orders(1)")) }
    try store.setPassive(true)
    #expect(try await store.execute(.read("Orders?$orderby=ID")).single != nil)
    try await store.close()
  }

  @Test("A request waits on the clock before it is repeated")
  func repetition() async throws {
    let service = try Shop.service()
    let store = try await service.onlineStore { $0.conversation.retry = HTTPRetryPolicy() }
    service.fail(next: .status(503), on: "GET Orders")
    let reading = Task { try await store.readEntitySet("Orders").entities.count }
    await service.clock.waitForSleepers()
    #expect(service.requests.count { $0 == "GET Orders" } == 1)
    service.clock.advance(by: .seconds(1))
    #expect(try await reading.value == 2)
    #expect(service.requests.count { $0 == "GET Orders" } == 2)
    try await store.close()
  }

  @Test("Several stores of one service are open at once, as in tests that run in parallel")
  func parallel() async throws {
    let service = try Shop.service()
    let stores = [try await service.onlineStore(), try await service.onlineStore()]
    let copies = [try await service.offlineStore("Tags"), try await service.offlineStore("Tags")]
    for store in stores { #expect(try await store.readEntitySet("Tags").entities.count == 2) }
    for store in copies { #expect(try await store.readEntitySet("Tags").entities.count == 2) }
    for store in stores { try await store.close() }
    for store in copies { try await store.close() }
  }

  @Test(
    "An offline store uploads its changes, and archives the one that another client was faster with",
    arguments: ["4.0", "4.01"])
  func upload(_ version: String) async throws {
    let service = try Shop.service(version)
    service.requiresETags = true
    let store = try await service.offlineStore("Orders", "Items")
    service.isOffline = true
    _ = try await store.execute(.update("Orders(1)", to: note("mine")))
    _ = try await store.execute(.update("Orders(2)", to: note("two milks")))
    _ = try await store.execute(.create(note("bread"), in: "Orders"))
    try service.change("Orders(1)", ["Note": "theirs"])
    service.isOffline = false
    _ = try await store.upload()
    #expect(service.rows("Orders").map { $0["Note"] } == ["theirs", "two milks", "bread"])
    let rejected = try await store.readEntitySet("ErrorArchive")
    #expect(rejected.entities.count == 1)
    #expect(try await store.hasPendingUpload() == false)
    try await store.close()
  }

  @Test("A route and a planned status are also for requests in the batch of an upload", arguments: ["4.0", "4.01"])
  func batchParts(_ version: String) async throws {
    let service = try Shop.service(version)
    let store = try await service.offlineStore("Orders")
    _ = try await store.execute(.update("Orders(1)", to: note("one")))
    _ = try await store.execute(.update("Orders(2)", to: note("two")))
    _ = try await store.execute(.create(note("three"), in: "Orders"))
    service.fail(next: .status(500), on: "PATCH Orders(2)")
    service.transport.route("POST Orders") { _ in HTTPTestReply(#"{"ID":77,"Note":"routed"}"#, status: 201) }
    let report = try await store.upload()
    #expect(report.sent == 2 && report.failed + report.pending == 1, "\(report), \(service.requests)")
    #expect(service.requests.contains("POST $batch") && service.requests.contains("PATCH Orders(2)"))
    #expect(service.rows("Orders").map { $0["Note"] } == ["one", "milk"])
    #expect(try await store.readEntity("Orders(77)") != nil)
    try await store.close()
  }

  @Test("A change set fails as a whole if a status is planned for one of its changes", arguments: ["4.0", "4.01"])
  func changeSetParts(_ version: String) async throws {
    let service = try Shop.service(version)
    let store = try await service.onlineStore()
    let changes: [ODataSingleRequest] = [
      .update("Orders(1)", to: note("one")), .update("Orders(2)", to: note("two")),
    ]
    service.fail(next: .status(409), on: "PATCH Orders(2)")
    let failed = try await store.execute(batch: ODataBatchRequest([.changeSet(changes)]))
    #expect(failed.slots.first??.failure?.httpStatus == 409, "\(failed)")
    #expect(service.rows("Orders").map { $0["Note"] } == ["tea", "milk"])
    service.transport.route("PATCH Orders(2)", .status(204))
    let sent = try await store.execute(batch: ODataBatchRequest([.changeSet(changes)]))
    #expect(sent.slots.first??.failure == nil, "\(sent)")
    #expect(service.rows("Orders").map { $0["Note"] } == ["one", "milk"])
    try await store.close()
  }

  @Test("A fault of the connection that is planned for a request in a batch is one of the batch")
  func batchConnection() async throws {
    let service = try Shop.service()
    let store = try await service.onlineStore()
    let batch = ODataBatchRequest([.single(.update("Orders(2)", to: note("two")))])
    func outcome(_ fault: HTTPTestFault) async -> (isOffline: Bool, note: ODataTestValue?) {
      service.fail(next: fault, on: "PATCH Orders(2)")
      let error = await #expect(throws: (any Error).self) { try await store.execute(batch: batch) }
      return ((error as? any LarderError)?.isOffline ?? false, service["Orders(2)"]?["Note"])
    }
    #expect(await outcome(.cannotConnect) == (true, "milk"))
    #expect(service.requests.suffix(2) == ["POST $batch", "PATCH Orders(2)"])
    #expect(await outcome(.responseLost).note == "two")
    try service.change("Orders(2)", ["Note": "milk"])
    #expect(await outcome(.truncatedContent).note == "two")
    _ = try await store.execute(batch: batch)
    try await store.close()
  }

  @Test("A lost response of a creation creates nothing twice")
  func uncertainty() async throws {
    let service = try Shop.service()
    let store = try await service.offlineStore("Orders")
    _ = try await store.execute(
      .create(
        ODataEntity(properties: [ODataProperty("ID", .int32(7)), ODataProperty("Note", .string("once"))]), in: "Orders")
    )
    service.fail(next: .responseLost, on: "POST *")
    _ = try? await store.upload()
    _ = try? await store.upload()
    #expect(service.rows("Orders").filter { $0["Note"] == "once" }.count == 1)
    #expect(try await store.hasPendingUpload() == false)
    try await store.close()
  }

  @Test("A new entity with others inside it and links arrive at the service", arguments: ["4.0", "4.01"])
  func deepInsert(_ version: String) async throws {
    let service = try Shop.service(version)
    let store = try await service.offlineStore("Orders?$expand=Tags,Parts", "Items", "Tags")
    service.isOffline = true
    var order = note("bread")
    let item = ODataEntity(properties: [ODataProperty("Text", .string("deep"))])
    order.navigationLinks.append(
      ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: [item]))))
    let created = try await store.create(order, in: "Orders")
    #expect(created?.navigationLink("Items")?.entities?.map { $0["Text"] } == [.string("deep")])
    _ = try await store.execute(.single(.createLink("Orders(1)/Tags/$ref", to: "Tags('it''s%2Fold')")))
    _ = try await store.execute(
      .create(ODataEntity(properties: [ODataProperty("Pos", .int32(9))]), in: "Orders(2)/Parts"))
    service.isOffline = false
    let report = try await store.upload()
    #expect(report.failed == 0 && report.pending == 0, "\(report), \(service.requests)")
    #expect(service.rows("Items").last?["Order_ID"] == 3)
    #expect(service["Orders(2)/Parts(9)"] != nil)
    #expect(try await service.get("Orders(1)/Tags/$count").text == "2")
    try await store.close()
  }

  @Test("An offline store without queries answers every query of the sets, and gets deltas of them")
  func wholeCopy() async throws {
    let service = try Shop.service()
    let store = try await service.offlineStore()
    service.isOffline = true
    let path = "Orders?$orderby=ID&$expand=Items($expand=Order),Tags($expand=Orders),Main,Parts,Case,Shop.Rush/Helper"
    let orders = try await store.readEntitySet(path).entities
    #expect(orders.map { $0.navigationLink("Items")?.entities?.count } == [0, 2])
    #expect(orders.map { $0.navigationLink("Tags")?.entities?.count } == [1, 0])
    #expect(try await store.readEntitySet("Tags?$expand=Orders").entities.count == 2)
    service.isOffline = false
    try service.change("Orders(1)", ["Note": "theirs"])
    let report = try await store.download()
    #expect(report.queries.map(\.name).sorted() == ["Items", "Orders", "Tags"])
    #expect(report.queries.allSatisfy { $0.strategy == .changes }, "\(report)")
    #expect(try await store.readEntity("Orders(1)")?["Note"] == .string("theirs"))
    try await store.close()
  }

  @Test("A download of changes has what other clients changed, and what they deleted", arguments: ["4.0", "4.01"])
  func download(_ version: String) async throws {
    let service = try Shop.service(version)
    let store = try await service.offlineStore("Orders?$expand=Items", "Tags")
    try service.change("Orders(1)", ["Note": "theirs"])
    try service.insert("Orders", ["ID": 3, "Note": "new", "Items": [["ID": 30]]])
    try service.delete("Orders(2)")
    let report = try await store.download()
    #expect(report.queries.allSatisfy { $0.strategy == .changes }, "\(report)")
    let orders = try await store.readEntitySet("Orders?$orderby=ID&$expand=Items")
    #expect(orders.entities.map { $0["Note"] } == [.string("theirs"), .string("new")])
    #expect(try await store.readEntitySet("Items").entities.map { $0["ID"] } == [.int32(30)])
    #expect(service.requests.contains { $0.hasPrefix("GET Orders?$deltatoken=") })
    try await store.close()
  }

  @Test("A store reads recorded exchanges as it reads the service")
  func recording() async throws {
    let service = try Shop.service()
    var recording = RecordedExchanges()
    for path in ["$metadata", "Orders?$orderby=ID"] {
      let response = try await service.get(path)
      recording.exchanges.append(
        RecordedExchange(
          url: service.root.absoluteString + path, status: response.status, fields: response.fields,
          body: response.bytes))
    }
    let transport = ScriptedTransport(replaying: try RecordedExchanges(encoded: recording.encoded))
    let store = try await OnlineODataStore.forTests(serviceRoot: transport.root, transport: transport)
    let orders = try await store.readEntitySet("Orders?$orderby=ID")
    #expect(orders.entities.map { $0["Note"] } == [.string("tea"), .string("milk")])
    #expect(transport.requests == ["GET $metadata", "GET Orders?$orderby=ID"])
    try await store.close()
  }

  @Test("A content manager for tests has the clock of the test")
  func content() async throws {
    let transport = ScriptedTransport()
    transport.route("GET headline", "Rain")
    let manager = ContentManager.forTests(transport: transport, clock: transport.clock)
    var query = ContentQuery<String>(transport.root.appending(path: "headline"))
    query.ttl = .seconds(60)
    for (seconds, count) in [(0, 1), (59, 1), (2, 2)] {
      transport.clock.advance(by: .seconds(seconds))
      #expect(try await manager.content(of: query).value == "Rain")
      #expect(transport.requests.count == count)
    }
    await manager.close()
  }

  @Test("A value of an object store for tests expires with the clock of the test")
  func objects() async throws {
    let clock = LarderTestClock()
    let store = try await ObjectStore.forTests(clock: clock)
    try await store.put("x", forKey: "k", expires: clock.now.addingTimeInterval(60))
    clock.advance(by: .seconds(59))
    #expect(try await store.value(String.self, forKey: "k") == "x")
    clock.advance(by: .seconds(2))
    #expect(try await store.value(String.self, forKey: "k") == nil)
    try await store.close()
  }
}
