import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: complex values with undeclared properties and of derived types", .timeLimit(.minutes(1)))
struct OpenComplexValueTests {
  static let model = ReplicaRig.v4(
    """
    <ComplexType Name="A" OpenType="true"><Property Name="City" Type="Edm.String"/></ComplexType>
    <ComplexType Name="B" BaseType="N.A"><Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EnumType Name="E"><Member Name="X"/></EnumType>
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="a" Type="N.A"/><Property Name="as" Type="Collection(N.A)"/><Property Name="bin" Type="Edm.Binary"/>
    </EntityType>
    <EntityType Name="D" BaseType="N.P"><Property Name="X" Type="Edm.String"/></EntityType>
    <EntityType Name="K"><Key><PropertyRef Name="k"/></Key><Property Name="k" Type="N.E" Nullable="false"/></EntityType>
    <Action Name="Do" IsBound="true"><Parameter Name="p" Type="N.P"/><ReturnType Type="Collection(N.P)"/></Action>
    """,
    container: "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/><EntitySet Name=\"Ks\" EntityType=\"N.K\"/>")

  static func filled() async throws -> ChangeRig {
    let rig = try await ChangeRig(model)
    try await rig.rows.load(
      "Ps",
      ##"""
      {"value":[{"ID":1,"a":{"City":"c","dyn":1.5,"more":{"k":[1]}},"as":[{"City":"x","dyn":true}]},
      {"ID":2,"a":{"@odata.type":"#N.B","City":"d","Zip":"9","dyn":"t"}},{"ID":3,"a":null},
      {"@odata.type":"#N.D","ID":4,"a":{"@odata.type":"#N.B","City":"e","Zip":null}}]}
      """##)
    return rig
  }

  /// A path, and what a query of it returns (JSON Format 4.01 §4.5.3, §7.2; URL Conventions 4.01 §4.12).
  @Test(
    "Undeclared properties are shown; properties of derived types only in values of these",
    arguments: [
      ("Ps(1)?$select=a", #"{"a":{"City":"c","dyn":1.5,"more":{"k":[1]}}}"#),
      ("Ps(2)?$select=a", #"{"a":{"City":"d","Zip":"9","dyn":"t"}}"#),
      ("Ps(4)?$select=a", #"{"a":{"City":"e","Zip":null}}"#), ("Ps(1)/a", #"{"City":"c","dyn":1.5,"more":{"k":[1]}}"#),
      ("Ps(2)/a", #"{"City":"d","Zip":"9","dyn":"t"}"#), ("Ps(2)/a/N.B", #"{"City":"d","Zip":"9","dyn":"t"}"#),
      ("Ps(1)?$select=a/dyn", #"{"a":{"dyn":1.5}}"#), ("Ps(1)?$select=a/City", #"{"a":{"City":"c"}}"#),
      ("Ps(2)/a/N.B/Zip", #"{"value":"9"}"#), ("Ps(2)?$select=a/N.B", #"{"a":{"City":"d","Zip":"9","dyn":"t"}}"#),
      ("Ps(1)/as", #"{"value":[{"City":"x","dyn":true}]}"#),
    ])
  func shown(path: String, expected: String) async throws {
    let rig = try await Self.filled()
    #expect(try await rig.read(path) == expected)
  }

  /// URL Conventions 4.01 §5.1.4: a type in the path restricts the property to values of this type.
  @Test(
    "A property of a derived type is selected alone",
    arguments: [
      ("ID,a/N.B/Zip", #"{"ID":1,"a":{}},{"ID":2,"a":{"Zip":"9"}},{"ID":3,"a":null},{"ID":4,"a":{"Zip":null}}"#),
      ("a/N.B/City", #"{"a":{}},{"a":{"City":"d"}},{"a":null},{"a":{"City":"e"}}"#),
      ("a/N.B/dyn", #"{"a":{}},{"a":{"dyn":"t"}},{"a":null},{"a":{}}"#),
      ("a/dyn,a/N.B/Zip", #"{"a":{"dyn":1.5}},{"a":{"Zip":"9","dyn":"t"}},{"a":null},{"a":{"Zip":null}}"#),
      ("a/City,a/N.B/City", #"{"a":{"City":"c"}},{"a":{"City":"d"}},{"a":null},{"a":{"City":"e"}}"#),
    ])
  func selectedOfDerived(select: String, rows: String) async throws {
    let rig = try await Self.filled()
    #expect(try await rig.read("Ps?$select=\(select)&$orderby=ID") == #"{"value":[\#(rows)]}"#)
  }

  @Test(
    "A path through a type that the value does not have leads nowhere",
    arguments: [
      "Ps(1)/a/N.B", "Ps(1)/a/N.B/Zip", "Ps(1)/a/N.B/Zip/$value", "Ps(3)/a/N.B/Zip", "Ps(1)/N.D/X", "Ps(9)/a",
    ])
  func otherType(path: String) async throws {
    let rig = try await Self.filled()
    // There is no content, as for an entity that does not exist.
    #expect(try await rig.read(path) == "")
  }

  /// Protocol 4.01 §11.4.3, §11.4.9.3: members that an update omits are unchanged; null removes an undeclared one.
  @Test("Undeclared properties of complex values are created, changed and removed")
  func changed() async throws {
    let rig = try await Self.filled()
    func value(_ properties: ODataProperty...) -> ODataProperty {
      ODataProperty("a", .complex(ODataComplexValue(properties: properties)))
    }
    try await rig.update("Ps(1)", [value(.init("dyn", .string("x")), .init("new", .boolean(true)))])
    #expect(try await rig.read("Ps(1)/a") == #"{"City":"c","more":{"k":[1]},"dyn":"x","new":true}"#)
    try await rig.update("Ps(1)", [value(.init("more", .null), .init("City", .string("e")))])
    #expect(try await rig.read("Ps(1)/a") == #"{"City":"e","dyn":"x","new":true}"#)
    // The value was null.
    try await rig.update("Ps(3)", [value(.init("dyn", .string("y")))])
    #expect(try await rig.read("Ps(3)/a") == #"{"City":null,"dyn":"y"}"#)
    try await rig.create("Ps", [.init("ID", .int32(9)), value(.init("dyn", .string("z")))])
    #expect(try await rig.read("Ps(9)/a") == #"{"City":null,"dyn":"z"}"#)
    let property = ODataRequestBody.properties([.init("value", .string("w"))])
    try await rig.change(ODataSingleRequest(.update(.replace), "Ps(9)/a/dyn", body: property))
    #expect(try await rig.read("Ps(9)/a/dyn") == #"{"value":"w"}"#)
  }

  @Test("The response to a change keeps the undeclared properties of complex values")
  func response() async throws {
    let rig = try await Self.filled()
    let plan = rig.rows.replica.plan
    let table = try #require(plan.table("Ps"))
    let complex = ODataComplexValue(properties: [.init("City", .string("n")), .init("dyn", .int32(2))])
    let cells = try EntityCells(entity: ODataEntity(properties: [.init("a", .complex(complex))]), in: table, plan: plan)
    #expect(
      cells["a/City"] == .text("n") && cells["a/@dynamic"] == .text(##"{"dyn@odata.type":"#Int32","dyn":2}"##),
      "\(cells.json)")
  }

  @Test("What the store does not do is `notSupported`; a path that is not valid says why")
  func rejections() async throws {
    let rig = try await Self.filled()
    let ordered = await #expect(throws: OfflineODataError.self) { try await rig.read("Ps?$orderby=bin desc") }
    #expect(ordered?.category == .notSupported && ordered?.errorMessage.contains("Edm.Binary") == true)
    let counted = await #expect(throws: OfflineODataError.self) { try await rig.read("Ps(1)/N.Do/$count") }
    #expect(counted?.name == .unfittingURL, "\(counted.debugDescription)")
    let keyless = await #expect(throws: OfflineODataError.self) { try await rig.create("Ks", []) }
    #expect(keyless?.errorMessage.contains("no value of N.E ") == true, "\(keyless.debugDescription)")
  }
}
