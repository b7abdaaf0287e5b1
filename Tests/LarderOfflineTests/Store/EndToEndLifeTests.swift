import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store from outside: downloads, streams, listeners", .timeLimit(.minutes(1)))
struct EndToEndLifeTests {
  @Test("queries that share no table are downloaded side by side, those that share one are not")
  func parallel() async throws {
    let staffGate = ScriptedServer.Gate()
    let departmentGate = ScriptedServer.Gate()
    let server = try EndToEndStaff(gates: ["Staff": staffGate, "Departments": departmentGate]).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("staff", "Staff"))
    try await store.add(OfflineODataDefiningQuery("sellers", "Staff?$filter=DepartmentID eq 1"))
    try await store.add(OfflineODataDefiningQuery("departments", "Departments"))
    async let opening: Void = store.open()
    try await staffGate.waitUntilReached()
    try await departmentGate.waitUntilReached()
    #expect(staffGate.arrivalCount == 1)
    // A query that is added meanwhile is not lost.
    try await store.add(OfflineODataDefiningQuery("late", "Departments?$filter=ID eq 1"))
    staffGate.open()
    departmentGate.open()
    try await opening
    let queries = try await store.definingQueries()
    #expect(queries.map(\.definingQuery.name) == ["staff", "sellers", "departments", "late"])
    #expect(queries.map(\.hasPendingDownload) == [false, false, false, true])
    #expect(try await store.readCount("Staff") == 5)
    try await store.download(["late"])
    #expect(try await !store.hasPendingDownload())
    try await store.close()
  }

  @Test("a streamed result is of one state to its end, though a download replaces the tables meanwhile")
  func streamed() async throws {
    let rows = ScriptedRows(6000)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    let before = try await store.readJSON("Rows?$orderby=ID").bytes
    let pieces = try await store.streamJSON("Rows?$orderby=ID")
    var iterator = pieces.makeAsyncIterator()
    var streamed = try #require(try await iterator.next())
    #expect(streamed.count < before.count)
    rows.change { state in
      for id in 1...6000 { state.put(id, "changed \(id)") }
      state.oldestDelta = state.now + 1
    }
    #expect(try await store.download().queries.first?.strategy == .whole)
    #expect(try await store.readCount("Rows?$filter=startswith(Text,'changed')") == 6000)
    while let piece = try await iterator.next() { streamed += piece }
    #expect(streamed == before)
    // A stream that is not read to its end does not keep the store from closing.
    var dropped = try await store.streamJSON("Rows?$orderby=ID").makeAsyncIterator()
    _ = try await dropped.next()
    try await store.close()
    await #expect(throws: OfflineODataError.self) { while try await dropped.next() != nil {} }
  }

  @Test("the listener hears opening, downloads and each query's end")
  func listener() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    let ear = Ear()
    store.listener = ear
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await store.open()
    #expect(
      ear.take() == ["opening", "open metadata", "open reading", "open committing", "open done", "rows whole", "open"])
    try await store.download()
    #expect(ear.take() == ["metadata", "changes", "committing", "done", "rows changes"])
    server.stop()
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    try await store.close()
    #expect(ear.take().suffix(2) == ["closing", "closed"])
  }

  @Test("a live result is a value, or an optional one if requested: nil while there is nothing")
  func liveOptional() async throws {
    struct Row: Decodable, Sendable, Equatable {
      let text: String
      enum CodingKeys: String, CodingKey { case text = "Text" }
    }
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    let all: OfflineODataLiveResults<[Row]> = try store.live([Row].self, "Rows")
    let one: OfflineODataLiveResults<Row?> = try store.live(Row?.self, "Rows(2)")
    let required: OfflineODataLiveResults<Row> = try store.live(Row.self, "Rows(2)")
    let latest = await OfflineODataLiveResult(one)
    let value: Row? = await latest.value
    #expect(value == nil)
    var (every, maybe, must) = (all.makeAsyncIterator(), one.makeAsyncIterator(), required.makeAsyncIterator())
    #expect(try await every.next()?.count == 3)
    #expect(try await maybe.next() == .some(Row(text: "row 2")))
    #expect(try await must.next() == Row(text: "row 2"))
    rows.change { $0.remove(2) }
    try await store.download()
    #expect(try await every.next()?.count == 2)
    #expect(try await maybe.next() == .some(nil))
    let error = await #expect(throws: OfflineODataError.self) { _ = try await must.next() }
    #expect(error?.category == .notFound)
    rows.change { $0.put(2, "again") }
    try await store.download()
    #expect(try await maybe.next() == .some(Row(text: "again")))
    try await store.close()
  }

  @Test("names of stores that differ by a letter's case or by normalization alone are different files")
  func names() throws {
    let names = ["store", "Store", "STORE", "\u{E9}", "e\u{301}", "..a", "a..b", "a.b"]
    let files = names.map { OfflineODataParameters(storeName: $0).file(in: "/f") }
    // In ASCII there is no other form of a name than that of its letters' case.
    #expect(files.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    #expect(Set(files.map { $0.lowercased() }).count == names.count, "\(files)")
    #expect(files[0] == "/f/store.larder" && files[7] == "/f/a.b.larder")
  }

  @Test("a store that an earlier version has named with capital letters is found")
  func formerName() throws {
    let folder = try TemporaryFolder()
    let parameters = OfflineODataParameters(storeName: "Shop")
    #expect(parameters.file(in: folder.path) != folder.file("Shop.larder"))
    try Data().write(to: URL(filePath: folder.file("Shop.larder")))
    #expect(parameters.file(in: folder.path) == folder.file("Shop.larder"))
    #expect(OfflineODataParameters(storeName: "SHOP").file(in: folder.path) != folder.file("SHOP.larder"))
  }

  @Test("without a path a store is in the platform's folder for data, under the names of application and service")
  func defaultLocation() throws {
    let roots = [
      "https://erp.example/s/", "https://erp.example/t/", "https://erp.example/t/?sap-client=100", "http://h/s/",
    ]
    let stores = try roots.map { try provider($0, ["XDG_DATA_HOME": "/data"]) }
    #expect(Set(stores.map(\.file)).count == roots.count)
    for (store, host) in zip(stores, ["erp.example", "erp.example", "erp.example", "h"]) {
      #expect(store.parameters.path?.hasPrefix("/data/app/offline/\(host)-") == true, "\(store.file)")
      #expect(store.file == store.parameters.path.map { $0 + "/store.larder" })
    }
    #expect(try provider(roots[0], ["XDG_DATA_HOME": "/data"]).file == stores[0].file)
  }

  @Test("without a path and a home folder a store cannot be created")
  func noDefaultLocation() throws {
    let error = #expect(throws: OfflineODataError.self) { try provider("http://h/s/", ["HOME": "relative"]) }
    #expect(error?.name == .noDefaultLocation)
    #expect(error?.explanation.cure.hasPrefix("Set HOME to the user's home folder, or give the store a path.") == true)
  }

  private func provider(_ root: String, _ variables: [String: String]) throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters()
    parameters.conversation.environment.folders = ApplicationFolders(application: "app", variables: variables)
    return try OfflineODataProvider(
      serviceRoot: try #require(URL(string: root)), transport: try StoreRig("http://h/").transport,
      parameters: parameters)
  }

  @Test("live results follow a download of another store on the same file")
  func liveElsewhere() async throws {
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let first = try await rig.open(["rows": "Rows"])
    let second = try rig.provider()
    try await second.open()
    var counts = try second.live(Int.self, "Rows/$count").makeAsyncIterator()
    #expect(try await counts.next() == 3)
    rows.change { $0.put(9, "new") }
    try await first.download()
    #expect(try await counts.next() == 4)
    // A whole read, which changes the names of the tables.
    rows.change { state in
      state.put(10, "newer")
      state.oldestDelta = state.now + 1
    }
    #expect(try await first.download().queries.first?.strategy == .whole)
    #expect(try await counts.next() == 5)
    #expect(try await second.readEntity("Rows(10)")?["Text"] == .string("newer"))
    try await second.close()
    #expect(try await counts.next() == nil)
    try await first.close()
  }

  @Test("requests that block, and batches of reads: what fails fails alone, changes reject the whole")
  func requests() async throws {
    let server = try EndToEndStaff().serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["staff": "Staff"])
    let blocked = try await onDedicatedThread { try store.executeBlocking(.single(.read("Staff/$count"))) }
    #expect(blocked.single.map { String(decoding: $0.payloadBytes, as: UTF8.self) } == "5")
    var named = ODataSingleRequest.read("Staff(1)/Name")
    named.contentID = "a"
    let reads: [ODataBatchRequest.Item] = [.single(named), .read("Staff(9)"), .read("Stuff"), .read("Staff/$count")]
    let batch = try await store.execute(batch: ODataBatchRequest(reads))
    #expect(batch.slots.map { $0?.response?.httpStatus } == [200, nil, nil, 200])
    #expect(batch.slots.map { $0?.failure?.httpStatus } == [nil, 404, 400, nil])
    #expect(batch.slots.first??.response?.contentID == "a")
    #expect((batch.slots[1]?.failure?.cause as? OfflineODataError)?.name == .entityNotFound)
    #expect(batch.slots.allSatisfy { $0?.failure?.exchange == nil })
    let stopping = try await store.execute(batch: ODataBatchRequest(reads, continuesOnError: false))
    #expect(stopping.slots.map { $0?.response?.httpStatus } == [200, nil, nil, nil])
    let changing = try await store.execute(
      batch: ODataBatchRequest([.read("Staff(1)"), .single(.delete("Staff(1)")), .read("Staff(1)")]))
    #expect(changing.slots.map { $0?.response?.httpStatus } == [200, 204, nil])
    #expect(changing.slots[2]?.failure?.httpStatus == 404)
    #expect(throws: OfflineODataError.neverPassive) { try store.setPassive(true) }
    try await store.close()
  }
}

extension OfflineODataError {
  fileprivate static var neverPassive: OfflineODataError { OfflineODataError(.neverPassive) }
}

/// Notes what a listener hears; progress of one step once.
private final class Ear: OfflineODataListener {
  private let heard = Mutex<[String]>([])

  func take() -> [String] {
    heard.withLock { heard in
      defer { heard = [] }
      return heard
    }
  }

  private func note(_ text: String) { heard.withLock { if $0.last != text { $0.append(text) } } }

  func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState) {
    note(state.rawValue)
  }

  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataDownloadProgress
  ) {
    note("open \(progress.step)")
  }

  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataDownloadProgress
  ) { note("\(progress.step)") }

  func offlineODataProvider(_ provider: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome) {
    note("\(outcome.name) \(outcome.strategy?.rawValue ?? "-")")
  }
}
