import Foundation
import LarderOData
import Testing

@testable import LarderGenerator

/// Restrictions of the Capabilities vocabulary, wherever they are annotated.
@Suite("Restrictions in generated types", .timeLimit(.minutes(5)))
struct RestrictionTests {
  private static func term(_ name: String, _ content: String) -> String {
    "<Annotation Term=\"Org.OData.Capabilities.V1.\(name)\"><Record>\(content)</Record></Annotation>"
  }

  private static func no(_ property: String) -> String { "<PropertyValue Property=\"\(property)\" Bool=\"false\"/>" }

  private static func paths(_ property: String, _ paths: String...) -> String {
    "<PropertyValue Property=\"\(property)\"><Collection>"
      + paths.map { "<PropertyPath>\($0)</PropertyPath>" }.joined() + "</Collection></PropertyValue>"
  }

  /// What `NavigationRestrictions` of a set say about a navigation property.
  private static func navigation(_ name: String, _ term: String, _ property: String) -> String {
    """
    <PropertyValue Property="RestrictedProperties"><Collection><Record>
      <PropertyValue Property="NavigationProperty" NavigationPropertyPath="\(name)"/>
      <PropertyValue Property="\(term)"><Record>\(no(property))</Record></PropertyValue>
    </Record></Collection></PropertyValue>
    """
  }

  private static func type(_ name: String, _ content: String = "") -> String {
    "<EntityType Name=\"\(name)\"><Key><PropertyRef Name=\"ID\"/></Key>"
      + "<Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/><Property Name=\"X\" Type=\"Edm.String\"/>"
      + "\(content)</EntityType>"
  }

  /// Where the annotations of the tests are.
  private struct Places {
    var set = ""
    var singleton = ""
    var kids = ""
    var container = ""
  }

  private func files(_ places: Places, others: String = "", sets: String = "") throws -> [String: String] {
    try generate(try model(schema(places, others: others, sets: sets)))
  }

  private func schema(_ places: Places, others: String, sets: String) -> String {
    let links = """
      <Property Name="Place" Type="Shop.Place"/>
      <NavigationProperty Name="Kids" Type="Collection(Shop.Kid)" ContainsTarget="true">\(places.kids)</NavigationProperty>
      <NavigationProperty Name="Ref" Type="Shop.Other"/><NavigationProperty Name="Refs" Type="Collection(Shop.Other)"/>
      """
    return Self.type("Parent", links) + Self.type("Kid") + Self.type("Other") + Self.type("Head") + others + """
      <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/></ComplexType>
      <EntityContainer Name="Service">\(places.container)
        <EntitySet Name="Parents" EntityType="Shop.Parent">\(places.set)</EntitySet>
        <EntitySet Name="Others" EntityType="Shop.Other"/>
        <Singleton Name="Head" Type="Shop.Head">\(places.singleton)</Singleton>\(sets)</EntityContainer>
      """
  }

  @Test("a singleton that cannot be updated or expanded restricts its type")
  func singletons() throws {
    #expect(try files(Places())["Head"]?.contains("struct Update") == true)
    let head = try files(Places(singleton: Self.term("UpdateRestrictions", Self.no("Updatable"))))["Head"]
    #expect(head?.contains("struct Update") == false && head?.contains("let x: String?") == true)
    // A set of the type allows it.
    let both = try files(
      Places(singleton: Self.term("UpdateRestrictions", Self.no("Updatable"))),
      sets: "<EntitySet Name=\"Heads\" EntityType=\"Shop.Head\"/>")["Head"]
    #expect(both?.contains("struct Update") == true)
  }

  @Test(
    "a contained type has the restrictions of the navigation property that contains it",
    arguments: [
      Places(
        kids: term("InsertRestrictions", no("Insertable")) + term("UpdateRestrictions", no("Updatable"))
          + term("DeleteRestrictions", no("Deletable"))),
      nil,
    ] as [Places?])
  private func contained(places: Places?) throws {
    let kid = try #require(try files(places ?? Places())["Kid"])
    #expect(kid.contains("struct Create") == (places == nil) && kid.contains("struct Update") == (places == nil))
    #expect(kid.contains("typealias ODataDeletion = ODataForbidden") == (places != nil))
  }

  @Test("NavigationRestrictions of a set restrict the contained type, and what a creation contains")
  func navigationRestrictions() throws {
    for place in ["Kids", "Ref"] {
      let set = Self.term(
        "NavigationRestrictions", Self.navigation(place, "InsertRestrictions", "Insertable"))
      let restricted = try files(Places(set: set))
      let parent = try #require(restricted["Parent"])
      #expect(restricted["Kid"]?.contains("struct Create") == (place != "Kids"))
      #expect(parent.contains("var kids: ODataRelatedEntities<Kid, ODataAllowed>?") == (place != "Kids"))
      #expect(parent.contains("var ref: ODataRelated<Other, ODataForbidden>?") == (place == "Ref"))
    }
    let deletion = Self.term(
      "NavigationRestrictions", Self.navigation("Kids", "DeleteRestrictions", "Deletable"))
    #expect(try files(Places(set: deletion))["Kid"]?.contains("ODataDeletion = ODataForbidden") == true)
  }

  @Test("a set that creates nothing does not stop a navigation property that says that it does")
  func creatingNavigation() throws {
    let set = Self.term("InsertRestrictions", Self.no("Insertable"))
    let nothing = try files(
      Places(), others: Self.type("Job"), sets: "<EntitySet Name=\"Jobs\" EntityType=\"Shop.Job\">\(set)</EntitySet>"
    )
    #expect(nothing["Job"]?.contains("struct Create") == false)
    let yes = Self.term("InsertRestrictions", "<PropertyValue Property=\"Insertable\" Bool=\"true\"/>")
    let list = "<NavigationProperty Name=\"Jobs\" Type=\"Collection(Shop.Job)\">\(yes)</NavigationProperty>"
    let some = try files(
      Places(), others: Self.type("Job") + Self.type("List", list),
      sets: "<EntitySet Name=\"Jobs\" EntityType=\"Shop.Job\">\(set)</EntitySet>")
    #expect(some["Job"]?.contains("struct Create") == true)
  }

  @Test("an action with an entity that nothing creates is omitted, whether a set or a navigation property says so")
  func parameters() throws {
    let no = Self.term("InsertRestrictions", Self.no("Insertable"))
    func action(_ name: String, _ type: String) -> String {
      """
      <Action Name="\(name)" IsBound="true"><Parameter Name="it" Type="Shop.Parent"/>
        <Parameter Name="New" Type="\(type)"/></Action>
      """
    }
    let generated = try generateAll(
      try model(
        schema(
          Places(kids: no), others: Self.type("Job") + action("Adopt", "Shop.Kid") + action("Hire", "Shop.Job"),
          sets: "<EntitySet Name=\"Jobs\" EntityType=\"Shop.Job\">\(no)</EntitySet>")))
    #expect(generated.omissions.map(\.name) == ["Shop.Adopt", "Shop.Hire"])
    #expect(!generated.files.contains { $0.name.hasPrefix("Operations") })
    let kid = generated.files.first { $0.name.hasPrefix("Kid.") }
    #expect(kid?.text.contains("struct Create:") == false)
  }

  @Test("properties that a new entity must have are required in a creation")
  func required() throws {
    let set = Self.term("InsertRestrictions", Self.paths("RequiredProperties", "X", "ID", "Kids"))
    let create = try #require(try files(Places(set: set))["Parent"]?.components(separatedBy: "struct Create").last)
    #expect(
      create.contains("id: Int32,\n") && create.contains("x: String,\n") && create.contains("place: Place? = nil"))
  }

  @Test("a required foreign key is optional: a creation can be bound to the entity that it names instead")
  func requiredForeignKeys() throws {
    let set = Self.term("InsertRestrictions", Self.paths("RequiredProperties", "OtherID", "ID", "X"))
    let properties = """
      <Property Name="OtherID" Type="Edm.Int32"/><NavigationProperty Name="Other" Type="Shop.Other">
        <ReferentialConstraint Property="OtherID" ReferencedProperty="ID"/></NavigationProperty>
      """
    let files = try files(
      Places(), others: Self.type("A", properties),
      sets: "<EntitySet Name=\"As\" EntityType=\"Shop.A\">\(set)</EntitySet>")
    let create = try #require(files["A"]?.components(separatedBy: "struct Create").last)
    #expect(create.contains("id: Int32,\n") && create.contains("x: String,\n"))
    #expect(create.contains("otherID: Int32? = nil"))
    #expect(create.contains("other: ODataRelated<Other, ODataAllowed>? = nil"))
  }

  /// What one of two entity sets of a type allows.
  private static func sets(_ first: String, _ second: String) -> String {
    """
    <EntitySet Name="As" EntityType="Shop.A">\(first)</EntitySet>
    <EntitySet Name="Bs" EntityType="Shop.A">\(second)</EntitySet>
    """
  }

  @Test("a set that allows nothing lifts no restriction of another set", arguments: [false, true])
  func otherSets(isReversed: Bool) throws {
    let restricted =
      Self.term(
        "InsertRestrictions", Self.paths("NonInsertableProperties", "X") + Self.paths("RequiredProperties", "Y"))
      + Self.term("UpdateRestrictions", Self.paths("NonUpdatableProperties", "X"))
      + Self.term("FilterRestrictions", Self.paths("NonFilterableProperties", "X"))
      + Self.term("SortRestrictions", Self.paths("NonSortableProperties", "X"))
      + Self.term("ExpandRestrictions", Self.paths("NonExpandableProperties", "Other"))
    let nothing = [
      ("Insert", "Insertable"), ("Update", "Updatable"), ("Filter", "Filterable"), ("Sort", "Sortable"),
      ("Expand", "Expandable"),
    ].map { Self.term($0.0 + "Restrictions", Self.no($0.1)) }.joined()
    let others = Self.type(
      "A", "<Property Name=\"Y\" Type=\"Edm.String\"/><NavigationProperty Name=\"Other\" Type=\"Shop.Other\"/>")
    func type(_ other: String) throws -> [String] {
      let sets = isReversed ? Self.sets(other, restricted) : Self.sets(restricted, other)
      let text = try #require(try files(Places(), others: others, sets: sets)["A"])
      let parts = text.components(separatedBy: "  struct ")
      try #require(parts.count == 5)
      return parts
    }
    let parts = try type(nothing)
    #expect(parts[0].contains("let x: String?\n") && parts[0].contains("var y: String? {"))
    #expect(parts[2].contains("var x: Unsortable<Unfilterable<Field<String>>>"))
    #expect(parts[2].contains("var y: Field<String>") && parts[2].contains("UnexpandableNavigation<Other>"))
    #expect(!parts[3].contains("var x:") && parts[3].contains(" y: String,"), "\(parts[3])")
    #expect(!parts[4].contains("var x:") && parts[4].contains("var y:"))
    // A set without restrictions allows everything.
    let free = try type("")
    #expect(free[0].contains("var x: String? {") && free[2].contains("var x: Field<String>"))
    #expect(free[2].contains("var other: Navigation<Other>"))
    #expect(free[3].contains("x: String? = nil") && free[3].contains("y: String? = nil"), "\(free[3])")
  }

  @Test("without deep inserts, a creation is bound to existing entities alone")
  func deepInsert() async throws {
    let support =
      "<Annotation Term=\"Org.OData.Capabilities.V1.DeepInsertSupport\"><Record>\(Self.no("Supported"))</Record></Annotation>"
    for places in [Places(set: support), Places(container: support)] {
      let create = try #require(try files(places)["Parent"]?.components(separatedBy: "struct Create").last)
      #expect(create.contains("var ref: ODataRelated<Other, ODataForbidden>?") && !create.contains("var kids:"))
      #expect(create.contains("var refs: ODataRelatedEntities<Other, ODataForbidden>?"))
    }
    var files = try files(Places(set: support))
    files["right.swift"] = Self.program("ref: .existing(service.others[2]), refs: .existing(service.others[3])")
    #expect(try await Compiler().check(swift(files)).isEmpty)
    files["wrong.swift"] = Self.program("ref: .new(.init(id: 2))", "wrong")
    files["list.swift"] = Self.program("refs: [.init(id: 2)]", "list")
    let errors = try await Compiler().check(swift(files)).filter { $0.kind == "error" }
    #expect(Set(errors.map(\.file)) == ["wrong.swift", "list.swift"], "\(errors)")
  }

  private static func program(_ related: String, _ name: String = "right") -> String {
    """
    import LarderOData
    import LarderService
    func \(name)(_ service: Service) async throws {
      _ = try await service.parents.create(.init(id: 1, \(related)))
    }

    """
  }

  private func swift(_ files: [String: String]) -> [String: String] {
    Dictionary(uniqueKeysWithValues: files.map { ($0.key.hasSuffix(".swift") ? $0.key : $0.key + ".swift", $0.value) })
  }

  @Test("a member of a complex type is no operand if each property of the type says so")
  func complexPaths() throws {
    let set =
      Self.term("FilterRestrictions", Self.paths("NonFilterableProperties", "Place/City"))
      + Self.term("SortRestrictions", Self.paths("NonSortableProperties", "Place/City"))
    let place = try #require(try files(Places(set: set))["Place"])
    #expect(place.contains("var city: Unsortable<Unfilterable<Field<String>>> {"))
    let other = Self.type("Another", "<Property Name=\"Place\" Type=\"Shop.Place\"/>")
    #expect(try files(Places(set: set), others: other)["Place"]?.contains("var city: Field<String> {") == true)
    // Entities of a type that cannot be in filters at all lift no restriction.
    let nothing =
      Self.term("FilterRestrictions", Self.no("Filterable")) + Self.term("SortRestrictions", Self.no("Sortable"))
    let closed = try files(
      Places(set: set), others: other,
      sets: "<EntitySet Name=\"Anothers\" EntityType=\"Shop.Another\">\(nothing)</EntitySet>")
    #expect(closed["Place"]?.contains("var city: Unsortable<Unfilterable<Field<String>>> {") == true)
  }
}
