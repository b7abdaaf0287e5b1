import Foundation
import LarderOData
import Testing

@testable import LarderGenerator

/// `Core.Permissions` of properties (Core vocabulary, `Permission`).
@Suite("Permissions of properties", .timeLimit(.minutes(5)))
struct PermissionTests {
  @Test(
    "members are read by name or value, one or several; a text with an unknown one allows everything",
    arguments: [
      ("Org.OData.Core.V1.Permission/None", false, false), ("Org.OData.Core.V1.Permission/Read", true, false),
      ("Org.OData.Core.V1.Permission/Write", false, true), ("Org.OData.Core.V1.Permission/ReadWrite", true, true),
      ("Core.Permission/Write Core.Permission/Read", true, true), ("Core.Permission/Invoke", false, false),
      ("None", false, false), ("Read", true, false), ("Read,Write", true, true), ("0", false, false),
      ("2", false, true),
      ("5", true, false), ("", true, true), ("Core.Permission/Other", true, true),
      ("\n  Core.Permission/Write\n  Core.Permission/Invoke\n", false, true), ("Read\r\nInvoke", true, false),
      ("Write\tInvoke", false, true), ("Write\nOther", true, true), (" \n", true, true),
    ])
  func members(text: String, allowReading: Bool, allowWriting: Bool) {
    let permissions = EdmPermissions(text)
    #expect(permissions.allowReading == allowReading && permissions.allowWriting == allowWriting)
  }

  private func property(_ name: String, _ type: String, _ permission: String, isNavigation: Bool = false) -> String {
    let element = isNavigation ? "NavigationProperty" : "Property"
    return """
      <\(element) Name="\(name)" Type="\(type)"><Annotation Term="Org.OData.Core.V1.Permissions"
        EnumMember="Org.OData.Core.V1.Permission/\(permission)"/></\(element)>
      """
  }

  private func schema(_ types: String = "") -> String {
    let password = property("Password", "Edm.String", "Write").replacing(
      "<Property", with: "<Property Nullable=\"false\"")
    return """
      <EntityType Name="User"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/>\(password)\(property("Codes", "Collection(Edm.String)", "Write"))
        \(property("Secret", "Edm.String", "None"))\(property("Rank", "Edm.Int32", "Read"))
        \(property("Place", "Shop.Place", "ReadWrite"))\(property("Hidden", "Shop.User", "None", isNavigation: true))
        \(property("Chief", "Shop.User", "Write", isNavigation: true))</EntityType>
      <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/>\(property("Pin", "Edm.String", "Write"))
        \(property("Depth", "Edm.Int32", "None"))</ComplexType>
      <EntityContainer Name="C"><EntitySet Name="Users" EntityType="Shop.User"/></EntityContainer>
      """
  }

  @Test("a property without permissions is not generated, one that is only written is in creations and updates")
  func properties() async throws {
    let generated = try generateAll(try model(schema()))
    #expect(generated.omissions.isEmpty)
    let files = Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
    let user = try #require(files["User.generated.swift"])
    let place = try #require(files["Place.generated.swift"])
    for name in ["secret", "hidden"] { #expect(!user.contains(name), "\(name)") }
    #expect(!place.contains("depth"))
    let parts = user.components(separatedBy: "struct Fields")
    try #require(parts.count == 2)
    // The service does not send it: a value without it can be decoded, and an assignment is sent.
    #expect(parts[0].contains("var password: String? { didSet {") && parts[0].contains("let rank: Int32?"))
    #expect(parts[0].contains("var codes: [String]? { didSet {"))
    #expect(parts[1].contains("var password: Unsortable<Unfilterable<Field<String>>>"))
    #expect(parts[1].contains("var chief: UnexpandableNavigation<User>"))
    let changes = parts[1].components(separatedBy: "struct Update")
    try #require(changes.count == 2)
    #expect(changes[0].contains("password: String,") && changes[1].contains("password: String? = nil"))
    #expect(changes.allSatisfy { !$0.contains("rank: Int32?") })
    // A complex value is sent as a whole, without what was not given.
    #expect(
      place.contains("odataList.set(\"City\", self.city)") && place.contains("odataList.setIfGiven(\"Pin\", self.pin)"))
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test("a key property stays whatever its permissions")
  func keys() throws {
    let key = property("ID", "Edm.Int32", "None")
    let type = "<EntityType Name=\"User\"><Key><PropertyRef Name=\"ID\"/></Key>\(key)</EntityType>"
    let files = try generate(try model(type))
    #expect(files["User"]?.contains("let id: Int32\n") == true)
  }

  /// What an entity set allows, and what makes a property one that the service sets.
  struct SetProperty: Sendable, CustomTestStringConvertible {
    var attributes = ""
    var annotations = ""
    var set = ""
    var type = ""
    let isOptional: Bool
    var testDescription: String { attributes + annotations + set + type }
  }

  // An offline store has nothing in such a property until it has uploaded the entity.
  @Test(
    "a property that the service sets in new entities is optional, though it is not nullable",
    arguments: [
      SetProperty(isOptional: false),
      SetProperty(annotations: "<Annotation Term=\"Org.OData.Core.V1.Computed\"/>", isOptional: true),
      SetProperty(annotations: "<Annotation Term=\"Org.OData.Core.V1.Computed\" Bool=\"false\"/>", isOptional: false),
      SetProperty(annotations: "<Annotation Term=\"Org.OData.Core.V1.ComputedDefaultValue\"/>", isOptional: true),
      SetProperty(
        attributes: "DefaultValue=\"a\"", annotations: "<Annotation Term=\"Org.OData.Core.V1.ComputedDefaultValue\"/>",
        isOptional: false),
      SetProperty(
        annotations: """
          <Annotation Term="Org.OData.Core.V1.Permissions" EnumMember="Org.OData.Core.V1.Permission/Read"/>
          """, isOptional: true),
      SetProperty(
        set: """
          <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
          <PropertyValue Property="NonInsertableProperties"><Collection><PropertyPath>P</PropertyPath></Collection>
          </PropertyValue></Record></Annotation>
          """, isOptional: true),
      // Nothing is created, so every entity has what the service sent.
      SetProperty(
        annotations: "<Annotation Term=\"Org.OData.Core.V1.Computed\"/>",
        set: """
          <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
          <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
          """, isOptional: false),
      // A media entity is created from its bytes alone.
      SetProperty(type: "HasStream=\"true\"", isOptional: true),
    ])
  func setByService(row: SetProperty) throws {
    let type = try #require(
      try generate(
        try model(
          """
          <EntityType Name="T" \(row.type)><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <Property Name="Q" Type="Edm.String"/>
            <Property Name="P" Type="Edm.String" Nullable="false" \(row.attributes)>\(row.annotations)</Property></EntityType>
          <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="Shop.T">\(row.set)</EntitySet></EntityContainer>
          """))["T"])
    let structure = try #require(type.components(separatedBy: "struct Fields").first)
    #expect(structure.contains("p: String?") == row.isOptional && structure.contains("q: String?"), "\(structure)")
    #expect(structure.contains("id: Int32") && !structure.contains("id: Int32?"))
    let update = type.components(separatedBy: "struct Update").dropFirst().first
    #expect(update?.contains("p: String??") != true)
  }

  // The code that decodes a base type copies the members of the derived value.
  @Test("a property that only a derived type gets from the service is optional in all types of the hierarchy")
  func setByServiceInHierarchy() throws {
    let restricted = """
      <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record><PropertyValue Property="Insertable"
      Bool="false"/></Record></Annotation>
      """
    let files = try generate(
      try model(
        """
        <EntityType Name="Base"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="P" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="Scan" BaseType="Shop.Base" HasStream="true">
          <Property Name="Q" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="Other" BaseType="Shop.Base"><Property Name="Q" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Bases" EntityType="Shop.Base">\(restricted)</EntitySet>
          <EntitySet Name="Scans" EntityType="Shop.Scan"/></EntityContainer>
        """))
    for name in ["Base", "Scan", "Other"] {
      let structure = try #require(files[name]?.components(separatedBy: "struct Fields").first)
      #expect(structure.contains("p: String?"), "\(name): \(structure)")
      #expect(structure.contains("q: String?") == (name == "Scan"), "\(name): \(structure)")
    }
  }
}
