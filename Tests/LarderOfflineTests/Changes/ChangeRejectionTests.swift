import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Changes rejected before anything is written", .timeLimit(.minutes(1)))
struct ChangeRejectionTests {
  @Test(
    "What does not fit the model is reported by name",
    arguments: [
      ("Nam", ODataValue.string("x"), OfflineODataErrorName.unknownProperty), ("Name", .null, .nullNotAllowed),
      ("Name", .int32(5), .invalidValue), ("Name", .string(String(repeating: "x", count: 21)), .invalidValue),
      ("Credit", .string("1.234"), .invalidValue), ("Credit", .int64(12345), .invalidValue),
      ("Credit", .string("abc"), .invalidValue), ("Color", .string("Green"), .invalidValue),
      ("Level", .int64(3_000_000_000), .invalidValue), ("Level", .string("3"), .invalidValue),
      ("Level", .double(1.5), .invalidValue), ("Since", .string("2026-01-01T00:00:00Z"), .readOnlyProperty),
      ("Code", .string("b"), .readOnlyProperty), ("ID", .int32(9), .keyChanged),
      ("Home", .complex(.init(properties: [.init("Town", .null)])), .unknownProperty),
      ("Home", .complex(.init(properties: [.init("City", .string("12345678901"))])), .invalidValue),
      ("Mails", .string("x"), .invalidValue), ("Mails", .collection([.int32(1)]), .invalidValue),
    ] as [(String, ODataValue, OfflineODataErrorName)])
  func properties(_ name: String, _ value: ODataValue, _ error: OfflineODataErrorName) async throws {
    let rig = try await ChangeMakingTests.filled()
    let before = try await rig.rows.rows("SELECT * FROM {Customers}")
    let update = ODataSingleRequest.update("Customers(1)", to: ODataEntity(properties: [.init(name, value)]))
    #expect(await rig.failure(update) == error)
    #expect(try await rig.rows.rows("SELECT * FROM {Customers}") == before)
    for table in ["request", "effect", "base"] {
      #expect(try await rig.rows.rows("SELECT count(*) FROM larder_\(table)") == ["0"])
    }
  }

  @Test("What the service does not allow, and keys that cannot be made or are there already")
  func restrictions() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.rows.load("Rates", "{\"value\":[{\"Day\":\"2026-01-01\",\"Value\":1.5}]}")
    func create(_ set: String, _ properties: [ODataProperty]) -> ODataSingleRequest {
      .create(ODataEntity(properties: properties), in: set)
    }
    #expect(await rig.failure(create("Rates", [])) == .insertRestricted)
    #expect(await rig.failure(.delete("Rates(2026-01-01)")) == .deleteRestricted)
    #expect(
      await rig.failure(.update("Rates(2026-01-01)", to: ODataEntity(properties: [.init("Value", .double(2))]))) == nil)
    #expect(
      await rig.failure(create("Customers", [.init("ID", .int32(1)), .init("Name", .string("x"))])) == .entityExists)
    #expect(await rig.failure(.delete("Customers(9)")) == .entityNotFound)
    #expect(await rig.failure(create("Customers(9)/Orders", [])) == .entityNotFound)
    #expect(await rig.failure(create("Nowhere", [])) == .unfittingURL)
    #expect(await rig.failure(create("Customers(", [])) == .malformedURL)
    #expect(await rig.failure(.createLink("Customers(1)/Orders/$ref", to: "Tags('red')")) == .unfittingBody)
    #expect(await rig.failure(create("http://other/s/Customers", [])) == .malformedURL)
    #expect(try await rig.queue().count == 1)
  }

  @Test("Nested entities a hundred levels deep are rejected by name")
  func depth() async throws {
    let rig = try await ChangeMakingTests.filled()
    var entity = ODataEntity()
    for level in 0..<100 {
      let name = level % 2 == 0 ? "Orders" : "Tags"
      entity = ODataEntity(navigationLinks: [.init(name: name, content: .collection(.init(entities: [entity])))])
    }
    #expect(await rig.failure(.create(entity, in: "Orders")) != nil)
    #expect(try await rig.queue() == [])
  }

  @Test("Version 2: sap:creatable and its like, keys within foreign keys, MERGE")
  func v2() async throws {
    let rig = try await ChangeRig(ChangeModels.v2)
    try await rig.rows.load(
      "Heads", #"{"d":{"results":[{"No":"A","At":"/Date(0)/","By":"me","Sum":"5"}]}}"#, version: .v2)
    #expect(
      await rig.failure(.create(ODataEntity(properties: [.init("Sum", .int32(1))]), in: "Heads")) == .readOnlyProperty)
    #expect(
      await rig.failure(.update("Heads('A')", to: ODataEntity(properties: [.init("By", .string("you"))])))
        == .readOnlyProperty)
    #expect(await rig.failure(.delete("Heads('A')")) == .deleteRestricted)
    let line = ODataEntity(properties: [.init("Pos", .int32(10)), .init("Text", .string("t"))])
    let lines = ODataNavigationLink(name: "Lines", content: .collection(.init(entities: [line])))
    let created = try await rig.create("Heads", [.init("By", .string("me"))], [lines])
    #expect(created.httpStatus == 201)
    try await rig.create("Heads('A')/Lines", [.init("Pos", .int32(20))])
    var head = ODataNavigationLink(name: "Head")
    head.bindings = ["http://h/s/Heads('A')"]
    try await rig.create("Lines", [.init("Pos", .int32(30))], [head])
    try await rig.update("Lines(No='A',Pos=20)", [.init("Text", .string("u"))], .merge)
    #expect(
      try await rig.queue() == [
        "1/1 create Heads By,Lines[Pos,Text]", "2/2 create Heads#Lines Pos", "3/3 create Lines Pos,Head[@]",
        "4/4 merge Lines# Text <2",
      ])
    #expect(
      try await rig.rows.rows("SELECT No, Pos, Text FROM {Lines} WHERE No = 'A' ORDER BY Pos") == ["A|20|u", "A|30|-"])
    let key = try #require(try await rig.rows.rows("SELECT No FROM {Heads} WHERE No <> 'A'").first)
    #expect(key.utf8.count <= 10 && key.hasPrefix("larder-"))
    #expect(try await rig.rows.rows("SELECT No FROM {Lines} WHERE Pos = 10") == [key])
    // The server's key takes the lines along.
    try await rig.succeed(1, EntityCells(["No": .text("B")]))
    #expect(try await rig.rows.rows("SELECT No FROM {Lines} WHERE Pos = 10") == ["B"])
  }
}
