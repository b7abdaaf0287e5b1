import LarderOData
import LarderODataXML
import Testing

@testable import LarderGenerator

/// What is not generated has a reason and a name; nothing is left out in silence.
@Suite("Omissions", .timeLimit(.minutes(1)))
struct OmissionTests {
  private func omissions(
    _ schema: String, _ change: (inout GeneratorOptions) -> Void = { _ in }
  ) throws -> [String] {
    let key = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"
    let types = "<EntityType Name=\"Part\">\(key)</EntityType><ComplexType Name=\"Place\"/>"
    return try generateAll(try model(types + schema), change).omissions.map { "\($0.name): \($0.reason)" }
  }

  @Test("an entity set or singleton of an unknown or complex type is named, also if no set of its container is left")
  func sets() throws {
    let container = """
      <EntityContainer Name="C"><EntitySet Name="Gone" EntityType="Other.Part"/>
        <EntitySet Name="Places" EntityType="Shop.Place"/><Singleton Name="Me" Type="Shop.Missing"/></EntityContainer>
      """
    let expected = ["Shop.C/Gone: setType", "Shop.C/Me: setType", "Shop.C/Places: setType"]
    #expect(try omissions(container) == expected)
    #expect(
      try omissions(container) { ($0.only, $0.except) = ([NamePattern("P*")], [NamePattern("Gone")]) }
        == ["Shop.C/Places: setType"])
    // A set of a type that is left out is left out on purpose.
    let set = "<EntityContainer Name=\"C\"><EntitySet Name=\"Parts\" EntityType=\"Shop.Part\"/></EntityContainer>"
    #expect(try omissions(set) { $0.except = [NamePattern("Part")] }.isEmpty)
  }

  @Test("an import of an operation that is unknown, or bound to something, is named")
  func imports() throws {
    let schema = """
      <Function Name="Best" IsBound="true"><Parameter Name="it" Type="Shop.Part"/>
        <ReturnType Type="Edm.Int32"/></Function>
      <Action Name="Close" IsBound="true"><Parameter Name="it" Type="Shop.Part"/></Action>
      <Action Name="Open"/>
      <EntityContainer Name="C"><FunctionImport Name="A" Function="Shop.Best"/>
        <FunctionImport Name="B" Function="Shop.Missing"/><ActionImport Name="D" Action="Shop.Close"/>
        <ActionImport Name="E" Action="Other.Open"/><ActionImport Name="F" Action="Shop.Open"/></EntityContainer>
      """
    #expect(
      try omissions(schema) == [
        "Shop.C/A: unknownOperation", "Shop.C/B: unknownOperation", "Shop.C/D: unknownOperation",
        "Shop.C/E: unknownOperation",
      ])
  }

  @Test("a base type that is unknown, circular or of another kind is named: inherited members are missing")
  func baseTypes() throws {
    let schema = """
      <EntityType Name="A" BaseType="System.Object"/><EntityType Name="B" BaseType="Shop.C"/>
      <EntityType Name="C" BaseType="Shop.B"/><EntityType Name="D" BaseType="Shop.Place"/>
      <ComplexType Name="E" BaseType="Shop.Part"/><ComplexType Name="F" BaseType="Shop.Place"/>
      <EntityType Name="G" BaseType="Shop.Part"/>
      """
    let all = try omissions(schema)
    #expect(
      all.filter { $0.hasSuffix(": baseType") }
        == ["Shop.A: baseType", "Shop.B: baseType", "Shop.D: baseType", "Shop.E: baseType"]
        || all.filter { $0.hasSuffix(": baseType") }
          == ["Shop.A: baseType", "Shop.C: baseType", "Shop.D: baseType", "Shop.E: baseType"],
      "\(all)")
    #expect(try omissions(schema) { $0.only = [NamePattern("G")] }.isEmpty)
  }

  @Test("an omitted overload of an operation is named with the types of its parameters")
  func overloads() throws {
    func action(_ parameters: String...) -> String {
      let rest = parameters.map { "<Parameter Name=\"p\" Type=\"\($0)\"/>" }.joined()
      return "<Action Name=\"Ship\" IsBound=\"true\"><Parameter Name=\"it\" Type=\"Shop.Part\"/>\(rest)</Action>"
    }
    let free = """
      <Action Name="Free"><Parameter Name="p" Type="Edm.Untyped"/></Action>
      <EntityContainer Name="C"><ActionImport Name="Free" Action="Shop.Free"/></EntityContainer>
      """
    #expect(
      try omissions(action("Edm.Int32") + action("Collection(Edm.Untyped)") + action() + free)
        == ["Free: operation", "Shop.Ship(Shop.Part,Collection(Edm.Untyped)): operation"])
    #expect(try omissions(action("Edm.Untyped")) == ["Shop.Ship: operation"])
  }

  @Test("V2: a navigation property of an unknown association is named as such")
  func associations() throws {
    let model = try olderModel(
      """
      <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="X" Relationship="S.Gone" FromRole="a" ToRole="b"/>
        <NavigationProperty Name="Y" Relationship="S.R" FromRole="a" ToRole="c"/></EntityType>
      <Association Name="R"><End Role="a" Type="S.A" Multiplicity="1"/><End Role="b" Type="S.A" Multiplicity="*"/>
      </Association>
      """)
    let omissions = try generateAll(model).omissions.map { "\($0.name): \($0.reason)" }
    #expect(omissions == ["S.A/X: unknownAssociation", "S.A/Y: unknownAssociation"])
  }

  @Test(
    "the key of a type is omitted whatever makes it unusable",
    arguments: ["C/ID", "Missing", "C", "Many", "Picture", "Any"])
  func keys(path: String) throws {
    let type = """
      <EntityType Name="A"><Key><PropertyRef Name="\(path)" Alias="K"/></Key><Property Name="C" Type="Shop.Place"/>
        <Property Name="Many" Type="Collection(Edm.Int32)"/><Property Name="Picture" Type="Edm.Stream"/>
        <Property Name="Any" Type="Edm.Untyped"/></EntityType>
      """
    #expect(try omissions(type).contains("Shop.A: key"))
    #expect(Omission.Reason.key.rawValue == "keys that are not primitive properties of their type")
  }

  // JSON Format 4.01 §4.6: names with `@` are annotations.
  @Test("a property whose name is that of an annotation in JSON is named, and the other types can be compiled")
  func annotationNames() async throws {
    let names = ["@odata.etag", "@odata.type", "@odata.id", "Count@odata.count", "@Shop.Note"]
    let properties = names.map { "<Property Name=\"\($0)\" Type=\"Edm.String\"/>" }.joined()
    let key = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"
    let generated = try generateAll(
      try model(
        """
        <EntityType Name="Part">\(key)\(properties)<Property Name="odata.etag" Type="Edm.String"/>
          <NavigationProperty Name="@odata.context" Type="Shop.Part"/></EntityType>
        <EntityType Name="SmallPart" BaseType="Shop.Part"><Property Name="@odata.media" Type="Edm.Stream"/></EntityType>
        <ComplexType Name="Place" OpenType="true"><Property Name="@odata.type" Type="Edm.String"/></ComplexType>
        <EntityType Name="Old"><Key><PropertyRef Name="@odata.id"/></Key>
          <Property Name="@odata.id" Type="Edm.String" Nullable="false"/></EntityType>
        """))
    let omitted =
      (names + ["@odata.context"]).map { "Shop.Part/\($0)" }
      + ["Shop.Old/@odata.id", "Shop.Place/@odata.type", "Shop.SmallPart/@odata.media"]
    #expect(Set(generated.omissions.filter { $0.reason == .annotationName }.map(\.name)) == Set(omitted))
    #expect(generated.omissions.filter { $0.reason != .annotationName }.map(\.name) == ["Shop.Old"])
    let files = Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }
}
