import Foundation
import LarderOData
import LarderODataXML
import LarderService
import Testing

@testable import LarderGenerator

@Suite("Generated methods of operations", .timeLimit(.minutes(5)))
struct OperationTests {
  private let types = """
    <EntityType Name="Base"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Parts" Type="Collection(Shop.Part)"/></EntityType>
    <EntityType Name="Middle" BaseType="Shop.Base"/>
    <EntityType Name="Last" BaseType="Shop.Middle"><NavigationProperty Name="Check" Type="Shop.Part"/></EntityType>
    <EntityType Name="Part"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      </EntityType>
    <TypeDefinition Name="Money" UnderlyingType="Edm.Decimal"/>
    """

  /// The heads of extensions and methods, in their order.
  private func heads(_ schema: String, _ change: (inout GeneratorOptions) -> Void = { _ in }) throws -> [String] {
    let files = try generate(try model(types + schema), change)
    let lines = ((files["Operations"] ?? "") + (files["Service"] ?? "")).split(separator: "\n").map(String.init)
    return lines.compactMap { line in
      let text = line.drop { $0 == " " }
      if text.hasPrefix("extension") { return String(text.dropLast(2)) }
      return text.hasPrefix("func") ? String(text.prefix { $0 != "{" }.dropLast()) : nil
    }
  }

  private func function(
    _ name: String, _ binding: String, _ parameters: (String, String)..., result: String = "Edm.Int32"
  )
    -> String
  {
    """
    <Function Name="\(name)" IsBound="\(!binding.isEmpty)">\(
      binding.isEmpty ? "" : "<Parameter Name=\"it\" Type=\"\(binding)\"/>")\(
      parameters.map { "<Parameter Name=\"\($0.0)\" Type=\"\($0.1)\" Nullable=\"false\"/>" }.joined()
    )<ReturnType Type="\(result)" Nullable="false"/></Function>
    """
  }

  @Test("overloads with one Swift signature have names of their own, and others share a name")
  func overloads() throws {
    let schema = [
      function("Find", "Shop.Part", ("a_b", "Edm.String")), function("Find", "Shop.Part", ("aB", "Edm.String")),
      function("Find", "Shop.Part", ("aB", "Edm.Int64")), function("Find", "Shop.Part", ("aB", "Edm.Decimal")),
      function("Find", "Shop.Part", ("a_b", "Shop.Money")), function("Find", "Shop.Part"),
    ].joined()
    #expect(
      try heads(schema) == [
        "extension ODataEntityReference where Entity == Part",
        "func find(aB: String) async throws -> Int32", "func shopFind(aB: String) async throws -> Int32",
        "func find(aB: Int64) async throws -> Int32", "func find(aB: ODataDecimal) async throws -> Int32",
        "func shopFind(aB: Money) async throws -> Int32", "func find() async throws -> Int32",
      ])
  }

  @Test("an operation that is named like a navigation property, an entity set or another operation has another name")
  func collisions() throws {
    let schema =
      function("parts", "Shop.Base") + function("Do", "Shop.Part") + function("do", "Shop.Part")
      + function("DO", "Shop.Part")
      + function("Delete", "Shop.Part") + function("Free", "") + """
        <EntityContainer Name="Service"><EntitySet Name="Parts" EntityType="Shop.Part"/>
          <FunctionImport Name="parts" Function="Shop.Free"/><FunctionImport Name="free" Function="Shop.Free"/>
          <FunctionImport Name="store" Function="Shop.Free"/></EntityContainer>
        """
    let all = try heads(schema)
    #expect(
      all == [
        "extension ODataEntityReference where Entity == Base", "func partsOperation() async throws -> Int32",
        "extension ODataEntityReference where Entity == Last", "func partsOperation() async throws -> Int32",
        "extension ODataEntityReference where Entity == Middle", "func partsOperation() async throws -> Int32",
        "extension ODataEntityReference where Entity == Part", "func `do`() async throws -> Int32",
        "func shopDo() async throws -> Int32", "func shopDO() async throws -> Int32",
        "func deleteOperation() async throws -> Int32", "func partsOperation() async throws -> Int32",
        "func free() async throws -> Int32", "func storeOperation() async throws -> Int32",
      ])
    let selected = try heads(schema) { $0.only = [NamePattern("Last")] }
    #expect(selected.filter { !$0.hasPrefix("ext") }.allSatisfy(all.contains))
  }

  @Test("operations of a base type are also those of derived types, unless a derived type replaces them")
  func inheritance() throws {
    let schema =
      function("Check", "Shop.Base") + function("Check", "Shop.Middle", result: "Edm.String")
      + function("Best", "Collection(Shop.Middle)")
    #expect(
      try heads(schema) == [
        "extension ODataEntityReference where Entity == Base", "func check() async throws -> Int32",
        "extension ODataEntityReference where Entity == Last", "func checkOperation() async throws -> String",
        "extension ODataEntitySet where Entity == Last", "func best() async throws -> Int32",
        "extension ODataEntityReference where Entity == Middle", "func check() async throws -> String",
        "extension ODataEntitySet where Entity == Middle", "func best() async throws -> Int32",
      ])
    let withoutBase = try generateAll(try model(types + schema)) { $0.except = [NamePattern("Base")] }
    #expect(withoutBase.omissions.isEmpty)
  }

  @Test(
    "Parameters that are entities need a type that entities can be created of; a stream is the result of a function")
  func entitiesAndStreams() throws {
    func action(_ name: String, _ type: String, result: String = "") -> String {
      """
      <Action Name="\(name)" IsBound="true"><Parameter Name="it" Type="Shop.Part"/>
      <Parameter Name="It" Type="\(type)" Nullable="false"/>\(result)</Action>
      """
    }
    let schema =
      action("One", "Shop.Part") + action("Many", "Collection(Shop.Part)") + action("Media", "Shop.Media")
      + action("Stream", "Edm.Int32", result: "<ReturnType Type=\"Edm.Stream\"/>")
      + function("Bytes", "Shop.Part", ("At", "Shop.Place"), ("Of", "Collection(Edm.Int64)"), result: "Edm.Stream")
      + function("Entity", "Shop.Part", ("It", "Shop.Part"))
        + """
        <EntityType Name="Media" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <ComplexType Name="Place"/>
        """
    #expect(
      try heads(schema) == [
        "extension ODataEntityReference where Entity == Part",
        "func bytes(at: Place, of: [Int64]) async throws -> [UInt8]", "func one(it: Part.Create) async throws",
        "func many(it: [Part.Create]) async throws", "func stream(it: Int32) async throws -> [UInt8]?",
      ])
    let omissions = try generateAll(try model(types + schema)).omissions
    #expect(omissions.map(\.name) == ["Shop.Entity", "Shop.Media"])
  }

  /// A V2 or V3 document with one function import of a complex type's service.
  private func functionImport(version: String, _ attributes: String, parameters: String = "") throws -> EdmModel {
    try olderModel(
      """
      <ComplexType Name="A"/><EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <FunctionImport Name="Run" \(attributes)>\(parameters)</FunctionImport></EntityContainer>
      """, version: version)
  }

  // [MS-ODATA] §2.2.1.3, §2.2.3.6.5: an action of V3 has no HttpMethod, and its parameters are in the body.
  @Test(
    "V2 and V3: a function import is called by POST if HttpMethod says so; one of V3 with side effects is an action",
    arguments: [
      ("1.0", #"m:HttpMethod="GET""#, "queryFunction"), ("1.0", #"m:HttpMethod="POST""#, "postedFunction"),
      ("1.0", "", "queryFunction"), ("3.0", "", "action"), ("3.0", #"IsSideEffecting="true""#, "action"),
      ("3.0", #"IsSideEffecting="false""#, "queryFunction"), ("3.0", #"m:HttpMethod="GET""#, "queryFunction"),
      ("3.0", #"m:HttpMethod="POST" IsSideEffecting="false""#, "postedFunction"),
      ("3.0", #"m:HttpMethod="POST" IsSideEffecting="true""#, "postedFunction"),
      ("3.0", #"IsComposable="true""#, "queryFunction"),
    ])
  func sideEffects(version: String, attributes: String, call: String) throws {
    let text = try #require(try generate(try functionImport(version: version, attributes))["C"])
    #expect(text.contains(".\(call)(odataList)"), "\(text)")
  }

  @Test("V3: parameters of an action are in its body, also complex values and collections")
  func actionsOfV3() throws {
    let parameters = """
      <Parameter Name="A" Type="S.A" Nullable="false"/><Parameter Name="B" Type="Collection(Edm.Int32)"/>
      <Parameter Name="C" Type="Edm.String"/>
      """
    let text = try #require(try generate(try functionImport(version: "3.0", "", parameters: parameters))["C"])
    #expect(text.contains("func run(a: A, b: [Int32], c: String? = nil) async throws {"), "\(text)")
    #expect(text.contains("odataList.set(\"A\", a)\n") && text.contains("odataList.setIfGiven(\"C\", c)\n"))
    #expect(text.contains("Calls the action `Run`."))
    let bound = try functionImport(version: "3.0", "IsBindable=\"true\"", parameters: parameters)
    #expect(try generateAll(bound).omissions.map(\.name) == ["Run"])
  }

  // [MS-ODATA] §2.2.3.5: the last segment of a path is the name of an action or function that is bound to what the path
  // before it identifies. The name of the container is only needed if it is not the default one.
  @Test("V3: function imports that are bound to entities and entity sets are methods of those")
  func boundImportsOfV3() async throws {
    let model = try olderModel(
      """
      <EntityType Name="Movie"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
      <EntityType Name="Series" BaseType="S.Movie"/><ComplexType Name="A"/>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Movies" EntityType="S.Movie"/>
        <FunctionImport Name="CheckOut" IsBindable="true"><Parameter Name="it" Type="S.Movie"/>
          <Parameter Name="Days" Type="Edm.Int32" Nullable="false"/></FunctionImport>
        <FunctionImport Name="Count" IsBindable="true" IsSideEffecting="false" ReturnType="Edm.Int32">
          <Parameter Name="them" Type="Collection(S.Movie)"/><Parameter Name="Year" Type="Edm.Int32"/></FunctionImport>
        <FunctionImport Name="Wrap" IsBindable="true"><Parameter Name="it" Type="S.A"/></FunctionImport>
      </EntityContainer>
      <EntityContainer Name="D"><FunctionImport Name="Return" IsBindable="true">
        <Parameter Name="it" Type="S.Movie"/></FunctionImport></EntityContainer>
      """, version: "3.0")
    let generated = try generateAll(model)
    #expect(generated.omissions.map(\.name) == ["Wrap"])
    let files = Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
    let text = try #require(files["Operations.generated.swift"])
    for type in ["Movie", "Series"] {
      let entity = try #require(text.components(separatedBy: "ODataEntityReference where Entity == \(type) {").last)
      #expect(entity.contains("func checkOut(days: Int32) async throws {"), "\(entity)")
      #expect(entity.contains("self.odataCall(\"CheckOut\").action(odataList)"))
      #expect(entity.contains("self.odataCall(\"D.Return\").action(odataList)"))
      let set = try #require(text.components(separatedBy: "ODataEntitySet where Entity == \(type) {").last)
      #expect(set.contains("func countOperation(year: Int32? = nil) async throws -> Int32? {"), "\(set)")
      #expect(set.contains("self.odataCall(\"Count\").queryFunction(Int32.self, odataList)"))
    }
    #expect(files["C.generated.swift"]?.contains("func ") == false)
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  // SAP Gateway writes Nullable on parameters that can be omitted only.
  @Test(
    "V2: a parameter of a function import is required unless it can be null; in V3 it can be null by default",
    arguments: [
      ("1.0", "", "b: Int32"), ("1.0", #"Nullable="false""#, "b: Int32"),
      ("1.0", #"Nullable="true""#, "b: Int32? = nil"), ("3.0", "", "b: Int32? = nil"),
      ("3.0", #"Nullable="false""#, "b: Int32"),
    ])
  func nullableParameters(version: String, attributes: String, declaration: String) throws {
    let parameter = "<Parameter Name=\"B\" Type=\"Edm.Int32\" \(attributes)/>"
    let model = try functionImport(version: version, #"m:HttpMethod="POST""#, parameters: parameter)
    let text = try #require(try generate(model)["C"])
    #expect(text.contains("func run(\(declaration)) async throws {"), "\(text)")
  }

  @Test("V2 and V3: an import of a container that is not the default one has the container's name in URLs")
  func otherContainers() throws {
    let model = try olderModel(
      """
      <EntityType Name="T">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><FunctionImport Name="Own"/></EntityContainer>
      <EntityContainer Name="D"><EntitySet Name="Ts" EntityType="S.T"/><FunctionImport Name="Other"/>
        <FunctionImport Name="Bound" IsBindable="true"><Parameter Name="it" Type="S.T"/></FunctionImport>
        </EntityContainer>
      """, version: "3.0")
    let files = try generate(model)
    #expect(files["C"]?.contains("ODataCall(self.store, \"Own\")") == true)
    #expect(files["D"]?.contains("ODataCall(self.store, \"D.Other\")") == true)
    #expect(files["D"]?.contains("ODataQuery<T>(\"D.Ts\")") == true)
    #expect(files["Operations"]?.contains("self.odataCall(\"D.Bound\")") == true)
  }

  // CSDL 4.01 §12.2: a function must have a return type.
  @Test("V4: a function without a return type is omitted, bound or imported")
  func functionsWithoutResult() throws {
    let schema = """
      <Function Name="Bound" IsBound="true"><Parameter Name="it" Type="Shop.Part"/></Function>
      <Function Name="Free"/><EntityContainer Name="Service"><EntitySet Name="Parts" EntityType="Shop.Part"/>
        <FunctionImport Name="Import" Function="Shop.Free"/></EntityContainer>
      """
    #expect(try heads(schema).isEmpty)
    #expect(try generateAll(try model(types + schema)).omissions.map(\.name) == ["Import", "Shop.Bound"])
  }

  @Test(
    "V2: a function import with a method that Larder does not send is reported, and never called by another method",
    arguments: ["DELETE", "PUT", "MERGE", "PATCH", "delete"])
  func otherMethods(method: String) throws {
    let model = try functionImport(version: "2.0", #"m:HttpMethod="\#(method)""#)
    let generated = try generateAll(model)
    #expect(generated.omissions.map(\.name) == ["Run"])
    #expect(!generated.files.contains { $0.text.contains("func run(") })
  }

  // Core vocabulary, `OptionalParameter`
  @Test("a parameter that may be left out is left out of a call without a value")
  func optionalParameters() async throws {
    func parameter(_ name: String, _ type: String, _ content: String = "", isNullable: Bool = false) -> String {
      "<Parameter Name=\"\(name)\" Type=\"\(type)\" Nullable=\"\(isNullable)\">\(content)</Parameter>"
    }
    let optional = "<Annotation Term=\"Org.OData.Core.V1.OptionalParameter\"/>"
    let parameters =
      parameter("it", "Shop.Part") + parameter("a", "Edm.Int32") + parameter("b", "Edm.Int32", isNullable: true)
      + parameter("c", "Edm.Int32", optional) + parameter("in", "Collection(Edm.String)", optional)
    let schema = """
      <Function Name="Find" IsBound="true">\(parameters)\(parameter("z", "Edm.Int32"))<ReturnType Type="Edm.Int32"/></Function>
      <Action Name="Do" IsBound="true">\(parameters)\(parameter("parts", "Collection(Shop.Part)", optional))</Action>
      <Annotations Target="Shop.Find/z">\(optional)</Annotations>
      """
    #expect(
      try heads(schema) == [
        "extension ODataEntityReference where Entity == Part",
        "func find(a: Int32, b: Int32? = nil, c: Int32? = nil, `in`: [String]? = nil, z: Int32? = nil) async throws -> Int32?",
        "func `do`(a: Int32, b: Int32? = nil, c: Int32? = nil, `in`: [String]? = nil, parts: [Part.Create]? = nil) async throws",
      ])
    let files = try generateAll(try model(types + schema)).files
    let text = try #require(files.first { $0.name.hasPrefix("Operations") }?.text)
    #expect(text.contains("(\"b\", b)\n") && text.contains(#"if let c { odataList.append(("c", c)) }"#))
    #expect(text.contains("if let `in` { odataList.append((\"in\", `in`)) }"))
    #expect(text.contains(#"odataList.setIfGiven("parts", parts, of: "Shop.Part")"#))
    let diagnostics = try await Compiler().check(Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) }))
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test("operations that a selection leaves out are not reported; those without a Swift form are")
  func selectedOperations() throws {
    let schema =
      function("Near", "Shop.Part", ("place", "Shop.Place")) + function("Far", "Shop.Place")
      + function("Own", "Shop.Base") + function("Odd", "Shop.Part", ("any", "Edm.Untyped"))
      + function("Bare", "Edm.Int32")
        + """
        <ComplexType Name="Place"/><Function Name="Get"><ReturnType Type="Shop.Place"/></Function>
        <EntityContainer Name="Service"><EntitySet Name="Parts" EntityType="Shop.Part"/>
          <FunctionImport Name="Get" Function="Shop.Get"/></EntityContainer>
        """
    let all = try generateAll(try model(types + schema)).omissions.map(\.name)
    #expect(all == ["Shop.Bare", "Shop.Far", "Shop.Odd"])
    let selected = try generateAll(try model(types + schema)) { $0.only = [NamePattern("Parts")] }
    #expect(selected.omissions.map(\.name) == ["Shop.Bare", "Shop.Odd"])
    let excluded = try generateAll(try model(types + schema)) { $0.except = [NamePattern("Place")] }
    #expect(excluded.omissions.map(\.name) == ["Shop.Bare", "Shop.Odd"])
  }

  @Test("the generated methods can be called")
  func calls() {
    func calls(_ service: Service) async throws {
      try await service.me.rate(stars: 5)
      try await service.orders[1].itemsOperation()
      _ = try await service.orders[1].items.all()
      let best: Party = try await service.parties.best()
      _ = try await (best, service.ordersOperation(odataListParameter: 1), service.find(odataListParameter: 2))
      try await service.orders[1].copy(
        new: Order.Create(customer: "a", items: [Item.Create(orderID: 1)]), old: nil, more: [Item.Create(orderID: 2)])
      let near: [Party] = try await service.parties.near(address: Address(city: "Ely"), tags: ["a"])
      let page: [UInt8]? = try await service.orders[1].print(pages: 2)
      _ = try await (near, page, service.storeSet.all())
      let entity: EntityEntity = try await service._Set["a"]._Operation(parameter: "b")
      _ = try await service._Set[entity].fields.all()
    }
    _ = calls
  }
}
