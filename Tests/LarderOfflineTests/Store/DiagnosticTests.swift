import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: diagnostics", .timeLimit(.minutes(1)))
struct DiagnosticTests {
  @Test("An option that the service rejects is reported, and named")
  func rejectedOption() async throws {
    let server = try OddService.trackingAlone.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["accounts": "accounts"])
    let rejection = try #require(rig.diagnostics.first("optionsRejected"))
    #expect(rejection.module == "LarderOffline" && rejection.level == .warning)
    #expect(rejection.fields == ["definingQuery": "accounts", "status": "400", "options": "$count"])
    #expect(rejection.message == "Defining query 'accounts': The service rejects $count (HTTP 400).")
    try await store.close()
  }

  @Test(
    "Each remark of a download is a diagnostic with its name and the query",
    arguments: [
      (.resumed(.whole, pages: 2, rows: 5), "downloadResumed"), (.stagingTooOld, "stagingTooOld"),
      (.deltaExpired(status: 410), "deltaExpired"),
      (.deltaUnusable(OfflineODataError(.malformedResponse)), "deltaUnusable"),
      (.deltaIncomplete, "deltaIncomplete"), (.linkShown("Items"), "linkExpanded"),
      (.linkNotDownloaded("Items"), "linkNotExpanded"), (.countsDiffer(serviceCount: 1, storeCount: 2), "countsDiffer"),
      (.optionsRejected(status: 400, tracking: true, count: false), "optionsRejected"),
      (.pageRejected(status: 400), "pageRejected"), (.preferencesRejected(status: 400), "preferencesRejected"),
      (.pagesExpired(status: 404), "pageExpired"),
      (.pageUnusable(OfflineODataError(.malformedResponse)), "pageUnusable"),
      (.rowsMoved, "rowsMoved"), (.unstable(count: 1, rows: 2), "countUnreliable"),
      (.clientPaging(size: 5), "pagesRequested"),
      (.clientPagingIgnored, "pagingIgnored"), (.containerDeleted, "containerDeleted"),
      (.excessFractionalDigits(first: "Orders(1)/At", count: 3), "valuesTooPrecise"),
      (.keysRepeated(first: "Ps(1)", count: 2), "keysRepeated"),
      (.undeclaredProperties(["Orders/Extra": 2]), "undeclaredProperties"),
      (.undeclaredTypes(["N.New": 2]), "undeclaredTypes"),
      (.rawValues(first: "Orders(1)/At", count: 3), "rawValuesKept"),
      (.unknownKeys(first: "Orders, entity 1 of the response", count: 1), "unknownKeys"),
      (.pendingRowsChanged(2), "pendingRowsChanged"),
    ] as [(DownloadNote, String)])
  func remarks(note: DownloadNote, name: String) throws {
    let diagnostic = note.diagnostic(of: "orders")
    #expect(diagnostic.name == name && diagnostic.fields["definingQuery"] == "orders")
    #expect(diagnostic.message.hasPrefix("Defining query 'orders': "))
    let form = try #require(OfflineDiagnostic(rawValue: name)).form
    #expect(diagnostic.level == form.level && Set(diagnostic.fields.keys).isSubset(of: form.fields))
  }

  @Test("An event log that cannot be written is reported, and the download succeeds")
  func unwritableLog() async throws {
    let server = try OddService.unaskedExpansion.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["things": "Things"])
    #expect(rig.diagnostics.first("eventNotLogged") == nil)
    try await store.openStore().replica.database.write { (connection) throws(StorageError) in
      try connection.run("CREATE TRIGGER t BEFORE INSERT ON larder_event BEGIN SELECT RAISE(ABORT, 'no'); END")
    }
    let report = try await store.download()
    #expect(report.queries.map(\.error) == [nil])
    let failure = try #require(rig.diagnostics.first("eventNotLogged"))
    #expect(failure.level == .warning && failure.fields["event"] == "Query" && failure.error is OfflineODataError)
    try await store.close()
  }

  @Test("A store that opens with the rows it has, because the service cannot be reached, reports why")
  func openedWithoutDownload() async throws {
    let service = OddService(metadata: OddService.unaskedExpansion.metadata) { path, _ in
      path.hasPrefix("Things") ? .response(503) : nil
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    await #expect(throws: OfflineODataError.self) { try await rig.open(["things": "Things"]) }
    #expect(rig.diagnostics.first("openedWithoutDownload") == nil)
    let store = try rig.provider(transport: NoService())
    try await store.open()
    let diagnostic = try #require(rig.diagnostics.first("openedWithoutDownload"))
    #expect(diagnostic.level == .warning && diagnostic.fields == ["path": store.file])
    #expect(diagnostic.error?.errorCategory == .offline)
    try await store.close()
  }

  @Test("A store that opens for reading only is reported")
  func readOnly() async throws {
    let server = try OddService.unaskedExpansion.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let diagnostics = DiagnosticLog()
    // In an encrypted file, the changed byte would be detected.
    let parameters = OfflineODataParameters(path: folder.path) { diagnostics.add($0) }
    let store = try OfflineODataProvider(
      serviceRoot: server.url("/s/"), transport: try StoreRig("").transport, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("things", "Things"))
    try await store.open()
    try await store.close()
    #expect(diagnostics.first("storeReadOnly") == nil)
    let file = store.file
    var bytes = try Data(contentsOf: URL(filePath: file))
    // The version for writing: SQLite does not write to a file of a higher one.
    bytes[18] = 9
    try bytes.write(to: URL(filePath: file))
    try await store.open()
    #expect(store.isReadOnly)
    #expect(diagnostics.all.map(\.name) == ["storeReadOnly"])
    #expect(diagnostics.first("storeReadOnly")?.fields == ["path": file])
    try await store.close()
  }

  @Test("A service that rejects batches is reported once")
  func rejectedBatches() async throws {
    let rig = try await UploadRig(.init(batchStatus: 404))
    for _ in 0..<2 {
      try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
      try await rig.update(try await rig.row("Orders", 2), ["Name": .string("b")])
      #expect(try await rig.store.upload().sent == 2)
    }
    let rejections = rig.diagnostics.all.filter { $0.name == "batchesRejected" }
    #expect(rejections.count == 1)
    #expect(rejections.first?.level == .warning)
  }

  @Test("A look-up that fails is reported with the URL, and the rejected change is archived")
  func failedLookUp() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    rig.service.change { $0.fault = { line in .status(line.hasPrefix("GET") ? 503 : 409) } }
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 1)
    let failure = try #require(rig.diagnostics.first("lookUpFailed"))
    #expect(failure.level == .warning && failure.fields == ["url": "http://h/s/Orders(1)"])
    #expect(failure.error is OfflineODataError)
  }
}
