import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: shapes of V4 JSON", .timeLimit(.minutes(1)))
struct ResultShapeTests {
  static let root = "http://host/service/"

  static func form(
    _ version: ODataVersion = .v401, _ metadata: ResultForm.Metadata = .minimal, ieee: Bool = false
  ) -> ResultForm {
    ResultForm(version: version, metadata: metadata, isIEEE754Compatible: ieee, serviceRoot: root)
  }

  /// Three orders, one of a derived type, with items and buyers.
  static func rig() async throws -> ResultRig {
    let rig = try await ResultRig(ResultModels.v4)
    try await rig.insert("Customers", ["@id": .integer(100), "Name": .text("O'Neil & Co"), "Rank": .integer(1)])
    try await rig.insert(
      "Orders",
      [
        "@id": .integer(1), "@etag": .text("W/\"1\""), "ID": .integer(1), "Title": .text("a \"b\"\n\u{1}ü"),
        "Total": .text("12.50"), "Big": .integer(9_007_199_254_740_993), "Ratio": .real(0.5),
        "Part": .real(Double(Float(0.1))),
        "Open": .integer(1), "At": .text("2026-01-15T10:00:00.5+02:00"), "Day": .text("2026-01-15"),
        "Hour": .text("10:00:00"), "Took": .text("PT1H"), "Token": .text("11111111-2222-3333-4444-555555555555"),
        "Seal": .blob([0xFB, 0xFF]), "State": .integer(3), "Ship": .text("Shop.Abroad"), "Ship/City": .text("Rome"),
        "Ship/Zip": .integer(7), "Ship/Country": .text("IT"), "Tags": .text("[\"x\",\"y\"]"),
        "Prices": .text("[\"1.10\",\"2\"]"), "Stops": .text("[{\"City\":\"A\",\"Zip\":1}]"),
        "Place": .text("{\"type\":\"Point\",\"coordinates\":[1,2]}"),
        "Photo": .text("{\"contentType\":\"image/png\",\"etag\":\"\\\"p\\\"\"}"), "BuyerID": .text("O'Neil & Co"),
        "@dynamic": .text("{\"Extra\":5,\"Long@odata.type\":\"#Int64\",\"Long\":7}"),
      ])
    try await rig.insert("Orders", ["@id": .integer(2), "@type": .integer(1), "ID": .integer(2), "Fee": .integer(9)])
    try await rig.insert("Orders", ["@id": .integer(3), "ID": .integer(3), "Ratio": .text("NaN")])
    for line in 1...3 {
      try await rig.insert(
        "Orders/Items",
        [
          "@id": .integer(Int64(200 + line)), "@parent": .integer(1), "Line": .integer(Int64(line)),
          "Part": .text("p/\(line)"),
        ])
    }
    return rig
  }

  @Test("A complete entity with minimal metadata (JSON Format 4.01 §4.6, §6, §7)")
  func entity() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.condition = "\"ID\" = ?"
    bench.parameters = [.value(.integer(1))]
    bench.isSingle = true
    let (text, end) = try await rig.text(bench.readPlan, "Orders(1)", ResultShapeTests.form())
    #expect(end.outcome == .content && end.etag == "W/\"1\"")
    #expect(
      text == """
        {"@context":"http://host/service/$metadata#Orders/$entity","@etag":"W/\\"1\\"","ID":1,\
        "Title":"a \\"b\\"\\n\\u0001ü","Total":12.50,"Big":9007199254740993,"Ratio":0.5,"Part":0.1,"Open":true,\
        "At":"2026-01-15T10:00:00.5+02:00","Day":"2026-01-15","Hour":"10:00:00","Took":"PT1H",\
        "Token":"11111111-2222-3333-4444-555555555555","Seal":"-_8","State":"New,Paid",\
        "Ship":{"@type":"#Shop.Abroad","City":"Rome","Zip":7,"Country":"IT"},"Tags":["x","y"],"Prices":[1.10,2],\
        "Stops":[{"City":"A","Zip":1}],"Place":{"type":"Point","coordinates":[1,2]},\
        "Photo@mediaContentType":"image/png","Photo@mediaEtag":"\\"p\\"","BuyerID":"O'Neil & Co",\
        "Extra":5,"Long@type":"#Int64","Long":7}
        """)
  }

  @Test("Members of other types are omitted, null members are shown; a derived type is named")
  func derived() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.select = ["ID", "Fee", "Ratio", "Ship"]
    bench.condition = "\"ID\" > 1"
    let (text, _) = try await rig.text(bench.readPlan, "Orders", ResultShapeTests.form(.v4))
    #expect(
      text == """
        {"@odata.context":"http://host/service/$metadata#Orders","value":[\
        {"@odata.type":"#Shop.Rush","ID":2,"Ratio":null,"Ship":null,"Fee":9},{"ID":3,"Ratio":"NaN","Ship":null}]}
        """)
  }

  @Test("A computed value beyond Edm.Single is INF, not a number that JSON does not have (JSON Format 4.01 §7.1)")
  func beyondSingle() async throws {
    let rig = try await ResultShapeTests.rig()
    try await rig.insert("Orders", ["@id": .integer(4), "ID": .integer(4), "Part": .real(2e39)])
    try await rig.insert("Orders", ["@id": .integer(5), "ID": .integer(5), "Part": .real(-2e39)])
    var bench = try rig.bench("Orders")
    bench.select = ["ID", "Part"]
    bench.condition = "\"ID\" > 3"
    let (text, _) = try await rig.text(bench.readPlan, "Orders", ResultShapeTests.form(.v401, .none))
    #expect(text == #"{"value":[{"ID":4,"Part":"INF"},{"ID":5,"Part":"-INF"}]}"#)
  }

  @Test("IEEE754Compatible writes exact numbers as strings (JSON Format 4.01 §3.2)")
  func ieee() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.select = ["ID", "Total", "Big", "Prices", "Ratio"]
    bench.condition = "\"ID\" = 1"
    bench.count = ReadCount(sql: "SELECT count(*) FROM t0", parameters: [])
    let (text, end) = try await rig.text(
      bench.readPlan, "Orders?$count=true", ResultShapeTests.form(.v4, .none, ieee: true))
    #expect(end.mediaType == "application/json;odata.metadata=none;IEEE754Compatible=true")
    #expect(
      text == """
        {"@odata.count":"3","value":[{"ID":1,"Total":"12.50","Big":"9007199254740993","Ratio":0.5,\
        "Prices":["1.10","2"]}]}
        """)
  }

  @Test("A page ends with a link to the next page; the context URL names the selected properties")
  func page() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.select = ["ID"]
    bench.page = ReadPage(size: 2, token: [0], order: 42, delivered: 0)
    let (text, end) = try await rig.text(
      bench.readPlan, "Orders?$select=ID&$filter=ID gt 0&$top=3&$skip=0", ResultShapeTests.form(.v4))
    let token = SkipToken(order: 42, delivered: 2, values: [.integer(2)]).text
    #expect(end.rows == 2)
    #expect(
      text == """
        {"@odata.context":"http://host/service/$metadata#Orders(ID)","value":[\
        {"@odata.etag":"W/\\"1\\"","ID":1},{"@odata.type":"#Shop.Rush","ID":2}],"@odata.nextLink":"\
        http://host/service/Orders?$filter=ID%20gt%200&$top=3&$select=ID&$skiptoken=\(token)"}
        """)
  }

  @Test("Expanded entities: to one, null, contained, counted, paged (JSON Format 4.01 §8)")
  func expanded() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.select = ["ID"]
    var buyer = try rig.bench("Customers")
    buyer.select = ["Rank"]
    buyer.isSingle = true
    buyer.condition = "\"Name\" = ?"
    buyer.parameters = [.outer(bench.column("BuyerID"))]
    var items = try rig.bench("Orders/Items")
    items.condition = "\"@parent\" = ?"
    items.parameters = [.outer(0)]
    items.page = ReadPage(size: 2, token: [0], order: 1, delivered: 0)
    items.count = ReadCount(
      sql: "SELECT count(*) FROM t\(items.table.number) WHERE \"@parent\" = ?", parameters: [.outer(0)])
    bench.expands = [
      ReadExpand(path: ["Buyer"], isCollection: false, content: .entities, plan: buyer.readPlan),
      ReadExpand(path: ["Items"], isCollection: true, content: .entities, plan: items.readPlan),
    ]
    let url = "Orders?$select=ID&$expand=Buyer($select=Rank),Items($count=true;$orderby=Line)"
    let (text, _) = try await rig.text(bench.readPlan, url, ResultShapeTests.form())
    let token = SkipToken(order: 1, delivered: 2, values: [.integer(202)]).text
    #expect(
      text == """
        {"@context":"http://host/service/$metadata#Orders(ID,Buyer(Rank),Items())","value":[\
        {"@etag":"W/\\"1\\"","ID":1,"Buyer":{"@id":"Customers('O''Neil%20%26%20Co')","Rank":1},"Items@count":3,"Items":[\
        {"Line":1,"Part":"p/1","Amount":null},{"Line":2,"Part":"p/2","Amount":null}],"Items@nextLink":"\
        http://host/service/Orders(1)/Items?$count=true&$orderby=Line&$skiptoken=\(token)"},\
        {"@type":"#Shop.Rush","ID":2,"Buyer":null,"Items@count":0,"Items":[]},\
        {"ID":3,"Buyer":null,"Items@count":0,"Items":[]}]}
        """)
  }

  @Test("A navigation property of a complex value is expanded inside it (JSON Format 4.01 §8)")
  func inComplex() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.condition = "\"ID\" = 1"
    bench.select = ["Ship"]
    var keeper = try rig.bench("Customers")
    keeper.isSingle = true
    keeper.select = ["Name"]
    bench.expands = [
      ReadExpand(path: ["Ship", "Keeper"], isCollection: false, content: .entities, plan: keeper.readPlan)
    ]
    let form = ResultForm(version: .v4, metadata: .none)
    var text = try await rig.text(bench.readPlan, "Orders?$select=Ship&$expand=Ship/Keeper", form).text
    #expect(
      text == #"{"value":[{"Ship":{"City":"Rome","Zip":7,"Country":"IT","Keeper":{"Name":"O'Neil & Co"}}}]}"#)
    struct Order: Decodable, Sendable {
      struct Ship: Decodable, Sendable {
        enum CodingKeys: String, CodingKey { case keeper = "Keeper" }
        var keeper: [String: String]
      }
      enum CodingKeys: String, CodingKey { case ship = "Ship" }
      var ship: Ship
    }
    let run = try rig.result(bench.readPlan, "Orders?$select=Ship&$expand=Ship/Keeper", form)
    #expect(try await rig.read { try run.read([Order].self, $0)?.first?.ship.keeper["Name"] } == "O'Neil & Co")
    bench.select = ["ID"]
    text = try await rig.text(bench.readPlan, "Orders?$select=ID&$expand=Ship/Keeper", form).text
    #expect(text == #"{"value":[{"ID":1,"Ship":{"Keeper":{"Name":"O'Neil & Co"}}}]}"#)
  }

  @Test("Full metadata: ids, links, types (JSON Format 4.01 §3.1.2)")
  func full() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders")
    bench.select = ["ID", "Title", "Total"]
    bench.condition = "\"ID\" = 2"
    let (text, _) = try await rig.text(
      bench.readPlan, "Orders?$select=ID,Title,Total,Items", ResultShapeTests.form(.v4, .full))
    #expect(
      text == """
        {"@odata.context":"http://host/service/$metadata#Orders(ID,Title,Total,Items)","value":[\
        {"@odata.type":"#Shop.Rush","@odata.id":"http://host/service/Orders(2)","@odata.editLink":"Orders(2)/Shop.Rush",\
        "ID@odata.type":"#Int32","ID":2,"Title":null,"Total@odata.type":"#Decimal","Total":null,\
        "Items@odata.associationLink":"http://host/service/Orders(2)/Shop.Rush/Items/$ref",\
        "Items@odata.navigationLink":"http://host/service/Orders(2)/Shop.Rush/Items"}]}
        """)
  }

  @Test("References, alone and inline (JSON Format 4.01 §14)")
  func references() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Orders/Items")
    bench.isReferences = true
    bench.condition = "\"Line\" < 3"
    let (text, _) = try await rig.text(bench.readPlan, "Orders(1)/Items/$ref", ResultShapeTests.form(.v4))
    #expect(
      text == """
        {"@odata.context":"http://host/service/$metadata#Collection($ref)","value":[\
        {"@odata.id":"Orders(1)/Items(Line=1,Part='p%2F1')"},{"@odata.id":"Orders(1)/Items(Line=2,Part='p%2F2')"}]}
        """)
  }

  @Test("Missing resources: nothing, null, or an empty collection")
  func absent() async throws {
    let rig = try await ResultShapeTests.rig()
    var bench = try rig.bench("Customers")
    bench.condition = "0"
    bench.isSingle = true
    var outcome = try await rig.text(bench.readPlan, "Customers('x')", ResultShapeTests.form())
    #expect(outcome.end.outcome == .nothing && outcome.text.isEmpty)
    bench.owner = ReadCount(sql: "SELECT 1", parameters: [])
    outcome = try await rig.text(bench.readPlan, "Orders(2)/Buyer", ResultShapeTests.form())
    #expect(outcome.end.outcome == .null && outcome.text.isEmpty)
    bench.isSingle = false
    outcome = try await rig.text(bench.readPlan, "Customers", ResultShapeTests.form())
    #expect(outcome.text == "{\"@context\":\"http://host/service/$metadata#Customers\",\"value\":[]}")
    bench.owner = ReadCount(sql: "SELECT 0", parameters: [])
    outcome = try await rig.text(bench.readPlan, "Customers", ResultShapeTests.form())
    #expect(outcome.end.outcome == .nothing && outcome.text.isEmpty)
  }
}
