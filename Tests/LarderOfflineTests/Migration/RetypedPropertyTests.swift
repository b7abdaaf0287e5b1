import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// A service without ETags retypes a property while changes of it are pending (OData Protocol 4.01 §5.2 allows this only in
/// another version of the service; many do it anyway).
@Suite("Offline store: properties of another type while changes are pending", .timeLimit(.minutes(2)))
struct RetypedPropertyTests {
  static let types = """
    <EnumType Name="E"><Member Name="A" Value="0"/><Member Name="B" Value="1"/></EnumType>
    <ComplexType Name="CT"><Property Name="t" Type="Edm.String"/><Property Name="n" Type="Edm.Int32"/></ComplexType>
    """

  static func model(
    _ type: String, types: String = types, facets: String = "", key: String = "Edm.Int32", more: String = ""
  )
    -> String
  {
    ReplicaRig.v4(
      """
      \(types)<EntityType Name="P"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="\(key)" Nullable="false"/><Property Name="N" Type="\(type)"\(facets)/>\(more)</EntityType>
      """, container: "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/>")
  }

  /// A property before and after, the value that is pending, and what is pending then.
  struct Case: Sendable, CustomTestStringConvertible {
    let old: String
    let new: String
    let mine: ODataValue
    /// The value that is pending under the new model; nil if the change goes to the archive.
    let pending: ODataValue?
    /// What a query returns for it.
    var shown = "null"
    var types = RetypedPropertyTests.types
    var facets = ""

    var testDescription: String { "\(old) to \(new): \(mine)" }
  }

  static func value(_ text: String, _ type: EdmPrimitiveType) -> ODataValue {
    (try? ODataValue(text: text, type: type)) ?? .null
  }
  static let date = value("2020-02-02", .date)
  static let midnight = value("2020-02-02T00:00:00Z", .dateTimeOffset)
  static let noon = value("2020-02-02T12:00:00Z", .dateTimeOffset)
  static let guid = "01234567-89ab-cdef-0123-456789abcdef"
  static func complex(_ number: ODataValue) -> ODataValue {
    .complex(ODataComplexValue(properties: [.init("t", .string("x")), .init("n", number)]))
  }
  static let otherNumbers = types.replacing(#"Name="B" Value="1""#, with: #"Name="B" Value="2""#)
  static let fewerMembers = types.replacing(#"<Member Name="B" Value="1"/>"#, with: "")
  static let otherPart = types.replacing(#"Name="n" Type="Edm.Int32""#, with: #"Name="n" Type="Edm.String""#)
  static let fewerParts = types.replacing(#"<Property Name="n" Type="Edm.Int32"/>"#, with: "")

  static let cases: [Case] = [
    Case(old: "Edm.Int32", new: "Edm.String", mine: .int32(7), pending: .string("7"), shown: "\"7\""),
    Case(old: "Edm.String", new: "Edm.Int32", mine: .string("7"), pending: .int32(7), shown: "7"),
    Case(old: "Edm.String", new: "Edm.Int32", mine: .string("07"), pending: nil),
    Case(old: "Edm.String", new: "Edm.Int32", mine: .string("mine"), pending: nil),
    Case(old: "Edm.String", new: "Edm.Int16", mine: .string("40000"), pending: nil),
    Case(old: "Edm.Int32", new: "Edm.Int64", mine: .int32(7), pending: .int64(7), shown: "7"),
    Case(old: "Edm.Int64", new: "Edm.Int32", mine: .int64(7), pending: .int32(7), shown: "7"),
    Case(old: "Edm.Int64", new: "Edm.Int32", mine: .int64(3_000_000_000), pending: nil),
    Case(old: "Edm.Int64", new: "Edm.Decimal", mine: .int64(7), pending: .decimal(ODataDecimal(7)), shown: "7"),
    Case(old: "Edm.Decimal", new: "Edm.Int32", mine: value("7.0", .decimal), pending: .int32(7), shown: "7"),
    Case(old: "Edm.Decimal", new: "Edm.Int32", mine: value("7.5", .decimal), pending: nil),
    Case(old: "Edm.Decimal", new: "Edm.Double", mine: value("7.5", .decimal), pending: .double(7.5), shown: "7.5"),
    Case(old: "Edm.Double", new: "Edm.Int32", mine: .double(7.5), pending: nil),
    Case(old: "Edm.Boolean", new: "Edm.String", mine: .boolean(false), pending: .string("false"), shown: "\"false\""),
    Case(old: "Edm.String", new: "Edm.Boolean", mine: .string("no"), pending: nil),
    Case(old: "Edm.DateTimeOffset", new: "Edm.Date", mine: midnight, pending: date, shown: "\"2020-02-02\""),
    Case(old: "Edm.DateTimeOffset", new: "Edm.Date", mine: noon, pending: nil),
    Case(old: "Edm.Date", new: "Edm.DateTimeOffset", mine: date, pending: midnight, shown: "\"2020-02-02T00:00:00Z\""),
    Case(
      old: "Edm.Guid", new: "Edm.String", mine: value(guid, .guid), pending: .string(guid), shown: "\"\(guid)\""),
    Case(old: "Edm.String", new: "Edm.Guid", mine: .string(guid), pending: value(guid, .guid), shown: "\"\(guid)\""),
    Case(old: "Edm.String", new: "Edm.Binary", mine: .string("AQID"), pending: nil),
    Case(old: "Edm.String", new: "N.E", mine: .string("B"), pending: .enumeration("B"), shown: "\"B\""),
    Case(old: "Edm.String", new: "N.E", mine: .string("mine"), pending: nil),
    Case(old: "N.E", new: "Edm.String", mine: .enumeration("B"), pending: .string("B"), shown: "\"B\""),
    Case(
      old: "N.E", new: "N.E", mine: .enumeration("B"), pending: .enumeration("B"), shown: "\"B\"", types: otherNumbers),
    Case(old: "N.E", new: "N.E", mine: .enumeration("B"), pending: nil, types: fewerMembers),
    Case(
      old: "N.CT", new: "N.CT", mine: complex(.int32(7)), pending: complex(.string("7")),
      shown: #"{"t":"x","n":"7"}"#, types: otherPart),
    Case(
      old: "N.CT", new: "N.CT", mine: complex(.int32(7)), pending: nil, shown: #"{"t":"x"}"#, types: fewerParts),
    Case(old: "N.CT", new: "Edm.String", mine: complex(.int32(7)), pending: nil),
    Case(old: "Edm.String", new: "N.CT", mine: .string("mine"), pending: nil),
    Case(
      old: "Collection(Edm.Int32)", new: "Collection(Edm.String)", mine: .collection([.int32(7)]),
      pending: .collection([.string("7")]), shown: #"["7"]"#),
    Case(
      old: "Collection(Edm.String)", new: "Collection(Edm.Int32)", mine: .collection([.string("a")]), pending: nil,
      shown: "[]"),
    Case(old: "Edm.String", new: "Collection(Edm.String)", mine: .string("mine"), pending: nil, shown: "[]"),
    Case(old: "Collection(Edm.String)", new: "Edm.String", mine: .collection([.string("a")]), pending: nil),
    Case(old: "Edm.String", new: "Edm.String", mine: .null, pending: nil, facets: " Nullable=\"false\""),
    Case(old: "Edm.Int32", new: "Edm.String", mine: .null, pending: .null),
  ]

  /// The states of a change: pending as an update or a creation, sent without a response, in the archive.
  enum State: String, Sendable, CaseIterable { case update, creation, uncertain, archived }

  @Test(
    "A pending value is converted where it converts back to the same; otherwise the change goes to the archive with the reason",
    arguments: cases, State.allCases)
  func pairs(pair: Case, state: State) async throws {
    let rig = try await ChangeRig(Self.model(pair.old))
    try await rig.rows.load("Ps", #"{"value":[{"ID":1}]}"#)
    if state == .creation {
      try await rig.create("Ps", [.init("ID", .int32(9)), .init("N", pair.mine)])
    } else {
      try await rig.update("Ps(1)", [.init("N", pair.mine)])
    }
    switch state {
    case .uncertain: try await rig.rows.run("UPDATE larder_request SET state = 1")
    case .archived: try await rig.rows.run("UPDATE larder_request SET state = 2")
    case .update, .creation: break
    }
    let migration = try await rig.rows.replica.adopt(
      metadata: Array(Self.model(pair.new, types: pair.types, facets: pair.facets).utf8))
    let entry = try await #require(Self.entries(rig).first)
    guard case .entity(let body) = entry.request.body else { return #expect(Bool(false), "\(entry.request.body)") }
    let sent = body.properties.first { $0.name == "N" }?.value.value
    if let pending = pair.pending {
      #expect(sent == pending)
      #expect(entry.state == [.uncertain: .sent, .archived: .archived][state] ?? .queued)
      #expect(entry.failure == nil)
    } else {
      // The content stays for the person who repairs it.
      #expect(sent == pair.mine)
      #expect(entry.state == .archived)
      #expect(migration.unfitting == (state == .archived ? 0 : 1))
      if state != .archived {
        let message = try #require(entry.failure?.message)
        #expect(entry.failure?.kind == .unfitting && message.contains("Ps/N"), "\(message)")
        #expect((entry.failure?.mayHaveTakenEffect ?? false) == (state == .uncertain))
      }
    }
    let shown = try await rig.read("Ps(\(state == .creation ? 9 : 1))?$select=N")
    #expect(shown.contains("\"N\":\(pair.shown)}"), "\(shown)")
    // A change of the same model makes no conflict.
    #expect(try await rig.rows.rows("SELECT failure FROM larder_request WHERE failure LIKE '%conflict%'") == [])
  }

  static func entries(_ rig: ChangeRig) async throws -> [QueueEntry] {
    try await rig.rows.replica.read { (snapshot) throws(StorageError) in try ChangeQueue(snapshot.connection).entries()
    }
  }

  @Test("Values of the copy are converted where this is exact, and are not known otherwise")
  func copy() async throws {
    let rig = try await ChangeRig(Self.model("Edm.String"))
    try await rig.rows.load("Ps", #"{"value":[{"ID":1,"N":"7"},{"ID":2,"N":"seven"},{"ID":3,"N":"007"},{"ID":4}]}"#)
    let migration = try await rig.rows.replica.adopt(metadata: Array(Self.model("Edm.Int32").utf8))
    #expect(migration.queries == ["load Ps"])
    #expect(
      try await rig.rows.rows("SELECT ID, N, typeof(N) FROM {Ps} ORDER BY ID") == [
        "1|7|integer", "2|-|null", "3|-|null", "4|-|null",
      ])
  }

  @Test("A change of an entity whose key has another type goes to the archive; rows keep a key that converts exactly")
  func key() async throws {
    let rig = try await ChangeRig(Self.model("Edm.String", key: "Edm.String"))
    try await rig.rows.load("Ps", #"{"value":[{"ID":"1","N":"a"},{"ID":"x","N":"b"},{"ID":"y"}]}"#)
    try await rig.update("Ps('1')", [.init("N", .string("mine"))])
    try await rig.update("Ps('x')", [.init("N", .string("mine too"))])
    try await rig.create("Ps", [.init("ID", .string("z")), .init("N", .string("new"))])
    _ = try await rig.rows.replica.adopt(metadata: Array(Self.model("Edm.String").utf8))
    let entries = try await Self.entries(rig)
    #expect(entries.map(\.state) == [.archived, .archived, .archived])
    #expect(entries[0].failure?.message == "The key of Ps has changed.")
    let rows = try await rig.rows.rows("SELECT ID > 0, ID IS NULL, N, \"@state\" FROM {Ps} ORDER BY N")
    #expect(rows == ["1|0|mine|4", "0|0|mine too|4", "0|0|new|5"])
    // The key of the second one at the service is not known, so a retry sends nothing to another entity.
    let entity = try #require(entries[1].request.entity)
    let reason = try await rig.store.read { snapshot -> String in
      do { return try RowPath(snapshot: snapshot).location(of: entity).keyPredicate } catch let error as RenderingError
      {
        return error.description
      }
    }
    #expect(reason.contains("the key of an entity of Ps"), "\(reason)")
    // What the service has takes its place in the next download.
    try await rig.rows.load("Ps", #"{"value":[{"ID":1,"N":"a"},{"ID":24,"N":"b"}]}"#)
    #expect(try await rig.read("Ps/$count") == "4")
    _ = try await rig.store.discard(nil)
    #expect(try await rig.rows.rows("SELECT ID, N FROM {Ps} ORDER BY ID") == ["1|a", "24|b"])
  }

  @Test("Changes of a property, its raw value and an action's parameters are converted too")
  func otherRequests() async throws {
    func model(_ type: String) -> String {
      Self.model(
        type,
        types: Self.types + """
          <Action Name="Do" IsBound="true"><Parameter Name="p" Type="N.P"/><Parameter Name="to" Type="\(type)"/></Action>
          """)
    }
    let rig = try await ChangeRig(model("Edm.Int32"))
    try await rig.rows.load("Ps", #"{"value":[{"ID":1},{"ID":2},{"ID":3}]}"#)
    try await rig.change(
      ODataSingleRequest(.update(.replace), "Ps(1)/N", body: .properties([.init("value", .int32(7))])))
    try await rig.change(ODataSingleRequest(.invokeAction, "Ps(2)/N.Do", body: .properties([.init("to", .int32(8))])))
    try await rig.change(
      ODataSingleRequest(.update(.replace), "Ps(3)/N/$value", body: .bytes(Array("9".utf8), contentType: "text/plain")))
    _ = try await rig.rows.replica.adopt(metadata: Array(model("Edm.String").utf8))
    let bodies = try await Self.entries(rig).map(\.request.body)
    #expect(bodies.count == 3)
    let texts = bodies.map { body -> String in
      switch body {
      case .properties(let properties): properties.map { "\($0.value.value)" }.joined()
      case .bytes(let bytes, _): String(decoding: bytes, as: UTF8.self)
      default: "\(body)"
      }
    }
    #expect(texts == ["string(\"7\")", "string(\"8\")", "9"])
    _ = try await rig.rows.replica.adopt(metadata: Array(model("Edm.Date").utf8))
    #expect(try await Self.entries(rig).map(\.state) == [.archived, .archived, .archived])
  }

  @Test("A change that does not fit the model is repaired by another value")
  func repair() async throws {
    let rig = try await ChangeRig(Self.model("Edm.String"))
    try await rig.rows.load("Ps", #"{"value":[{"ID":1,"N":"a"}]}"#)
    try await rig.update("Ps(1)", [.init("N", .string("mine"))])
    _ = try await rig.rows.replica.adopt(metadata: Array(Self.model("Edm.Int32").utf8))
    try await rig.update("Ps(1)", [.init("N", .int32(5))])
    let entries = try await Self.entries(rig)
    #expect(entries.map(\.state) == [.queued])
    #expect(try await rig.read("Ps(1)/N/$value") == "5")
  }
}
