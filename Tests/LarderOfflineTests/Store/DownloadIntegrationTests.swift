import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: what such stores are known to fail at", .timeLimit(.minutes(1)))
struct DownloadIntegrationTests {
  /// The numbers and texts that the store has, and those of the service.
  private func compare(_ store: OfflineODataProvider, _ rows: ScriptedRows) async throws {
    struct Row: Decodable, Hashable, Sendable {
      var id: Int
      var text: String
      enum CodingKeys: String, CodingKey { case id = "ID", text = "Text" }
    }
    let here = try await store.read([Row].self, "Rows?$orderby=ID") ?? []
    let there = rows.state.withLock { state in
      state.rows.keys.sorted().map { Row(id: $0, text: state.rows[$0]?.text ?? "") }
    }
    #expect(here == there)
  }

  @Test("changes, additions and deletions come by the delta link")
  func delta() async throws {
    let rows = ScriptedRows(25) { $0.pageSize = 10 }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    try await compare(store, rows)
    rows.change { state in
      state.put(3, "changed")
      state.put(99, "new")
      state.remove(7)
    }
    let report = try await store.download()
    #expect(report.queries.first?.strategy == .changes)
    try await compare(store, rows)
    let empty = try await store.download()
    #expect(empty.queries.first?.strategy == .changes)
    try await compare(store, rows)
    try await store.close()
  }

  @Test("an expired delta link becomes a whole read, and tracking continues", arguments: [410, 404, 400, 500])
  func expired(status: Int) async throws {
    let rows = ScriptedRows(25)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    rows.change { state in
      state.put(3, "changed")
      state.remove(7)
      state.oldestDelta = state.now
      state.expiredStatus = status
    }
    let report = try await store.download()
    #expect(report.queries.first?.strategy == .whole)
    #expect(report.queries.first?.notes.first?.contains("\(status)") == true)
    try await compare(store, rows)
    rows.change { $0.put(4, "later") }
    #expect(try await store.download().queries.first?.strategy == .changes)
    try await compare(store, rows)
    try await store.close()
  }

  @Test(
    "A web page in place of a delta keeps the delta link, and in place of a page the rows so far",
    arguments: [404, 410])
  func switchedOff(status: Int) async throws {
    let rows = ScriptedRows(25)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    rows.change { state in
      state.put(3, "changed")
      state.pageStatus = status
    }
    let off = try await #require(throws: OfflineODataError.self) { try await store.download() }
    #expect(off.name == .serviceUnavailable, "\(off)")
    rows.change { $0.pageStatus = nil }
    #expect(try await store.download().queries.first?.strategy == .changes)
    try await compare(store, rows)
    rows.change { state in
      let third = state.requested.count + 2
      (state.pageSize, state.before) = (
        10, { number, state in state.pageStatus = number == third ? status : state.pageStatus }
      )
    }
    await #expect(throws: OfflineODataError.self) { try await store.download(whole: true) }
    rows.change { state in
      (state.pageStatus, state.before, state.requested) = (nil, nil, [])
    }
    _ = try await store.download()
    #expect(rows.requested.first?.contains("skiptoken") == true, "\(rows.requested)")
    try await compare(store, rows)
    try await store.close()
  }

  @Test("a first download interrupted at any page resumes there, in another process's place too", arguments: 0..<5)
  func interrupted(page: Int) async throws {
    let rows = ScriptedRows(45) { state in
      state.pageSize = 10
      // The page breaks as often as it is requested.
      state.cuts = Set(page..<(page + 4))
    }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let first = try rig.provider()
    try await first.add(OfflineODataDefiningQuery("rows", "Rows"))
    await #expect(throws: OfflineODataError.self) { try await first.open() }
    #expect(!first.isOpen)
    // Without the service, what was downloaded is opened: not even a part of the rows, which would be a wrong result.
    let away = try rig.provider(root: first.root.url.absoluteString, transport: NoService())
    try await away.open()
    #expect(try await away.hasPendingDownload())
    let early = await #expect(throws: OfflineODataError.self) { try await away.readJSON("Rows?$filter=ID gt 3") }
    #expect(early?.name == .neverDownloaded)
    #expect(try await away.readEntitySet("EventLog").entities.isEmpty == false)
    #expect(try await away.definingQueries().map(\.hasPendingDownload) == [true])
    let unreachable = await #expect(throws: OfflineODataError.self) { try await away.download() }
    #expect(unreachable?.category == .communicationError)
    try await away.close()
    rows.change { $0.cuts = [] }
    let before = rows.requested.count
    let second = try rig.provider()
    try await second.open()
    try await compare(second, rows)
    #expect(rows.requested.count - before == 5 - page)
    try await second.close()
  }

  @Test("304 leaves everything as it is")
  func notModified() async throws {
    let rows = ScriptedRows(5) { state in
      state.tracks = false
      state.givesETag = true
    }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    #expect(try await store.download().queries.first?.strategy == .notModified)
    rows.change { $0.remove(2) }
    #expect(try await store.download().queries.first?.strategy == .whole)
    try await compare(store, rows)
    try await store.close()
  }

  @Test("windows are requested of a service without pages from the second download; one that ignores $top returns all")
  func windows() async throws {
    for heedsTop in [true, false] {
      let rows = ScriptedRows(35) { state in
        state.tracks = false
        state.heedsTop = heedsTop
      }
      let server = try rows.serve()
      defer { server.stop() }
      let rig = try StoreRig(server.url("/s/").absoluteString)
      let store = try await rig.open(["rows": "Rows"], pageSize: 10)
      try await compare(store, rows)
      rows.change { state in
        state.remove(11)
        state.put(3, "changed")
      }
      try await store.download()
      try await compare(store, rows)
      try await store.close()
    }
  }

  @Test("rows that go between pages are not missed, nor those behind them")
  func moved() async throws {
    let rows = ScriptedRows(35) { $0.tracks = false }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"], pageSize: 10)
    let begin = rows.requested.count
    rows.change { state in state.before = { number, state in if number == begin + 2 { state.remove(2) } } }
    try await store.download()
    try await compare(store, rows)
    try await store.close()
  }

  @Test("live results follow a download, and only one that changes what they read")
  func live() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    struct Row: Decodable, Hashable, Sendable {
      var text: String
      enum CodingKeys: String, CodingKey { case text = "Text" }
    }
    var responses = try store.live([Row].self, "Rows?$filter=ID lt 3&$orderby=ID").makeAsyncIterator()
    #expect(try await responses.next() == [Row(text: "row 1"), Row(text: "row 2")])
    rows.change { $0.put(5, "not read") }
    try await store.download()
    rows.change { $0.put(2, "changed") }
    try await store.download()
    #expect(try await responses.next() == [Row(text: "row 1"), Row(text: "changed")])
    try await store.close()
  }

  @Test("V2: a delta in Atom with tombstones and changes")
  func atom() async throws {
    let server = try ScriptedServer { request in AtomRows.response(request) }
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    #expect(try await store.size("Rows") == 3)
    let report = try await store.download()
    #expect(report.queries.first?.strategy == .changes, "\(report)")
    let left = try await store.readEntitySet("Rows?$orderby=ID").entities
    #expect(left.map { $0["ID"] } == [.int32(1), .int32(3)])
    #expect(left.map { $0["Text"] } == [.string("a"), .string("new")])
    let delta = try #require(server.requests.last { $0.target.contains("deltatoken") })
    #expect(delta.fields[.accept]?.contains("atom") == true)
    try await store.close()
  }

  @Test("new properties of the service's metadata appear, and nothing is lost")
  func migration() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    rows.change { $0.extraProperty = true }
    try await store.download()
    #expect(try await store.text("Rows?$top=1&$select=More").contains("More"))
    try await compare(store, rows)
    try await store.close()
  }
}

@Suite("Offline store: opening, requests, errors", .timeLimit(.minutes(1)))
struct ProviderLifeTests {
  @Test("the first opening needs the service, later ones do not; clear removes everything")
  func life() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    await #expect(throws: OfflineODataError.self) { try await store.clear() }
    try await store.close()
    server.stop()
    try await store.open()
    #expect(try await store.size("Rows") == 5)
    let failure = await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(failure?.category == .communicationError)
    #expect(try await store.size("Rows") == 5)
    try await store.close()
    try await store.clear()
    #expect(!FileManager.default.fileExists(atPath: store.file))
    await #expect(throws: OfflineODataError.self) { try await store.open() }
  }

  @Test("one listener hears the same calls as of an online store, without the cache's")
  func listener() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    var names: [String] = []
    let execution = store.schedule(.single(.read("Rows(3)")), listener: nil)
    for await event in execution.events { names.append(event.name) }
    #expect(names == ["requestStarted", "requestServerResponse", "requestFinished"])
    #expect(try await store.readEntity("Rows(3)")?["Text"] == .string("row 3"))
    names = []
    let change = store.schedule(.single(.delete("Rows(3)")), listener: nil)
    for await event in change.events { names.append(event.name) }
    #expect(names == ["requestStarted", "requestServerResponse", "requestFinished"])
    #expect(change.error == nil)
    #expect(throws: OfflineODataError.self) { try store.setPassive(true) }
    try await store.close()
    let closed = await #expect(throws: OfflineODataError.self) { try await store.readEntity("Rows(3)") }
    #expect(closed?.name == .storeNotOpen)
  }

  @Test("$search finds words by an index that is created when first used, and follows the rows")
  func search() async throws {
    let rows = ScriptedRows(5) { $0.put(2, "quick brown fox") }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    #expect(try await store.size("Rows?$search=brown") == 1)
    #expect(try await store.size("Rows?$search=brown") == 1)
    rows.change { $0.put(4, "another brown one") }
    try await store.download()
    #expect(try await store.size("Rows?$search=brown") == 2)
    #expect(try await store.size("Rows?$search=brown NOT fox") == 1)
    try await store.close()
  }

  @Test("an index that the application requests is used, also if the store was filled before")
  func index() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let first = try await rig.open(["rows": "Rows"])
    let before = try await first.explain("Rows?$filter=Text eq 'row 1'").statements.first?.plan.joined() ?? ""
    #expect(before.contains("SCAN"))
    try await first.close()
    var parameters = first.parameters
    parameters.encryptionKey = try RigKey.fromEnvironment()
    parameters.indexes = [OfflineODataIndex("Rows", ["Text"])]
    let store = try OfflineODataProvider(
      serviceRoot: server.url("/s/"), transport: rig.transport, parameters: parameters)
    try await store.open()
    let plan = try await store.explain("Rows?$filter=Text eq 'row 1'").statements.first?.plan.joined() ?? ""
    #expect(plan.contains("USING"), "\(plan)")
    try await store.close()
  }

  @Test("errors have their names")
  func names() async throws {
    let rows = ScriptedRows(5)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    func name(_ path: String) async -> OfflineODataErrorName? {
      do {
        _ = try await store.readJSON(path)
        return nil
      } catch { return (error as? OfflineODataError)?.name }
    }
    #expect(await name("Rows(77)") == .entityNotFound)
    #expect(await name("Rows?$filter=Nothing eq 1") == .unfittingURL)
    #expect(await name("Rows?$filter=ID eq") == .malformedURL)
    #expect(await name("Rows?$top=-1") == .notPositiveTop)
    #expect(await name("Rows?$filter=ID eq 1&$skip=-1") == .notPositiveSkip)
    #expect(await name("https://elsewhere.example/s/Rows") == .malformedURL)
    let twice = await #expect(throws: OfflineODataError.self) {
      try await store.add(OfflineODataDefiningQuery("rows", "Rows?$top=1"))
    }
    #expect(twice?.name == .duplicateDefiningQuery)
    let unknown = await #expect(throws: OfflineODataError.self) { try await store.download(["nothing"]) }
    #expect(unknown?.name == .definingQueryNotFound)
    try await store.add(OfflineODataDefiningQuery("few", "Rows?$filter=ID lt 3"))
    #expect(try await store.hasPendingDownload())
    try await store.download(["few"])
    #expect(try await !store.hasPendingDownload())
    try await store.removeDefiningQuery("rows")
    #expect(try await store.explain("Rows?$filter=ID eq 1").statements.first?.sql.isEmpty == false)
    try await store.close()
  }
}

@Suite("Offline store: one download at a time, reported and cancelled", .timeLimit(.minutes(1)))
struct DownloadLifeTests {
  @Test("another store of the file, or process, gets the error that a download is running; progress is reported")
  func lock() async throws {
    let rows = ScriptedRows(25) { $0.pageSize = 10 }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    let lock = try FileLock(store.file + "-download")
    let busy = await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(busy?.name == .downloadRunning)
    lock.release()
    let events = store.events
    rows.change { $0.oldestDelta = $0.now + 1 }
    try await store.download()
    var steps: [OfflineODataDownloadProgress.Step] = []
    var last: OfflineODataDownloadProgress?
    for await event in events {
      if case .downloadProgress(let progress) = event {
        if steps.last != progress.step { steps.append(progress.step) }
        last = progress
      }
      if case .downloadFinished = event { break }
    }
    #expect(steps == [.metadata, .changes, .reading, .committing, .done])
    #expect(last?.rows == 25)
    #expect(last?.totalRows == 25)
    #expect(last?.byteCount ?? 0 > 500)
    try await store.close()
  }

  @Test("rows are reported slice by slice, also of a service that returns all in one page")
  func slices() async throws {
    let rows = ScriptedRows(20_000)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    let events = store.events
    try await store.open()
    var reported: [Int64] = []
    for await event in events {
      if case .downloadProgress(let progress) = event { reported.append(progress.rows) }
      if case .stateChanged(.open) = event { break }
    }
    #expect(reported == reported.sorted())
    #expect(Set(reported).count > 3, "\(reported)")
    #expect(reported.last == 20_000)
    try await store.close()
  }

  @Test("a cancelled download keeps its staged pages, and the next one resumes after them")
  func cancel() async throws {
    let rows = ScriptedRows(45) { state in
      state.pageSize = 10
      state.tracks = false
    }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    let begin = rows.requested.count
    rows.change { state in
      state.put(1, "changed")
      state.before = { number, _ in if number == begin + 3 { store.cancelDownload() } }
    }
    await #expect(throws: CancellationError.self) { try await store.download() }
    #expect(try await store.hasPendingDownload())
    #expect(try await store.size("Rows") == 45)
    rows.change { $0.before = nil }
    let between = rows.requested.count
    try await store.download()
    #expect(rows.requested.count - between <= 2)
    #expect(try await store.size("Rows?$filter=Text eq 'changed'") == 1)
    #expect(try await !store.hasPendingDownload())
    try await store.close()
  }
}

@Suite("Offline store: media", .timeLimit(.minutes(1)))
struct ProviderMediaTests {
  @Test("media is downloaded with its rows if the query has the option, and single streams on demand")
  func media() async throws {
    let service = try await onDedicatedThread { try ODataPyService([]) }
    defer { service.stop() }
    let rig = try StoreRig(service.root)
    let store = try rig.provider()
    try await store.add(
      OfflineODataDefiningQuery("documents", "Documents", automaticallyRetrievesStreams: true))
    try await store.add(OfflineODataDefiningQuery("products", "Products"))
    try await store.open()
    #expect(try await store.readMedia("Documents(1)/$value") == Array("Flour 2.95\nSalt 0.80\n".utf8))
    let missing = await #expect(throws: OfflineODataError.self) { try await store.readMedia("Products(1)/Photo") }
    #expect(missing?.name == .mediaNotFound)
    try await store.downloadMedia("Products(1)/Photo")
    let photo = try await store.streamMedia("Products(1)/Photo")
    #expect(photo.contentType == "image/png")
    #expect(try await photo.body.collect().isEmpty == false)
    try await store.close()
  }
}

/// A V2 service whose deltas are Atom.
enum AtomRows {
  static func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let root = "http://\(request.fields["Host"] ?? "")/s/"
    if request.path == "/s/$metadata" {
      return .response(200, fields: [.contentType: "application/xml"], body: metadata)
    }
    guard request.path == "/s/Rows" else { return .response(404) }
    if request.target.contains("deltatoken") {
      return .response(200, fields: [.contentType: "application/atom+xml;type=feed"], body: feed(root))
    }
    let rows = [(1, "a"), (2, "b"), (3, "c")].map { id, text in
      "{\"__metadata\":{\"uri\":\"\(root)Rows(\(id))\",\"type\":\"N.Row\"},\"ID\":\(id),\"Text\":\"\(text)\"}"
    }
    return .response(
      200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"],
      body: "{\"d\":{\"results\":[\(rows.joined(separator: ","))],\"__delta\":\"\(root)Rows?!deltatoken='1'\"}}")
  }

  private static func feed(_ root: String) -> String {
    """
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
      xmlns:at="http://purl.org/atompub/tombstones/1.0">
    <id>\(root)Rows</id><title type="text">Rows</title><updated>2026-01-01T00:00:00Z</updated>
    <at:deleted-entry ref="\(root)Rows(2)" when="2026-01-01T00:00:00Z"/>
    <entry><id>\(root)Rows(3)</id><title/><updated>2026-01-01T00:00:00Z</updated>
    <category term="N.Row" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <content type="application/xml"><m:properties><d:ID m:type="Edm.Int32">3</d:ID><d:Text>new</d:Text></m:properties>
    </content></entry>
    <link rel="delta" href="\(root)Rows?!deltatoken='2'"/></feed>
    """
  }

  private static let metadata = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="Row">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Rows" EntityType="N.Row"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}
