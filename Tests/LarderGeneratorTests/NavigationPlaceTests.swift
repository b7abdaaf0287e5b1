import Foundation
import LarderOData
import Testing

@testable import LarderGenerator

/// Restrictions of the entities behind a navigation property. They count before those of the entities' set (Capabilities
/// vocabulary, `NavigationPropertyRestriction`), so such a path is one more place where entities of the type are.
@Suite("Restrictions behind navigation properties", .timeLimit(.minutes(1)))
struct NavigationPlaceTests {
  private let key = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"

  /// The annotations or the properties of a record, `InsertRestrictions` and the like, with their content.
  private func restrictions(_ contents: KeyValuePairs<String, String>, inRecord: Bool) -> String {
    contents.map { name, content in
      inRecord
        ? "<PropertyValue Property=\"\(name)\"><Record>\(content)</Record></PropertyValue>"
        : "<Annotation Term=\"Org.OData.Capabilities.V1.\(name)\"><Record>\(content)</Record></Annotation>"
    }.joined()
  }

  private func record(_ path: String, _ contents: KeyValuePairs<String, String>) -> String {
    """
    <Annotation Term="Org.OData.Capabilities.V1.NavigationRestrictions"><Record>
    <PropertyValue Property="RestrictedProperties"><Collection><Record>
      <PropertyValue Property="NavigationProperty" NavigationPropertyPath="\(path)"/>
      \(restrictions(contents, inRecord: true))
    </Record></Collection></PropertyValue></Record></Annotation>
    """
  }

  private func value(_ name: String, _ isAllowed: Bool) -> String {
    "<PropertyValue Property=\"\(name)\" Bool=\"\(isAllowed)\"/>"
  }

  private func list(_ name: String, _ path: String) -> String {
    "<PropertyValue Property=\"\(name)\"><Collection><PropertyPath>\(path)</PropertyPath></Collection></PropertyValue>"
  }

  /// The notes of trips, whose own set allows nothing and has lists for each kind of change.
  private func note(trips: String = "", annotations: String = "") throws -> String {
    let set = restrictions(
      [
        "InsertRestrictions": value("Insertable", false) + list("NonInsertableProperties", "X")
          + list("RequiredProperties", "Y"),
        "UpdateRestrictions": value("Updatable", false), "DeleteRestrictions": value("Deletable", false),
        "SortRestrictions": value("Sortable", false),
      ], inRecord: false)
    let files = try generate(
      try model(
        """
        <EntityType Name="Trip">\(key)<NavigationProperty Name="Notes" Type="Collection(Shop.Note)"/></EntityType>
        <EntityType Name="Note">\(key)<Property Name="X" Type="Edm.String"/><Property Name="Y" Type="Edm.String"/>
          </EntityType>
        <EntityContainer Name="C"><EntitySet Name="Trips" EntityType="Shop.Trip">\(trips)</EntitySet>
          <EntitySet Name="Notes" EntityType="Shop.Note">\(set)</EntitySet></EntityContainer>\(annotations)
        """))
    return try #require(files["Note"])
  }

  /// The body of a structure that a generated type contains; nil if it has none.
  private func structure(_ name: String, in text: String) -> String? {
    let parts = text.components(separatedBy: "struct \(name):")
    return parts.count == 2 ? parts[1].components(separatedBy: "\n  }\n").first : nil
  }

  @Test("a long path through properties that several derived types declare ends")
  func longPath() throws {
    let navigation = "<NavigationProperty Name=\"N\" Type=\"Collection(Shop.Base)\"/>"
    let derived = ["A", "B", "D"].map { "<EntityType Name=\"\($0)\" BaseType=\"Shop.Base\">\(navigation)</EntityType>" }
    let path = Array(repeating: "N", count: 60).joined(separator: "/")
    let files = try generate(
      try model(
        """
        <EntityType Name="Base">\(key)</EntityType>\(derived.joined())
        <EntityContainer Name="C"><EntitySet Name="Bases" EntityType="Shop.Base">
          \(record(path, ["InsertRestrictions": value("Insertable", false)]))</EntitySet></EntityContainer>
        """))
    #expect(files["Base"] != nil)
  }

  @Test("changes that a navigation property allows have the lists of the property, not those of the set")
  func changes() throws {
    let allowed = try note(
      trips: record(
        "Notes",
        [
          "InsertRestrictions": value("Insertable", true),
          "UpdateRestrictions": value("Updatable", true) + list("NonUpdatableProperties", "X"),
          "DeleteRestrictions": value("Deletable", true), "SortRestrictions": "",
        ]))
    let create = try #require(structure("Create", in: allowed))
    #expect(create.contains("var x: String?") && create.contains("var y: String?"), "\(create)")
    let update = try #require(structure("Update", in: allowed))
    #expect(!update.contains("var x:") && update.contains("var y:"), "\(update)")
    #expect(!allowed.contains("ODataDeletion = ODataForbidden"))
    #expect(!allowed.contains("Unsortable"))
  }

  @Test("changes that a navigation property does not describe are those that the set allows")
  func otherKinds() throws {
    for trips in ["", record("Notes", ["InsertRestrictions": value("Insertable", false)])] {
      let forbidden = try note(trips: trips)
      #expect(structure("Create", in: forbidden) == nil && structure("Update", in: forbidden) == nil)
      #expect(forbidden.contains("ODataDeletion = ODataForbidden") && forbidden.contains("Unsortable"))
    }
    let created = try note(trips: record("Notes", ["InsertRestrictions": ""]))
    #expect(structure("Create", in: created) != nil && structure("Update", in: created) == nil)
    #expect(created.contains("ODataDeletion = ODataForbidden"))
    let update = restrictions(["UpdateRestrictions": ""], inRecord: false)
    let updated = try note(annotations: "<Annotations Target=\"Shop.C/Trips/Notes\">\(update)</Annotations>")
    #expect(structure("Create", in: updated) == nil && structure("Update", in: updated) != nil)
  }

  @Test("an annotation of the property in its set counts before NavigationRestrictions")
  func order() throws {
    let no = restrictions(["InsertRestrictions": value("Insertable", false)], inRecord: false)
    let text = try note(
      trips: record("Notes", ["InsertRestrictions": value("Insertable", true)]),
      annotations: "<Annotations Target=\"Shop.C/Trips/Notes\">\(no)</Annotations>")
    #expect(structure("Create", in: text) == nil)
  }

  // OData CSDL 4.01 §14.4.1.6: a path to a property of a derived type contains the type.
  @Test(
    "a path to a navigation property of a derived type contains the type",
    arguments: [
      ("Shop.Dog/Toys", "", ["Toy"]), ("Shop.Dog/Toys/Parts", "", ["Part"]), ("Shop.Cat/Toys", "", ["Mouse"]),
      ("", "Shop.C/Pets/Shop.Dog/Toys", ["Toy"]), ("Parts", "", []),
    ])
  func casts(path: String, target: String, expected: [String]) throws {
    let no = restrictions(["InsertRestrictions": value("Insertable", false)], inRecord: false)
    let yes = restrictions(["InsertRestrictions": value("Insertable", true)], inRecord: false)
    let pets = record(path, ["InsertRestrictions": value("Insertable", true)])
    let files = try generate(
      try model(
        """
        <EntityType Name="Pet" Abstract="true">\(key)</EntityType>
        <EntityType Name="Dog" BaseType="Shop.Pet"><NavigationProperty Name="Toys" Type="Collection(Shop.Toy)"/></EntityType>
        <EntityType Name="Cat" BaseType="Shop.Pet"><NavigationProperty Name="Toys" Type="Collection(Shop.Mouse)"/>
          </EntityType>
        <EntityType Name="Toy">\(key)<NavigationProperty Name="Parts" Type="Collection(Shop.Part)"/></EntityType>
        <EntityType Name="Mouse">\(key)</EntityType><EntityType Name="Part">\(key)</EntityType>
        <EntityContainer Name="C"><EntitySet Name="Pets" EntityType="Shop.Pet">\(path.isEmpty ? "" : pets)</EntitySet>
          <EntitySet Name="Toys" EntityType="Shop.Toy">\(no)</EntitySet>
          <EntitySet Name="Mice" EntityType="Shop.Mouse">\(no)</EntitySet>
          <EntitySet Name="Parts" EntityType="Shop.Part">\(no)</EntitySet></EntityContainer>
        \(target.isEmpty ? "" : "<Annotations Target=\"\(target)\">\(yes)</Annotations>")
        """))
    let children = ["Toy", "Mouse", "Part"].filter { files[$0]?.contains("struct Create:") == true }
    #expect(children == expected)
  }
}
