import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Deltas", .timeLimit(.minutes(1)))
struct ReplicaDeltaTests {
  /// Orders 1 to 3 with items and tags, in the query `q`.
  static func filled() async throws -> ReplicaRig {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.download(
      "q", "Orders",
      pages: [
        """
        {"value":[
        {"ID":1,"Total":1,"CustomerID":7,"Items":[{"No":1,"Text":"a"},{"No":2,"Text":"b"}],"Tags":[{"Name":"red"}]},
        {"ID":2,"Total":2,"Items":[{"No":1,"Text":"c"}],"Tags":[{"Name":"red"},{"Name":"blue"}]},
        {"ID":3,"Total":3,"Items":[],"Tags":[]}]}
        """
      ])
    return rig
  }

  static let orders = "SELECT ID, Total, CustomerID FROM {Orders} ORDER BY ID"
  static let items = """
    SELECT o.ID, i.No, i.Text FROM {Orders/Items} i JOIN {Orders} o ON o."@id" = i."@parent" ORDER BY 1, 2
    """
  static let tags = """
    SELECT o.ID, t.Name FROM {Orders/Tags} l JOIN {Orders} o ON o."@id" = l.source
    JOIN {Tags} t ON t."@id" = l.target ORDER BY 1, 2
    """

  @Test("columns of the key, of other indexes and other columns are written separately; equal values change nothing")
  func parts() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.replica.addIndex(on: "Orders", ["Total"])
    let rows = "{\"ID\":1,\"Total\":1,\"CustomerID\":7},{\"ID\":2,\"Total\":2},{\"ID\":3}"
    try await rig.download("q", "Orders", pages: ["{\"value\":[\(rows)]}"])
    for (delta, wanted, changes) in [
      (rows, ["1|1|7", "2|2|-", "3|-|-"], false),
      ("{\"ID\":1,\"Total\":1.0,\"CustomerID\":7}", ["1|1.0|7", "2|2|-", "3|-|-"], true),
      ("{\"ID\":1,\"CustomerID\":null},{\"ID\":3,\"Total\":3,\"CustomerID\":9}", ["1|1.0|-", "2|2|-", "3|3|9"], true),
      ("{\"ID\":4,\"Total\":4},{\"ID\":4,\"CustomerID\":1},{\"ID\":2}", ["1|1.0|-", "2|2|-", "3|3|9", "4|4|1"], true),
      ("{\"ID\":4},{\"ID\":2,\"Total\":2}", ["1|1.0|-", "2|2|-", "3|3|9", "4|4|1"], false),
    ] {
      let outcome = try await rig.delta("q", "Orders", ["{\"value\":[\(delta)]}"])
      #expect(outcome.changed.isEmpty == !changes)
      #expect(try await rig.rows(Self.orders) == wanted)
    }
    #expect(try await rig.rows("SELECT ID FROM {Orders} WHERE Total = 4 OR CustomerID = 9 ORDER BY ID") == ["3", "4"])
    try await rig.replica.database.checkIntegrity()
    // Another query downloads the rows without changing them.
    try await rig.download("other", "Orders", pages: ["{\"value\":[]}"])
    #expect(try await rig.delta("other", "Orders", ["{\"value\":[{\"ID\":4,\"Total\":4}]}"]).changed.count == 1)
    #expect(try await rig.rows("SELECT \"@queries\" FROM {Orders} WHERE ID = 4") == ["3"])
  }

  @Test(
    "4.0: entities change the properties that they contain, deleted entities and links are removed, others are added")
  func delta40() async throws {
    let rig = try await Self.filled()
    let text = """
      {"@odata.context":"http://h/s/$metadata#Orders/$delta","value":[
      {"@odata.context":"#Orders/$link","source":"Orders(3)","relationship":"Tags","target":"Tags('green')"},
      {"ID":1,"Total":9},{"ID":4,"Total":4},
      {"@odata.context":"http://h/s/$metadata#Tags/$entity","Name":"green"},
      {"@odata.context":"#Orders/$deletedEntity","id":"http://h/s/Orders(2)","reason":"deleted"},
      {"@odata.context":"#Orders/$deletedLink","source":"Orders(1)","relationship":"Tags","target":"Tags('red')"}],
      "@odata.deltaLink":"http://h/s/d2"}
      """
    let outcome = try await rig.delta("q", "Orders", [text])
    let changed = ["Orders", "Tags", "Orders/Items"].compactMap { rig.replica.plan.table($0)?.number }
    #expect(outcome.changed == Set(changed))
    #expect(try await rig.rows(Self.orders) == ["1|9|7", "3|3|-", "4|4|-"])
    #expect(try await rig.rows(Self.items) == ["1|1|a", "1|2|b"])
    #expect(try await rig.rows("SELECT count(*) FROM {Orders/Items}") == ["2"])
    #expect(try await rig.rows(Self.tags) == ["3|green"])
    #expect(try await rig.replica.queries().map(\.deltaLink) == ["next"])
    // The second run changes nothing.
    let again = try await rig.delta("q", "Orders", [text])
    #expect(again.changed == [])
    #expect(try await rig.rows(Self.tags) == ["3|green"])
  }

  @Test("4.01: removed entities, nested deltas and whole inline collections")
  func delta401() async throws {
    let rig = try await Self.filled()
    let text = """
      {"@context":"http://h/s/$metadata#Orders/$delta","value":[
      {"@removed":{"reason":"deleted"},"ID":3},
      {"ID":1,"Items@delta":[{"No":2,"Text":"B"},{"No":3,"Text":"n"},{"@removed":{"reason":"deleted"},"No":1}],
       "Tags@delta":[{"@removed":{"reason":"changed"},"Name":"red"},{"Name":"blue"}]},
      {"ID":2,"Items":[{"No":5,"Text":"e"}],"Tags":[{"Name":"green"}]}]}
      """
    try await rig.delta("q", "Orders", [text], version: .v401)
    #expect(try await rig.rows(Self.orders) == ["1|1|7", "2|2|-"])
    #expect(try await rig.rows(Self.items) == ["1|2|B", "1|3|n", "2|5|e"])
    #expect(try await rig.rows(Self.tags) == ["1|blue", "2|green"])
    #expect(try await rig.rows("SELECT Name FROM {Tags} ORDER BY 1") == ["blue", "green", "red"])
  }

  @Test("deleted entities leave all queries, changed entities leave only this one")
  func membership() async throws {
    let rig = try await Self.filled()
    try await rig.download("other", "Orders", pages: ["{\"value\":[{\"ID\":1},{\"ID\":2}]}"])
    try await rig.delta(
      "q", "Orders",
      [
        """
        {"@context":"#Orders/$delta","value":[{"@removed":{"reason":"deleted"},"@id":"Orders(1)"},
        {"@removed":{"reason":"changed"},"ID":2},{"@removed":{"reason":"changed"},"ID":3}]}
        """
      ], version: .v401)
    #expect(try await rig.rows("SELECT ID, \"@queries\" FROM {Orders} ORDER BY ID") == ["2|2"])
  }

  @Test("undeclared properties and parts of complex values: omitted values stay, given ones are set")
  func partial() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.download(
      "q", "Customers",
      pages: [
        """
        {"value":[{"@odata.type":"#N.Firm","ID":1,"Name":"A","Home":{"City":"Ulm","Zip":"8"},"X":1,"Y":2}]}
        """
      ])
    try await rig.delta(
      "q", "Customers",
      [
        "{\"@context\":\"#Customers/$delta\",\"value\":[{\"@type\":\"#N.Firm\",\"ID\":1,\"Y\":3,\"Home\":{\"City\":\"Bonn\"}}]}"
      ],
      version: .v401)
    #expect(
      try await rig.rows("SELECT \"@type\", Name, \"Home/City\", \"Home/Zip\", \"@dynamic\" FROM {Customers}")
        == ["1|A|Bonn|-|{\"X\":1,\"Y\":3}"])
  }

  @Test("V2: a feed of changes and deleted entries; Atom with tombstones")
  func deltaV2() async throws {
    let rig = try await ReplicaRig(metadata: Self.v2)
    func uri(_ id: Int) -> String { "\"__metadata\":{\"uri\":\"http://h/s/As(\(id))\",\"type\":\"N.A\"}" }
    try await rig.download(
      "q", "As",
      pages: [
        "{\"d\":{\"results\":[{\(uri(1)),\"ID\":1,\"T\":\"a\"},{\(uri(2)),\"ID\":2,\"T\":\"b\"},{\(uri(3)),\"ID\":3,\"T\":\"c\"}]}}"
      ],
      version: .v2)
    #expect(try await rig.rows("SELECT ID, T, \"@uri\" FROM {As}") == ["1|a|-", "2|b|-", "3|c|-"])
    let text = """
      {"d":{"results":[{\(uri(2)),"ID":2,"T":"B"},{"__metadata":{"uri":"http://h/s/As(1)","deleted":true}}],
      "__delta":"http://h/s/As?!deltatoken='x'"}}
      """
    let delta = try await rig.beginDelta("q", "As")
    let page = delta.beginPage(PageForm(url: "As?!deltatoken='w'", status: 200, version: .v2))
    try await page.take(Array(text.utf8))
    #expect(try await page.end().deltaLink == "http://h/s/As?!deltatoken='x'")
    _ = try await delta.apply(deltaLink: "x", etag: nil, lastModified: nil, at: 1)
    #expect(try await rig.rows("SELECT ID, T FROM {As}") == ["2|B", "3|c"])
    let atom = try await rig.beginDelta("q", "As")
    let feed = atom.beginPage(PageForm(isAtom: true, url: nil, status: 200, version: .v2))
    try await feed.take(Array(Self.atom.utf8))
    _ = try await feed.end()
    _ = try await atom.apply(deltaLink: "y", etag: nil, lastModified: nil, at: 1)
    #expect(try await rig.rows("SELECT ID, T, \"@etag\" FROM {As}") == ["3|C|W/\"5\""])
  }

  @Test("staged pages survive; a page that is not a delta is detected at once and changes nothing")
  func staging() async throws {
    let rig = try await Self.filled()
    let delta = try await rig.beginDelta("q", "Orders")
    _ = try await rig.page("{\"@odata.context\":\"#Orders/$delta\",\"value\":[{\"ID\":1,\"Total\":5}]}", of: delta)
    try await delta.save(position: "p")
    let page = delta.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
    try await page.take(Array("{\"value\":[{\"ID\":2,\"Total\":8}".utf8))
    await #expect(throws: (any Error).self) { _ = try await page.end() }
    #expect(try await rig.rows(Self.orders)[0] == "1|1|7")
    let resumed = try #require(
      try await DeltaPages.resume(rig.replica, query: delta.query, table: delta.table))
    #expect(resumed.position == "p")
    _ = try await rig.page("{\"@odata.context\":\"#Orders/$delta\",\"value\":[{\"ID\":2,\"Total\":6}]}", of: resumed)
    _ = try await resumed.apply(deltaLink: nil, etag: nil, lastModified: nil, at: 1)
    #expect(try await rig.rows(Self.orders) == ["1|5|7", "2|6|-", "3|3|-"])
    #expect(try await rig.rows("SELECT count(*) FROM larder_stage") == ["0"])
  }

  static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="T" Type="Edm.String"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="As" EntityType="N.A"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  static let atom = """
    <feed xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
      xmlns:at="http://purl.org/atompub/tombstones/1.0">
    <at:deleted-entry ref="http://h/s/As(2)" when="2026-01-01T00:00:00Z"/>
    <entry m:etag="W/&quot;5&quot;"><id>http://h/s/As(3)</id><category term="N.A"
      scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"/>
    <content type="application/xml"><m:properties><d:ID m:type="Edm.Int32">3</d:ID><d:T>C</d:T></m:properties></content>
    </entry></feed>
    """
}

extension ReplicaRig {
  func beginDelta(_ name: String, _ table: String) async throws -> DeltaPages {
    guard let query = try await replica.query(name), let table = replica.plan.table(table) else {
      throw ReplicaRigError.noTable(table)
    }
    return try await DeltaPages.begin(replica, query: query.id, table: table.number)
  }

  func page(_ json: String, of delta: DeltaPages, version: ODataVersion = .v4) async throws -> PageEnd {
    let page = delta.beginPage(PageForm(url: replica.plan.tables[delta.table].name, status: 200, version: version))
    try await page.take(Array(json.utf8))
    return try await page.end()
  }

  @discardableResult
  func delta(
    _ name: String, _ table: String, _ pages: [String], version: ODataVersion = .v4
  ) async throws -> DownloadOutcome {
    let delta = try await beginDelta(name, table)
    for page in pages { _ = try await self.page(page, of: delta, version: version) }
    return try await delta.apply(deltaLink: "next", etag: nil, lastModified: nil, at: 1)
  }
}
