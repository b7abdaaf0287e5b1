import LarderOData
import LarderODataXML

@testable import LarderGenerator

/// A model from the schema's content in CSDL XML of V4.
func model(_ schema: String, namespace: String = "Shop") throws -> EdmModel {
  try EdmModel.read(
    Array(
      """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="\(namespace)" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(schema)</Schema>
      </edmx:DataServices></edmx:Edmx>
      """.utf8))
}

/// A model of V2 or V3 with the schema `S`.
func olderModel(_ schema: String, version: String = "2.0") throws -> EdmModel {
  try EdmModel.read(
    Array(
      """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
        xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices m:DataServiceVersion="\(version)">
      <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/\(version == "3.0" ? "2009/11" : "2008/09")/edm">
      \(schema)</Schema></edmx:DataServices></edmx:Edmx>
      """.utf8))
}

/// The generated files by their names without the ending.
func generate(_ model: EdmModel, _ change: (inout GeneratorOptions) -> Void = { _ in }) throws -> [String: String] {
  try Dictionary(
    uniqueKeysWithValues: generateAll(model, change).files.map {
      (String($0.name.dropLast(FileHeader.fileEnding.count)), $0.text)
    })
}

func generateAll(
  _ model: EdmModel, _ change: (inout GeneratorOptions) -> Void = { _ in }
) throws -> GeneratedFiles {
  var options = GeneratorOptions(documentName: "metadata.xml")
  change(&options)
  return try SwiftGenerator.generate(model, options: options)
}

/// A small shop: keys, navigation, a hierarchy, complex values, enumerations, a type definition, annotations, and names
/// that generated code uses itself. The files in `Generated` are generated from it.
let shop = """
  <EntityType Name="Order">
    <Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Due" Type="Edm.DateTimeOffset" Precision="12"/>
    <Property Name="Total" Type="Shop.Money" Nullable="false">
      <Annotation Term="Org.OData.Core.V1.Computed"/>
    </Property>
    <Property Name="Note" Type="Edm.String">
      <Annotation Term="Org.OData.Core.V1.Description" String="What the customer wrote"/>
    </Property>
    <Property Name="Customer" Type="Edm.String" Nullable="false">
      <Annotation Term="Org.OData.Core.V1.Immutable" Bool="true"/>
    </Property>
    <Property Name="Status" Type="Shop.Status" Nullable="false" DefaultValue="Open"/>
    <Property Name="ShipTo" Type="Shop.Address"/>
    <Property Name="Tags" Type="Collection(Edm.String)"/>
    <Property Name="Options" Type="Shop.Options"/>
    <Property Name="in" Type="Edm.Binary"/>
    <Property Name="Scan" Type="Edm.Stream"/>
    <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/>
    <NavigationProperty Name="Predecessor" Type="Shop.Order"/>
    <NavigationProperty Name="_Customer" Type="Shop.Party"/>
  </EntityType>
  <EntityType Name="Item">
    <Key><PropertyRef Name="ID"/><PropertyRef Name="Line"/></Key>
    <Property Name="ID" Type="Edm.Guid"/>
    <Property Name="Line" Type="Edm.Int16"/>
    <Property Name="OrderID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Order" Type="Shop.Order" Nullable="false">
      <ReferentialConstraint Property="OrderID" ReferencedProperty="ID"/>
    </NavigationProperty>
    <NavigationProperty Name="Query" Type="Shop.Order"/>
  </EntityType>
  <EntityType Name="Party" Abstract="true">
    <Key><PropertyRef Name="Code"/></Key>
    <Property Name="Code" Type="Edm.String" Nullable="false"/>
    <NavigationProperty Name="Parent" Type="Shop.Party"/>
  </EntityType>
  <EntityType Name="Company" BaseType="Shop.Party"><Property Name="Employees" Type="Edm.Int64"/></EntityType>
  <EntityType Name="Bank" BaseType="Shop.Company" OpenType="true"/>
  <EntityType Name="Document" Abstract="true"><Property Name="ID" Type="Edm.Int32"/>
    <Property Name="Shape" Type="Shop.Shape" Nullable="false"/></EntityType>
  <EntityType Name="Letter" BaseType="Shop.Document"><Key><PropertyRef Name="ID"/></Key></EntityType>
  <EntityType Name="Reply" BaseType="Shop.Letter" OpenType="true"><Property Name="Text" Type="Edm.String"/></EntityType>
  <EntityType Name="Picture" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
    <Property Name="Frame" Type="Edm.GeometryPolygon"/><Property Name="Place" Type="Edm.GeographyPoint"/>
    <Property Name="Thumbnail" Type="Edm.Stream"/></EntityType>
  <EntityType Name="Drawing" BaseType="Shop.Picture"/>
  <ComplexType Name="Shape" OpenType="true"><Property Name="Name" Type="Edm.String"/><Property Name="Outer" Type="Shop.Shape"/></ComplexType>
  <ComplexType Name="Circle" BaseType="Shop.Shape"><Property Name="Radius" Type="Edm.Double" Nullable="false"/></ComplexType>
  <EntityType Name="Entity">
    <Key><PropertyRef Name="Value"/></Key>
    <Property Name="Value" Type="Shop.Value" Nullable="false"/>
    <Property Name="Key" Type="Shop.Key"/>
    <Property Name="Element" Type="Collection(Shop.Element)"/>
    <Property Name="_" Type="Edm.String"/>
    <NavigationProperty Name="Fields" Type="Collection(Shop.Entity)"/>
  </EntityType>
  <ComplexType Name="Key"><Property Name="Update" Type="Shop.Key"/></ComplexType>
  <EnumType Name="Element"><Member Name="Self"/><Member Name="_"/></EnumType>
  <TypeDefinition Name="Value" UnderlyingType="Edm.String"/>
  <ComplexType Name="Address">
    <Property Name="City" Type="Edm.String"/>
    <Property Name="Former" Type="Shop.Address"/>
  </ComplexType>
  <EnumType Name="Status"><Member Name="Open"/><Member Name="None"/></EnumType>
  <EnumType Name="Options" IsFlags="true"><Member Name="Gift" Value="1"/><Member Name="Fast" Value="2"/></EnumType>
  <TypeDefinition Name="Money" UnderlyingType="Edm.Decimal"/>
  <Action Name="Ship" IsBound="true"><Parameter Name="order" Type="Shop.Order"/></Action>
  <Action Name="_" IsBound="true">
    <Parameter Name="it" Type="Shop.Entity"/><Parameter Name="_" Type="Shop.Value" Nullable="false"/>
    <ReturnType Type="Shop.Entity" Nullable="false"/>
  </Action>
  <Action Name="Items" IsBound="true"><Parameter Name="order" Type="Shop.Order"/></Action>
  <Action Name="Rate" IsBound="true">
    <Parameter Name="party" Type="Shop.Party"/><Parameter Name="Stars" Type="Edm.Byte" Nullable="false"/>
  </Action>
  <Function Name="Best" IsBound="true">
    <Parameter Name="parties" Type="Collection(Shop.Party)"/><ReturnType Type="Shop.Party" Nullable="false"/>
  </Function>
  <Action Name="Copy" IsBound="true"><Parameter Name="order" Type="Shop.Order"/>
    <Parameter Name="New" Type="Shop.Order" Nullable="false"/><Parameter Name="Old" Type="Shop.Order"/>
    <Parameter Name="More" Type="Collection(Shop.Item)"/></Action>
  <Function Name="Near" IsBound="true"><Parameter Name="parties" Type="Collection(Shop.Party)"/>
    <Parameter Name="Address" Type="Shop.Address"/><Parameter Name="Tags" Type="Collection(Edm.String)"/>
    <ReturnType Type="Collection(Shop.Party)"/></Function>
  <Function Name="Print" IsBound="true"><Parameter Name="order" Type="Shop.Order"/>
    <Parameter Name="Pages" Type="Edm.Int32" Nullable="false"/><ReturnType Type="Edm.Stream"/></Function>
  <Function Name="Find">
    <Parameter Name="Store" Type="Edm.String"/><Parameter Name="OdataList" Type="Edm.Int32" Nullable="false"/>
    <ReturnType Type="Collection(Shop.Item)"/>
  </Function>
  <EntityContainer Name="Service">
    <EntitySet Name="Orders" EntityType="Shop.Order">
      <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>
        <PropertyValue Property="NonFilterableProperties"><Collection><PropertyPath>Note</PropertyPath>
        <PropertyPath>Items</PropertyPath></Collection></PropertyValue></Record></Annotation>
      <Annotation Term="Org.OData.Capabilities.V1.SortRestrictions"><Record>
        <PropertyValue Property="NonSortableProperties"><Collection><PropertyPath>Note</PropertyPath>
        <PropertyPath>Due</PropertyPath><PropertyPath>Predecessor</PropertyPath></Collection></PropertyValue></Record></Annotation>
      <Annotation Term="Org.OData.Capabilities.V1.ExpandRestrictions"><Record>
        <PropertyValue Property="NonExpandableProperties"><Collection>
        <NavigationPropertyPath>_Customer</NavigationPropertyPath></Collection></PropertyValue></Record></Annotation>
    </EntitySet>
    <EntitySet Name="Parties" EntityType="Shop.Party">
      <Annotation Term="Org.OData.Capabilities.V1.UpdateRestrictions"><Record>
        <PropertyValue Property="Updatable" Bool="false"/></Record></Annotation>
      <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
        <PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
    </EntitySet>
    <EntitySet Name="Pictures" EntityType="Shop.Picture"/>
    <EntitySet Name="Drawings" EntityType="Shop.Drawing">
      <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
        <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
    </EntitySet>
    <EntitySet Name="_" EntityType="Shop.Entity"/>
    <EntitySet Name="Store" EntityType="Shop.Item"/>
    <FunctionImport Name="Find" Function="Shop.Find"/>
    <FunctionImport Name="orders" Function="Shop.Find"/>
    <Singleton Name="Me" Type="Shop.Company"/>
  </EntityContainer>
  """
