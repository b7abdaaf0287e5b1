/// Models for tests of results: every storage, a hierarchy, containment, a singleton, both dialects.
enum ResultModels {
  static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
     <EnumType Name="State" IsFlags="true"><Member Name="New" Value="1"/><Member Name="Paid" Value="2"/>
      <Member Name="Sent" Value="4"/></EnumType>
     <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/>
      <NavigationProperty Name="Keeper" Type="Shop.Customer"/></ComplexType>
     <ComplexType Name="Abroad" BaseType="Shop.Address"><Property Name="Country" Type="Edm.String"/></ComplexType>
     <EntityType Name="Order" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
      <Property Name="Total" Type="Edm.Decimal" Scale="variable"/><Property Name="Big" Type="Edm.Int64"/>
      <Property Name="Ratio" Type="Edm.Double"/><Property Name="Part" Type="Edm.Single"/>
      <Property Name="Open" Type="Edm.Boolean"/><Property Name="At" Type="Edm.DateTimeOffset"/>
      <Property Name="Day" Type="Edm.Date"/><Property Name="Hour" Type="Edm.TimeOfDay"/>
      <Property Name="Took" Type="Edm.Duration"/><Property Name="Token" Type="Edm.Guid"/>
      <Property Name="Seal" Type="Edm.Binary"/><Property Name="State" Type="Shop.State"/>
      <Property Name="Ship" Type="Shop.Address"/><Property Name="Tags" Type="Collection(Edm.String)"/>
      <Property Name="Prices" Type="Collection(Edm.Decimal)"/><Property Name="Stops" Type="Collection(Shop.Address)"/>
      <Property Name="Place" Type="Edm.GeographyPoint"/><Property Name="Photo" Type="Edm.Stream"/>
      <Property Name="BuyerID" Type="Edm.String"/>
      <NavigationProperty Name="Buyer" Type="Shop.Customer" Partner="Orders">
       <ReferentialConstraint Property="BuyerID" ReferencedProperty="Name"/></NavigationProperty>
      <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/>
      <NavigationProperty Name="Label" Type="Shop.Item" ContainsTarget="true"/>
     </EntityType>
     <EntityType Name="Rush" BaseType="Shop.Order"><Property Name="Fee" Type="Edm.Int16"/></EntityType>
     <EntityType Name="Item"><Key><PropertyRef Name="Line"/><PropertyRef Name="Part"/></Key>
      <Property Name="Line" Type="Edm.Int32" Nullable="false"/><Property Name="Part" Type="Edm.String" Nullable="false"/>
      <Property Name="Amount" Type="Edm.Int32"/></EntityType>
     <EntityType Name="Customer" HasStream="true"><Key><PropertyRef Name="Name"/></Key>
      <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Rank" Type="Edm.Int32"/>
      <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Buyer"/></EntityType>
     <EntityContainer Name="Container">
      <EntitySet Name="Orders" EntityType="Shop.Order">
       <NavigationPropertyBinding Path="Buyer" Target="Customers"/>
       <NavigationPropertyBinding Path="Ship/Keeper" Target="Customers"/></EntitySet>
      <EntitySet Name="Customers" EntityType="Shop.Customer">
       <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
      <Singleton Name="Me" Type="Shop.Customer"/>
     </EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
     xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <edmx:DataServices m:DataServiceVersion="2.0">
    <Schema Namespace="Shop" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
     <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
     <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
      <Property Name="Total" Type="Edm.Decimal"/><Property Name="Ratio" Type="Edm.Double"/>
      <Property Name="Open" Type="Edm.Boolean"/><Property Name="At" Type="Edm.DateTime"/>
      <Property Name="Sent" Type="Edm.DateTimeOffset"/><Property Name="Took" Type="Edm.Time"/>
      <Property Name="Token" Type="Edm.Guid"/><Property Name="Seal" Type="Edm.Binary"/>
      <Property Name="Ship" Type="Shop.Address"/>
      <NavigationProperty Name="Items" Relationship="Shop.OrderItem" FromRole="Order" ToRole="Item"/></EntityType>
     <EntityType Name="Item"><Key><PropertyRef Name="Order"/><PropertyRef Name="Line"/></Key>
      <Property Name="Order" Type="Edm.Int64" Nullable="false"/><Property Name="Line" Type="Edm.Int32" Nullable="false"/>
      <NavigationProperty Name="Of" Relationship="Shop.OrderItem" FromRole="Item" ToRole="Order"/></EntityType>
     <Association Name="OrderItem"><End Role="Order" Type="Shop.Order" Multiplicity="1"/>
      <End Role="Item" Type="Shop.Item" Multiplicity="*"/><ReferentialConstraint>
      <Principal Role="Order"><PropertyRef Name="ID"/></Principal>
      <Dependent Role="Item"><PropertyRef Name="Order"/></Dependent></ReferentialConstraint></Association>
     <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
      <EntitySet Name="Orders" EntityType="Shop.Order"/><EntitySet Name="Items" EntityType="Shop.Item"/>
      <AssociationSet Name="OrderItems" Association="Shop.OrderItem"><End Role="Order" EntitySet="Orders"/>
       <End Role="Item" EntitySet="Items"/></AssociationSet>
     </EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
}
