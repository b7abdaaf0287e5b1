/// Small models for tests of the store's rows.
enum ReplicaModels {
  /// Customers, orders with contained items and tags, an open type, a hierarchy, complex values, streams.
  static let shop = ReplicaRig.v4(
    """
    <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/>
    </ComplexType>
    <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
      <Property Name="Home" Type="N.Address"/><Property Name="Mails" Type="Collection(Edm.String)"/>
      <NavigationProperty Name="Orders" Type="Collection(N.Order)" Partner="Customer"/></EntityType>
    <EntityType Name="Firm" BaseType="N.Customer" OpenType="true"><Property Name="Tax" Type="Edm.Decimal"/></EntityType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Total" Type="Edm.Decimal" Scale="2"/>
      <Property Name="CustomerID" Type="Edm.Int32"/>
      <NavigationProperty Name="Customer" Type="N.Customer" Partner="Orders">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
      <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true"/>
      <NavigationProperty Name="Tags" Type="Collection(N.Tag)" Partner="Orders"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityType Name="Tag" HasStream="true"><Key><PropertyRef Name="Name"/></Key>
      <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Icon" Type="Edm.Stream"/>
      <NavigationProperty Name="Orders" Type="Collection(N.Order)"/></EntityType>
    """,
    container: """
      <EntitySet Name="Customers" EntityType="N.Customer">
        <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
      <EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
      <EntitySet Name="Tags" EntityType="N.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
      <Singleton Name="Me" Type="N.Customer"/>
      """)
}
