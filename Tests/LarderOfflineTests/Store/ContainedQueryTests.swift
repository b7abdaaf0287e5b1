import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: defining queries of contained entities", .timeLimit(.minutes(1)))
struct ContainedQueryTests {
  /// Orders contain items, which contain notes; the response for a path can be set.
  private final class Service: Sendable {
    private let responses = Mutex<[String: String]>([:])
    let requested = Mutex<[String]>([])
    /// Whether responses have an ETag, and conditions are heeded.
    let hasETags: Bool

    init(hasETags: Bool = false) {
      self.hasETags = hasETags
      responses.withLock { responses in
        responses["Orders"] = "{\"ID\":1},{\"ID\":2}"
        responses["Orders(1)/Items"] = "{\"No\":1,\"Text\":\"a\"},{\"No\":2,\"Text\":\"b\"}"
        responses["Orders(2)/Items"] = "{\"No\":1,\"Text\":\"other\"}"
        responses["Orders(1)/Items(2)/Notes"] = "{\"No\":7,\"Text\":\"note\"}"
      }
    }

    subscript(path: String) -> String? {
      get { responses.withLock { $0[path] } }
      set { responses.withLock { $0[path] = newValue } }
    }

    private func serve() throws -> ScriptedServer {
      try ScriptedServer { [self] request in
        let path = String(request.path.dropFirst("/s/".count))
        if path == "$metadata" {
          return .response(200, fields: [.contentType: "application/xml"], body: Self.metadata)
        }
        requested.withLock { $0.append(request.method == .get ? path : "\(request.method) \(path)") }
        if request.method != .get { return .response(self["\(request.method) \(path)"] == nil ? 204 : 400) }
        // The second page of a set is at its name with a `+`.
        let isNext = request.query?.contains("next") == true
        guard let rows = self[isNext ? path + "+" : path] else { return .response(404) }
        let next = !isNext && self[path + "+"] != nil ? ",\"@odata.nextLink\":\"\(path)?next\"" : ""
        let collection = "{\"@odata.context\":\"$metadata#\(path)\",\"value\":[\(rows)]\(next)}"
        let body = path.hasSuffix(")") ? rows : collection
        guard hasETags else { return FaultyService.json(body) }
        let etag = "\"\(body.utf8.reduce(0) { $0 &* 31 &+ Int($1) })\""
        if request.fields[.ifNoneMatch] == etag { return .response(304) }
        return .response(
          200, fields: [.contentType: "application/json", .odataVersion: "4.0", .etag: etag], body: body)
      }
    }

    /// A store's folder, and the server that it speaks to.
    func rig() throws -> (StoreRig, ScriptedServer) {
      let server = try serve()
      return (try StoreRig(server.url("/s/").absoluteString), server)
    }

    private static let metadata = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
      <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
      <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true"/>
      <NavigationProperty Name="Lines" Type="Collection(N.Line)" ContainsTarget="true"/></EntityType>
      <EntityType Name="Line"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/><Property Name="RelatedID" Type="Edm.Int32"/>
      <NavigationProperty Name="Related" Type="N.Order"><ReferentialConstraint Property="RelatedID"
      ReferencedProperty="ID"/></NavigationProperty>
      <NavigationProperty Name="Parts" Type="Collection(N.Line)" ContainsTarget="true"/></EntityType>
      <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/><Property Name="RelatedID" Type="Edm.Int32"/>
      <NavigationProperty Name="Related" Type="N.Order"><ReferentialConstraint Property="RelatedID"
      ReferencedProperty="ID"/></NavigationProperty>
      <NavigationProperty Name="Notes" Type="Collection(N.Note)" ContainsTarget="true"/></EntityType>
      <EntityType Name="Note"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/></EntityType>
      <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order">
      <NavigationPropertyBinding Path="Items/Related" Target="Orders"/>
      <NavigationPropertyBinding Path="Lines/Related" Target="Orders"/></EntitySet></EntityContainer></Schema>
      </edmx:DataServices></edmx:Edmx>
      """
  }

  /// Closes a store whose file is whole.
  private func finish(_ store: OfflineODataProvider) async throws {
    try await store.store?.replica.database.checkIntegrity()
    try await store.close()
  }

  private func texts(_ store: OfflineODataProvider, _ path: String) async throws -> [String] {
    try await store.readEntitySet(path).entities.map { entity in
      if case .string(let text)? = entity["Text"] { text } else { "-" }
    }
  }

  private func notDownloaded(_ store: OfflineODataProvider, _ path: String) async {
    let error = await #expect(throws: OfflineODataError.self, "\(path)") { try await store.readJSON(path) }
    #expect(error?.name == .notDownloaded, "\(path): \(error.debugDescription)")
  }

  enum RemovedQueryCase: CaseIterable, Sendable {
    case sent, undone, undoneInQueueOfEarlierVersion, deletion
  }

  @Test(
    "A pending change of a contained entity is sent although the query of its container was removed",
    arguments: RemovedQueryCase.allCases)
  func removedQuery(removal: RemovedQueryCase) async throws {
    let service = Service()
    let item = "{\"No\":2,\"Text\":\"b\",\"Notes\":[{\"No\":7,\"Text\":\"note\"}]}"
    service["Orders"] = "{\"ID\":1,\"Items\":[\(item)]}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders?$expand=Items($expand=Notes)"])
    let (item2, note7) = ("Orders(1)/Items(2)", "Orders(1)/Items(2)/Notes(7)")
    let mine = ODataEntity(properties: [ODataProperty("Text", .string("mine"))])
    try await store.update(item2, to: mine)
    if removal == .deletion { try await store.delete(note7) } else { try await store.update(note7, to: mine) }
    if removal == .undoneInQueueOfEarlierVersion {
      // That version has not recorded the containers.
      try await store.openStore().write { try $0.connection.run("DELETE FROM larder_reference") }
    }
    try await store.removeDefiningQuery("orders")
    if removal != .sent { #expect(try await store.undoPendingChanges(of: item2) == 1) }
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 0 && report.sent == (removal == .sent ? 2 : 1), "\(report)")
    let expected = removal == .deletion ? "DELETE \(note7)" : "PATCH \(note7)"
    #expect(service.requested.withLock { $0.contains(expected) })
    try await finish(store)
  }

  @Test("The deletion of an entity is held with a rejected change of an entity in it, and is undone with it")
  func deletedContainer() async throws {
    let service = Service()
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items"])
    try await store.update("Orders(1)/Items(2)", to: ODataEntity(properties: [ODataProperty("Text", .string("mine"))]))
    try await store.delete("Orders(1)")
    service["PATCH Orders(1)/Items(2)"] = "rejected"
    service["Orders(1)/Items(2)"] = "{\"No\":2,\"Text\":\"b\"}"
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 2 && report.sent == 0, "\(report)")
    #expect(!service.requested.withLock { $0.contains("DELETE Orders(1)") })
    #expect(try await store.discardAll() == 2)
    #expect(try await texts(store, "Orders(1)/Items") == ["a", "b"])
    try await finish(store)
  }

  @Test("A pending change of an entity in one of its own type is sent although the query of its containers was removed")
  func recursiveContainment() async throws {
    let service = Service()
    let part = "{\"No\":3,\"Text\":\"c\",\"Parts\":[{\"No\":4,\"Text\":\"d\"}]}"
    service["Orders"] = "{\"ID\":1,\"Lines\":[{\"No\":2,\"Text\":\"b\",\"Parts\":[\(part)]}]}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders?$expand=Lines($expand=Parts($expand=Parts))"])
    let mine = ODataEntity(properties: [ODataProperty("Text", .string("mine"))])
    let path = "Orders(1)/Lines(2)/Parts(3)/Parts(4)"
    try await store.update(path, to: mine)
    try await store.removeDefiningQuery("orders")
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 0 && report.sent == 1, "\(report)")
    #expect(service.requested.withLock { $0.contains("PATCH \(path)") })
    try await finish(store)
  }

  @Test("A row that its query no longer returns stays for the change of an entity in it after its own change is undone")
  func leftFilter() async throws {
    let service = Service()
    service["Orders"] = "{\"ID\":1,\"Name\":\"a\"}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items"])
    try await store.update("Orders(1)/Items(2)", to: ODataEntity(properties: [ODataProperty("Text", .string("mine"))]))
    try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    service["Orders"] = "{\"ID\":2}"
    try await store.download(["orders"])
    #expect(try await store.undoPendingChanges(of: "Orders(1)") == 1)
    #expect(try await store.readEntity("Orders(1)")?["Name"] == .string("a"))
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 0 && report.sent == 1, "\(report)")
    #expect(service.requested.withLock { $0.contains("PATCH Orders(1)/Items(2)") })
    try await finish(store)
  }

  @Test(
    "their rows are in the entity of the path alone; they follow the query that downloads it, and go with their own"
  )
  func rows() async throws {
    let service = Service()
    service["Orders(1)/Items+"] = "{\"No\":3,\"Text\":\"c\"}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    // The deepest first: it waits for what contains its rows.
    let store = try await rig.open([
      "notes": "Orders(1)/Items(2)/Notes", "items": "Orders(1)/Items?$orderby=No", "orders": "Orders",
    ])
    #expect(service.requested.withLock { Array($0.prefix(2)) } == ["Orders", "Orders(1)/Items"])
    #expect(service.requested.withLock { $0.last } == "Orders(1)/Items(2)/Notes")
    #expect(try await texts(store, "Orders(1)/Items?$orderby=No") == ["a", "b", "c"])
    await notDownloaded(store, "Orders(2)/Items")
    #expect(try await texts(store, "Orders(1)/Items(2)/Notes") == ["note"])
    #expect(try await store.text("Orders(1)/Items(2)?$expand=Notes").contains("\"note\""))
    await notDownloaded(store, "Orders(1)/Items?$expand=Notes")
    await notDownloaded(store, "Orders?$expand=Items")
    #expect(try await store.text("Orders(1)/Items(3)/Text/$value") == "c")
    #expect(try await store.definingQueries().map(\.rows).sorted() == [1, 2, 3])
    // Another state: fewer, changed; the order's own row is read again and stays the same one.
    service["Orders(1)/Items+"] = nil
    service["Orders(1)/Items"] = "{\"No\":2,\"Text\":\"B\"}"
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items") == ["B"])
    #expect(try await texts(store, "Orders(1)/Items(2)/Notes") == ["note"])
    // Another query's rows of the same table.
    try await store.add(OfflineODataDefiningQuery("others", "Orders(2)/Items?$filter=No gt 0"))
    try await store.download(["others"])
    #expect(try await texts(store, "Orders(2)/Items") == ["other"])
    #expect(try await texts(store, "Orders(1)/Items") == ["B"])
    try await store.removeDefiningQuery("items")
    await notDownloaded(store, "Orders(1)/Items")
    #expect(try await texts(store, "Orders(2)/Items") == ["other"])
    try await finish(store)
  }

  @Test("without the entity that contains them there is no place for them: typed; with it, all is well")
  func missing() async throws {
    let service = Service()
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("items", "Orders(1)/Items"))
    let error = await #expect(throws: OfflineODataError.self) { try await store.open() }
    #expect(error?.name == .entityNotFound, "\(error.debugDescription)")
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.open()
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items") == ["a", "b"])
    // Deleted at the service: its items cannot be requested any more, and are not shown.
    service["Orders"] = "{\"ID\":2}"
    service["Orders(1)/Items"] = nil
    let gone = await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect([.entityNotFound, .requestRejected].contains(gone?.name), "\(gone.debugDescription)")
    #expect(try await store.size("Orders") == 1)
    await #expect(throws: OfflineODataError.self) { try await texts(store, "Orders(1)/Items") }
    // There again, as another row.
    service["Orders"] = "{\"ID\":1},{\"ID\":2}"
    service["Orders(1)/Items"] = "{\"No\":9,\"Text\":\"again\"}"
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items") == ["again"])
    try await finish(store)
  }

  @Test("a download that was interrupted between pages starts again")
  func interrupted() async throws {
    let service = Service()
    service["Orders(1)/Items+"] = "{\"No\":3,\"Text\":\"c\"}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items"])
    service["Orders(1)/Items"] = "{\"No\":1,\"Text\":\"new\"}"
    service["Orders(1)/Items+"] = "{\"No\":"
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(try await texts(store, "Orders(1)/Items?$orderby=No") == ["a", "b", "c"])
    service["Orders(1)/Items+"] = "{\"No\":4,\"Text\":\"d\"}"
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items?$orderby=No") == ["new", "d"])
    try await store.close()
  }

  @Test(
    "the entity that contains them becomes another row: they are read again, though the service changed nothing")
  func unchanged() async throws {
    let service = Service(hasETags: true)
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items"])
    service["Orders"] = "{\"ID\":2}"
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    service["Orders"] = "{\"ID\":1},{\"ID\":2}"
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items") == ["a", "b"])
    try await store.close()
  }

  @Test(
    "the deletion of the entity that contains them is pending: the query ends with a note, and resumes when it is back")
  func deletedHere() async throws {
    let service = Service()
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open([
      "orders": "Orders", "items": "Orders(1)/Items", "notes": "Orders(1)/Items(2)/Notes",
    ])
    try await store.delete("Orders(1)")
    service["Orders(2)/Items"] = nil
    service["Orders(1)/Items"] = "{\"No\":2,\"Text\":\"B\"}"
    for _ in 0..<2 {
      let report = try await store.download()
      for name in ["items", "notes"] {
        let outcome = try #require(report.queries.first { $0.name == name })
        #expect(outcome.notes.contains { $0.contains("A pending change deletes") }, "\(outcome)")
        #expect(outcome.strategy == .notModified)
      }
    }
    #expect(try await store.size("Orders") == 1)
    try await store.undoPendingChanges(of: "Orders(1)")
    try await store.delete("Orders(1)/Items(2)")
    let report = try await store.download(["items", "notes"])
    let left = report.queries.filter { $0.notes.contains { $0.contains("A pending change deletes") } }
    #expect(left.map(\.name) == ["notes"])
    try await store.undoAllPendingChanges()
    try await store.download()
    #expect(try await texts(store, "Orders(1)/Items") == ["B"])
    #expect(try await texts(store, "Orders(1)/Items(2)/Notes") == ["note"])
    try await finish(store)
  }

  @Test("those of one entity are downloaded, those of another are not: a query of these reports it")
  func readiness() async throws {
    let service = Service()
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items"])
    try await store.add(OfflineODataDefiningQuery("others", "Orders(2)/Items"))
    #expect(try await texts(store, "Orders(1)/Items") == ["a", "b"])
    // The requested rows are downloaded.
    for path in ["Orders(1)?$expand=Items", "Orders(1)/Items?$expand=Related", "Orders(1)/Items(1)/Text"] {
      #expect(try await store.text(path).contains("\"a\""), "\(path)")
    }
    #expect(try await store.size("Orders") == 2)
    for path in [
      "Orders(2)/Items", "Orders(ID=2)/Items/$count", "Orders(2)/Items(1)", "Orders(2)/Items(1)/Text",
      "Orders(2)/Items(1)/Notes", "Orders(2)?$expand=Items", "Orders?$expand=Items",
      "Orders/$count?$filter=Items/any()",
    ] {
      let error = await #expect(throws: OfflineODataError.self, "\(path)") { try await store.readJSON(path) }
      #expect(error?.name == .neverDownloaded, "\(path)")
      #expect(error?.errorMessage.contains("'others'") == true, "\(path)")
    }
    let none = await #expect(throws: OfflineODataError.self) { try await store.readJSON("Orders(3)/Items") }
    #expect(none?.name == .entityNotFound)
    try await store.download(["others"])
    #expect(try await texts(store, "Orders(2)/Items") == ["other"])
    // What no entity of the store contains is missed nowhere.
    try await store.add(OfflineODataDefiningQuery("elsewhere", "Orders(9)/Items"))
    #expect(try await store.text("Orders?$expand=Items").contains("\"other\""))
    try await store.close()
  }

  @Test("an expression leads by an association to an entity whose contained ones have not come: it says so")
  func associated() async throws {
    let service = Service()
    service["Orders(1)/Items"] = "{\"No\":1,\"Text\":\"a\",\"RelatedID\":2}"
    service["Orders(1)/Lines"] = "{\"No\":1,\"Text\":\"line\",\"RelatedID\":2}"
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders", "items": "Orders(1)/Items", "lines": "Orders(1)/Lines"])
    try await store.add(OfflineODataDefiningQuery("others", "Orders(2)/Items"))
    let paths = [
      "Orders(1)/Lines?$filter=Related/Items/any()", "Orders(1)/Items?$filter=Related/Items/any()",
      "Orders(1)/Lines?$filter=not Related/Items/all(i:i/No gt 5)", "Orders(1)/Lines?$orderby=Related/Items/$count",
      "Orders(1)/Lines?$filter=$root/Orders(2)/Items/any()", "Orders(1)/Items(1)?$expand=Related($expand=Items)",
    ]
    for path in paths {
      let error = await #expect(throws: OfflineODataError.self, "\(path)") { try await store.readJSON(path) }
      #expect(error?.name == .neverDownloaded, "\(path): \(error.debugDescription)")
      #expect(error?.errorMessage.contains("'others'") == true, "\(path): \(error.debugDescription)")
    }
    // The orders themselves have come.
    #expect(try await texts(store, "Orders(1)/Lines?$filter=Related/ID eq 2") == ["line"])
    #expect(try await texts(store, "Orders(1)/Items?$filter=Related/ID eq 2") == ["a"])
    try await store.download(["others"])
    for path in paths.dropLast() {
      #expect(try await texts(store, path) == [path.contains("/Lines?") ? "line" : "a"], "\(path)")
    }
    let related = try await store.text(try #require(paths.last))
    let items = #""Items":[{"No":1,"Text":"other","RelatedID":null}]"#
    #expect(related.contains(#""Related":{"ID":2,"Name":null,"# + items), "\(related)")
    try await store.close()
  }

  @Test("half of many entities are downloaded: each is distinguished, whichever of its queries has downloaded it")
  func many() async throws {
    let service = Service()
    service["Orders"] = (1...60).map { "{\"ID\":\($0)}" }.joined(separator: ",")
    for number in 1...30 { service["Orders(\(number))/Items"] = "{\"No\":1,\"Text\":\"\(number)\"}" }
    let (rig, server) = try service.rig()
    defer { server.stop() }
    let store = try await rig.open(["orders": "Orders"])
    for number in 1...60 {
      try await store.add(OfflineODataDefiningQuery("q\(number)", "Orders(\(number))/Items"))
    }
    try await store.download((1...30).map { "q\($0)" })
    // Of one that has come, another part.
    try await store.add(OfflineODataDefiningQuery("again", "Orders(30)/Items?$filter=No gt 9"))
    for number in [1, 30] { #expect(try await texts(store, "Orders(\(number))/Items") == ["\(number)"]) }
    #expect(try await store.size("Orders") == 60)
    for number in [31, 60] {
      let error = await #expect(throws: OfflineODataError.self) { try await store.readJSON("Orders(\(number))/Items") }
      #expect(error?.errorMessage.contains("'q\(number)'") == true, "\(error.debugDescription)")
    }
    try await store.close()
  }
}
