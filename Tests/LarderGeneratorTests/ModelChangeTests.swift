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
        "added Order.Create.note: String", "added Order.Update: structure", "added Order.Update.note: String",
        "added Order.note: String? (assignable)",
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
}
