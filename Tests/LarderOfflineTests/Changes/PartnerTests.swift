import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("What a link implies at its other end", .timeLimit(.minutes(1)))
struct PartnerTests {
  /// People and rooms in each form of a relation: with navigation properties in both directions and no constraint; one to
  /// one; one to one with a foreign key; many to many.
  private static let v4 = ReplicaRig.v4(
    """
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Room" Type="N.Room" Partner="Staff"/>
      <NavigationProperty Name="Leads" Type="N.Room" Partner="Head"/>
      <NavigationProperty Name="Pass" Type="N.Pass" Partner="Owner"/>
      <NavigationProperty Name="Clubs" Type="Collection(N.Room)" Partner="Members"/></EntityType>
    <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Staff" Type="Collection(N.Person)"/>
      <NavigationProperty Name="Head" Type="N.Person"/>
      <NavigationProperty Name="Members" Type="Collection(N.Person)"/></EntityType>
    <EntityType Name="Pass"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="OwnerID" Type="Edm.Int32"/>
      <NavigationProperty Name="Owner" Type="N.Person" Partner="Pass">
        <ReferentialConstraint Property="OwnerID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    """,
    container: """
      <EntitySet Name="People" EntityType="N.Person"><NavigationPropertyBinding Path="Room" Target="Rooms"/>
        <NavigationPropertyBinding Path="Leads" Target="Rooms"/><NavigationPropertyBinding Path="Pass" Target="Passes"/>
        <NavigationPropertyBinding Path="Clubs" Target="Rooms"/></EntitySet>
      <EntitySet Name="Rooms" EntityType="N.Room"><NavigationPropertyBinding Path="Staff" Target="People"/>
        <NavigationPropertyBinding Path="Head" Target="People"/>
        <NavigationPropertyBinding Path="Members" Target="People"/></EntitySet>
      <EntitySet Name="Passes" EntityType="N.Pass"><NavigationPropertyBinding Path="Owner" Target="People"/></EntitySet>
      """)

  /// The same with associations; a room does not lead to its staff.
  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Room" Relationship="N.StaffOf" FromRole="P" ToRole="R"/>
      <NavigationProperty Name="Clubs" Relationship="N.MembersOf" FromRole="P" ToRole="R"/></EntityType>
    <EntityType Name="Room"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Staff" Relationship="N.StaffOf" FromRole="R" ToRole="P"/>
      <NavigationProperty Name="Head" Relationship="N.HeadOf" FromRole="R" ToRole="P"/></EntityType>
    <Association Name="StaffOf"><End Type="N.Person" Multiplicity="*" Role="P"/>
      <End Type="N.Room" Multiplicity="0..1" Role="R"/></Association>
    <Association Name="HeadOf"><End Type="N.Person" Multiplicity="0..1" Role="P"/>
      <End Type="N.Room" Multiplicity="0..1" Role="R"/></Association>
    <Association Name="MembersOf"><End Type="N.Person" Multiplicity="*" Role="P"/>
      <End Type="N.Room" Multiplicity="*" Role="R"/></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
      <EntitySet Name="People" EntityType="N.Person"/><EntitySet Name="Rooms" EntityType="N.Room"/>
      <AssociationSet Name="S" Association="N.StaffOf"><End EntitySet="People" Role="P"/><End EntitySet="Rooms" Role="R"/>
        </AssociationSet><AssociationSet Name="H" Association="N.HeadOf"><End EntitySet="People" Role="P"/>
        <End EntitySet="Rooms" Role="R"/></AssociationSet><AssociationSet Name="M" Association="N.MembersOf">
        <End EntitySet="People" Role="P"/><End EntitySet="Rooms" Role="R"/></AssociationSet></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  /// Person 5 is in room 3, leads it, has pass 1, and is a member of room 3.
  private static func filled(_ isV2: Bool) async throws -> ChangeRig {
    let rig = try await ChangeRig(isV2 ? v2 : v4)
    if isV2 {
      try await rig.rows.load(
        "People",
        #"{"d":{"results":[{"ID":5,"Room":{"ID":3},"Clubs":{"results":[{"ID":3}]}},{"ID":6},{"ID":7}]}}"#, version: .v2)
      try await rig.rows.load(
        "Rooms", #"{"d":{"results":[{"ID":3,"Head":{"ID":5}},{"ID":7},{"ID":8}]}}"#, version: .v2)
    } else {
      try await rig.rows.load("Passes", #"{"value":[{"ID":1,"OwnerID":5},{"ID":2,"OwnerID":null}]}"#)
      try await rig.rows.load(
        "People", #"{"value":[{"ID":5,"Room":{"ID":3},"Leads":{"ID":3},"Clubs":[{"ID":3}]},{"ID":6},{"ID":7}]}"#)
      try await rig.rows.load("Rooms", #"{"value":[{"ID":3},{"ID":7},{"ID":8}]}"#)
    }
    return rig
  }

  private static func linked(_ rig: ChangeRig, _ path: String) async throws -> String {
    try await rig.read(path).components(separatedBy: "\"ID\":").dropFirst().map {
      $0.prefix { $0.isNumber || $0 == "-" }
    }
    .joined(separator: ",")
  }

  static let cases: [(String, ODataSingleRequest, [(String, String)])] = [
    (
      "many to one, from the many", .createLink("Rooms(7)/Staff/$ref", to: "People(5)"),
      [("Rooms(3)/Staff", ""), ("Rooms(7)/Staff", "5"), ("People(5)/Room", "7")]
    ),
    (
      "many to one, from the one", .updateLink("People(5)/Room/$ref", to: "Rooms(7)"),
      [("Rooms(3)/Staff", ""), ("Rooms(7)/Staff", "5"), ("People(5)/Room", "7")]
    ),
    (
      "one to one", .updateLink("Rooms(7)/Head/$ref", to: "People(5)"),
      [("Rooms(7)/Head", "5"), ("People(5)/Leads", "7")]
    ),
    (
      "one to one, from the other end", .updateLink("People(6)/Leads/$ref", to: "Rooms(3)"),
      [("Rooms(3)/Head", "6"), ("People(6)/Leads", "3")]
    ),
    (
      "one to one by a foreign key", .updateLink("Passes(2)/Owner/$ref", to: "People(5)"),
      [("People(5)/Pass", "2"), ("Passes(2)/Owner", "5")]
    ),
    (
      "one to one by a foreign key, from the other end", .updateLink("People(6)/Pass/$ref", to: "Passes(1)"),
      [("People(6)/Pass", "1"), ("Passes(1)/Owner", "6")]
    ),
    (
      "many to many", .createLink("Rooms(7)/Members/$ref", to: "People(5)"),
      [("Rooms(3)/Members", "5"), ("Rooms(7)/Members", "5"), ("People(5)/Clubs", "3,7")]
    ),
    (
      "a binding in an update", .update("Rooms(7)", to: binding("Staff", "People(5)")),
      [("Rooms(3)/Staff", ""), ("Rooms(7)/Staff", "5"), ("People(5)/Room", "7")]
    ),
    (
      "a binding of one in an update", .update("Rooms(7)", to: binding("Head", "People(5)")),
      [("Rooms(7)/Head", "5"), ("People(5)/Leads", "7")]
    ),
    (
      "a foreign key as a value", .update("Passes(2)", to: ODataEntity(properties: [.init("OwnerID", .int32(5))])),
      [("People(5)/Pass", "2")]
    ),
    (
      "a binding in a creation", .create(binding("Staff", "People(5)", id: 9), in: "Rooms"),
      [("Rooms(3)/Staff", ""), ("Rooms(9)/Staff", "5"), ("People(5)/Room", "9")]
    ),
    (
      "a binding of one in a creation", .create(binding("Head", "People(5)", id: 9), in: "Rooms"),
      [("Rooms(9)/Head", "5"), ("People(5)/Leads", "9")]
    ),
    (
      "a binding to a foreign key in a creation", .create(binding("Owner", "People(5)", id: 9), in: "Passes"),
      [("People(5)/Pass", "9")]
    ),
    (
      "a binding in an entity created with another",
      .create(
        nested("Room", binding("Head", "People(5)", id: 9), id: 8), in: "People"),
      [("Rooms(9)/Head", "5"), ("People(5)/Leads", "9"), ("People(8)/Room", "9")]
    ),
  ]

  private static func binding(_ name: String, _ path: String, id: Int32? = nil) -> ODataEntity {
    var link = ODataNavigationLink(name: name)
    link.bindings = [path]
    return ODataEntity(properties: id.map { [ODataProperty("ID", .int32($0))] } ?? [], navigationLinks: [link])
  }

  private static func nested(_ name: String, _ entity: ODataEntity, id: Int32) -> ODataEntity {
    ODataEntity(
      properties: [.init("ID", .int32(id))],
      navigationLinks: [ODataNavigationLink(name: name, content: .entity(entity))])
  }

  @Test(
    "A link replaces the former link of the other end, undoing it restores that, and one request is sent",
    arguments: cases)
  func links(_ name: String, _ request: ODataSingleRequest, _ expected: [(String, String)]) async throws {
    let rig = try await Self.filled(false)
    var before: [String] = []
    for (path, _) in expected where !path.contains("(9)") && !path.contains("(8)") {
      before.append(try await Self.linked(rig, path))
    }
    try await rig.change(request)
    for (path, ids) in expected { #expect(try await Self.linked(rig, path) == ids, "\(name): \(path)") }
    #expect(try await rig.queue().count == 1)
    _ = try await rig.store.undoPendingChanges(nil)
    var after: [String] = []
    for (path, _) in expected where !path.contains("(9)") && !path.contains("(8)") {
      after.append(try await Self.linked(rig, path))
    }
    #expect(before == after, "\(name)")
  }

  @Test("Before V4 the association says how many entities are at its ends, also at one without a navigation property")
  func associations() async throws {
    let rig = try await Self.filled(true)
    try await rig.change(.createLink("Rooms(7)/$links/Staff", to: "People(5)"))
    #expect(try await Self.linked(rig, "People(5)/Room") == "7")
    #expect(try await Self.linked(rig, "Rooms(3)/Staff") == "")
    try await rig.change(.updateLink("Rooms(8)/$links/Head", to: "People(5)"))
    #expect(try await Self.linked(rig, "Rooms(8)/Head") == "5")
    #expect(try await rig.rows.rows("SELECT count(*) FROM {Rooms}") == ["3"])
    #expect(try await Self.linked(rig, "Rooms?$expand=Head&$filter=Head/ID eq 5") == "8,5")
    try await rig.change(.createLink("People(5)/$links/Clubs", to: "Rooms(8)"))
    #expect(try await Self.linked(rig, "People(5)/Clubs") == "3,8")
    #expect(try await rig.queue().count == 3)
    _ = try await rig.store.undoPendingChanges(nil)
    #expect(try await Self.linked(rig, "People(5)/Room") == "3")
    #expect(try await Self.linked(rig, "Rooms(3)/Head") == "5")
  }

  @Test("A link whose foreign key is part of the key is rejected as a change of the key")
  func keys() async throws {
    let rig = try await ChangeRig(ChangeModels.v2)
    try await rig.rows.load("Heads", #"{"d":{"results":[{"No":"A"},{"No":"B"}]}}"#, version: .v2)
    try await rig.rows.load("Lines", #"{"d":{"results":[{"No":"A","Pos":1},{"No":"B","Pos":1}]}}"#, version: .v2)
    let line = "Lines(No='A',Pos=1)"
    for request in [
      ODataSingleRequest.createLink("Heads('B')/$links/Lines", to: line),
      .updateLink("\(line)/$links/Head", to: "Heads('B')"), .deleteLink("\(line)/$links/Head"),
      .deleteLink("Heads('A')/$links/Lines(No='A',Pos=1)"), .update(line, to: Self.binding("Head", "Heads('B')")),
      .update("Heads('B')", to: Self.binding("Lines", line)),
    ] {
      #expect(await rig.failure(request) == .keyChanged, "\(request.path)")
    }
    // The link that the key implies exists already.
    #expect(await rig.failure(.createLink("Heads('A')/$links/Lines", to: line)) == nil)
    #expect(try await rig.queue().count == 1)
  }
}
