import LarderOData
import LarderTesting
import Testing

/// A service whose entities lead to others of their type, with keys of several types.
enum Staff {
  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Boss_ID" Type="Edm.Int32"/>
    <Property Name="Grade_K" Type="Edm.Decimal" Scale="variable"/>
    <NavigationProperty Name="Boss" Type="S.Person" Partner="Reports">
    <ReferentialConstraint Property="Boss_ID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Reports" Type="Collection(S.Person)" Partner="Boss"><OnDelete Action="Cascade"/></NavigationProperty>
    <NavigationProperty Name="Grade" Type="S.Grade">
    <ReferentialConstraint Property="Grade_K" ReferencedProperty="K"/></NavigationProperty></EntityType>
    <EntityType Name="Grade"><Key><PropertyRef Name="K"/></Key>
    <Property Name="K" Type="Edm.Decimal" Scale="variable" Nullable="false"/></EntityType>
    <EntityType Name="Shift"><Key><PropertyRef Name="Start"/></Key>
    <Property Name="Start" Type="Edm.DateTimeOffset" Nullable="false"/></EntityType>
    <EntityType Name="Badge"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Guid" Nullable="false"/></EntityType>
    <EntityType Name="Place"><Key><PropertyRef Name="Name"/></Key>
    <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Code" Type="Edm.String" MaxLength="3"/>
    <Property Name="Price" Type="Edm.Decimal" Precision="5" Scale="2"/><Property Name="Size" Type="S.Size"/>
    <Property Name="Free" Type="Edm.Decimal"/><Property Name="At" Type="Edm.DateTimeOffset" Precision="3"/>
    <Property Name="Rate" Type="Edm.Decimal" Precision="2" Scale="2"/>
    <Property Name="Bytes" Type="Edm.Binary" MaxLength="2"/><Property Name="Codes" Type="Collection(Edm.String)" MaxLength="1"/>
    </EntityType><TypeDefinition Name="Size" UnderlyingType="Edm.Decimal" Precision="3" Scale="variable"/>
    <EnumType Name="Mood"><Member Name="Calm" Value="1"/><Member Name="Busy" Value="2"/></EnumType>
    <EnumType Name="Right" IsFlags="true"><Member Name="Read" Value="1"/><Member Name="Write" Value="2"/></EnumType>
    <EnumType Name="Level" UnderlyingType="Edm.SByte"><Member Name="Low" Value="-1"/><Member Name="High" Value="1"/></EnumType>
    <EntityType Name="Pass"><Key><PropertyRef Name="Rights"/></Key>
    <Property Name="Rights" Type="S.Right" Nullable="false"/><Property Name="Mood" Type="S.Mood"/>
    <Property Name="Level" Type="S.Level"/></EntityType>
    <EntityType Name="Box" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <EntityContainer Name="C">
    <EntitySet Name="People" EntityType="S.Person"><NavigationPropertyBinding Path="Boss" Target="People"/>
    <NavigationPropertyBinding Path="Reports" Target="People"/><NavigationPropertyBinding Path="Grade" Target="Grades"/></EntitySet>
    <EntitySet Name="Grades" EntityType="S.Grade"/><EntitySet Name="Shifts" EntityType="S.Shift"/>
    <EntitySet Name="Badges" EntityType="S.Badge"/><EntitySet Name="Places" EntityType="S.Place"/>
    <EntitySet Name="Boxes" EntityType="S.Box"/><EntitySet Name="Passes" EntityType="S.Pass"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  static func service(_ rows: [String: [ODataTestRow]] = [:]) throws -> ODataTestService {
    try ODataTestService(metadata: metadata, rows: rows)
  }
}

@Suite("Test service: keys, and entities that lead to each other", .timeLimit(.minutes(2)))
struct StaffTests {
  @Test("POST creates the entity that a foreign key of the new entity leads to")
  func deepInsert() async throws {
    let service = try Staff.service()
    let created = try await service.send(.post, "People", #"{"ID":1,"Boss":{"ID":2,"Boss":{"ID":3}}}"#)
    #expect(created.status == 201, "\(created.text)")
    #expect(created.node["Boss_ID"] == .number("2") && created.node["Boss"]?["Boss"]?["ID"] == .number("3"))
    #expect(service.rows("People").count == 3 && service["People(2)"]?["Boss_ID"] == 3)
    #expect(try Staff.service(["People": [["ID": 1, "Boss": ["ID": 9]]]])["People(9)"] != nil)
  }

  @Test(
    "A key is found however it is written",
    arguments: [
      ("Grades", #"{"K":1.50}"#, ["1.5", "1.50", "1.500"]), ("Grades", #"{"K":2.0}"#, ["2", "2.0"]),
      ("Grades", #"{"K":100}"#, ["100", "100.00"]),
      (
        "Shifts", #"{"Start":"2026-05-01T10:00:00+02:00"}"#,
        ["2026-05-01T08:00:00Z", "2026-05-01T10:00:00%2B02:00", "2026-05-01T08:00:00.000Z"]
      ),
      (
        "Badges", #"{"ID":"ABCDEF00-0000-4000-8000-00000000000A"}"#,
        ["ABCDEF00-0000-4000-8000-00000000000A", "abcdef00-0000-4000-8000-00000000000a"]
      ),
      ("Places", #"{"Name":"a/b c"}"#, ["'a%2Fb%20c'", "%27a%2fb%20c%27", "'%61%2Fb%20c'"]),
    ])
  func keys(_ set: String, _ body: String, _ keys: [String]) async throws {
    let service = try Staff.service()
    #expect(try await service.send(.post, set, body).status == 201)
    #expect(try await service.send(.post, set, body).status == 409)
    for key in keys {
      #expect(try await service.send(.patch, "\(set)(\(key))", "{}").status == 204, "\(key)")
      #expect(try await service.get("\(set)(\(key))").status == 200, "\(key)")
    }
    #expect(service["Grades(1.500)"] == service["Grades(1.5)"])
    #expect(try await service.send(.delete, "\(set)(\(keys[0]))").status == 204)
    #expect(service.rows(set).isEmpty)
  }

  @Test("A foreign key leads to its entity however both are written, and equal keys exist once")
  func equalKeys() async throws {
    let service = try Staff.service(["Grades": [["K": "1.50"]], "People": [["ID": 1, "Grade_K": 1.5]]])
    #expect(try await service.send(.post, "Grades", #"{"K":1.5}"#).status == 409)
    #expect(try await service.send(.delete, "People(1)/Grade/$ref").status == 204)
    #expect(service["People(1)"]?["Grade_K"] == nil as ODataTestValue)
  }

  @Test("Deletions that lead back to where they began end")
  func cycle() async throws {
    let service = try Staff.service(["People": [["ID": 1, "Boss_ID": 2], ["ID": 2, "Boss_ID": 1], ["ID": 3]]])
    #expect(try await service.send(.delete, "People(1)").status == 204)
    #expect(service.rows("People").map { $0["ID"] } == [3])
  }

  @Test(
    "A value that is longer, larger or finer than its facets allow gets 400",
    arguments: [
      (#"{"Code":"abc"}"#, true), (#"{"Code":"abcd"}"#, false), (#"{"Code":"äöü"}"#, true),
      (#"{"Price":123.45}"#, true),
      (#"{"Price":1.500}"#, true), (#"{"Price":1.234}"#, false), (#"{"Price":1234}"#, false),
      (#"{"Price":-999.99}"#, true),
      (#"{"Size":1.23}"#, true), (#"{"Size":123}"#, true), (#"{"Size":1.234}"#, false), (#"{"Size":0.001}"#, true),
      (#"{"Size":0.0001}"#, false), (#"{"Size":1000}"#, false), (#"{"Free":1234567.891}"#, true),
      (#"{"Price":0}"#, true), (#"{"Rate":0.25}"#, true), (#"{"Rate":-0.99}"#, true), (#"{"Rate":0}"#, true),
      (#"{"Rate":0.00}"#, true), (#"{"Rate":5.25}"#, false), (#"{"Rate":-1}"#, false), (#"{"Rate":1e1}"#, false),
      (#"{"At":"2026-05-01T10:00:00.123Z"}"#, true), (#"{"At":"2026-05-01T10:00:00.1234Z"}"#, false),
      (#"{"Bytes":"AAE="}"#, true), (#"{"Bytes":"AAEC"}"#, false), (#"{"Codes":["a","b"]}"#, true),
      (#"{"Codes":["a","bc"]}"#, false),
    ])
  func facets(_ body: String, _ fits: Bool) async throws {
    let service = try Staff.service(["Places": [["Name": "a"]]])
    let response = try await service.send(.patch, "Places('a')", body)
    #expect(response.status == (fits ? 204 : 400), "\(response.text)")
    let name = body.split(separator: "\"").dropFirst().first ?? ""
    #expect(fits || response.message.contains("'\(name)'"))
  }

  @Test(
    "An enumeration's value has members by name or value, several if it has flags (ABNF enumValue)",
    arguments: [
      ("Mood", "Busy", "Busy"), ("Mood", "1", "Calm"), ("Mood", "", nil), ("Mood", "Calm,Busy", nil),
      ("Mood", "3", nil),
      ("Mood", "1,1", nil), ("Mood", "Sad", nil), ("Mood", ",Calm", nil), ("Rights", "Write", "Write"),
      ("Rights", "Write,Read", "Read,Write"), ("Rights", "3", "Read,Write"), ("Rights", "1,Write", "Read,Write"),
      ("Rights", "0", "0"), ("Rights", "", nil), ("Rights", "Read,", nil), ("Rights", "Read,,Write", nil),
      ("Rights", "Read,Delete", nil), ("Rights", "4", "4"), ("Rights", "-1", nil), ("Rights", "Read,-1", nil),
      ("Rights", "2147483647", "2147483647"), ("Rights", "2147483648", nil), ("Mood", "-1", nil),
      ("Level", "-1", "Low"), ("Level", "-2", nil), ("Level", "255", nil),
    ])
  func enumerations(_ property: String, _ text: String, _ value: String?) async throws {
    let service = try Staff.service()
    let body = property == "Rights" ? #"{"Rights":"\#(text)"}"# : #"{"Rights":"Read","\#(property)":"\#(text)"}"#
    let response = try await service.send(.post, "Passes", body)
    #expect(response.status == (value == nil ? 400 : 201), "\(response.text)")
    guard let value else { return #expect(response.message.contains("'\(property)'")) }
    #expect(response.node[property]?.string == value)
    let rights = property == "Rights" ? text : "Read"
    #expect(try await service.get("Passes(S.Right'\(rights)')").node[property]?.string == value)
    #expect(try await service.send(.post, "Passes", #"{"Rights":"\#(rights)"}"#).status == 409)
  }

  @Test("Rows lead to each other in any order")
  func order() throws {
    let chain: [ODataTestRow] = [
      ["ID": 1, "Boss@odata.bind": "People(2)"], ["ID": 2, "Boss@odata.bind": "People(3)"],
      ["ID": 3, "Reports": [["ID": 4, "Grade@odata.bind": "Grades(1.5)"]]],
    ]
    let service = try Staff.service(["People": chain, "Grades": [["K": 1.5]]])
    #expect(service.rows("People").prefix(3).map { $0["Boss_ID"] } == [2, 3, nil as ODataTestValue])
    #expect(service["People(4)"]?["Boss_ID"] == 3 && service["People(4)"]?["Grade_K"] == 1.5)
    let cycle: [ODataTestRow] = [
      ["ID": 1, "Boss@odata.bind": "People(2)"], ["ID": 2, "Boss@odata.bind": "People(1)"],
    ]
    #expect(try Staff.service(["People": cycle]).rows("People").map { $0["Boss_ID"] } == [2, 1])
    let error = #expect(throws: ODataTestServiceError.self) {
      try Staff.service(["People": [["ID": 1, "Boss@odata.bind": "People(9)"]]])
    }
    #expect(error?.status == 404 && error?.description.contains("People(9)") == true)
  }

  @Test("Undeclared properties keep the types that a client gives them, and have values of these")
  func undeclaredTypes() async throws {
    let service = try Staff.service()
    let created = try await service.send(
      .post, "Boxes",
      ##"{"ID":1,"Day@odata.type":"#Date","Day":"2026-05-01","Long@type":"#Edm.Int64","Long":5,"N":1.5}"##)
    #expect(created.status == 201, "\(created.text)")
    for response in [created, try await service.get("Boxes(1)")] {
      #expect(
        response.node["Day@odata.type"] == .string("#Date") && response.node["Long@odata.type"] == .string("#Int64"))
      #expect(response.node["Day"] == .string("2026-05-01") && response.node["N"] == .number("1.5"), "\(response.text)")
    }
    #expect(try await service.get("Boxes?$filter=Day lt 2026-06-01").texts("ID") == ["1"])
    for body in [##"{"Day@odata.type":"#Date","Day":"x"}"##, ##"{"Day@odata.type":"#Nothing","Day":"x"}"##] {
      #expect(try await service.send(.patch, "Boxes(1)", body).status == 400)
    }
    #expect(try await service.send(.patch, "Boxes(1)", #"{"Day":"x"}"#).status == 204)
    #expect(try await service.get("Boxes(1)").node["Day@odata.type"] == nil)
    #expect(service["Boxes(1)"] == ["ID": 1, "Day": "x", "Long": 5, "N": 1.5])
  }
}
