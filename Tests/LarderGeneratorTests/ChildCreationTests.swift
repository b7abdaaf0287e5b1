import Foundation
import LarderOData
import LarderODataXML
import Testing

@testable import LarderGenerator

/// Types whose own entity sets allow no creation, but whose entities are created through those that they belong to.
@Suite("Creation of child entities", .timeLimit(.minutes(1)))
struct ChildCreationTests {
  private let key = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"

  private func insertRestrictions(_ isInsertable: Bool) -> String {
    """
    <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
    <PropertyValue Property="Insertable" Bool="\(isInsertable)"/></Record></Annotation>
    """
  }

  /// What the set of the orders says about a navigation property.
  private func navigation(_ path: String, _ insertable: String) -> String {
    """
    <Annotation Term="Org.OData.Capabilities.V1.NavigationRestrictions"><Record>
    <PropertyValue Property="RestrictedProperties"><Collection><Record>
      <PropertyValue Property="NavigationProperty" NavigationPropertyPath="\(path)"/>
      <PropertyValue Property="InsertRestrictions"><Record>\(insertable)</Record></PropertyValue>
    </Record></Collection></PropertyValue></Record></Annotation>
    """
  }

  /// The types that are created in a service with orders, their items, and the items' notes and currencies, of which
  /// only orders are created in their own set.
  private func created(
    orders: String, items: String = "", isContained: Bool = false, others: String = "", annotations: String = ""
  ) throws -> Set<String> {
    let files = try generate(
      try model(
        """
        <EntityType Name="Order">\(key)
          <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="\(isContained)"/></EntityType>
        <EntityType Name="Item">\(key)<NavigationProperty Name="Notes" Type="Collection(Shop.Note)"/>
          <NavigationProperty Name="Currency" Type="Shop.Currency"/></EntityType>
        <EntityType Name="SpecialItem" BaseType="Shop.Item"/>
        <EntityType Name="Note">\(key)</EntityType><EntityType Name="Currency">\(key)</EntityType>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order">\(orders)</EntitySet>
          <EntitySet Name="Items" EntityType="Shop.Item">\(insertRestrictions(false))\(items)</EntitySet>
          <EntitySet Name="Notes" EntityType="Shop.Note">\(insertRestrictions(false))</EntitySet>
          <EntitySet Name="Currencies" EntityType="Shop.Currency">\(insertRestrictions(false))</EntitySet>
          \(others)</EntityContainer>\(annotations)
        """))
    return Set(files.filter { $0.value.contains("struct Create:") }.keys)
  }

  // Capabilities vocabulary, `NavigationPropertyRestriction/InsertRestrictions`.
  @Test("V4: a type is created if the restrictions of a navigation property allow it, or depend on the entity")
  func navigationRestrictions() throws {
    let items: Set = ["Order", "Item", "SpecialItem"]
    func insertable(_ attribute: String) -> String { "<PropertyValue Property=\"Insertable\" \(attribute)/>" }
    #expect(try created(orders: "") == ["Order"])
    #expect(try created(orders: navigation("Items", insertable("Bool=\"true\""))) == items)
    #expect(try created(orders: navigation("Items", insertable("Path=\"CanAdd\""))) == items)
    #expect(try created(orders: navigation("Items", insertable("Bool=\"false\""))) == ["Order"])
    let notes = navigation("Items/Notes", insertable("Bool=\"true\""))
    #expect(try created(orders: notes) == ["Order", "Note"])
    let both = try created(
      orders: navigation("Items", insertable("Bool=\"true\"")),
      items: navigation("Notes", insertable("Bool=\"true\"")))
    #expect(both == items.union(["Note"]))
    #expect(try created(orders: navigation("Gone/Notes", insertable("Bool=\"true\""))) == ["Order"])
  }

  @Test("V4: singletons have such restrictions too, and navigation properties of sets have annotations of their own")
  func otherRestrictions() throws {
    let insertable = "<PropertyValue Property=\"Insertable\" Bool=\"true\"/>"
    let singleton = "<Singleton Name=\"Me\" Type=\"Shop.Item\">\(navigation("Notes", insertable))</Singleton>"
    #expect(try created(orders: "", others: singleton) == ["Order", "Note"])
    func annotations(_ isInsertable: Bool) -> String {
      "<Annotations Target=\"Shop.C/Orders/Items\">\(insertRestrictions(isInsertable))</Annotations>"
    }
    #expect(try created(orders: "", annotations: annotations(true)) == ["Order", "Item", "SpecialItem"])
    #expect(try created(orders: "", annotations: annotations(false)) == ["Order"])
    #expect(try created(orders: "", isContained: true, annotations: annotations(false)) == ["Order"])
  }

  @Test("V4: contained entities are created in their owner, unless the owner's set does not allow it")
  func containment() throws {
    let insertable = "<PropertyValue Property=\"Insertable\" Bool=\"false\"/>"
    #expect(try created(orders: "", isContained: true) == ["Order", "Item", "SpecialItem"])
    #expect(try created(orders: navigation("Items", insertable), isContained: true) == ["Order"])
  }

  /// What has orders, beside a set that does not allow items in them. `#` is what it says about the items.
  struct Owners: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let element: String
    var path = "Items"
  }

  // POST Orders(1)/Items and POST SpecialOrders(1)/Items are restricted by what their set says,
  // POST Customers(1)/Orders(1)/Items by what the set of the customers says.
  @Test(
    "V4: a contained type is created if one of the sets and singletons with its owners allows it",
    arguments: [
      Owners(
        testDescription: "a set", element: "<EntitySet Name=\"MoreOrders\" EntityType=\"Shop.Order\">#</EntitySet>"),
      Owners(testDescription: "a singleton", element: "<Singleton Name=\"Cart\" Type=\"Shop.Order\">#</Singleton>"),
      Owners(
        testDescription: "a set of a derived type",
        element: "<EntitySet Name=\"SpecialOrders\" EntityType=\"Shop.SpecialOrder\">#</EntitySet>"),
      Owners(
        testDescription: "customers that contain orders",
        element: "<EntitySet Name=\"Customers\" EntityType=\"Shop.Customer\">#</EntitySet>", path: "Orders/Items"),
    ], [true, false])
  func owners(owners: Owners, isAllowed: Bool) throws {
    func no(_ path: String) -> String { navigation(path, "<PropertyValue Property=\"Insertable\" Bool=\"false\"/>") }
    let customer = """
      <EntityType Name="Customer">\(key)
        <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" ContainsTarget="true"/></EntityType>
      """
    let files = try generate(
      try model(
        """
        <EntityType Name="Order">\(key)
          <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/></EntityType>
        <EntityType Name="SpecialOrder" BaseType="Shop.Order"/><EntityType Name="Item">\(key)</EntityType>
        \(owners.path == "Items" ? "" : customer)
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order">\(no("Items"))</EntitySet>
          \(owners.element.replacing("#", with: isAllowed ? "" : no(owners.path)))</EntityContainer>
        """))
    #expect(files["Item"]?.contains("struct Create:") == isAllowed)
  }

  @Test("V4: a derived type is contained in what the set of its base type restricts")
  func baseSets() throws {
    let no = navigation("Items", "<PropertyValue Property=\"Insertable\" Bool=\"false\"/>")
    let files = try generate(
      try model(
        """
        <EntityType Name="Order">\(key)</EntityType>
        <EntityType Name="SpecialOrder" BaseType="Shop.Order">
          <NavigationProperty Name="Items" Type="Collection(Shop.Item)" ContainsTarget="true"/></EntityType>
        <EntityType Name="Item">\(key)</EntityType>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order">\(no)</EntitySet></EntityContainer>
        """))
    #expect(files["Item"]?.contains("struct Create:") == false)
  }

  @Test("V4: the properties of a type that is created as a child are those that one of its sets allows")
  func childProperties() throws {
    let paths = "<PropertyValue Property=\"NonInsertableProperties\"><Collection><PropertyPath>ID</PropertyPath>"
    let list = "\(paths)</Collection></PropertyValue>"
    let set = """
      <EntitySet Name="OldItems" EntityType="Shop.Item"><Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions">
      <Record>\(list)</Record></Annotation></EntitySet>
      """
    let orders = navigation("Items", "<PropertyValue Property=\"Insertable\" Bool=\"true\"/>")
    let files = try generate(
      try model(
        """
        <EntityType Name="Order">\(key)<NavigationProperty Name="Items" Type="Collection(Shop.Item)"/></EntityType>
        <EntityType Name="Item">\(key)<Property Name="Note" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order">\(orders)</EntitySet>
          <EntitySet Name="Items" EntityType="Shop.Item">\(insertRestrictions(false))</EntitySet>\(set)</EntityContainer>
        """))
    let create = try #require(files["Item"]?.components(separatedBy: "struct Create:").last)
    #expect(create.contains("var id: Int32?"), "\(create)")
  }

  /// Attributes of a V2 service with orders and their items.
  struct Attributes: Sendable, CustomTestStringConvertible {
    var orders = ""
    var navigation = ""
    var multiplicity = "1"
    let isCreated: Bool
    var testDescription: String { "\(orders) \(navigation) \(multiplicity)" }
  }

  @Test(
    "V2: a type is created through a collection of one that is created, if each entity is in one collection",
    arguments: [
      Attributes(isCreated: true), Attributes(orders: "sap:creatable=\"false\"", isCreated: false),
      Attributes(navigation: "sap:creatable=\"false\"", isCreated: false),
      Attributes(navigation: "sap:creatable=\"true\"", isCreated: true),
      Attributes(multiplicity: "0..1", isCreated: true), Attributes(multiplicity: "*", isCreated: false),
    ])
  func attributes(row: Attributes) throws {
    let model = try olderModel(
      """
      <EntityType Name="Order">\(key)
        <NavigationProperty Name="to_Item" Relationship="S.A" FromRole="F" ToRole="T" \(row.navigation)/>
        <NavigationProperty Name="to_Currency" Relationship="S.D" FromRole="F" ToRole="T"/></EntityType>
      <EntityType Name="Item">\(key)
        <NavigationProperty Name="to_Note" Relationship="S.B" FromRole="F" ToRole="T"/></EntityType>
      <EntityType Name="Note">\(key)</EntityType><EntityType Name="Currency">\(key)</EntityType>
      <Association Name="A"><End Role="F" Type="S.Order" Multiplicity="\(row.multiplicity)"/>
        <End Role="T" Type="S.Item" Multiplicity="*"/></Association>
      <Association Name="B"><End Role="F" Type="S.Item" Multiplicity="1"/>
        <End Role="T" Type="S.Note" Multiplicity="*"/></Association>
      <Association Name="D"><End Role="F" Type="S.Order" Multiplicity="1"/>
        <End Role="T" Type="S.Currency" Multiplicity="0..1"/></Association>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Orders" EntityType="S.Order" \(row.orders)/>
        <EntitySet Name="Items" EntityType="S.Item" sap:creatable="false"/>
        <EntitySet Name="Notes" EntityType="S.Note" sap:creatable="false"/>
        <EntitySet Name="Currencies" EntityType="S.Currency" sap:creatable="false"/></EntityContainer>
      """)
    let files = try generate(model)
    for name in ["Item", "Note"] {
      #expect(files[name]?.contains("struct Create:") == row.isCreated, "\(name)")
    }
    // SAP's services say 1 at this end of a reference to a value help: an order has a currency, but does not create it.
    #expect(files["Currency"]?.contains("struct Create:") == false)
  }

  @Test("V2: a type without an entity set is created if it is reached from one that is", arguments: [true, false])
  func typesWithoutSets(isReached: Bool) throws {
    let model = try olderModel(
      """
      <EntityType Name="Order">\(key)
        \(isReached ? "<NavigationProperty Name=\"to_Copy\" Relationship=\"S.A\" FromRole=\"F\" ToRole=\"T\"/>" : "")
        </EntityType>
      <EntityType Name="Copy">\(key)
        <NavigationProperty Name="to_Contact" Relationship="S.B" FromRole="F" ToRole="T"/></EntityType>
      <EntityType Name="Contact">\(key)</EntityType>
      <Association Name="A"><End Role="F" Type="S.Order" Multiplicity="1"/>
        <End Role="T" Type="S.Copy" Multiplicity="*"/></Association>
      <Association Name="B"><End Role="F" Type="S.Copy" Multiplicity="1"/>
        <End Role="T" Type="S.Contact" Multiplicity="*"/></Association>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
        <EntitySet Name="Orders" EntityType="S.Order"/>
        <EntitySet Name="Contacts" EntityType="S.Contact" sap:creatable="false"/></EntityContainer>
      """)
    let files = try generate(model)
    #expect(files["Contact"]?.contains("struct Create:") == isReached)
  }
}
