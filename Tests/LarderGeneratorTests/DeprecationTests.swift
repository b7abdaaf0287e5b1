import Foundation
import LarderOData
import LarderODataXML
import Testing

@testable import LarderGenerator

/// `Core.Revisions` of the kind `Deprecated`.
@Suite("Deprecated elements", .timeLimit(.minutes(5)))
struct DeprecationTests {
  private func revisions(_ kind: String = "Deprecated", _ description: String = "Use Orders.") -> String {
    """
    <Annotation Term="Org.OData.Core.V1.Revisions"><Collection><Record>
      <PropertyValue Property="Kind" EnumMember="Org.OData.Core.V1.RevisionKind/\(kind)"/>
      <PropertyValue Property="Description" String="\(description)"/></Record></Collection></Annotation>
    """
  }

  private func files(_ revisions: String) throws -> [String: String] {
    try generate(
      try model(
        """
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Note" Type="Edm.String">\(revisions)</Property>
          <Property Name="Kind" Type="Shop.Kind"/><Property Name="Place" Type="Shop.Place"/></EntityType>
        <ComplexType Name="Place">\(revisions)</ComplexType>
        <EnumType Name="Kind"><Member Name="A"/><Member Name="B">\(revisions)</Member></EnumType>
        <Action Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/>\(revisions)</Action>
        <Action Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/>
          <Parameter Name="By" Type="Edm.String"/></Action>
        <Function Name="Best">\(revisions)<ReturnType Type="Shop.Order"/></Function>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/>
          <EntitySet Name="Old" EntityType="Shop.Order">\(revisions)</EntitySet>
          <FunctionImport Name="Best" Function="Shop.Best"/></EntityContainer>
        """))
  }

  @Test("the compiler warns of sets, operations, members and fields of queries that are deprecated")
  func attributes() async throws {
    let files = try files(revisions())
    let attribute = "@available(*, deprecated, message: \"Use Orders.\")\n"
    let (order, kind) = (try #require(files["Order"]), try #require(files["Kind"]))
    let (service, operations) = (try #require(files["C"]), try #require(files["Operations"]))
    #expect(order.contains("\(attribute)    var note: Field<String>"), "\(order)")
    #expect(kind.contains("\(attribute)  static var b: Kind"))
    #expect(service.contains("\(attribute)  var old: ODataEntitySet<Order>"))
    #expect(service.contains("\(attribute)  @discardableResult\n") || service.contains("\(attribute)  func best() "))
    #expect(operations.contains("\(attribute)  func ship() ") && !operations.contains("\(attribute)  func ship(by:"))
    // Declarations that generated code itself uses say it in their documentation: the compiler would warn of that code.
    #expect(order.contains("/// Deprecated: Use Orders.\n  var note: String?"))
    #expect(files["Place"]?.contains("/// Deprecated: Use Orders.\nstruct Place:") == true)
    #expect(files.values.joined().components(separatedBy: attribute).count == 6)
    let names = Dictionary(uniqueKeysWithValues: files.map { ($0.key + ".generated.swift", $0.value) })
    let diagnostics = try await Compiler().check(names)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test("other revisions deprecate nothing; a deprecation need not have a description")
  func kinds() throws {
    #expect(try !files(revisions("Added")).values.joined().contains("eprecated"))
    let bare = try files(revisions("Deprecated", ""))
    #expect(bare["C"]?.contains("@available(*, deprecated)\n  var old") == true)
    #expect(bare["Order"]?.contains("/// Deprecated.\n  var note: String?") == true)
  }

  /// Where the annotation of an operation is, and which of the operations have it.
  struct Target: Sendable, CustomTestStringConvertible {
    let target: String
    let operations: [String]
    var testDescription: String { target }
  }

  // CSDL 4.01 §14.2.1. Microsoft Graph names all types of an action's parameters, with spaces between them.
  @Test(
    "annotations beside an operation are those of one overload, of all overloads, or of an import",
    arguments: [
      Target(target: "Shop.Ship", operations: ["ship()", "ship(by:"]),
      Target(target: "Shop.Pack", operations: ["pack("]),
      Target(target: "Shop.Ship(Shop.Order)", operations: ["ship()"]),
      Target(target: "Shop.Ship(Shop.Order,Edm.String)", operations: ["ship(by:"]),
      Target(target: "It.Ship(It.Order, Edm.String)", operations: ["ship(by:"]),
      Target(target: "Shop.Pack(Collection(Shop.Order))", operations: ["pack("]),
      Target(target: "Shop.Pack(Collection(Shop.Order), Edm.Int32)", operations: ["pack("]),
      Target(target: "Shop.Best", operations: ["best()", "best(of:", "peak()", "peak(of:"]),
      Target(target: "Shop.Best()", operations: ["best()", "peak()"]),
      Target(target: "Shop.Best(Edm.Int32)", operations: ["best(of:", "peak(of:"]),
      Target(target: "Shop.C/Peak", operations: ["peak()", "peak(of:"]),
      Target(target: "Shop.Close()", operations: ["close()"]),
      Target(target: "Shop.C/Close", operations: ["close()"]), Target(target: "Shop.Ship()", operations: []),
    ])
  func targets(row: Target) throws {
    let description = "<Annotation Term=\"Org.OData.Core.V1.Description\" String=\"Old\"/>"
    let model = try EdmModel.read(
      Array(
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" Alias="It" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <Function Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/><ReturnType Type="Edm.Int32"/></Function>
        <Function Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/>
          <Parameter Name="By" Type="Edm.String"/><ReturnType Type="Edm.Int32"/></Function>
        <Action Name="Pack" IsBound="true"><Parameter Name="all" Type="Collection(Shop.Order)"/>
          <Parameter Name="In" Type="Edm.Int32"/></Action>
        <Function Name="Best"><ReturnType Type="Edm.Int32"/></Function>
        <Function Name="Best"><Parameter Name="Of" Type="Edm.Int32"/><ReturnType Type="Edm.Int32"/></Function>
        <Action Name="Close"/>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/>
          <FunctionImport Name="Best" Function="Shop.Best"/><FunctionImport Name="Peak" Function="Shop.Best"/>
          <ActionImport Name="Close" Action="Shop.Close"/></EntityContainer>
        <Annotations Target="\(row.target)">\(description)\(revisions())</Annotations>
        </Schema></edmx:DataServices></edmx:Edmx>
        """.utf8))
    let files = try generate(model)
    let lines = try #require(files["Operations"]).split(separator: "\n") + #require(files["C"]).split(separator: "\n")
    func method(after text: String) -> [String] {
      lines.indices.filter { lines[$0].contains(text) }.compactMap { place in
        lines[place...].first { $0.contains(" func ") }.map { String($0.drop { $0 == " " }.dropFirst(5)) }
      }
    }
    for text in ["@available(*, deprecated, message: \"Use Orders.\")", "/// Old"] {
      let methods = method(after: text).sorted()
      let expected = row.operations.sorted()
      #expect(methods.count == expected.count && zip(methods, expected).allSatisfy { $0.hasPrefix($1) }, "\(methods)")
    }
  }

  @Test("a deprecated import is marked, and an overload has only the documentation of its own")
  func imports() throws {
    let files = try generate(
      try model(
        """
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <Action Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/>
          <Annotation Term="Org.OData.Core.V1.Description" String="Ships"/></Action>
        <Action Name="Ship" IsBound="true"><Parameter Name="it" Type="Shop.Order"/>
          <Parameter Name="By" Type="Edm.String"/></Action>
        <Action Name="Close"/>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/>
          <ActionImport Name="Close" Action="Shop.Close">\(revisions())
            <Annotation Term="Org.OData.Core.V1.Description" String="Closes"/></ActionImport></EntityContainer>
        """))
    let attribute = "@available(*, deprecated, message: \"Use Orders.\")\n"
    #expect(files["C"]?.contains("/// Closes\n  \(attribute)  func close() ") == true)
    let operations = try #require(files["Operations"])
    #expect(operations.contains("/// Ships\n  func ship() "), "\(operations)")
    #expect(operations.contains("/// Calls the action `Shop.Ship`.\n  func ship(by:"))
  }

  @Test(
    "a parameter can be left out if an annotation beside its operation says so, for one overload or an import",
    arguments: [
      ("Shop.Best/Of", ["best", "peak"]), ("Shop.Best(Edm.Int32, Edm.Int32)/Of", ["best", "peak"]),
      ("Shop.C/Peak/Of", ["peak"]), ("Shop.Best(Edm.Int32)/Of", []),
    ])
  func parameters(target: String, imports: [String]) throws {
    let parameters = ["Of", "In"].map { "<Parameter Name=\"\($0)\" Type=\"Edm.Int32\" Nullable=\"false\"/>" }.joined()
    let files = try generate(
      try model(
        """
        <ComplexType Name="Place"/><Function Name="Best">\(parameters)<ReturnType Type="Edm.Int32"/></Function>
        <EntityContainer Name="C"><FunctionImport Name="Best" Function="Shop.Best"/>
          <FunctionImport Name="Peak" Function="Shop.Best"/></EntityContainer>
        <Annotations Target="\(target)"><Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Annotations>
        """))
    for name in ["best", "peak"] {
      let type = imports.contains(name) ? "Int32? = nil" : "Int32"
      #expect(files["C"]?.contains("func \(name)(of: \(type), `in`: Int32)") == true, "\(name)")
    }
  }
}
