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
    <Property Name="Name" Type="Edm.String" Nullable="false"/></EntityType>
    <EntityContainer Name="C">
    <EntitySet Name="People" EntityType="S.Person"><NavigationPropertyBinding Path="Boss" Target="People"/>
    <NavigationPropertyBinding Path="Reports" Target="People"/><NavigationPropertyBinding Path="Grade" Target="Grades"/></EntitySet>
    <EntitySet Name="Grades" EntityType="S.Grade"/><EntitySet Name="Shifts" EntityType="S.Shift"/>
    <EntitySet Name="Badges" EntityType="S.Badge"/><EntitySet Name="Places" EntityType="S.Place"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  static func service(_ rows: [String: [TestRow]] = [:]) throws -> TestService {
    try TestService(metadata: metadata, rows: rows)
  }
}

@Suite("Test service: keys, and entities that lead to each other", .timeLimit(.minutes(2)))
struct StaffTests {
  @Test("POST creates the entity that a foreign key of the new entity leads to")
  func deepInsert() async throws {
    let service = try Staff.service()
    let created = try await service.ask(.post, "People", #"{"ID":1,"Boss":{"ID":2,"Boss":{"ID":3}}}"#)
    #expect(created.status == 201, "\(created.text)")
    #expect(created.node["Boss_ID"] == .number("2") && created.node["Boss"]?["Boss"]?["ID"] == .number("3"))
    #expect(service.rows("People").count == 3 && service["People(2)"]?["Boss_ID"] == 3)
    #expect(try Staff.service(["People": [["ID": 1, "Boss": ["ID": 9]]]])["People(9)"] != nil)
  }
}
