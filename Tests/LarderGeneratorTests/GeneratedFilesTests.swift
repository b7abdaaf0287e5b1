import Foundation
import LarderOData
import LarderODataXML
import LarderTestSupport
import Testing

@testable import LarderGenerator

@Suite("Generated files", .timeLimit(.minutes(5)))
struct GeneratedFilesTests {
  @Test("the files in Generated, which these tests compile, are what the generator writes")
  func golden() throws {
    let folder = PackageRoot.folder.appending(path: "Tests/LarderGeneratorTests/Generated")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    let files = try generateAll(try model(shop)).files
    #expect(files.map(\.name) == names.sorted())
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file.name), encoding: .utf8)
      #expect(file.text == text, "\(file.name): write the generator's output there if it is right")
    }
  }

  @Test("what has no Swift form is named")
  func omissions() throws {
    #expect(try generateAll(try model(shop)).omissions.isEmpty)
    let other = try generateAll(
      try model(
        """
        <EntityType Name="A" HasStream="true"><Key><PropertyRef Name="C/ID" Alias="ID"/></Key>
          <Property Name="C" Type="Shop.C"/><Property Name="G" Type="Edm.GeometryPoint"/>
          <Property Name="U" Type="Edm.Untyped"/><Property Name="X" Type="Other.Thing"/></EntityType>
        <ComplexType Name="C"><Property Name="ID" Type="Edm.String"/></ComplexType>
        """))
    #expect(
      other.omissions.map { "\($0.name): \($0.reason)" } == [
        "Shop.A: key", "Shop.A/U: abstractType", "Shop.A/X: unknownType",
      ])
    let text = try #require(other.files.first { $0.name.hasPrefix("A.") }?.text)
    #expect(
      !text.contains("ODataVersioned") && !text.contains("odataState") && !text.contains("let u:")
        && text.contains("let g: ODataGeo?"))
  }

  // CSDL 4.01 §6.5: a type that derives from one with a key declares none.
  @Test(
    "a derived type with a key of its own has the key of its base type",
    arguments: [
      "<PropertyRef Name=\"C/ID\" Alias=\"ID\"/>", "<PropertyRef Name=\"Missing\"/>", "<PropertyRef Name=\"C\"/>",
      "<PropertyRef Name=\"Own\"/>", "<PropertyRef Name=\"ID\"/>",
    ])
  func derivedKeys(reference: String) async throws {
    let generated = try generateAll(
      try model(
        """
        <EntityType Name="B"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/></EntityType>
        <EntityType Name="D" BaseType="Shop.B"><Key>\(reference)</Key><Property Name="C" Type="Shop.C"/>
          <Property Name="Own" Type="Edm.String"/></EntityType>
        <EntityType Name="E" BaseType="Shop.D"/>
        <ComplexType Name="C"><Property Name="ID" Type="Edm.String"/></ComplexType>
        """))
    let isSame = reference == "<PropertyRef Name=\"ID\"/>"
    #expect(generated.omissions.map { "\($0.name): \($0.reason)" } == (isSame ? [] : ["Shop.D: key"]))
    let files = Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
    for name in ["B", "D", "E"] {
      let text = try #require(files["\(name).generated.swift"])
      #expect(text.contains("let id: Int32\n") && text.contains("struct Key: ODataSingleKey"), "\(name)")
    }
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test("the access level and the prefix apply to every type")
  func accessAndPrefix() throws {
    let files = try generate(try model(shop)) { ($0.access, $0.prefix) = (.public, "My") }
    let order = try #require(files["MyOrder"])
    #expect(order.contains("public struct MyOrder: ODataTracked"))
    #expect(order.contains("public import LarderOData"))
    #expect(order.contains("public let items: [MyItem]?"))
    #expect(order.contains("// larder generate \"metadata.xml\" --access public --prefix My\n"))
    #expect(files["MyService"]?.contains("public var orders: ODataEntitySet<MyOrder>") == true)
    #expect(files.keys.allSatisfy { $0.hasPrefix("My") })
  }

  @Test("imports have an access level where declarations have types of the module: the compiler warns of others")
  func imports() throws {
    let files = try generate(try model(shop)) { $0.access = .package }
    for name in ["Order", "Address", "Service", "Operations", "TypeDefinitions"] {
      #expect(files[name]?.contains("\npackage import Larder") == true, "\(name)")
    }
    #expect(files["Order"]?.contains("  package import FoundationEssentials\n") == true)
    #expect(files["Status"]?.contains("\ninternal import LarderOData\n") == true)
    let texts = try model(#"<TypeDefinition Name="Text" UnderlyingType="Edm.String"/><EntityType Name="Bare"/>"#)
    for (name, text) in try generate(texts, { $0.access = .package }) {
      #expect(text.contains("\ninternal import LarderOData\n"), "\(name)")
    }
    let published = try generate(texts) { $0.access = .public }
    #expect(published["TypeDefinitions"]?.contains("\ninternal import LarderOData\n") == true)
    #expect(published["Bare"]?.contains("\npublic import LarderOData\n") == true)
  }

  @Test("a fixed set has the same files for each model; a type stays in its file, and no import has two access levels")
  func fixed() throws {
    let small = try generateAll(try model(shop)) { ($0.only, $0.access) = ([NamePattern("Parties")], .package) }
    let all = try generateAll(try model(shop)) { $0.access = .package }
    let (first, second) = (small.fixed("shop"), all.fixed("shop"))
    #expect(first.map(\.name) == (1...8).map { "shop-\($0).generated.swift" })
    #expect(second.map(\.name) == first.map(\.name) && first.map(\.name) == GeneratedFiles.fixedNames("shop"))
    for (few, many) in zip(first, second) where few.text.contains("struct Party:") {
      #expect(many.text.contains("struct Party:"))
    }
    let whole = second.map(\.text).joined()
    for file in all.files {
      let declaration = try #require(
        file.text.split(separator: "\n").first {
          $0.hasPrefix("package struct") || $0.hasPrefix("package typealias") || $0.hasPrefix("extension")
        })
      #expect(whole.contains(declaration), "\(file.name)")
    }
    let mixed = FileHeader.joined(["a\ninternal import LarderOData\n", "b\npackage import LarderOData\n"])
    #expect(mixed == "a\n\nb\npackage import LarderOData\n")
    let plain = FileHeader.joined(["a\ninternal import LarderOData\n", "b\npackage import LarderService\n"])
    #expect(plain.contains("\ninternal import LarderOData\n"))
  }

  @Test("only the selected types are generated, with what they refer to, and what derives from abstract ones")
  func only() throws {
    let files = try generate(try model(shop)) { $0.only = [NamePattern("Parties")] }
    #expect(files.keys.sorted() == ["Bank", "Company", "Operations", "Party", "Service"])
    let excepted = try generate(try model(shop)) {
      $0.only = [NamePattern("Party")]
      $0.except = [NamePattern("Bank")]
    }
    #expect(excepted.keys.sorted() == ["Company", "Operations", "Party", "Service"])
    // Entities of a type that is not abstract need no derived type.
    let company = try generate(try model(shop)) { $0.only = [NamePattern("Company")] }
    #expect(company.keys.sorted() == ["Company", "Operations", "Party", "Service"])
    let derived = try generate(try model(shop)) { $0.only = [NamePattern("Shop.Bank")] }
    #expect(derived.keys.sorted() == ["Bank", "Company", "Operations", "Party", "Service"])
    let all = try generate(try model(shop)) { $0.only = [NamePattern("Item")] }
    #expect(all["Order"] != nil && all["Status"] != nil && all["Company"] == nil)
  }

  @Test("members that refer to a type that is left out are left out")
  func except() throws {
    let files = try generate(try model(shop)) { $0.except = [NamePattern("Item"), NamePattern("Status")] }
    #expect(files["Item"] == nil && files["Status"] == nil)
    let order = try #require(files["Order"])
    #expect(!order.contains("items") && !order.contains("status") && order.contains("predecessor"))
  }

  @Test("values of derived types that are left out are read as their nearest base type that is generated")
  func exceptDerived() throws {
    let types = """
      <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType><EntityType Name="B" BaseType="Shop.A"/><EntityType Name="C" BaseType="Shop.B"/>
      <EntityType Name="D" BaseType="Shop.C"/><EntityType Name="E" BaseType="Shop.C"/>
      """
    let files = try generate(try model(types)) { $0.except = [NamePattern("B"), NamePattern("D"), NamePattern("E")] }
    #expect(files["A"]?.contains(##"case "#Shop.C", "#Shop.D", "#Shop.E":"##) == true)
    #expect(files["A"]?.contains("#Shop.B") == false)
    #expect(files["C"]?.contains("ODataBaseType") == false)
  }

  @Test("a pattern without a match, a prefix that is no name and an empty selection are errors")
  func errors() throws {
    let shopModel = try model(shop)
    #expect(throws: GeneratorError.unmatchedPattern("Ordr")) {
      try generateAll(shopModel) { $0.only = [NamePattern("Ordr")] }
    }
    #expect(throws: GeneratorError.invalidPrefix("my-")) { try generateAll(shopModel) { $0.prefix = "my-" } }
    #expect(throws: GeneratorError.nothingSelected) { try generateAll(shopModel) { $0.except = [NamePattern("*")] } }
    #expect(throws: GeneratorError.nothingSelected) { try generateAll(try model("")) }
  }

  @Test("V2: attributes of SAP document and restrict properties")
  func sapAttributes() throws {
    let model = try olderModel(
      """
      <EntityType Name="A_OrderType"><Key><PropertyRef Name="Order"/></Key>
        <Property Name="Order" Type="Edm.String" Nullable="false" sap:label="Order"
          sap:quickinfo="Number of the&#10; order"/>
        <Property Name="Time" Type="Edm.Time" sap:filterable="false" sap:creatable="false"/>
        <Property Name="Count" Type="Edm.Int64" sap:sortable="false" sap:updatable="false"/></EntityType>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <EntitySet Name="A_Order" EntityType="S.A_OrderType" sap:deletable="false"/></EntityContainer>
      """)
    let files = try generate(model)
    let order = try #require(files["Order"])
    #expect(order.contains("/// Number of the order\n  ///\n  /// Order\n  let order: String\n"))
    #expect(order.contains("var time: Unfilterable<Field<ODataDuration>> { .init(.init(\"Time\")) }"))
    #expect(order.contains("var count: Unsortable<Field<Int64>> { .init(.init(\"Count\")) }"))
    #expect(order.contains("\n  typealias ODataDeletion = ODataForbidden\n"))
    let parts = order.components(separatedBy: "struct Update")
    #expect(parts.count == 2)
    #expect(parts[0].components(separatedBy: "struct Create")[1].contains("count: Int64?"))
    #expect(!parts[0].components(separatedBy: "struct Create")[1].contains("time: ODataDuration?"))
    #expect(parts[1].contains("time: ODataDuration??") && !parts[1].contains("count"))
    #expect(files["C"]?.contains("var order: ODataEntitySet<Order> {") == true)
    #expect(files["C"]?.contains(".init(self.store, ODataQuery<Order>(\"A_Order\"), selects") == true)
  }

  @Test("types lose a common ending if an entity set has the name of one of them without it")
  func shortNames() throws {
    func types(_ names: String...) throws -> [String] {
      let declarations = names.map { "<EntityType Name=\"\($0)\"/>" }.joined()
      let set = "<EntityContainer Name=\"C\"><EntitySet Name=\"Root\" EntityType=\"Shop.RootType\"/></EntityContainer>"
      return try generate(try model(declarations + set)).keys.filter { $0 != "C" }.sorted()
    }
    #expect(try types("RootType", "ChildType") == ["Child", "Root"])
    #expect(try types("RootType", "Other", "ChildType") == ["ChildType", "Other", "Root"])
    #expect(try types("RootType", "Child", "ChildType") == ["Child", "ChildType", "Root"])
    #expect(try types("RootType", "Type") == ["Root", "TypeEntity"])
    let without = try generate(try model("<EntityType Name=\"RootType\"/><EntityType Name=\"ChildType\"/>"))
    #expect(without.keys.sorted() == ["ChildType", "RootType"])
    let taken = "<EntityType Name=\"RootType\"/><EntityType Name=\"ChildType\"/><ComplexType Name=\"Child\"/>"
    let set = "<EntityContainer Name=\"C\"><EntitySet Name=\"Root\" EntityType=\"Shop.RootType\"/></EntityContainer>"
    #expect(try generate(try model(taken + set)).keys.sorted() == ["C", "Child", "ChildType", "Root"])
  }

  @Test("V2: properties that an association repeats are not required in a creation")
  func foreignKeys() throws {
    let model = try olderModel(
      """
      <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
        <NavigationProperty Name="Items" Relationship="S.A" FromRole="order" ToRole="item"/></EntityType>
      <EntityType Name="Item"><Key><PropertyRef Name="Line"/></Key>
        <Property Name="Line" Type="Edm.Int32" Nullable="false"/>
        <Property Name="OrderID" Type="Edm.String" Nullable="false"/>
        <Property Name="Product" Type="Edm.String" Nullable="false"/></EntityType>
      <Association Name="A"><End Role="order" Type="S.Order" Multiplicity="1"/>
        <End Role="item" Type="S.Item" Multiplicity="*"/>
        <ReferentialConstraint><Principal Role="order"><PropertyRef Name="ID"/></Principal>
          <Dependent Role="item"><PropertyRef Name="OrderID"/></Dependent></ReferentialConstraint></Association>
      """)
    let create = try #require(try generate(model)["Item"]?.components(separatedBy: "struct Create").last)
    #expect(create.contains("orderID: String? = nil") && create.contains("product: String\n"))
  }

  @Test("names that only differ in case get files that a disk that ignores case tells apart")
  func fileNames() throws {
    let files = try generateAll(
      try model("<ComplexType Name=\"Item\"/><ComplexType Name=\"ITEM\"/><ComplexType Name=\"A_Item\"/>")
    ).files.map(\.name)
    #expect(Set(files.map { $0.lowercased() }).count == 3)
    let others = try generateAll(
      try model(
        "<ComplexType Name=\"Groß\"/><ComplexType Name=\"GROSS\"/><ComplexType Name=\"Λόγος\"/><ComplexType Name=\"ΛΌΓΟΣ\"/>"
      )
    ).files.map(\.name)
    #expect(Set(others.map { $0.uppercased() }).count == 4, "\(others)")
  }

  @Test("a type with a long name has a file with a shorter name, which tells it from others with the same beginning")
  func longFileNames() throws {
    let long = String(repeating: "Long", count: 60)
    let wide = String(repeating: "订单", count: 50)
    let names = [long + "A", long + "B", long.uppercased() + "A", wide + "甲", wide + "乙"]
    let files = try generateAll(try model(names.map { "<ComplexType Name=\"\($0)\"/>" }.joined())).files
    #expect(Set(files.map { $0.name.lowercased() }).count == names.count)
    for file in files { #expect(file.name.utf8.count <= 200, "\(file.name)") }
    for name in names { #expect(files.contains { $0.text.contains("struct \(name): ") }, "\(name)") }
    // A name at the limit stays as it is.
    let longest = String(repeating: "A", count: 200 - FileHeader.fileEnding.utf8.count)
    let kept = try generateAll(try model("<ComplexType Name=\"\(longest)\"/>")).files
    #expect(kept.map(\.name) == [longest + FileHeader.fileEnding])
  }

  @Test("members do not have the names of types, which scripts without case do not tell apart")
  func uncasedNames() throws {
    let files = try generate(
      try model(
        """
        <EntityType Name="订单"><Key><PropertyRef Name="号"/></Key><Property Name="号" Type="Edm.Int32" Nullable="false"/>
          <Property Name="颜色" Type="Shop.颜色"/><NavigationProperty Name="订单" Type="Shop.订单"/></EntityType>
        <EnumType Name="颜色"><Member Name="颜色"/></EnumType>
        <EntityContainer Name="C"><EntitySet Name="订单" EntityType="Shop.订单"/></EntityContainer>
        """))
    let order = try #require(files["订单"])
    #expect(order.contains("var 颜色2: 颜色?") && order.contains("var to订单: 订单?") && order.contains("let 号: Int32"))
    #expect(files["颜色"]?.contains("static var 颜色2: 颜色 { 颜色(rawValue: \"颜色\") }") == true)
    #expect(files["C"]?.contains("var 订单2: ODataEntitySet<订单>") == true)
  }

  @Test("texts of a service cannot end a comment line or a string")
  func injection() throws {
    let text = try #require(
      generate(
        try model(
          """
          <ComplexType Name="A"><Annotation Term="Org.OData.Core.V1.Description"
            String="a&#10;let x = 1&#13;&#x2028;let y = 2&#x85;let z = 3"/></ComplexType>
          """))["A"])
    #expect(text.contains("/// a let x = 1 let y = 2 let z = 3\n"))
    #expect(SwiftText.literal("a\"\\(b)\n") == #""a\"\\(b)\u{a}""#)
  }

  @Test("documents of real services give the same bytes each time")
  func determinism() throws {
    for file in SharedOData.files(in: "samples/metadata", suffix: "") {
      guard let bytes = try? Data(contentsOf: file), bytes.count < 1 << 19,
        let (first, second) = try? (EdmModel.read([UInt8](bytes)), EdmModel.read([UInt8](bytes))),
        let files = try? generateAll(first)
      else { continue }
      #expect(!files.files.isEmpty)
      #expect(try generateAll(second) == files, "\(file.lastPathComponent)")
    }
  }
}
