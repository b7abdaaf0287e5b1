import Foundation
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder metadata", .timeLimit(.minutes(5)))
struct MetadataVerbTests {
  static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" Alias="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Product" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Price" Type="Edm.Decimal" Precision="15" Scale="2"/>
    <Property Name="Tags" Type="Collection(Edm.String)" Nullable="false" MaxLength="40"/>
    <NavigationProperty Name="Category" Type="S.Category" Nullable="false" Partner="Products">
    <ReferentialConstraint Property="CategoryID" ReferencedProperty="ID"/></NavigationProperty>
    <Annotation Term="Org.OData.Core.V1.Description" String="A thing"/></EntityType>
    <EntityType Name="Category"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
    <NavigationProperty Name="Products" Type="Collection(S.Product)" Partner="Category"/></EntityType>
    <EnumType Name="Colour" IsFlags="true"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
    <TypeDefinition Name="Weight" UnderlyingType="Edm.Double"/>
    <Function Name="Cheapest" IsBound="true"><Parameter Name="in" Type="Collection(S.Product)"/><ReturnType Type="S.Product"/></Function>
    <Action Name="Reset"/><Term Name="Rank" Type="Edm.Int32" AppliesTo="Property"/>
    <EntityContainer Name="Container"><EntitySet Name="Products" EntityType="S.Product">
    <NavigationPropertyBinding Path="Category" Target="Categories"/></EntitySet>
    <EntitySet Name="Categories" EntityType="S.Category"/><Singleton Name="Best" Type="S.Product"/>
    <ActionImport Name="Reset" Action="S.Reset"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test("For people: keys, facets, navigation, containers in columns")
  func text() async {
    let outcome = await Rig(input: Array(Self.v4.utf8)).run("metadata", "--file", "-")
    #expect(outcome.status == .done)
    #expect(
      outcome.output == """
        OData 4.0  1 schema, 2 structured types, 2 entity sets, 1 annotation (--annotations shows them)

        schema Shop  alias S

          entity type Product  has stream
            * ID        Int32          key
              Price     Decimal(15,2)
              Tags      [String(40)]   not null
            > Category  Category 1     partner Products, CategoryID = ID

          entity type Category
            * ID        String     key
            > Products  Product *  partner Category

          enum type Colour  Int32, flags
              Red   1
              Blue  2

          type definition Weight  Double
          function Cheapest(in: [Product]) -> Product  bound
          action Reset()

          term Rank  Int32, applies to Property

          container Container
            set       Products    Product
                Category > Categories
            set       Categories  Category
            singleton Best        Product
            action    Reset  Reset

        """)
  }

  @Test("As JSON: one document with every element")
  func json() async throws {
    let outcome = await Rig(input: Array(Self.v4.utf8)).run("metadata", "--file", "-", "--json")
    #expect(outcome.status == .done)
    let product = #"""
      {"name":"Product","abstract":false,"openType":false,"hasStream":true,"key":["ID"],"properties":[{"name":"ID","type":"Edm.Int32","nullable":false},{"name":"Price","type":"Edm.Decimal","nullable":true,"precision":15,"scale":2},{"name":"Tags","type":"Collection(Edm.String)","nullable":false,"maxLength":40}],"navigationProperties":[{"name":"Category","type":"Shop.Category","nullable":false,"multiplicity":"1","partner":"Products","containsTarget":false,"referentialConstraints":[{"property":"CategoryID","referencedProperty":"ID"}]}],"annotations":[{"term":"Org.OData.Core.V1.Description","value":{"string":"A thing"}}]}
      """#
    #expect(outcome.output.hasPrefix(#"{"version":"4.0","schemas":[{"namespace":"Shop","alias":"S","entityTypes":["#))
    #expect(outcome.output.contains(product))
    #expect(outcome.output.contains(#""singletons":[{"name":"Best","type":"Shop.Product"}]"#))
    #expect(outcome.output.hasSuffix("\"diagnostics\":[]}\n"))
    _ = try JSONNode(outcome.outputBytes)
  }

  @Test("V2: sap: attributes, and associations followed to multiplicity and constraint")
  func v2() async throws {
    let document = """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
      <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
      <Schema Namespace="NS" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" xmlns:sap="http://www.sap.com/Protocols/SAPData">
      <EntityType Name="Order" sap:label="Sales order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="10" sap:filterable="false"/>
      <NavigationProperty Name="Items" Relationship="NS.OI" FromRole="o" ToRole="i"/></EntityType>
      <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/></EntityType>
      <Association Name="OI"><End Role="o" Type="NS.Order" Multiplicity="1"/><End Role="i" Type="NS.Item" Multiplicity="*"/></Association>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="NS.Order"/></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """
    let json = await Rig(input: Array(document.utf8)).run("metadata", "--json", "--file=-")
    #expect(json.output.contains(#""attributes":{"sap:label":"Sales order"}"#))
    #expect(json.output.contains(#""maxLength":10,"attributes":{"sap:filterable":"false"}"#))
    #expect(json.output.contains(#""name":"Items","type":"Collection(NS.Item)","nullable":true,"multiplicity":"*""#))
    let text = await Rig(input: Array(document.utf8)).run("metadata", "--annotations", "--file", "-")
    #expect(text.output.contains("sap:label=\"Sales order\"\n"))
  }

  @Test(
    "A document that is not metadata exits with 4 and the position",
    arguments: ["", "hello", "<a/>", "{\"a\":1}", "<edmx:Edmx Version='4.0'", "\u{0}\u{1}\u{2}"])
  func notMetadata(document: String) async {
    let outcome = await Rig(input: Array(document.utf8)).run("metadata", "--file", "-")
    #expect(outcome.status == .storage)
    #expect(outcome.output.isEmpty)
    #expect(outcome.diagnostics.hasPrefix("larder: -: Metadata cannot be read: "))
  }

  @Test("A missing file and a folder exit with 4")
  func noFile() async {
    let missing = await Rig(directory: "/tmp").run("metadata", "--file", "no-such-file.xml")
    #expect(missing.status == .storage)
    #expect(missing.diagnostics == "larder: /tmp/no-such-file.xml cannot be read: No such file or directory\n")
    let folder = await Rig().run("metadata", "--file", "/")
    #expect(folder.status == .storage)
    #expect(folder.diagnostics == "larder: / cannot be read: Is a directory\n")
  }

  @Test("Exactly one of URL and --file is needed")
  func exclusive() async {
    #expect(await Rig().run("metadata").status == .usage)
    #expect(await Rig().run("metadata", "http://h/", "--file", "x").status == .usage)
  }

  private func document(_ types: String) -> [UInt8] {
    Array(
      """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(types)</Schema></edmx:DataServices></edmx:Edmx>
      """.utf8)
  }

  @Test("--update lists what changes for the types that larder-generate.json beside the document selects")
  func updateWithConfiguration() async throws {
    let bytes = document("<ComplexType Name=\"A\"><Property Name=\"X\" Type=\"Edm.Int32\"/></ComplexType>")
    let server = try ScriptedServer { _ in .response(200, fields: ["Content-Type": "application/xml"], bytes: bytes) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let rig = Rig(directory: folder.path)
    func update() async throws -> Outcome {
      try folder.write(document("<ComplexType Name=\"A\"/><ComplexType Name=\"B\"/>"), to: "s.xml")
      return await rig.run("metadata", server.text("/s/$metadata"), "--update", "s.xml")
    }
    let all = try await update()
    #expect(
      all.output.hasSuffix(
        "s.xml is replaced: 2 changes in the code, 1 breaking\n"
          + "  added A.x: Int32? (assignable)\n  removed B: complex type (breaking)\n"), "\(all.output)")
    try folder.write(
      Array(#"{"metadata": "s.xml", "only": ["A", "Z"], "prefix": "My"}"#.utf8), to: "larder-generate.json")
    let some = try await update()
    #expect(
      some.output.hasSuffix("1 change in the code, 0 breaking\n  added MyA.x: Int32? (assignable)\n"), "\(some.output)")
    #expect(some.diagnostics.contains("larder-generate.json: No type and no entity set matches 'Z'"))
    try folder.write(Array(#"{"metadata": "other.xml", "only": ["A"]}"#.utf8), to: "larder-generate.json")
    #expect(try await update().output == all.output)
    try folder.write(Array(#"{"metadata": 1}"#.utf8), to: "larder-generate.json")
    let wrong = try await update()
    #expect(wrong.status == .storage && wrong.diagnostics.contains("larder-generate.json cannot be used"))
    try folder.write(Array(#"{"metadata": "s.xml", "prefix": "my-"}"#.utf8), to: "larder-generate.json")
    let prefix = try await update()
    #expect(prefix.status == .storage && prefix.diagnostics.contains("'my-' cannot begin the name of a type"))
    // Nothing was replaced.
    #expect(try String(contentsOfFile: folder.file("s.xml"), encoding: .utf8).contains("\"B\""))
    // The service may be right to have nothing that is selected: the document is saved.
    for content in [#"{"metadata": "s.xml", "except": ["A"]}"#, #"{"metadata": "s.xml", "only": ["B"]}"#] {
      try folder.write(Array(content.utf8), to: "larder-generate.json")
      let none = try await update()
      #expect(none.status == .done && none.output.contains("removed B: complex type (breaking)"), "\(none.output)")
      #expect(none.diagnostics.contains("The model has no types to generate"), "\(none.diagnostics)")
    }
  }

  @Test(
    "--update prints no model: --json and --annotations are errors of usage", arguments: ["--json", "--annotations"])
  func updateUsage(option: String) async throws {
    let folder = try TemporaryFolder()
    let outcome = await Rig(directory: folder.path).run("metadata", "http://127.0.0.1:1/", "--update", "s.xml", option)
    #expect(outcome.status == .usage && outcome.diagnostics.contains("\(option) cannot be combined with --update"))
  }

  @Test("--update - is an error of usage: there is no file to compare and replace")
  func updateOfStandardInput() async throws {
    let folder = try TemporaryFolder()
    for file in ["--update=-", "--update=./-"] {
      let outcome = await Rig(input: document(""), directory: folder.path).run("metadata", "http://127.0.0.1:1/", file)
      let isRejected = outcome.diagnostics.contains("--update needs the path of a file")
      // A file can have that name.
      #expect(
        isRejected == (file == "--update=-") && (outcome.status == .usage) == isRejected, "\(outcome.diagnostics)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
