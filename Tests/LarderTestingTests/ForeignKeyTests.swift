import LarderHTTP
import LarderTesting
import Testing

/// A service of teams, and of entities that belong to them by foreign keys of several kinds.
enum Teams {
  /// A type whose entities belong to a team.
  private static func dependent(_ name: String, key: String, column: String) -> String {
    """
    <EntityType Name="\(name)"><Key>\(key)<PropertyRef Name="No"/></Key>
    <Property Name="No" Type="Edm.Int32" Nullable="false"/><Property Name="Team_ID" Type="Edm.Int32" \(column)/>
    <NavigationProperty Name="Team" Type="T.Team" Partner="\(name)s">
    <ReferentialConstraint Property="Team_ID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    """
  }

  /// Members may be without a team, guests may not; the team is in the key of lines, and of desks without saying that it
  /// must not be null.
  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Team"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    \(["Member", "Guest", "Line", "Desk"].map { name in
      """
      <NavigationProperty Name="\(name)s" Type="Collection(T.\(name))" Partner="Team"><OnDelete Action="SetNull"/>
      </NavigationProperty>
      """ }.joined())</EntityType>
    \(dependent("Member", key: "", column: ""))\(dependent("Guest", key: "", column: "Nullable=\"false\""))
    \(dependent("Line", key: "<PropertyRef Name=\"Team_ID\"/>", column: "Nullable=\"false\""))
    \(dependent("Desk", key: "<PropertyRef Name=\"Team_ID\"/>", column: ""))
    <EntityType Name="Node"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Up_ID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Up" Type="T.Node" Partner="Below">
    <ReferentialConstraint Property="Up_ID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Below" Type="Collection(T.Node)" Partner="Up"><OnDelete Action="SetNull"/>
    </NavigationProperty></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Teams" EntityType="T.Team"/>
    <EntitySet Name="Members" EntityType="T.Member"/><EntitySet Name="Guests" EntityType="T.Guest"/>
    <EntitySet Name="Lines" EntityType="T.Line"/><EntitySet Name="Desks" EntityType="T.Desk"/>
    <EntitySet Name="Nodes" EntityType="T.Node"><NavigationPropertyBinding Path="Up" Target="Nodes"/>
    <NavigationPropertyBinding Path="Below" Target="Nodes"/></EntitySet></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  /// Two teams, and an entity of a set that belongs to the first.
  static func service(_ set: String) throws -> ODataTestService {
    try ODataTestService(
      metadata: metadata, rows: ["Teams": [["ID": 1], ["ID": 2]], set: [["No": 1, "Team_ID": 1]]])
  }
}

@Suite("Test service: foreign keys", .timeLimit(.minutes(2)))
struct ForeignKeyTests {
  @Test(
    "OnDelete SetNull and the removal of a link get 400 if the foreign key must not be null or is in the key",
    arguments: [
      ("Members", "Members(1)", true), ("Guests", "Guests(1)", false), ("Lines", "Lines(Team_ID=1,No=1)", false),
      ("Desks", "Desks(Team_ID=1,No=1)", false),
    ])
  func setNull(_ set: String, _ path: String, _ isAllowed: Bool) async throws {
    let requests: [(method: HTTPMethod, path: String, body: String)] = [
      (.delete, "Teams(1)", ""), (.delete, "\(path)/Team/$ref", ""), (.delete, "Teams(1)/\(set)/$ref?$id=\(path)", ""),
      (.patch, path, #"{"Team@odata.bind":null}"#), (.patch, "Teams(1)", #"{"\#(set)":[]}"#),
    ]
    for request in requests {
      let service = try Teams.service(set)
      let before = service[path]
      let response = try await service.send(request.method, request.path, request.body)
      #expect(response.status == (isAllowed ? 204 : 400), "\(request): \(response.text)")
      #expect(service[path] == (isAllowed ? ["No": 1, "Team_ID": nil] : before), "\(request)")
      #expect((service["Teams(1)"] == nil) == (isAllowed && request.path == "Teams(1)" && request.method == .delete))
      if !isAllowed { #expect(response.message.contains("'Team_ID' of '\(path)'"), "\(response.message)") }
    }
  }

  @Test("An entity that leads to itself can be deleted, although its foreign key must not be null")
  func itself() async throws {
    let service = try ODataTestService(
      metadata: Teams.metadata, rows: ["Nodes": [["ID": 1, "Up_ID": 1], ["ID": 2, "Up_ID": 1]]])
    #expect(try await service.send(.delete, "Nodes(1)").status == 400)
    #expect(service.rows("Nodes").count == 2)
    #expect(try await service.send(.delete, "Nodes(2)").status == 204)
    #expect(try await service.send(.delete, "Nodes(1)").status == 204)
    #expect(service.rows("Nodes").isEmpty)
  }

  @Test("A link that would change a key gets 400; one to the entity that the key names is kept")
  func keys() async throws {
    let service = try Teams.service("Lines")
    let path = "Lines(Team_ID=1,No=1)"
    let requests: [(method: HTTPMethod, path: String, body: String)] = [
      (.patch, path, #"{"Team@odata.bind":"Teams(2)"}"#), (.put, "\(path)/Team/$ref", #"{"@odata.id":"Teams(2)"}"#),
      (.post, "Teams(2)/Lines/$ref", #"{"@odata.id":"\#(path)"}"#),
      (.patch, "Teams(2)", #"{"Lines@odata.bind":["\#(path)"]}"#),
      (.post, "Teams", #"{"ID":3,"Lines@odata.bind":["\#(path)"]}"#),
    ]
    for request in requests {
      let response = try await service.send(request.method, request.path, request.body)
      #expect(
        response.status == 400 && response.message.contains("'Team_ID' of '\(path)'"), "\(request): \(response.text)")
      #expect(service[path] == ["No": 1, "Team_ID": 1] && service.rows("Teams").count == 2, "\(request)")
    }
    #expect(try await service.send(.patch, path, #"{"Team@odata.bind":"Teams(1)"}"#).status == 204)
    #expect(try await service.send(.post, "Lines", #"{"No":2,"Team@odata.bind":"Teams(2)"}"#).status == 201)
    #expect(service["Lines(Team_ID=2,No=2)"]?["Team_ID"] == 2)
  }
}
