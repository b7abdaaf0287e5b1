import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("What the last download has inserted or updated", .timeLimit(.minutes(1)))
struct DownloadMarkTests {
  private func page(_ customers: (Int, String)...) -> String {
    let all = customers.map { #"{"ID":\#($0.0),"Name":"\#($0.1)"}"# }
    return "{\"value\":[\(all.joined(separator: ","))]}"
  }

  private func delta(_ rig: ChangeRig, _ changes: String) async throws {
    let page = #"{"@odata.context":"http://h/s/$metadata#Customers/$delta","value":[\#(changes)]}"#
    try await rig.rows.delta("load Customers", "Customers", [page])
  }

  /// The names of the customers that the last download has brought or changed.
  private func new(_ rig: ChangeRig, _ filter: String = "sap.upsertedLastDownload()") async throws -> String {
    try await rig.read("Customers?$select=Name&$orderby=Name&$filter=\(filter)").replacing(#"{"value":["#, with: "")
      .replacing("]}", with: "").replacing(#"{"Name":""#, with: "").replacing("\"}", with: "")
  }

  @Test("Whole reads: all of the first, then what differs; nothing of one that changes nothing")
  func whole() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b"), (3, "c")))
    #expect(try await new(rig) == "a,b,c")
    // One mark for all.
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted") == ["1"])
    try await rig.rows.load("Customers", page((1, "a"), (2, "bb"), (3, "c"), (4, "d")))
    #expect(try await new(rig) == "bb,d")
    #expect(try await new(rig, "not SAP.UPSERTEDLASTDOWNLOAD()") == "a,c")
    try await rig.rows.load("Customers", page((1, "a"), (2, "bb"), (3, "c"), (4, "d")))
    #expect(try await new(rig) == "")
    try await rig.rows.load("Customers", page((1, "a")))
    #expect(try await new(rig) == "")
    // Those of earlier downloads are swept.
    try await rig.rows.replica.sweep()
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted") == ["0"])
  }

  @Test(
    "What a whole read stages counts from its end on; what one has staged that did not end never does, and is swept")
  func staged() async throws {
    let rig = try await ChangeRig()
    let replica = rig.rows.replica
    try await rig.rows.load("Customers", page((1, "a"), (2, "b"), (3, "c")))
    try await rig.rows.load("Customers", page((1, "aa"), (2, "b"), (3, "c")))
    let count = "SELECT count(*) FROM larder_upserted WHERE download < 0"
    try await replica.sweep()
    #expect(try await rig.rows.rows(count) == ["1"])
    // Killed twice before its end: the query's number 1 is in larder_query.
    for row in ["2", "3"] {
      _ = try await replica.write { (snapshot) throws(StorageError) in
        let number = try DownloadMarks.stage(for: 1, snapshot.connection)
        try snapshot.connection.run(
          "INSERT INTO larder_upserted(download, name, row) SELECT ?1, name, ?2 FROM larder_upserted LIMIT 1",
          .integer(number), .integer(Int64(row)!))
      }
      #expect(try await new(rig) == "aa")
    }
    // The second is one that may still continue.
    try await replica.sweep()
    #expect(try await rig.rows.rows(count) == ["2"])
    #expect(try await new(rig) == "aa")
    try await replica.sweepOrphans()
    try await replica.sweep()
    #expect(try await rig.rows.rows(count) == ["1"])
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_marked") == ["1"])
    #expect(try await new(rig) == "aa")
    try await rig.rows.load("Customers", page((1, "aa"), (2, "b"), (3, "cc")))
    try await replica.sweep()
    #expect(try await new(rig) == "cc")
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted") == ["1"])
  }

  @Test("A first download behind something that was made here: one mark for all that the service has")
  func firstBehindLocal() async throws {
    let rig = try await ChangeRig()
    try await rig.create("Customers", [.init("ID", .int32(9)), .init("Name", .string("mine"))])
    try await rig.rows.load("Customers", page((1, "a"), (2, "b"), (3, "c")))
    #expect(try await new(rig) == "a,b,c")
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted") == ["1"])
  }

  @Test("A row that comes under another identity because it is deleted here is no new one")
  func deletedHere() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b")))
    try await rig.rows.load("Customers", page((1, "a"), (2, "bb")))
    try await rig.change(.delete("Customers(1)"))
    // One query of the download has ended before.
    let marks = try await DownloadMarks.next(rig.rows.replica)
    try await marks.begin(rig.rows.replica)
    let read = try await rig.rows.begin("load Customers", "Customers")
    _ = try await rig.rows.page(page((1, "a"), (2, "bb")), of: read)
    _ = try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1, marks: marks)
    #expect(try await rig.store.undoPendingChanges(nil) == 1)
    #expect(try await rig.rows.rows("SELECT count(*) FROM {Customers}") == ["2"])
    // The identity under which it came is no longer used: its mark, which was staged, goes with it.
    let ofNobody = "row <> 0 AND row NOT IN (SELECT \"@id\" FROM {Customers})"
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted WHERE \(ofNobody)") == ["0"])
    #expect(try await new(rig) == "")
  }

  @Test("A row whose change is taken back while a download ends is marked, where the service has changed it")
  func takenBackAtEnd() async throws {
    let rig = try await ChangeRig()
    for _ in 1...2 { try await rig.rows.load("Customers", page((1, "a"), (2, "b"), (3, "c"))) }
    for number in 1...2 { try await rig.update("Customers(\(number))", [.init("Name", .string("mine"))]) }
    let marks = try await DownloadMarks.next(rig.rows.replica)
    let read = try await rig.rows.begin("load Customers", "Customers")
    _ = try await rig.rows.page(page((1, "aa"), (2, "b"), (3, "c")), of: read)
    let compared = try await read.compare(marks)
    #expect(try await rig.store.undoPendingChanges(nil) == 2)
    _ = try await read.end(compared, DownloadEnding(time: 1, marks: marks, marked: compared.marked))
    #expect(try await new(rig) == "aa")
  }

  @Test("Deltas: what they insert and what they change, not what they say again")
  func deltas() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b")))
    try await delta(rig, #"{"ID":1,"Name":"a"},{"ID":2,"Name":"bb"},{"ID":3,"Name":"c"}"#)
    #expect(try await new(rig) == "bb,c")
    try await delta(rig, #"{"ID":3,"@removed":{"reason":"deleted"}}"#)
    #expect(try await new(rig) == "")
    try await delta(rig, "")
    #expect(try await new(rig) == "")
  }

  @Test("What is created or changed here is not marked as downloaded until a download returns it")
  func changes() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b")))
    try await rig.create("Customers", [.init("ID", .int32(7)), .init("Name", .string("mine"))])
    try await rig.update("Customers(1)", [.init("Level", .int32(9))])
    #expect(try await new(rig) == "a,b")
    // Another has changed one that is changed here; the other is the same, and so is what is changed here.
    try await rig.rows.load("Customers", page((1, "a"), (2, "bb")))
    #expect(try await new(rig) == "bb")
    try await rig.rows.load("Customers", page((1, "aa"), (2, "bb"), (7, "theirs")))
    #expect(try await new(rig) == "aa,mine")
    // It was uploaded, and comes back.
    try await rig.create("Customers", [.init("ID", .int32(8)), .init("Name", .string("sent"))])
    try await rig.succeed(3)
    #expect(try await new(rig, "sap.islocal()") == "sent")
    try await delta(rig, #"{"ID":8,"Name":"sent"}"#)
    #expect(try await new(rig) == "sent")
    #expect(try await new(rig, "sap.islocal()") == "")
    try await rig.update("Customers(2)", [.init("Level", .int32(1))])
    try await delta(rig, #"{"ID":2,"Name":"bb"}"#)
    #expect(try await new(rig) == "")
    try await delta(rig, #"{"ID":2,"Name":"bbb"}"#)
    #expect(try await new(rig) == "bbb")
  }

  @Test("Queries of one table: one download is all of its queries")
  func queries() async throws {
    let rig = try await ChangeRig()
    func read(_ name: String, _ page: String, _ marks: DownloadMarks) async throws {
      let read = try await rig.rows.begin(name, "Customers")
      _ = try await rig.rows.page(page, of: read)
      _ = try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1, marks: marks)
    }
    var marks = try await DownloadMarks.next(rig.rows.replica)
    try await read("one", page((1, "a"), (2, "b")), marks)
    try await read("two", page((2, "b"), (3, "c")), marks)
    #expect(try await new(rig) == "a,b,c")
    // One mark for all.
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_upserted") == ["1"])
    marks = try await DownloadMarks.next(rig.rows.replica)
    try await read("one", page((1, "aa"), (2, "b")), marks)
    #expect(try await new(rig) == "aa")
    try await read("two", page((2, "b"), (3, "cc")), marks)
    #expect(try await new(rig) == "aa,cc")
    // A row that another query downloads unchanged is not new for a reader.
    marks = try await DownloadMarks.next(rig.rows.replica)
    try await read("two", page((1, "aa"), (2, "b"), (3, "cc")), marks)
    #expect(try await new(rig) == "")
    #expect(try await rig.rows.rows("SELECT count(*) FROM {Customers}") == ["3"])
  }

  @Test("Entities contain it if all control information is requested, and only then")
  func entities() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b")))
    try await rig.rows.load("Customers", page((1, "a"), (2, "bb")))
    var request = ODataSingleRequest.read("Customers?$orderby=ID")
    request.fields[.accept] = "application/json;odata.metadata=full"
    let options = OfflineODataResultOptions(request)
    let full = String(decoding: try await rig.store.json(request.path, options).bytes, as: UTF8.self)
    #expect(full.components(separatedBy: "\"@sap.upsertedLastDownload\":true").count == 2, "\(full)")
    let response = ODataSingleResponse(
      httpStatus: 200, fields: [.contentType: "application/json", .odataVersion: "4.0"], payloadBytes: Array(full.utf8),
      url: "http://h/s/Customers", serviceVersion: .v4)
    guard case .collection(let all) = try response.payload(model: rig.rows.replica.model) else {
      Issue.record("No collection: \(full)")
      return
    }
    #expect(all.entities.map(\.upsertedLastDownload) == [false, true])
    let plain = String(decoding: try await rig.store.json(request.path, .init()).bytes, as: UTF8.self)
    #expect(!plain.contains("sap."))
  }

  @Test(
    "$format may be in any case, and percent-encoded",
    arguments: [
      "odata.metadata=full", "odata.metadata%3Dfull", "odata.metadata=FULL", "METADATA%3dFu%6Cl", "metadata=%20full",
    ])
  func spellings(_ format: String) async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a")))
    let path = "Customers?$orderby=ID&$format=application/json;\(format)"
    let response = String(decoding: try await rig.store.json(path, .init()).bytes, as: UTF8.self)
    #expect(response.contains("\"@sap.upsertedLastDownload\":true"), "\(response)")
  }

  @Test("The result of a change contains it if all control information is requested, and only then")
  func responsesToChanges() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a"), (2, "b")))
    let json = "application/json"
    for (id, accept) in [(1, json), (2, json + ";odata.metadata=full"), (1, json)] {
      var request = ODataSingleRequest.update(
        "Customers(\(id))", to: ODataEntity(properties: [ODataProperty("Level", .int32(9))]))
      request.returnPreference = .representation
      request.fields[.accept] = accept
      let response = String(decoding: try await rig.change(request).payloadBytes, as: UTF8.self)
      #expect(response.contains("\"Level\":9"), "\(response)")
      #expect(response.contains("\"@sap.upsertedLastDownload\":true") == (id == 2), "\(response)")
    }
  }

  @Test("Live results are read again when another download is the last")
  func live() async throws {
    let rig = try await ChangeRig()
    try await rig.rows.load("Customers", page((1, "a")))
    let seq = try await rig.rows.replica.lastChange()
    let plan = try await rig.store.read { [store = rig.store] snapshot in
      try store.preparedQuery("Customers?$filter=sap.upsertedLastDownload()", snapshot).plan
        .tables(snapshot)
    }
    try await rig.rows.load("Customers", page((1, "a")))
    let changes = try await rig.rows.replica.changes(since: seq)
    #expect(changes.tables == [ReplicaChanges.downloads])
    #expect(plan.contains(ReplicaChanges.downloads))
  }

  @Test("A service says that nothing has changed: no entity is new any more")
  func notModified() async throws {
    let responses = ScriptedInTurn()
    let folder = try TemporaryFolder()
    let store = try UploadRig.provider(folder, responses)
    try await store.add(OfflineODataDefiningQuery("customers", "Customers"))
    try await store.open()
    let filter = "Customers?$filter=sap.upsertedlastdownload()"
    #expect(try await store.readCount(filter) == 2)
    try await store.download()
    #expect(try await store.definingQueries().first?.lastStrategy == .notModified)
    #expect(try await store.readCount(filter) == 0)
    // A download that fails is none.
    responses.isAway.store(true, ordering: .relaxed)
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(try await store.readCount(filter) == 0)
    try await store.close()
  }
}

/// A service of two customers that recognizes its response by its ETag.
private final class ScriptedInTurn: HTTPTransport {
  let isAway = Atomic(false)
  let identity = "turns"

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    if isAway.load(ordering: .relaxed) { throw .cannotConnect(host: "h", reason: "away") }
    let isMetadata = request.url.absoluteString.hasSuffix("$metadata")
    let type = isMetadata ? "application/xml" : "application/json"
    let fields: HTTPFields = ["Content-Type": type, "ETag": "\"1\"", "OData-Version": "4.0"]
    if request.fields[.ifNoneMatch] == "\"1\"" {
      return HTTPResponse(status: 304, fields: fields, url: request.url, body: HTTPBodyStream([]))
    }
    let text = isMetadata ? ChangeModels.shop : #"{"value":[{"ID":1,"Name":"a"},{"ID":2,"Name":"b"}]}"#
    return HTTPResponse(status: 200, fields: fields, url: request.url, body: HTTPBodyStream(Array(text.utf8)))
  }
}
