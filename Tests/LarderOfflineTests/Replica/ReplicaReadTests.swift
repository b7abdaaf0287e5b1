import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Whole reads", .timeLimit(.minutes(1)))
struct ReplicaReadTests {
  @Test(
    "properties of all kinds are written to their columns: types, complex values, collections, undeclared ones, media")
  func properties() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load(
      "Customers",
      """
      {"@odata.context":"$metadata#Customers","value":[
      {"ID":1,"Name":"A","Home":{"City":"Ulm","Zip":null},"Mails":["a","b"],"@odata.etag":"W/\\"1\\""},
      {"@odata.type":"#N.Firm","ID":2,"Name":"B","Home":null,"Mails":[],"Tax":1.50,"New":[1,{"x":"y"}],"N":12.50,
       "D@odata.type":"#Date","D":"2026-01-02"}]}
      """)
    #expect(
      try await rig.rows(
        "SELECT \"@type\", \"@etag\", ID, Name, Home, \"Home/City\", Mails, Tax, \"@dynamic\" FROM {Customers}")
        == [
          "0|W/\"1\"|1|A||Ulm|[\"a\",\"b\"]|-|-",
          "1|-|2|B|-|-|[]|1.50|{\"New\":[1,{\"x\":\"y\"}],\"N\":12.50,\"D@odata.type\":\"#Date\",\"D\":\"2026-01-02\"}",
        ])
    try await rig.load(
      "Tags",
      """
      {"value":[{"Name":"red","@odata.mediaContentType":"image/png","Icon@odata.mediaEtag":"\\"e\\""}]}
      """)
    #expect(
      try await rig.rows("SELECT Name, \"@media\", Icon FROM {Tags}")
        == ["red|{\"contentType\":\"image/png\"}|{\"etag\":\"\\\"e\\\"\"}"])
  }

  @Test("inline entities become rows and links at any depth; constraints fill omitted properties")
  func expands() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load(
      "Customers",
      """
      {"value":[{"ID":1,"Name":"A","Orders":[
        {"ID":10,"Total":1.5,"Items":[{"No":1,"Text":"x"},{"No":2,"Text":"y"}],"Tags":[{"Name":"red"},{"Name":"blue"}]},
        {"ID":11,"Items":[{"No":1,"Text":"z"}],"Tags":[{"Name":"red"}]}]},
      {"ID":2,"Name":"B","Orders":[]}]}
      """)
    #expect(try await rig.rows("SELECT ID, CustomerID FROM {Orders}") == ["10|1", "11|1"])
    #expect(
      try await rig.rows(
        "SELECT o.ID, i.No, i.Text FROM {Orders/Items} i JOIN {Orders} o ON o.\"@id\" = i.\"@parent\" ORDER BY 1, 2")
        == ["10|1|x", "10|2|y", "11|1|z"])
    #expect(
      try await rig.rows(
        """
        SELECT o.ID, t.Name FROM {Orders/Tags} l JOIN {Orders} o ON o."@id" = l.source
        JOIN {Tags} t ON t."@id" = l.target ORDER BY 1, 2
        """) == ["10|blue", "10|red", "11|red"])
  }

  @Test("identities are kept by key; missing rows are removed; without differences there is no new generation")
  func again() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let first = "{\"value\":[{\"ID\":1,\"Total\":1},{\"ID\":2,\"Tags\":[{\"Name\":\"red\"}]}]}"
    let began = try await rig.download("q", "Orders", pages: [first])
    #expect(began.rows == 2)
    let ids = try await rig.rows("SELECT ID, \"@id\" FROM {Orders} ORDER BY ID")
    let same = try await rig.download("q", "Orders", pages: [first])
    #expect(same.changed == [])
    #expect(try await rig.rows("SELECT ID, \"@id\" FROM {Orders} ORDER BY ID") == ids)
    let version = try await rig.rows("SELECT generation FROM larder_table ORDER BY id")
    #expect(version == ["2", "2", "2"])
    // 1.0 equals 1 in another spelling.
    let third = "{\"value\":[{\"ID\":2,\"Tags\":[]},{\"ID\":3}]}"
    #expect(try await rig.download("q", "Orders", pages: [third]).changed.count == 2)
    #expect(try await rig.rows("SELECT ID FROM {Orders} ORDER BY ID") == ["2", "3"])
    #expect(
      try await rig.rows("SELECT \"@id\" FROM {Orders} WHERE ID = 2") == [String(ids[1].split(separator: "|")[1])])
    #expect(try await rig.rows("SELECT count(*) FROM {Orders/Tags}") == ["0"])
    #expect(try await rig.rows("SELECT count(*) FROM {Tags}") == ["0"])
    try await rig.replica.sweep()
    #expect(try await rig.rows("SELECT name FROM larder_litter") == [])
    #expect(
      try await rig.rows("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB '[el][0-9]*'") == ["3"])
  }

  @Test("rows of other queries stay, with their properties; a row is removed when no query has it")
  func membership() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.download(
      "all", "Customers", pages: ["{\"value\":[{\"ID\":1,\"Name\":\"A\"},{\"ID\":2,\"Name\":\"B\"}]}"])
    try await rig.download("some", "Customers", pages: ["{\"value\":[{\"ID\":2},{\"ID\":3,\"Name\":\"C\"}]}"])
    let sql = "SELECT ID, Name, \"@queries\" FROM {Customers} ORDER BY ID"
    #expect(try await rig.rows(sql) == ["1|A|1", "2|B|3", "3|C|2"])
    try await rig.download("all", "Customers", pages: ["{\"value\":[{\"ID\":1,\"Name\":\"A\"}]}"])
    #expect(try await rig.rows(sql) == ["1|A|1", "2|B|2", "3|C|2"])
    try await rig.replica.removeQuery("some")
    #expect(try await rig.rows(sql) == ["1|A|1"])
  }

  @Test("duplicate rows, on one page or several, become one row: the later one wins, and omitted properties stay")
  func twice() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.download(
      "q", "Orders",
      pages: [
        """
        {"value":[{"ID":1,"Total":1,"Customer":{"ID":7,"Name":"A"},"Tags":[{"Name":"red"}]},
        {"ID":2,"Total":2,"Customer":{"ID":7,"Home":{"City":"Ulm"}},"Tags":[{"Name":"red"}]}]}
        """,
        "{\"value\":[{\"ID\":2,\"Total\":3,\"Customer\":null,\"Tags\":[{\"Name\":\"red\"}]}]}",
      ])
    #expect(try await rig.rows("SELECT ID, Total, CustomerID FROM {Orders} ORDER BY ID") == ["1|1|7", "2|3|-"])
    #expect(try await rig.rows("SELECT ID, Name, \"Home/City\" FROM {Customers}") == ["7|A|Ulm"])
    #expect(try await rig.rows("SELECT count(*) FROM {Tags}") == ["1"])
    #expect(try await rig.rows("SELECT count(*) FROM {Orders/Tags}") == ["2"])
  }

  @Test("an interrupted read resumes after its last page; a dropped read leaves nothing")
  func resumption() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let read = try await rig.begin("q", "Orders")
    _ = try await rig.page("{\"value\":[{\"ID\":1},{\"ID\":2}],\"@odata.nextLink\":\"n\"}", of: read)
    try await read.save(position: "behind 2")
    // Half a page, which is not saved.
    _ = try await rig.page("{\"value\":[{\"ID\":3}]}", of: read)
    #expect(try await rig.rows("SELECT count(*) FROM {Orders}") == ["0"])
    try await rig.replica.close()
    let replica = try await Replica.open(path: rig.folder.file("store.db"), key: try RigKey.fromEnvironment())
    let resumed = try #require(try await GenerationRead.resume(replica, query: read.query, table: read.table))
    #expect(resumed.position == "behind 2")
    let page = resumed.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
    try await page.take(Array("{\"value\":[{\"ID\":3},{\"ID\":4}]}".utf8))
    let end = try await page.end()
    #expect(end.rows == 2)
    #expect(end.newRows == 1)
    #expect(end.stagedRows == 4)
    let outcome = try await resumed.finish(deltaLink: "d", etag: nil, lastModified: nil, at: 5)
    #expect(outcome.changed == [1])
    let count = try await replica.rowCount(of: read.query, in: 1)
    #expect(count == 4)
    let again = try await GenerationRead.begin(replica, query: read.query, table: read.table)
    let lost = again.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
    try await lost.take(Array("{\"value\":[{\"ID\":9}]}".utf8))
    _ = try await lost.end()
    try await again.discard()
    #expect(try await replica.rowCount(of: read.query, in: 1) == 4)
    #expect(try await replica.queries().map(\.deltaLink) == ["d"])
    try await replica.close()
  }

  @Test(
    "with many inline collections that continue behind links, neither the next link nor a known one is searched for")
  func manyInlinePages() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    for (sql, index) in [
      (GenerationRead.nextInline, "larder_inline_query"), (GenerationWriter.noteInline, "larder_inline_link"),
    ] {
      let given = (1...5).reduce(sql) { $0.replacing("?\($1)", with: "\($1)") }
      let plan = try await rig.rows("EXPLAIN QUERY PLAN " + given).joined(separator: ";")
      #expect(plan.contains("\(index) (query=?"), "\(plan)")
      #expect(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN larder_inline"), "\(plan)")
    }
  }

  @Test("an inline collection that continues behind a link is requested, and its rows belong to their entity")
  func inlinePages() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let read = try await rig.begin("q", "Orders")
    _ = try await rig.page(
      """
      {"value":[{"ID":1,"Items":[{"No":1}],"Items@odata.nextLink":"i2","Tags":[],"Tags@odata.nextLink":"t2"}]}
      """, of: read)
    let items = try #require(try await read.nextInlinePage())
    #expect(items.link == "i2")
    _ = try await rig.page("{\"value\":[{\"No\":2}],\"@odata.nextLink\":\"i3\"}", of: read, inline: items)
    let more = try #require(try await read.nextInlinePage())
    #expect(more.link == "i3")
    _ = try await rig.page("{\"value\":[{\"No\":3}]}", of: read, inline: more)
    let tags = try #require(try await read.nextInlinePage())
    #expect(tags.link == "t2")
    _ = try await rig.page("{\"value\":[{\"Name\":\"red\"}]}", of: read, inline: tags)
    #expect(try await read.nextInlinePage() == nil)
    _ = try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1)
    #expect(
      try await rig.rows(
        "SELECT i.No FROM {Orders/Items} i JOIN {Orders} o ON o.\"@id\" = i.\"@parent\" ORDER BY 1") == ["1", "2", "3"])
    #expect(
      try await rig.rows("SELECT t.Name FROM {Orders/Tags} l JOIN {Tags} t ON t.\"@id\" = l.target") == ["red"])
  }

  @Test("inline references link stored entities; entity-ids are stored if the key does not determine them")
  func references() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load(
      "Tags",
      "{\"value\":[{\"Name\":\"red\",\"@odata.id\":\"urn:1\"},{\"Name\":\"b/c\",\"@odata.id\":\"Tags('b%2Fc')\"}]}")
    #expect(try await rig.rows("SELECT Name, \"@uri\" FROM {Tags} ORDER BY Name") == ["b/c|-", "red|urn:1"])
    try await rig.load(
      "Orders",
      "{\"value\":[{\"ID\":1,\"Tags\":[{\"@odata.id\":\"http://h/s/Tags('b%2Fc')\"},{\"@odata.id\":\"Tags('none')\"}]}]}"
    )
    #expect(
      try await rig.rows("SELECT t.Name FROM {Orders/Tags} l JOIN {Tags} t ON t.\"@id\" = l.target") == ["b/c"])
    #expect(try await rig.rows("SELECT count(*) FROM {Tags}") == ["2"])
  }

  @Test("a singleton is one row; its next read changes it")
  func singleton() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load("Me", "{\"@odata.context\":\"$metadata#Me\",\"ID\":5,\"Name\":\"I\"}")
    try await rig.load("Me", "{\"@odata.context\":\"$metadata#Me\",\"ID\":5,\"Name\":\"J\"}")
    #expect(try await rig.rows("SELECT ID, Name FROM {Me}") == ["5|J"])
  }

  @Test("a page without entities is an error, and a malformed page leaves the store unchanged")
  func broken() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    try await rig.load("Orders", "{\"value\":[{\"ID\":1}]}")
    for text in [
      "{\"error\":{\"code\":\"x\",\"message\":\"y\"}}", "{\"value\":[{\"ID\":2},{\"ID\":\"no\"}]}",
      "{\"value\":[{\"ID\":2}",
    ] {
      let read = try await rig.begin("load Orders", "Orders")
      await #expect(throws: (any Error).self) { try await rig.page(text, of: read) }
      try await read.discard()
    }
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["1"])
  }

  @Test("more rows than a chunk, over several pages")
  func many() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let pages = (0..<4).map { page in
      let rows = (0..<2500).map { "{\"ID\":\(page * 2500 + $0),\"Total\":\($0).25,\"CustomerID\":\(page)}" }
      return "{\"value\":[\(rows.joined(separator: ","))]}"
    }
    let outcome = try await rig.download("q", "Orders", pages: pages)
    #expect(outcome.rows == 10_000)
    #expect(
      try await rig.rows("SELECT count(*), count(DISTINCT \"@id\"), sum(CustomerID) FROM {Orders}") == [
        "10000|10000|15000"
      ])
  }

  @Test("rows are written in the order of an index; of duplicate rows the later one still wins")
  func ordered() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    // Towards the end of the page customers get smaller, so the index has the later rows first.
    let rows = (0..<3000).map { "{\"ID\":\($0),\"Total\":1,\"CustomerID\":\(3000 - $0)}" }
    let twice = (0..<3000).map { "{\"ID\":\($0 % 1500),\"Total\":\($0),\"CustomerID\":\(3000 - $0)}" }
    let json = { (rows: [String]) in "{\"value\":[\(rows.joined(separator: ","))]}" }
    for (pages, wanted) in [
      ([json(rows)], "3000|1|3000|4501500"),
      ([json(twice)], "1500|1500|3374250|1125750"),
      ([json(rows), json(twice)], "3000|1501|3375750|2251500"),
      ([json(Array(twice[..<1500])), json(Array(twice[1500...]))], "1500|1500|3374250|1125750"),
    ] {
      let name = "q\(pages.map(\.count))"
      let outcome = try await rig.download(name, "Orders", pages: pages)
      let sql = "SELECT count(*), count(DISTINCT Total), CAST(sum(Total) AS INTEGER), sum(CustomerID) FROM {Orders}"
      #expect(try await rig.rows(sql + " WHERE \"@queries\" <> 0") == [wanted])
      #expect(outcome.rows == Int64(wanted.split(separator: "|")[0]))
      try await rig.replica.removeQuery(name)
    }
    try await rig.replica.database.checkIntegrity()
  }

  @Test("inline entities that only columns join use the short path too; later duplicates win")
  func expanded() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let page = { (rows: Range<Int>, customers: Int) in
      let rows = rows.map { row in
        let customer = row % customers
        return "{\"ID\":\(row),\"Total\":1,\"Customer\":{\"ID\":\(customer),\"Name\":\"of \(row)\"}}"
      }
      return "{\"value\":[\(rows.joined(separator: ","))]}"
    }
    // Each customer once; each often, also in another page; new ones beside those; without any.
    let pages = [
      page(0..<2000, 2000), page(2000..<4000, 700), page(4000..<6000, 2500),
      "{\"value\":[{\"ID\":6000,\"Customer\":null}]}",
    ]
    let outcome = try await rig.download("q", "Orders", pages: pages)
    #expect(outcome.rows == 6001)
    #expect(
      try await rig.rows("SELECT count(*), count(DISTINCT \"@id\"), count(CustomerID) FROM {Orders}") == [
        "6001|6001|6000"
      ])
    // The last order that refers to a customer.
    var last: [Int: Int] = [:]
    for (rows, customers) in [(0..<2000, 2000), (2000..<4000, 700), (4000..<6000, 2500)] {
      for row in rows { last[row % customers] = row }
    }
    let names = last.sorted { $0.key < $1.key }.map { "\($0.key)|of \($0.value)" }
    #expect(try await rig.rows("SELECT ID, Name FROM {Customers} ORDER BY ID") == names)
    #expect(
      try await rig.rows(
        "SELECT count(*) FROM {Orders} o JOIN {Customers} c ON c.ID = o.CustomerID WHERE c.\"@queries\" <> 0") == [
          "6000"
        ])
    #expect(try await rig.download("q", "Orders", pages: pages).changed.isEmpty)
    try await rig.replica.database.checkIntegrity()
  }

  @Test("a page's rows are written while the next is read; the position is kept with the last of them")
  func handedOver() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let read = try await rig.begin("q", "Orders")
    for number in 0..<5 {
      let page = read.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
      let rows = (0..<2000).map { "{\"ID\":\(number * 2000 + $0),\"CustomerID\":\($0 % 7)}" }
      try await page.take(Array("{\"value\":[\(rows.joined(separator: ","))],\"@odata.nextLink\":\"n\"}".utf8))
      let end = try await page.handOver { "\(number) with \($0.stagedRows ?? -1)" }
      #expect(end.nextLink == "n")
      #expect(end.rows == 2000)
      // At any time, the rows of the pages before the position are stored.
      let seen = try await rig.rows("SELECT position, rows FROM larder_download")
      let place = seen[0].split(separator: "|")
      if place[0] != "-" {
        let said = Int(place[0].split(separator: " ").last ?? "") ?? -1
        #expect((Int(place[1]) ?? 0) >= said)
      }
    }
    // An interrupted page does not affect earlier pages.
    let broken = read.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
    try await broken.take(Array("{\"value\":[{\"ID\":77777}".utf8))
    await read.queue.settle()
    #expect(try await rig.rows("SELECT position, pages FROM larder_download") == ["4 with 10000|5"])
    let outcome = try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1)
    #expect(outcome.rows == 10_000)
  }
}
