import Foundation
import LarderOData
import LarderODataXML
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The tables of a model", .timeLimit(.minutes(1)))
struct ReplicaPlanTests {
  static func v4(_ content: String, container: String) throws -> EdmModel {
    let text = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(content)
      <EntityContainer Name="C">\(container)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
    return try EdmModel.read(Array(text.utf8))
  }

  @Test("constraints join in both directions, links are shared by partners, contained entities have a table")
  func relations() throws {
    let model = try Self.v4(
      """
      <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <NavigationProperty Name="Orders" Type="Collection(N.Order)" Partner="Customer"/></EntityType>
      <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <Property Name="CustomerID" Type="Edm.Int32"/>
        <NavigationProperty Name="Customer" Type="N.Customer" Partner="Orders">
          <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Tags" Type="Collection(N.Tag)" Partner="Orders"/>
        <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true" Partner="Order"/></EntityType>
      <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32"/>
        <NavigationProperty Name="Order" Type="N.Order"/></EntityType>
      <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String"/>
        <NavigationProperty Name="Orders" Type="Collection(N.Order)"/>
        <NavigationProperty Name="Colour" Type="N.Colour"/></EntityType>
      <EntityType Name="Colour"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String"/></EntityType>
      """,
      container: """
        <EntitySet Name="Customers" EntityType="N.Customer"/><EntitySet Name="Orders" EntityType="N.Order">
        <NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
        <EntitySet Name="Tags" EntityType="N.Tag"/>
        """)
    #expect(
      ReplicaPlanOutline.lines(ReplicaPlan(model: model)) == [
        "Customers(ID)", "  ID: integer", "  Orders -> Orders [ID=CustomerID]",
        "Orders(ID)", "  ID: integer", "  CustomerID: integer", "  Customer -> Customers [CustomerID=ID]",
        "  Tags -> Tags [Orders/Tags]", "  Items -> Orders/Items [in]",
        "Tags(ID)", "  ID: string", "  Orders -> Orders [Orders/Tags back]", "  Colour -> N.Colour [Tags/Colour]",
        "Orders/Items(No)", "  No: integer", "  Order -> Orders [out]",
        "N.Colour(ID)", "  ID: string",
      ])
  }

  @Test(
    "a hierarchy is one table; complex properties are flattened, recursive ones are JSON; open types store undeclared properties"
  )
  func hierarchy() throws {
    let model = try Self.v4(
      """
      <TypeDefinition Name="Weight" UnderlyingType="Edm.Decimal"/>
      <EnumType Name="E"><Member Name="A"/></EnumType>
      <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/><Property Name="Next" Type="N.Address"/>
        <NavigationProperty Name="Country" Type="N.Base"/></ComplexType>
      <ComplexType Name="Abroad" BaseType="N.Address" OpenType="true"><Property Name="Zone" Type="N.E"/></ComplexType>
      <EntityType Name="Base" Abstract="true"><Key><PropertyRef Name="Home/Street" Alias="S"/></Key>
        <Property Name="Home" Type="N.Address"/></EntityType>
      <EntityType Name="One" BaseType="N.Base"><Property Name="x" Type="Edm.Int64"/>
        <Property Name="X" Type="N.Weight"/><Property Name="L" Type="Collection(Edm.Int32)"/></EntityType>
      <EntityType Name="Two" BaseType="N.Base" OpenType="true"><Property Name="x" Type="Edm.Stream"/></EntityType>
      """, container: "<EntitySet Name=\"S\" EntityType=\"N.Base\"/>")
    let plan = ReplicaPlan(model: model)
    #expect(
      ReplicaPlanOutline.lines(plan) == [
        "S(Home/Street)", "  Home: complex", "  Home/Street: string", "  Home/Next: json", "  Home/Zone: enumeration",
        "  Home/@dynamic: dynamic", "  x: integer", "  N.One/X: decimal", "  L: json", "  N.Two/x: stream",
        "  @dynamic: dynamic", "  Home/Country -> S [S/Home/Country]",
      ])
    let table = try #require(plan.table("S"))
    #expect(table.types.map(\.name) == ["N.Base", "N.One", "N.Two"])
    #expect(table.column(["x"], on: model.structure("N.Two"))?.storage == .stream)
    #expect(table.column(["x"], on: model.structure("N.One"))?.storage == .integer)
  }

  @Test("recursive containment ends, and a singleton has a separate table for its contained entities")
  func recursion() throws {
    let model = try Self.v4(
      """
      <EntityType Name="Folder"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <NavigationProperty Name="Folders" Type="Collection(N.Folder)" ContainsTarget="true"/>
        <NavigationProperty Name="Files" Type="Collection(N.File)" ContainsTarget="true"/></EntityType>
      <EntityType Name="File"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <NavigationProperty Name="Owner" Type="N.Person"/></EntityType>
      <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/></EntityType>
      """,
      container: """
        <EntitySet Name="Roots" EntityType="N.Folder"><NavigationPropertyBinding Path="Files/Owner" Target="B"/>
        </EntitySet><Singleton Name="Mine" Type="N.Folder"/><EntitySet Name="A" EntityType="N.Person"/>
        <EntitySet Name="B" EntityType="N.Person"/>
        """)
    let plan = ReplicaPlan(model: model)
    #expect(
      plan.tables.map(\.name) == [
        "Roots", "A", "B", "Mine", "Roots/Folders", "Roots/Files", "Mine/Folders", "Mine/Files",
        "Roots/Folders/Files", "Mine/Folders/Files", "N.Person",
      ])
    #expect(
      ReplicaPlanOutline.navigations("Roots/Folders", in: plan) == [
        "Folders -> Roots/Folders [in]", "Files -> Roots/Folders/Files [in]",
      ])
    #expect(ReplicaPlanOutline.navigations("Roots/Files", in: plan) == ["Owner -> B [Roots/Files/Owner]"])
    #expect(ReplicaPlanOutline.navigations("Mine/Files", in: plan) == ["Owner -> N.Person [Mine/Files/Owner]"])
    #expect(plan.containers(of: 4) == [0, 4])
  }

  @Test("V2 associations join like constraints, also if only the principal has a navigation property")
  func associations() throws {
    let text = """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices>
      <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
      <EntityType Name="Head"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String"/>
        <NavigationProperty Name="Items" Relationship="N.HI" FromRole="H" ToRole="I"/>
        <NavigationProperty Name="Notes" Relationship="N.HN" FromRole="H" ToRole="T"/></EntityType>
      <EntityType Name="Item"><Key><PropertyRef Name="Head"/><PropertyRef Name="No"/></Key>
        <Property Name="Head" Type="Edm.String"/><Property Name="No" Type="Edm.Int16"/></EntityType>
      <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Guid"/>
        <NavigationProperty Name="Head" Relationship="N.HN" FromRole="T" ToRole="H"/></EntityType>
      <Association Name="HI"><End Role="H" Type="N.Head" Multiplicity="1"/><End Role="I" Type="N.Item" Multiplicity="*"/>
        <ReferentialConstraint><Principal Role="H"><PropertyRef Name="ID"/></Principal>
        <Dependent Role="I"><PropertyRef Name="Head"/></Dependent></ReferentialConstraint></Association>
      <Association Name="HN"><End Role="H" Type="N.Head" Multiplicity="1"/><End Role="T" Type="N.Note" Multiplicity="*"/>
      </Association>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
      <EntitySet Name="Heads" EntityType="N.Head"/><EntitySet Name="Items" EntityType="N.Item"/>
      <EntitySet Name="Notes" EntityType="N.Note"/><EntitySet Name="MoreNotes" EntityType="N.Note"/>
      <AssociationSet Name="A" Association="N.HI"><End Role="H" EntitySet="Heads"/><End Role="I" EntitySet="Items"/>
      </AssociationSet>
      <AssociationSet Name="B" Association="N.HN"><End Role="H" EntitySet="Heads"/><End Role="T" EntitySet="Notes"/>
      </AssociationSet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
    let plan = ReplicaPlan(model: try EdmModel.read(Array(text.utf8)))
    #expect(
      ReplicaPlanOutline.navigations("Heads", in: plan) == [
        "Items -> Items [ID=Head]", "Notes -> Notes [Heads/Notes]",
      ])
    #expect(ReplicaPlanOutline.navigations("Notes", in: plan) == ["Head -> Heads [Heads/Notes back]"])
    #expect(ReplicaPlanOutline.navigations("MoreNotes", in: plan) == ["Head -> Heads [MoreNotes/Head]"])
  }

  @Test("a constraint that does not cover the whole key is not used; links are")
  func partialConstraint() throws {
    let model = try Self.v4(
      """
      <EntityType Name="A"><Key><PropertyRef Name="T"/><PropertyRef Name="ID"/></Key>
        <Property Name="T" Type="Edm.Int32"/><Property Name="ID" Type="Edm.Int32"/></EntityType>
      <EntityType Name="B"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <Property Name="T" Type="Edm.Int32"/>
        <NavigationProperty Name="A" Type="N.A"><ReferentialConstraint Property="T" ReferencedProperty="T"/>
        </NavigationProperty></EntityType>
      """, container: "<EntitySet Name=\"As\" EntityType=\"N.A\"/><EntitySet Name=\"Bs\" EntityType=\"N.B\"/>")
    #expect(ReplicaPlanOutline.navigations("Bs", in: ReplicaPlan(model: model)) == ["A -> As [Bs/A]"])
  }

  @Test("every sample model yields a valid plan")
  func samples() throws {
    let files =
      SharedOData.files(in: "samples/metadata/v2", suffix: "")
      + SharedOData.files(in: "samples/metadata/v3", suffix: "")
      + SharedOData.files(in: "samples/metadata/v4", suffix: "")
      + SharedOData.files(in: "samples/metadata/bulk-sap-v2", suffix: ".xml")
    for file in files {
      guard let bytes = try? Data(contentsOf: file) else { continue }
      let model = try EdmModel.read(Array(bytes))
      let plan = ReplicaPlan(model: model)
      for problem in Self.problems(of: plan) { Issue.record("\(file.lastPathComponent): \(problem)") }
      print("\(file.lastPathComponent): \(plan.tables.count) tables, \(plan.links.count) link tables")
    }
  }

  /// The invariants of any plan.
  static func problems(of plan: ReplicaPlan) -> [String] {
    var problems: [String] = []
    if Set(plan.tables.map(\.name)).count != plan.tables.count { problems.append("two tables of one name") }
    for (number, table) in plan.tables.enumerated() {
      if table.number != number { problems.append("\(table.name) is not \(number)") }
      if table.columns.count > 1600 { problems.append("\(table.name) has \(table.columns.count) columns") }
      let names = Set(table.columns.map { $0.name.lowercased() })
      if names.count != table.columns.count { problems.append("\(table.name): two columns of one name") }
      for navigation in table.navigations {
        guard plan.tables.indices.contains(navigation.target) else {
          problems.append("\(table.name)/\(navigation.path) leads nowhere")
          continue
        }
        guard case .links(let link, let isForward) = navigation.relation else { continue }
        let ends = isForward ? (number, navigation.target) : (navigation.target, number)
        if plan.links[link].source != ends.0 || plan.links[link].target != ends.1 {
          problems.append("\(table.name)/\(navigation.path): the link table has other ends")
        }
      }
    }
    for set in plan.model.defaultContainer?.entitySets ?? [] where plan.model.structure(set.entityType) != nil {
      if plan.table(set.name) == nil { problems.append("no table for \(set.name)") }
    }
    return problems
  }
}
