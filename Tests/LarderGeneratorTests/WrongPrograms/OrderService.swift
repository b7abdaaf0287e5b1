import LarderOData

@testable import LarderGenerator

/// A service for programs that are compiled: properties that are computed, immutable, or not in filters and orders, a
/// set without creations, updates and deletions, a property that cannot be expanded, derived types, media, a key of two properties, a singleton, an action and functions.
enum OrderService {
  /// The generated files by their names, and the types of rows that the programs use.
  static func files() throws -> [String: String] {
    let generated = try generateAll(try model(schema))
    guard generated.omissions.isEmpty else {
      throw Compiler.Failure(description: "not generated: \(generated.omissions.map(\.name))")
    }
    return Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
      .merging(["rows.swift": rows]) { $1 }
  }

  /// A file with a function of some statements.
  static func file(_ function: String, _ statements: String) -> String {
    """
    import Foundation
    import LarderOData
    import LarderService

    func \(function)(_ shop: Service, _ order: Order, _ item: Item, _ party: Party, _ guid: UUID) async throws {
    \(statements)
    }

    """
  }

  private static let rows = """
    struct Row: Decodable, Sendable { let note: String? }
    struct Undecodable: Sendable {}
    """

  private static let schema = """
    <EntityType Name="Order">
      <Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Customer" Type="Edm.String" Nullable="false">
        <Annotation Term="Org.OData.Core.V1.Immutable"/>
      </Property>
      <Property Name="Status" Type="Shop.Status" Nullable="false"/>
      <Property Name="Priority" Type="Shop.Priority"/>
      <Property Name="Due" Type="Edm.DateTimeOffset" Precision="6"/>
      <Property Name="Total" Type="Edm.Decimal" Scale="2" Nullable="false">
        <Annotation Term="Org.OData.Core.V1.Computed"/>
      </Property>
      <Property Name="Note" Type="Edm.String"/>
      <Property Name="Parcels" Type="Edm.Int32" Nullable="false" DefaultValue="1"/>
      <Property Name="Weight" Type="Edm.Double"/>
      <Property Name="IsPaid" Type="Edm.Boolean"/>
      <Property Name="ShipTo" Type="Shop.Address"/>
      <Property Name="Tags" Type="Collection(Edm.String)"/>
      <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/>
      <NavigationProperty Name="Buyer" Type="Shop.Party"/>
    </EntityType>
    <EntityType Name="Item">
      <Key><PropertyRef Name="Order"/><PropertyRef Name="Line"/></Key>
      <Property Name="Order" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Line" Type="Edm.Int16" Nullable="false"/>
      <Property Name="Quantity" Type="Edm.Decimal" Scale="3" Nullable="false"/>
      <Property Name="Price" Type="Edm.Decimal" Scale="2"/>
      <NavigationProperty Name="Product" Type="Shop.Product"/>
    </EntityType>
    <EntityType Name="Product">
      <Key><PropertyRef Name="Code"/></Key>
      <Property Name="Code" Type="Edm.String" Nullable="false"/>
      <Property Name="Name" Type="Edm.String" Nullable="false"/>
      <Property Name="Price" Type="Edm.Decimal" Scale="2"/>
      <Property Name="Added" Type="Edm.Date"/>
      <NavigationProperty Name="Suppliers" Type="Collection(Shop.Party)"/>
      <NavigationProperty Name="Substitutes" Type="Collection(Shop.Product)"/>
    </EntityType>
    <EntityType Name="Food" BaseType="Shop.Product"><Property Name="Expires" Type="Edm.Date"/></EntityType>
    <EntityType Name="Party">
      <Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Guid" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/>
    </EntityType>
    <EntityType Name="Company" BaseType="Shop.Party"><Property Name="Employees" Type="Edm.Int64"/></EntityType>
    <EntityType Name="Picture" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
      <Property Name="Thumbnail" Type="Edm.Stream"/></EntityType>
    <EntityType Name="Scan" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
    <EnumType Name="Status"><Member Name="Open"/><Member Name="Shipped"/></EnumType>
    <EnumType Name="Priority"><Member Name="Low"/><Member Name="High"/></EnumType>
    <Action Name="Ship" IsBound="true"><Parameter Name="order" Type="Shop.Order" Nullable="false"/>
      <Parameter Name="carrier" Type="Edm.String" Nullable="false"/>
      <Parameter Name="parcels" Type="Edm.Int32" Nullable="false"/><ReturnType Type="Shop.Order" Nullable="false"/></Action>
    <Function Name="Volume" IsBound="true"><Parameter Name="order" Type="Shop.Order" Nullable="false"/>
      <ReturnType Type="Edm.Decimal" Scale="3"/></Function>
    <Function Name="Below"><Parameter Name="price" Type="Edm.Decimal" Scale="2" Nullable="false"/>
      <ReturnType Type="Collection(Shop.Product)"/></Function>
    <EntityContainer Name="Service">
      <EntitySet Name="Orders" EntityType="Shop.Order">
        <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>
          <PropertyValue Property="NonFilterableProperties"><Collection><PropertyPath>Note</PropertyPath></Collection>
          </PropertyValue></Record></Annotation>
        <Annotation Term="Org.OData.Capabilities.V1.SortRestrictions"><Record>
          <PropertyValue Property="NonSortableProperties"><Collection><PropertyPath>Note</PropertyPath></Collection>
          </PropertyValue></Record></Annotation>
      </EntitySet>
      <EntitySet Name="Items" EntityType="Shop.Item"/>
      <EntitySet Name="Products" EntityType="Shop.Product">
        <Annotation Term="Org.OData.Capabilities.V1.ExpandRestrictions"><Record>
          <PropertyValue Property="NonExpandableProperties"><Collection>
          <NavigationPropertyPath>Substitutes</NavigationPropertyPath></Collection></PropertyValue></Record></Annotation>
      </EntitySet>
      <EntitySet Name="Parties" EntityType="Shop.Party">
        <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
          <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
        <Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record>
          <PropertyValue Property="Updatable" Bool="false"/></Record></Annotation>
        <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
          <PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
      </EntitySet>
      <EntitySet Name="Pictures" EntityType="Shop.Picture"/>
      <EntitySet Name="Scans" EntityType="Shop.Scan">
        <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
          <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
      </EntitySet>
      <Singleton Name="Head" Type="Shop.Company"/>
      <FunctionImport Name="Below" Function="Shop.Below" EntitySet="Products"/>
    </EntityContainer>
    """
}
