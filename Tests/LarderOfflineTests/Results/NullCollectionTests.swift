import Foundation
import LarderOData
import LarderService
import LarderStorage
import Testing

@testable import LarderOffline

/// A collection is never null: it is empty (OData JSON Format 4.01 §7.4; CSDL 4.01 §7.2.1: a collection property never has
/// the value null).
@Suite("Collections are never null", .timeLimit(.minutes(1)))
struct NullCollectionTests {
  private static let model = ReplicaRig.v4(
    """
    <ComplexType Name="Reach"><Property Name="City" Type="Edm.String"/>
      <Property Name="Phones" Type="Collection(Edm.String)"/></ComplexType>
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
      <Property Name="Tags" Type="Collection(Edm.String)"/><Property Name="Home" Type="N.Reach"/>
      <Property Name="Places" Type="Collection(N.Reach)"/>
      <NavigationProperty Name="Friend" Type="N.Person"/></EntityType>
    <EntityType Name="Chief" BaseType="N.Person"><Property Name="Titles" Type="Collection(Edm.String)"/></EntityType>
    """,
    container: """
      <EntitySet Name="People" EntityType="N.Person"><NavigationPropertyBinding Path="Friend" Target="People"/></EntitySet>
      """)

  struct Person: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey { case id = "ID", tags = "Tags", home = "Home", places = "Places" }
    struct Reach: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case phones = "Phones" }
      var phones: [String]
    }
    var id: Int
    var tags: [String]
    var home: Reach?
    var places: [Reach]
  }

  /// 1 was sent without collections, 2 with nulls for them, 3 was created locally, 4 replaced locally, 5 has all.
  private func rig() async throws -> ChangeRig {
    let rig = try await ChangeRig(Self.model)
    try await rig.rows.load(
      "People",
      """
      {"value":[{"ID":1,"Name":"a","Home":{"City":"Ulm"}},
       {"ID":2,"Name":"b","Tags":null,"Home":null,"Places":null},
       {"ID":4,"Name":"d","Tags":["x"],"Home":{"City":"Bonn","Phones":["1"]},"Places":[{"City":"Rom","Phones":["2"]}]},
       {"ID":5,"Name":"e","Tags":["x","y"],"Home":{"City":"Bonn","Phones":["1"]},
        "Places":[{"City":"Rom","Phones":null}],"@odata.type":"#N.Chief"}]}
      """)
    try await rig.create("People", [ODataProperty("ID", .int32(3)), ODataProperty("Name", .string("c"))])
    try await rig.update("People(4)", [ODataProperty("Name", .string("new"))], .replace)
    return rig
  }

  @Test("A missing collection is [] in results, in V4 and in verbose JSON")
  func responses() async throws {
    let rig = try await rig()
    #expect(
      try await rig.read("People?$select=ID,Tags,Places&$orderby=ID")
        == #"{"value":[{"ID":1,"Tags":[],"Places":[]},{"ID":2,"Tags":[],"Places":[]},{"ID":3,"Tags":[],"Places":[]},"#
        + #"{"ID":4,"Tags":[],"Places":[]},{"ID":5,"Tags":["x","y"],"Places":[{"City":"Rom","Phones":[]}]}]}"#)
    #expect(
      try await rig.read("People?$select=ID,Home&$orderby=ID")
        == #"{"value":[{"ID":1,"Home":{"City":"Ulm","Phones":[]}},{"ID":2,"Home":null},{"ID":3,"Home":null},"#
        + #"{"ID":4,"Home":null},{"ID":5,"Home":{"City":"Bonn","Phones":["1"]}}]}"#)
    #expect(try await rig.read("People(3)") == #"{"ID":3,"Name":"c","Tags":[],"Home":null,"Places":[]}"#)
    var verbose = OfflineODataResultOptions()
    verbose.version = .v2
    let text = String(decoding: try await rig.store.json("People(3)?$select=Tags", verbose).bytes, as: UTF8.self)
    #expect(text.contains(#""Tags":"#) && !text.contains(#""Tags":null"#), "\(text)")
  }

  @Test(
    "A path to a missing collection returns an empty one",
    arguments: [
      ("People(1)/Tags", #"{"value":[]}"#), ("People(2)/Tags", #"{"value":[]}"#),
      ("People(3)/Places", #"{"value":[]}"#),
      ("People(4)/Tags/$count", "0"), ("People(1)/Home/Phones", #"{"value":[]}"#),
      ("People(1)/Home/Phones/$count", "0"),
      ("People(3)/Tags?$filter=$this%20eq%20'x'", #"{"value":[]}"#), ("People(5)/Tags/$count", "2"),
      ("People(5)/N.Chief/Titles", #"{"value":[]}"#),
    ])
  func paths(_ path: String, _ expected: String) async throws {
    #expect(try await rig().read(path) == expected)
  }

  @Test("A collection inside a null complex value, or one of another type, is not an empty collection")
  func absentOwners() async throws {
    let rig = try await rig()
    #expect(try await rig.read("People(2)/Home/Phones").isEmpty)
    #expect(try await rig.read("People(1)/N.Chief/Titles").isEmpty)
  }

  @Test(
    "Conditions see an empty collection",
    arguments: [
      ("Tags/$count eq 0", [1, 2, 3, 4]), ("Tags/any()", [5]),
      ("not Tags/any()", [1, 2, 3, 4]), ("Tags/all(t:t eq 'q')", [1, 2, 3, 4]), ("length(Tags) eq 0", [1, 2, 3, 4]),
      ("Tags eq []", [1, 2, 3, 4]), ("Tags ne []", [5]), ("hassubset(Tags,[])", [1, 2, 3, 4, 5]),
      ("concat(Tags,['z']) eq ['z']", [1, 2, 3, 4]), ("not (Tags eq ['x'])", [1, 2, 3, 4, 5]),
      ("Places/$count eq 0", [1, 2, 3, 4]), ("Places/any(p:p/Phones/any())", []),
      ("Places/any(p:p/Phones/$count eq 0)", [5]), ("Home/Phones/$count eq 0", [1, 2, 3, 4]),
      ("Home/Phones eq []", [1]), ("'x' in Tags", [5]),
      ("not ('x' in Tags)", [1, 2, 3, 4]),
      ("N.Chief/Titles eq []", [5]),
    ] as [(String, [Int])])
  func conditions(_ filter: String, _ expected: [Int]) async throws {
    let encoded = filter.replacing(" ", with: "%20").replacing("'z'", with: "\"z\"").replacing("['x']", with: "[\"x\"]")
      .replacing("\"", with: "%22")
    let text = try await rig().read("People?$select=ID&$orderby=ID&$filter=" + encoded)
    let list = expected.map { #"{"ID":\#($0)}"# }.joined(separator: ",")
    #expect(text == #"{"value":[\#(list)]}"#)
  }

  @Test("Decodable types receive an empty array")
  func decoded() async throws {
    let store = try await rig().store
    let people = try await store.executeQuery("People?$orderby=ID", OfflineODataResultOptions()) { run, connection in
      try run.read([Person].self, connection)
    }
    #expect(people?.map(\.tags) == [[], [], [], [], ["x", "y"]])
    #expect(people?.map { $0.places.map(\.phones) } == [[], [], [], [], [[]]])
    #expect(people?.map { $0.home?.phones } == [[], nil, nil, nil, ["1"]])
    let tags = try await store.executeQuery("People(3)/Tags", OfflineODataResultOptions()) { run, connection in
      try run.read([String].self, connection)
    }
    #expect(tags == [])
  }

  @Test("The request for a new entity omits collections that were not given")
  func sent() async throws {
    let queue = try await rig().queue()
    #expect(queue.count == 2)
    #expect(queue.allSatisfy { !$0.contains("Tags") && !$0.contains("Places") }, "\(queue)")
  }
}
