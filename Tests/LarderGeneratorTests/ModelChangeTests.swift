import LarderOData
import Testing

@testable import LarderGenerator

@Suite("Changes of a model for generated code", .timeLimit(.minutes(5)))
struct ModelChangeTests {
  private func changes(_ old: String, _ new: String) throws -> [String] {
    try ModelChange.changes(
      from: try model(old), to: try model(new), options: GeneratorOptions(documentName: "")
    ).map(\.description)
  }

  private func type(_ properties: String) -> String {
    "<EntityType Name=\"Order\"><Key><PropertyRef Name=\"ID\"/></Key>"
      + "<Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>\(properties)</EntityType>"
  }

  @Test("equal models have no changes; a property that may be absent is no breaking change")
  func additions() throws {
    #expect(try changes(type(""), type("")).isEmpty)
    #expect(
      try changes(type(""), type("<Property Name=\"Note\" Type=\"Edm.String\"/>")) == [
        "changed Order conformances: ODataVersioned, Identifiable, ODataCreatable, "
          + "now ODataTracked, Identifiable, ODataCreatable",
        "added Order.Create.note: String", "added Order.Update: structure", "added Order.note: String? (assignable)",
      ])
  }

  @Test("what is removed, has another type or becomes required is breaking")
  func breaking() throws {
    let note = type("<Property Name=\"Note\" Type=\"Edm.String\"/>")
    #expect(try changes(note, type("")).contains("removed Order.note: String? (assignable) (breaking)"))
    let required = type("<Property Name=\"Note\" Type=\"Edm.Int64\" Nullable=\"false\"/>")
    #expect(
      try changes(note, required).contains(
        "changed Order.note: String? (assignable), now Int64 (assignable) (breaking)"))
    #expect(try changes(note, required).contains("changed Order.Create.note: String, now required Int64 (breaking)"))
    #expect(try changes(type(""), required).contains("added Order.Create.note: required Int64 (breaking)"))
    let enumeration = "<EnumType Name=\"Status\"><Member Name=\"Open\"/><Member Name=\"Done\"/></EnumType>"
    let fewer = "<EnumType Name=\"Status\"><Member Name=\"Open\"/></EnumType>"
    #expect(try changes(enumeration, fewer) == ["removed Status.done: member (breaking)"])
  }

  @Test("members of a declaration that is added or removed are not listed")
  func wholeDeclarations() throws {
    let enumeration = "<EnumType Name=\"Status\"><Member Name=\"Open\"/></EnumType>"
    let note = type("<Property Name=\"Note\" Type=\"Edm.String\"/>")
    #expect(try changes(enumeration, note) == ["added Order: entity type", "removed Status: enumeration (breaking)"])
  }

  @Test("methods of operations are compared")
  func operations() throws {
    func schema(_ type: String, _ names: String...) -> String {
      self.type("")
        + names.map { name in
          """
          <Function Name="\(name)"><Parameter Name="at" Type="\(type)" Nullable="false"/><ReturnType Type="Shop.Order"/></Function>
          <Action Name="\(name)It" IsBound="true"><Parameter Name="it" Type="Collection(Shop.Order)"/></Action>
          """
        }.joined() + "<EntityContainer Name=\"C\"><EntitySet Name=\"Orders\" EntityType=\"Shop.Order\"/>"
        + names.map { "<FunctionImport Name=\"\($0)\" Function=\"Shop.\($0)\"/>" }.joined() + "</EntityContainer>"
    }
    #expect(
      try changes(schema("Edm.Int32", "Find", "Last"), schema("Edm.Int64", "Find", "New")) == [
        "changed C.find(at:): (Int32) -> Order?, now (Int64) -> Order? (breaking)",
        "removed C.last(at:): (Int32) -> Order? (breaking)", "added C.new(at:): (Int64) -> Order?",
        "removed [Order].lastIt(): () -> Void (breaking)", "added [Order].newIt(): () -> Void",
      ])
  }

  @Test("a restriction is breaking where it is added, not where it is removed")
  func restrictions() throws {
    func schema(_ annotation: String) -> String {
      type("")
        + "<EntityContainer Name=\"C\"><EntitySet Name=\"Orders\" EntityType=\"Shop.Order\">\(annotation)</EntitySet></EntityContainer>"
    }
    let restricted = schema(
      """
      <Annotation Term="Org.OData.Capabilities.V1.FilterRestrictions"><Record>
        <PropertyValue Property="Filterable" Bool="false"/></Record></Annotation>
      """)
    #expect(try changes(schema(""), restricted) == ["added Order.id in filters: not allowed (breaking)"])
    #expect(try changes(restricted, schema("")) == ["removed Order.id in filters: not allowed"])
  }

  @Test("a creation has related entities, new or existing; deletions and expansions can be restricted")
  func relatedAndRestricted() throws {
    let next = type("<NavigationProperty Name=\"Next\" Type=\"Shop.Order\"/>")
    #expect(try changes(type(""), next).first == "added Order.Create.next: ODataRelated<Order, ODataAllowed>")
    let set = "<EntityContainer Name=\"C\"><EntitySet Name=\"Orders\" EntityType=\"Shop.Order\">"
    let restrictions = """
      <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
        <PropertyValue Property="Deletable" Bool="false"/></Record></Annotation>
      <Annotation Term="Org.OData.Capabilities.V1.ExpandRestrictions"><Record>
        <PropertyValue Property="Expandable" Bool="false"/></Record></Annotation>
      """
    let end = "</EntitySet></EntityContainer>"
    #expect(
      try changes(next + set + end, next + set + restrictions + end) == [
        "added Order in deletions: not allowed (breaking)", "added Order.next in expansions: not allowed (breaking)",
      ])
  }

  @Test("a pattern without a match in one of the models selects nothing there")
  func patterns() throws {
    let (order, other) = (type(""), "<ComplexType Name=\"Other\"/>")
    let options = GeneratorOptions(only: [NamePattern("Order")], documentName: "")
    let changes = try ModelChange.changes(from: try model(other), to: try model(order), options: options)
    #expect(changes.map(\.description) == ["added Order: entity type"])
    #expect(ModelChange.unmatchedPatterns(in: try model(other), options: options) == ["Order"])
  }

  private func complex(_ properties: String...) -> String {
    "<ComplexType Name=\"Name\">\(properties.joined())</ComplexType>"
  }

  private func text(_ name: String, _ facets: String = "") -> String {
    "<Property Name=\"\(name)\" Type=\"Edm.String\" \(facets)/>"
  }

  @Test("the order of an initializer's parameters, and a parameter that becomes necessary, are breaking")
  func initializers() throws {
    let (first, last) = (text("First"), text("Last"))
    #expect(
      try changes(complex(first, last), complex(last, first)) == [
        "changed Name.init: first, last, now last, first (breaking)"
      ])
    #expect(
      try changes(type(first + last), type(last + first)) == [
        "changed Order.Create.init: id, first, last, now id, last, first (breaking)",
        "changed Order.Update.init: first, last, now last, first (breaking)",
        "changed Order.init: required id, first, last, now required id, last, first (breaking)",
      ])
    let zip = text("Zip", "Nullable=\"false\"")
    #expect(
      try changes(complex(first), complex(first, zip)) == [
        "changed Name.init: first, now first, required zip (breaking)", "added Name.zip: String (assignable)",
      ])
    // Calls leave out the label of a property that may be absent; one that is gone is listed itself.
    #expect(try changes(complex(first), complex(last, first)) == ["added Name.last: String? (assignable)"])
    #expect(try changes(complex(last, first), complex(first)) == ["removed Name.last: String? (assignable) (breaking)"])
    #expect(
      try changes(complex(first), complex(text("First", "Nullable=\"false\""))) == [
        "changed Name.first: String? (assignable), now String (assignable) (breaking)",
        "changed Name.init: first, now required first (breaking)",
      ])
    let open = complex(first).replacing("Name=\"Name\"", with: "Name=\"Name\" OpenType=\"true\"")
    #expect(try changes(complex(first), open) == ["added Name.odataDynamic: ODataDynamicProperties (assignable)"])
  }

  @Test("bytes that entities get or lose change the protocols of the type, and are breaking")
  func media() throws {
    let note = type(text("Note"))
    let media = note.replacing("Name=\"Order\"", with: "Name=\"Order\" HasStream=\"true\"")
    #expect(
      try changes(note, media) == [
        "changed Order conformances: ODataTracked, Identifiable, ODataCreatable, "
          + "now ODataTracked, Identifiable, ODataMediaEntity (breaking)",
        "removed Order.Create: structure (breaking)",
      ])
    #expect(
      try changes(media, note) == [
        "changed Order conformances: ODataTracked, Identifiable, ODataMediaEntity, "
          + "now ODataTracked, Identifiable, ODataCreatable (breaking)",
        "added Order.Create: structure",
      ])
    let set = "<EntityContainer Name=\"C\"><EntitySet Name=\"Orders\" EntityType=\"Shop.Order\">"
    let restriction = """
      <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
        <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
      """
    let end = "</EntitySet></EntityContainer>"
    #expect(
      try changes(media + set + end, media + set + restriction + end) == [
        "added Order in creations from bytes: not allowed (breaking)"
      ])
  }

  @Test("an enumeration that becomes flags, or flags that become an enumeration, is breaking")
  func flags() throws {
    let single = "<EnumType Name=\"Status\"><Member Name=\"Open\"/></EnumType>"
    let flags = single.replacing("Name=\"Status\"", with: "Name=\"Status\" IsFlags=\"true\"")
    #expect(try changes(single, flags) == ["changed Status: enumeration, now flags (breaking)"])
    #expect(try changes(flags, single) == ["changed Status: flags, now enumeration (breaking)"])
  }

  @Test("another base type, or none, is breaking; a first one is not")
  func baseTypes() throws {
    func schema(_ base: String) -> String {
      "<EntityType Name=\"A\"/><EntityType Name=\"B\"/><EntityType Name=\"C\"/><EntityType Name=\"X\" BaseType=\"Shop.C\"/>"
        + "<EntityType Name=\"Y\" BaseType=\"Shop.B\"/><EntityType Name=\"Z\" \(base)/>"
    }
    let (b, c) = ("BaseType=\"Shop.B\"", "BaseType=\"Shop.C\"")
    #expect(
      try changes(schema(b), schema(c)) == [
        "changed Z: entity type derived from B, now entity type derived from C (breaking)"
      ])
    #expect(try changes(schema(b), schema("")) == ["changed Z: entity type derived from B, now entity type (breaking)"])
    #expect(try changes(schema(""), schema(b)) == ["changed Z: entity type, now entity type derived from B"])
  }

  @Test("an entity type that becomes a complex type, or the reverse, is breaking, with a base type too")
  func kindsOfTypes() throws {
    let entity = "<EntityType Name=\"A\"/><ComplexType Name=\"B\"/><EntityType Name=\"Z\"/>"
    let complex = "<EntityType Name=\"A\"/><ComplexType Name=\"B\"/><ComplexType Name=\"Z\"/>"
    func derived(_ schema: String, _ base: String) -> String {
      schema.replacing("Name=\"Z\"", with: "Name=\"Z\" BaseType=\"Shop.\(base)\"")
    }
    #expect(try changes(entity, complex).contains("changed Z: entity type, now complex type (breaking)"))
    #expect(
      try changes(entity, derived(complex, "B")).contains(
        "changed Z: entity type, now complex type derived from B (breaking)"))
    #expect(
      try changes(complex, derived(entity, "A")).contains(
        "changed Z: complex type, now entity type derived from A (breaking)"))
    #expect(
      try changes(complex, derived(complex, "B")).contains("changed Z: complex type, now complex type derived from B"))
  }

  @Test("a property that can only be assigned now is no breaking change, one that cannot be any more is")
  func assignable() throws {
    func schema(_ annotation: String) -> String {
      type(
        text("Other")
          + "<Property Name=\"Note\" Type=\"Edm.String\">\(annotation)</Property>")
    }
    let immutable = schema("<Annotation Term=\"Org.OData.Core.V1.Immutable\"/>")
    #expect(
      try changes(immutable, schema("")) == [
        "added Order.Update.note: String", "changed Order.note: String?, now String? (assignable)",
      ])
    #expect(
      try changes(schema(""), immutable) == [
        "removed Order.Update.note: String (breaking)",
        "changed Order.note: String? (assignable), now String? (breaking)",
      ])
  }
}
