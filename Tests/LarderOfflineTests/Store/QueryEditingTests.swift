import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: defining queries that are wrong, removed, or written otherwise", .timeLimit(.minutes(1)))
struct QueryEditingTests {
  @Test(
    "where one of the queries fits nothing the first download fails, and the others' rows come; removed before opening, it is no hindrance"
  )
  func wrongQuery() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let first = try rig.provider()
    try await first.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await first.add(OfflineODataDefiningQuery("wrong", "Rwos"))
    let error = await #expect(throws: OfflineODataError.self) { try await first.open() }
    #expect(error?.name == .invalidDefiningQuery)
    #expect(error?.errorMessage.contains("did you mean 'Rows'?") == true)
    #expect(!rows.requested.isEmpty)
    // The application's next version asks otherwise.
    let second = try rig.provider()
    try await second.add(OfflineODataDefiningQuery("rows", "Rows"))
    await #expect(throws: OfflineODataError.self) { try await second.open() }
    try await second.removeDefiningQuery("wrong")
    try await second.removeDefiningQuery("never there")
    try await second.open()
    #expect(try await second.definingQueries().map(\.definingQuery.name) == ["rows"])
    #expect(try await second.size("Rows") == 5)
    try await second.close()
  }

  @Test("a whole URL below the root is a defining query too, one of another service is none")
  func absolute() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": rig.root + "Rows?$filter=ID gt 2"])
    #expect(rows.requested.allSatisfy { !$0.contains("http") })
    #expect(try await store.definingQueries().map(\.definingQuery.query) == ["Rows?$filter=ID%20gt%202"])
    let error = await #expect(throws: OfflineODataError.self) {
      try await store.add(OfflineODataDefiningQuery("other", "https://example.com/Rows"))
    }
    #expect(error?.name == .invalidDefiningQuery)
    try await store.close()
  }

  @Test("openings one after another are one line of the event log, and do not drive out what was done")
  func openings() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    for _ in 0..<5 {
      try await store.close()
      try await store.open()
    }
    let events = try await store.read([Event].self, "EventLog?$orderby=EventID")
    #expect(events?.map(\.type) == ["Query", "Open"])
    try await store.download()
    try await store.close()
    try await store.open()
    let count = try await store.readCount("EventLog")
    #expect(count == 4)
    try await store.close()
  }

  @Test("a row of a removed query stays until its change is sent, or taken back", arguments: [true, false])
  func rowWithChange(isSent: Bool) async throws {
    let rig = try await UploadRig()
    let name = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    try await rig.store.update("Orders(1)", to: name)
    try await rig.store.removeDefiningQuery("orders")
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders}") == ["1|mine"])
    let count = try await isSent ? rig.store.upload().sent : rig.store.undoAllPendingChanges()
    #expect(count == 1)
    #expect(try await rig.rows("SELECT ID FROM {Orders}").isEmpty)
    #expect(try await rig.isClean())
  }

  @Test(
    "a row that is kept for its change is no conflict if another query of its table is read", arguments: [true, false])
  func otherQuery(isWhole: Bool) async throws {
    let rig = try await UploadRig()
    try await rig.store.add(OfflineODataDefiningQuery("other", "Orders(2)"))
    try await rig.store.download()
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    try await rig.store.removeDefiningQuery("orders")
    let report = try await rig.store.download(whole: isWhole)
    #expect(report.queries.flatMap(\.conflicts).isEmpty, "\(report)")
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID = 1") == ["1|mine"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await rig.rows("SELECT ID FROM {Orders} WHERE ID = 1").isEmpty)
    #expect(try await rig.isClean())
  }

  @Test("a row of a removed query that a pending creation names goes after the upload")
  func namedRow() async throws {
    let rig = try await UploadRig()
    try await rig.create("Items", key: 9, ["Text": .string("mine")], order: try await rig.row("Orders", 1), orderKey: 1)
    try await rig.store.removeDefiningQuery("orders")
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["1"])
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["1"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await rig.rows("SELECT ID FROM {Orders}").isEmpty)
    #expect(try await rig.rows("SELECT row FROM larder_reference").isEmpty)
    #expect(try await rig.isClean())
  }

  @Test("a row of a removed query goes after its own change, though a pending creation named it before")
  func namedRowWithChange() async throws {
    let rig = try await UploadRig()
    let order = try await rig.row("Orders", 1)
    try await rig.create("Items", key: 9, ["Text": .string("mine")], order: order, orderKey: 1)
    try await rig.store.removeDefiningQuery("orders")
    try await rig.update(order, ["Name": .string("mine")])
    rig.service.fail(.status(400), times: 9) { $0.hasPrefix("PATCH") }
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0)).sent == 1)
    rig.service.change { $0.fault = nil }
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders}") == ["1|mine"])
    try await rig.store.retryAll()
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await rig.rows("SELECT ID FROM {Orders}").isEmpty)
    #expect(try await rig.isClean())
  }

  @Test("a row of a removed query that another query downloads again stays after its change is sent")
  func rowDownloadedAgain() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await rig.store.removeDefiningQuery("orders")
    try await rig.store.add(OfflineODataDefiningQuery("first", "Orders(1)"))
    try await rig.store.download()
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders}") == ["1|mine"])
    try await rig.store.download()
    #expect(try await rig.rows("SELECT row FROM larder_reference").isEmpty)
  }

  @Test("the event log shows the strategy of downloads that an earlier version has logged")
  func earlierEvents() async throws {
    let rig = try await UploadRig()
    let record = "{\"type\":\"Query\",\"query\":\"before\",\"way\":\"changes\"}"
    try await rig.open.write { snapshot in
      try snapshot.connection.run("INSERT INTO larder_event(time, text) VALUES(0, ?1)", .text(record))
    }
    let events = try await rig.store.readEntitySet("EventLog?$filter=Strategy ne null&$orderby=EventID").entities
    let strategies: [ODataValue?] = events.map { $0["Strategy"] }
    #expect(strategies == [.string("whole"), .string("whole"), .string("changes")])
  }

  private struct Event: Decodable, Sendable {
    var type: String
    enum CodingKeys: String, CodingKey { case type = "EventType" }
  }

  @Test("rows that pages have in common count once, in the report and in progress")
  func overlappingPages() async throws {
    let rows = ScriptedRows(10) { $0.tracks = false }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"], pageSize: 3)
    let events = store.events
    let report = try await store.download()
    #expect(report.queries.first?.pages ?? 0 > 3)
    #expect(report.rows == 10)
    var most: Int64 = 0
    for await event in events {
      if case .downloadProgress(let progress) = event { most = max(most, progress.rows) }
      if case .downloadFinished = event { break }
    }
    #expect(most == 10)
    try await store.close()
  }
}
