/// The sets of the model service.
package enum ModelSchema {
  package struct Navigation: Sendable, Hashable {
    package let name: String
    package let target: String
    package let isCollection: Bool
    /// The property of the item that holds the key of its order; nil for links that no property shows.
    package let constraint: String?
  }

  package struct EntitySet: Sendable {
    package let name: String
    package let type: String
    package let hasTextKey: Bool
    package let texts: [String]
    package let numbers: [String]
    package let navigations: [Navigation]

    package func navigation(_ name: String) -> Navigation? { navigations.first { $0.name == name } }
  }

  package static let sets: [EntitySet] = [
    EntitySet(
      name: "Orders", type: "Order", hasTextKey: false, texts: ["Name", "Note"], numbers: ["Stock"],
      navigations: [
        Navigation(name: "Items", target: "Items", isCollection: true, constraint: "Order_ID"),
        Navigation(name: "Buyer", target: "Buyers", isCollection: false, constraint: nil),
        Navigation(name: "Tags", target: "Tags", isCollection: true, constraint: nil),
      ]),
    EntitySet(
      name: "Items", type: "Item", hasTextKey: false, texts: ["Text"], numbers: ["Order_ID"],
      navigations: [Navigation(name: "Order", target: "Orders", isCollection: false, constraint: "Order_ID")]),
    EntitySet(name: "Buyers", type: "Buyer", hasTextKey: false, texts: ["Name"], numbers: [], navigations: []),
    EntitySet(name: "Tags", type: "Tag", hasTextKey: true, texts: ["Name"], numbers: [], navigations: []),
    EntitySet(name: "Photos", type: "Photo", hasTextKey: false, texts: ["Name"], numbers: [], navigations: []),
    EntitySet(name: "Places", type: "Place", hasTextKey: false, texts: [], numbers: [], navigations: []),
    EntitySet(name: "Setting", type: "Setting", hasTextKey: false, texts: ["Name"], numbers: [], navigations: []),
  ]

  package static func set(_ name: String) -> EntitySet? { sets.first { $0.name == name } }
}

extension ModelKind {
  /// The service's metadata document.
  package var metadata: String { isV2 ? ModelSchema.metadataV2 : ModelSchema.metadataV4(isV401 ? "4.01" : "4.0") }

  /// What the stores of a history hold: names and queries.
  package var definingQueries: [(name: String, query: String)] {
    var expands = layout == .apart ? [] : ["Items"]
    if showsLinks { expands += ["Buyer", "Tags"] }
    var all = [("orders", "Orders" + (expands.isEmpty ? "" : "?$expand=" + expands.joined(separator: ",")))]
    if layout != .expanded { all.append(("items", "Items")) }
    if hasLinks { all += [("buyers", "Buyers"), ("tags", "Tags")] }
    if hasMedia { all.append(("photos", "Photos")) }
    if hasPlaces { all.append(("places", "Places")) }
    if hasSingleton { all.append(("setting", "Setting")) }
    return all.map { (name: $0.0, query: $0.1) }
  }
}

extension ModelSchema {
  fileprivate static func metadataV4(_ version: String) -> String {
    """
    <edmx:Edmx Version="\(version)" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="Where"><Property Name="City" Type="Edm.String"/><Property Name="Street" Type="Edm.String"/></ComplexType>
    \(type("Order", "Int32", ["Name": "String", "Note": "String", "Stock": "Int32"], """
      <NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/>
      <NavigationProperty Name="Buyer" Type="N.Buyer"/><NavigationProperty Name="Tags" Type="Collection(N.Tag)"/>
      <NavigationProperty Name="Preference" Type="N.Setting"/>
      """))
    \(type("Item", "Int32", ["Text": "String", "Order_ID": "Int32"], """
      <NavigationProperty Name="Order" Type="N.Order" Partner="Items"><ReferentialConstraint Property="Order_ID" ReferencedProperty="ID"/></NavigationProperty>
      """))
    \(type("Buyer", "Int32", ["Name": "String"]))\(type("Tag", "String", ["Name": "String"]))
    \(type("Photo", "Int32", ["Name": "String"], attributes: " HasStream=\"true\""))
    \(type("Place", "Int32", ["Where": "N.Where"]))\(type("Setting", "Int32", ["Name": "String"]))
    <Action Name="Book"><Parameter Name="Text" Type="Edm.String"/></Action>
    <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Items" Target="Items"/>
    <NavigationPropertyBinding Path="Buyer" Target="Buyers"/><NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
    <EntitySet Name="Items" EntityType="N.Item"><NavigationPropertyBinding Path="Order" Target="Orders"/></EntitySet>
    <EntitySet Name="Buyers" EntityType="N.Buyer"/><EntitySet Name="Tags" EntityType="N.Tag"/>
    <EntitySet Name="Photos" EntityType="N.Photo"/><EntitySet Name="Places" EntityType="N.Place"/>
    <Singleton Name="Setting" Type="N.Setting"/><ActionImport Name="Book" Action="N.Book"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  fileprivate static let metadataV2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <ComplexType Name="Where"><Property Name="City" Type="Edm.String"/><Property Name="Street" Type="Edm.String"/></ComplexType>
    \(type("Order", "Int32", ["Name": "String", "Note": "String", "Stock": "Int32"], """
      <NavigationProperty Name="Items" Relationship="N.OI" FromRole="O" ToRole="I"/>
      <NavigationProperty Name="Buyer" Relationship="N.OB" FromRole="O" ToRole="B"/>
      <NavigationProperty Name="Tags" Relationship="N.OT" FromRole="O" ToRole="T"/>
      """))
    \(type("Item", "Int32", ["Text": "String", "Order_ID": "Int32"], """
      <NavigationProperty Name="Order" Relationship="N.OI" FromRole="I" ToRole="O"/>
      """))
    \(type("Buyer", "Int32", ["Name": "String"]))\(type("Tag", "String", ["Name": "String"]))
    \(type("Photo", "Int32", ["Name": "String"], attributes: " m:HasStream=\"true\""))
    \(type("Place", "Int32", ["Where": "N.Where"]))
    <Association Name="OI"><End Role="O" Type="N.Order" Multiplicity="0..1"/><End Role="I" Type="N.Item" Multiplicity="*"/>
    <ReferentialConstraint><Principal Role="O"><PropertyRef Name="ID"/></Principal><Dependent Role="I"><PropertyRef Name="Order_ID"/></Dependent></ReferentialConstraint></Association>
    <Association Name="OB"><End Role="O" Type="N.Order" Multiplicity="*"/><End Role="B" Type="N.Buyer" Multiplicity="0..1"/></Association>
    <Association Name="OT"><End Role="O" Type="N.Order" Multiplicity="*"/><End Role="T" Type="N.Tag" Multiplicity="*"/></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="Items" EntityType="N.Item"/>
    <EntitySet Name="Buyers" EntityType="N.Buyer"/><EntitySet Name="Tags" EntityType="N.Tag"/>
    <EntitySet Name="Photos" EntityType="N.Photo"/><EntitySet Name="Places" EntityType="N.Place"/>
    <AssociationSet Name="OIS" Association="N.OI"><End Role="O" EntitySet="Orders"/><End Role="I" EntitySet="Items"/></AssociationSet>
    <AssociationSet Name="OBS" Association="N.OB"><End Role="O" EntitySet="Orders"/><End Role="B" EntitySet="Buyers"/></AssociationSet>
    <AssociationSet Name="OTS" Association="N.OT"><End Role="O" EntitySet="Orders"/><End Role="T" EntitySet="Tags"/></AssociationSet>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  private static func type(
    _ name: String, _ key: String, _ properties: KeyValuePairs<String, String>, _ rest: String = "",
    attributes: String = ""
  ) -> String {
    let all = properties.map { property, type in
      "<Property Name=\"\(property)\" Type=\"\(type.contains(".") ? type : "Edm." + type)\"/>"
    }
    return """
      <EntityType Name="\(name)"\(attributes)><Key><PropertyRef Name="ID"/></Key>\
      <Property Name="ID" Type="Edm.\(key)" Nullable="false"/>\(all.joined())\(rest)</EntityType>
      """
  }
}
