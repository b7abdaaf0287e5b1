import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: changes of the model that change no entity", .timeLimit(.minutes(1)))
struct HarmlessModelChangeTests {
  static let before = ReplicaRig.v4(
    """
    <ComplexType Name="CT"><Property Name="t" Type="Edm.String"/></ComplexType>
    <ComplexType Name="CD" BaseType="N.CT"><Property Name="u" Type="Edm.String"/></ComplexType>
    <EnumType Name="E"><Member Name="A"/></EnumType>
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="N" Type="Edm.String"/><Property Name="C" Type="N.CT"/><Property Name="Cs" Type="Collection(N.CT)"/>
    <Property Name="E" Type="N.E"/><Property Name="Old" Type="Edm.String"/></EntityType>
    <EntityType Name="D" BaseType="N.P"><Property Name="X" Type="Edm.String"/></EntityType>
    """, container: "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/>")

  static let row =
    ##""ID":1,"N":"n","C":{"@odata.type":"#N.CD","t":"a","u":"b"},"Cs":[{"@odata.type":"#N.CD","t":"c","u":"d"}],"E":"A","Old":"o""##

  /// A change of the model, and the row that the service returns then.
  static let changes: [(String, String, String)] = [
    (
      "a property is added",
      before.replacing(#"<Property Name="N" "#, with: #"<Property Name="Y" Type="Edm.String"/><Property Name="N" "#),
      row + #","Y":"y""#
    ),
    ("a property is removed", before.replacing(#"<Property Name="Old" Type="Edm.String"/>"#, with: ""), row),
    (
      "a complex type has another property",
      before.replacing(#"<Property Name="t" "#, with: #"<Property Name="z" Type="Edm.String"/><Property Name="t" "#),
      row.replacing(#""t":"a""#, with: #""z":"z","t":"a""#)
    ),
    (
      "a derived type is added, with a property of the same name",
      before.replacing(
        #"<EntityType Name="D" "#,
        with:
          #"<EntityType Name="B" BaseType="N.P"><Property Name="X" Type="Edm.Int32"/></EntityType><EntityType Name="D" "#
      ),
      row
    ),
    (
      "a type is wider",
      before.replacing(#"Name="N" Type="Edm.String""#, with: #"Name="N" Type="Edm.String" MaxLength="9""#), row
    ),
    (
      "the namespace has another name",
      before.replacing("Namespace=\"N\"", with: "Namespace=\"M\"").replacing("N.", with: "M."),
      row.replacing("#N.", with: "#M.")
    ),
    (
      "an enumeration has another member",
      before.replacing(#"<Member Name="A"/>"#, with: #"<Member Name="B" Value="4"/><Member Name="A" Value="0"/>"#),
      row
    ),
  ]

  @Test(
    "Without ETags, a pending update does not conflict with it, neither then nor after the next download",
    arguments: changes, ["", ##""@odata.type":"#N.D","X":"x","##])
  func noConflict(change: (name: String, model: String, row: String), type: String) async throws {
    let rig = try await ChangeRig(Self.before)
    try await rig.rows.load("Ps", "{\"value\":[{\(type)\(Self.row)}]}")
    try await rig.update("Ps(1)", [.init("N", .string("mine"))])
    let migration = try await rig.rows.replica.adopt(metadata: Array(change.model.utf8))
    #expect(migration.unfitting == 0)
    let namespace = change.model.contains("Namespace=\"M\"") ? "#M." : "#N."
    let row = "{\"value\":[{\(type.replacing("#N.", with: namespace))\(change.row)}]}"
    // Before the service's rows are read again, after that, and after a change made in between.
    #expect(try await failures(rig) == [])
    try await rig.update("Ps(1)", [.init("E", .null)])
    let outcome = try await rig.rows.load("Ps", row)
    #expect(outcome.noticed == [])
    #expect(try await failures(rig) == [])
    #expect(try await rig.read("Ps?$select=N,E") == ##"{"value":[{"N":"mine","E":null}]}"##)
    // Another client's change is still a conflict.
    let later = try await rig.rows.load("Ps", row.replacing("\"n\"", with: "\"theirs\""))
    #expect(later.noticed.map(\.requestID) == [1])
  }

  @Test("A row that is changed between the new model and its next download does not conflict either, with two queries")
  func between() async throws {
    let rig = try await ChangeRig(Self.before)
    for query in ["a", "b"] {
      try await rig.rows.download(query, "Ps", pages: ["{\"value\":[{\(Self.row)}]}"])
    }
    let (_, model, row) = Self.changes[0]
    _ = try await rig.rows.replica.adopt(metadata: Array(model.utf8))
    try await rig.update("Ps(1)", [.init("N", .string("mine"))])
    let outcome = try await rig.rows.download("a", "Ps", pages: ["{\"value\":[{\(row)}]}"])
    #expect(outcome.noticed == [])
    #expect(try await failures(rig) == [])
  }

  private func failures(_ rig: ChangeRig) async throws -> [String] {
    try await RetypedPropertyTests.entries(rig).compactMap { $0.failure?.message }
  }
}
