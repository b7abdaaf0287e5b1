import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: single values, counts, links", .timeLimit(.minutes(1)))
struct ResultValueTests {
  private static func plan(_ rig: ResultRig, _ name: String, isRaw: Bool) throws -> ReadPlan {
    let bench = try rig.bench("Orders")
    let member = try #require(bench.members([]).first { $0.name == name })
    return ReadPlan(
      sql: bench.sql + " LIMIT 1", parameters: [], content: .value(member, isRaw: isRaw), isSingle: true)
  }

  @Test(
    "Properties and their contexts (JSON Format 4.01 §11, Protocol §10.14)",
    arguments: [
      ("Title", "Orders(1)/Title", #"{"@context":"$metadata#Orders(1)/Title","value":"a \"b\"\n\u0001ü"}"#),
      ("Total", "Orders(1)/Total", #"{"@context":"$metadata#Orders(1)/Total","value":12.50}"#),
      ("Prices", "Orders(1)/Prices", #"{"@context":"$metadata#Orders(1)/Prices","value":[1.10,2]}"#),
      (
        "Ship", "Orders(1)/Ship",
        ##"{"@context":"$metadata#Orders(1)/Ship","@type":"#Shop.Abroad","City":"Rome","Zip":7,"Country":"IT"}"##
      ),
    ])
  func property(_ name: String, _ url: String, _ expected: String) async throws {
    let rig = try await ResultShapeTests.rig()
    let plan = try ResultValueTests.plan(rig, name, isRaw: false)
    let (text, end) = try await rig.text(plan, url, ResultForm(version: .v401))
    #expect(end.outcome == .content)
    #expect(text == expected)
  }

  @Test(
    "Raw values (Protocol 4.01 §11.2.4.1)",
    arguments: [
      ("Title", "a \"b\"\n\u{1}ü", "text/plain;charset=utf-8"), ("Total", "12.50", "text/plain;charset=utf-8"),
      ("Open", "true", "text/plain;charset=utf-8"), ("State", "New,Paid", "text/plain;charset=utf-8"),
      ("Big", "9007199254740993", "text/plain;charset=utf-8"),
      ("Place", "{\"type\":\"Point\",\"coordinates\":[1,2]}", "application/json"),
    ])
  func raw(_ name: String, _ expected: String, _ mediaType: String) async throws {
    let rig = try await ResultShapeTests.rig()
    let plan = try ResultValueTests.plan(rig, name, isRaw: true)
    let (text, end) = try await rig.text(plan, "Orders(1)/\(name)/$value", ResultForm(version: .v401))
    #expect(text == expected && end.mediaType == mediaType)
  }

  @Test("Names of a model with a quotation mark are escaped", arguments: [ResultForm.Metadata.minimal, .full])
  func escapedNames(_ metadata: ResultForm.Metadata) async throws {
    var csdl = ResultModels.v4.replacing("Name=\"New\"", with: "Name=\"N&quot;w\"")
    csdl = csdl.replacing("\"Abroad\"", with: "\"A&quot;d\"").replacing("\"Rush\"", with: "\"R&quot;h\"")
    let rig = try await ResultRig(csdl)
    try await rig.insert(
      "Orders", ["@type": .integer(1), "ID": .integer(1), "State": .integer(1), "Ship": .text("Shop.A\"d")])
    var bench = try rig.bench("Orders")
    bench.select = ["ID", "State", "Ship"]
    let (text, _) = try await rig.text(bench.readPlan, "Orders", ResultForm(version: .v401, metadata: metadata))
    let row = try JSONNode(Array(text.utf8))["value"]?.items?.first
    #expect(row?["State"]?.string == "N\"w", "\(text)")
    #expect(row?["@type"]?.string == "#Shop.R\"h" && row?["Ship"]?["@type"]?.string == "#Shop.A\"d", "\(text)")
  }

  @Test("Bytes of a binary property, and a null one")
  func bytes() async throws {
    let rig = try await ResultShapeTests.rig()
    let run = try rig.result(
      try ResultValueTests.plan(rig, "Seal", isRaw: true), "Orders(1)/Seal/$value", ResultForm(version: .v401))
    let (bytes, end) = try await rig.read { try run.json($0) }
    #expect(bytes == [0xFB, 0xFF] && end.mediaType == "application/octet-stream")
    try await rig.database.write { (connection) throws(StorageError) in
      try connection.run("UPDATE t0 SET \"Seal\" = NULL, \"Ship\" = NULL")
    }
    let (nothing, none) = try await rig.read { try run.json($0) }
    #expect(nothing.isEmpty && none.outcome == .null)
    let ship = try await rig.text(
      try ResultValueTests.plan(rig, "Ship", isRaw: false), "Orders(1)/Ship", ResultForm(version: .v4))
    #expect(ship.text.isEmpty && ship.end.outcome == .null)
  }

  @Test("A count of entities")
  func count() async throws {
    let rig = try await ResultShapeTests.rig()
    let plan = ReadPlan(sql: "SELECT count(*) FROM t0", parameters: [], content: .count, isSingle: true)
    let (text, end) = try await rig.text(plan, "Orders/$count", ResultForm(version: .v4))
    #expect(text == "3" && end.mediaType == "text/plain")
  }

  @Test(
    "Context URLs (Protocol 4.01 §10)",
    arguments: [
      ("Orders", "Orders"), ("Orders/Shop.Rush", "Orders/Shop.Rush"), ("Orders(1)/Buyer", "Customers/$entity"),
      ("Orders(1)/Items", "Orders(1)/Items"), ("Orders(1)/Items(Line=1,Part='a''b')", "Orders(1)/Items/$entity"),
      ("Orders(1)/Label", "Orders(1)/Label"), ("Me", "Me"),
      ("Customers('a b')/Orders", "Orders"), ("Orders?$select=ID,Ship/City", "Orders(ID,Ship/City)"),
      ("Orders?$select=Ship($select=City,Zip)", "Orders(Ship/City,Ship/Zip)"),
      ("Orders?$select=*", "Orders(*)"), ("Orders(1)/Shop.Rush", "Orders/Shop.Rush/$entity"),
      ("Orders?$compute=ID add 1 as Next&$select=Next", "Orders(Next)"),
    ])
  func context(_ url: String, _ expected: String) async throws {
    let rig = try await ResultRig(ResultModels.v4)
    let bound = try rig.bind(url)
    let source = try #require(bound.source)
    var bench = PlanBench(try #require(rig.plan.table(of: source)), rig.model)
    bench.isSingle = bound.type?.isCollection == false
    #expect(ResultContext(bound, plan: bench.readPlan, version: .v401).fragment == expected)
  }

  @Test("The context URL describes the rows of $apply (Data Aggregation 4.0 §5)")
  func aggregated() async throws {
    let rig = try await ResultShapeTests.rig()
    let string = ODataBoundType(.primitive(.string), isNullable: true)
    let shape = ReadShape(
      table: nil, type: nil, typeNumber: 0,
      members: [
        ReadMember(
          name: "Buyer", kind: .complex(1, [ReadMember(name: "Name", kind: .column(1, .string), type: string)]),
          type: string),
        ReadMember(name: "Sum", kind: .column(2, .decimal), type: ODataBoundType(.primitive(.decimal)), types: [1]),
      ])
    let plan = ReadPlan(
      sql: "SELECT 1, 'x', '12.0' UNION ALL SELECT 0, 'y', NULL", parameters: [], content: .objects(shape),
      isSingle: false)
    let url = "Orders?$apply=groupby((Buyer/Name),aggregate(Total with sum as Sum))"
    let (text, _) = try await rig.text(plan, url, ResultForm(version: .v401))
    #expect(
      text == """
        {"@context":"$metadata#Orders(Buyer(Name),Sum)","value":[{"Buyer":{"Name":"x"},"Sum@type":"#Decimal","Sum":12.0},\
        {"Buyer":{"Name":"y"}}]}
        """)
  }
}
