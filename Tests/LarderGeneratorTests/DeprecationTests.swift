import Foundation
import LarderOData
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
}
