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
    #expect(try changes(type(""), next).first == "added Order.Create.next: ODataRelated<Order>")
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
}
