import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: shapes of V2 JSON", .timeLimit(.minutes(1)))
struct ResultVerboseTests {
  static let form = ResultForm(version: .v2, serviceRoot: "http://host/service")

  static func rig() async throws -> ResultRig {
    let rig = try await ResultRig(ResultModels.v2)
    try await rig.insert(
      "Orders",
      [
        "@id": .integer(1), "@etag": .text("W/\"1\""), "ID": .integer(1), "Title": .text("x"), "Total": .text("1.50"),
        "Ratio": .real(2), "Open": .integer(0), "At": .text("2026-01-15T10:00:00"),
        "Sent": .text("2026-01-15T10:00:00+01:00"), "Took": .text("PT1H"),
        "Token": .text("11111111-2222-3333-4444-555555555555"), "Seal": .blob([0xFB, 0xFF]), "Ship": .text(""),
        "Ship/City": .text("Rome"),
      ])
    try await rig.insert("Items", ["@id": .integer(2), "Order": .integer(1), "Line": .integer(1)])
    return rig
  }

  @Test("Entries with deferred content, and the count (V2 JSON Format, Representing Collections)")
  func entries() async throws {
    let rig = try await ResultVerboseTests.rig()
    var bench = try rig.bench("Orders")
    bench.count = ReadCount(sql: "SELECT 1", parameters: [])
    let (text, end) = try await rig.text(bench.readPlan, "Orders?$inlinecount=allpages", ResultVerboseTests.form)
    #expect(end.mediaType == "application/json")
    #expect(
      text == """
        {"d":{"results":[{"__metadata":{"id":"http://host/service/Orders(1L)","uri":"http://host/service/Orders(1L)",\
        "type":"Shop.Order","etag":"W/\\"1\\""},"ID":"1","Title":"x","Total":"1.50","Ratio":2.0,"Open":false,\
        "At":"\\/Date(1768471200000)\\/","Sent":"\\/Date(1768471200000+0060)\\/","Took":"PT1H",\
        "Token":"11111111-2222-3333-4444-555555555555","Seal":"+/8=","Ship":{"__metadata":{"type":"Shop.Address"},\
        "City":"Rome"},"Items":{"__deferred":{"uri":"http://host/service/Orders(1L)/Items"}}}],"__count":"1"}}
        """)
  }

  @Test("One entry, selected and expanded (V2 JSON Format, Representing Entries)")
  func entry() async throws {
    let rig = try await ResultVerboseTests.rig()
    var bench = try rig.bench("Orders")
    bench.isSingle = true
    bench.select = ["ID"]
    var items = try rig.bench("Items")
    items.condition = "\"Order\" = ?"
    items.parameters = [.outer(bench.column("ID"))]
    items.select = ["Line"]
    bench.expands = [ReadExpand(path: ["Items"], isCollection: true, content: .entities, plan: items.readPlan)]
    let (text, _) = try await rig.text(
      bench.readPlan, "Orders(1L)?$select=ID,Items/Line&$expand=Items", ResultVerboseTests.form)
    #expect(
      text == """
        {"d":{"__metadata":{"id":"http://host/service/Orders(1L)","uri":"http://host/service/Orders(1L)",\
        "type":"Shop.Order","etag":"W/\\"1\\""},"ID":"1","Items":{"results":[{"__metadata":{\
        "id":"http://host/service/Items(Order=1L,Line=1)","uri":"http://host/service/Items(Order=1L,Line=1)",\
        "type":"Shop.Item"},"Line":1}]}}}
        """)
  }

  @Test("Links and properties (V2 JSON Format, Representing Links and Properties)")
  func links() async throws {
    let rig = try await ResultVerboseTests.rig()
    var bench = try rig.bench("Items")
    bench.isReferences = true
    var (text, _) = try await rig.text(bench.readPlan, "Orders(1L)/$links/Items", ResultVerboseTests.form)
    #expect(text == #"{"d":{"results":[{"uri":"http://host/service/Items(Order=1L,Line=1)"}]}}"#)
    let orders = try rig.bench("Orders")
    let members = Dictionary(uniqueKeysWithValues: orders.members([]).map { ($0.name, $0) })
    for (name, url, expected) in [
      ("At", "Orders(1L)/At", #"{"d":{"At":"\/Date(1768471200000)\/"}}"#),
      ("Ship", "Orders(1L)/Ship", #"{"d":{"Ship":{"__metadata":{"type":"Shop.Address"},"City":"Rome"}}}"#),
    ] {
      let member = try #require(members[name])
      let plan = ReadPlan(sql: orders.sql, parameters: [], content: .value(member, isRaw: false), isSingle: true)
      (text, _) = try await rig.text(plan, url, ResultVerboseTests.form)
      #expect(text == expected)
    }
  }
}
