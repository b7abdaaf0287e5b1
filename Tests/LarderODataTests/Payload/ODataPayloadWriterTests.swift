import Testing

@testable import LarderOData

@Suite("Request bodies", .timeLimit(.minutes(5)))
struct ODataPayloadWriterTests {
  static func entity() throws -> ODataEntity {
    var entity = ODataEntity(
      typeName: "M.Order", id: "Orders(1)",
      properties: [
        ODataProperty("ID", .int32(1)), ODataProperty("Total", try ODataValue(text: "1.50", type: .decimal)),
        ODataProperty("Big", .int64(9)), ODataProperty("Note", .string("a\"b\n")), ODataProperty("None", .null),
        ODataProperty("Place", .complex(ODataComplexValue(properties: [.init("City", .string("B"))]))),
      ])
    entity.etag = "W/\"1\""
    var line = ODataEntity(properties: [ODataProperty("Pos", .int32(10))])
    line.navigationLinks = [ODataNavigationLink(name: "Texts", content: .collection(.init(entities: [])))]
    var customer = ODataNavigationLink(name: "Customer", url: "http://left/out")
    customer.bindings = ["Customers(7)"]
    entity.navigationLinks = [
      ODataNavigationLink(name: "Lines", content: .collection(.init(entities: [line]))), customer,
      ODataNavigationLink(name: "Ship", content: .null), ODataNavigationLink(name: "Deferred", url: "left/out"),
    ]
    return entity
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(
    "An entity in each version's spelling",
    arguments: [
      (
        ODataPayloadWriter(version: .v2),
        ##"{"__metadata":{"type":"M.Order"},"ID":1,"Total":"1.50","Big":"9","Note":"a\"b\n","None":null,"Place":{"City":"B"},"Lines":{"results":[{"Pos":10,"Texts":{"results":[]}}]},"Customer":{"__metadata":{"uri":"Customers(7)"}},"Ship":null}"##
      ),
      (
        ODataPayloadWriter(version: .v4),
        ##"{"@odata.type":"#M.Order","ID":1,"Total":1.50,"Big":9,"Note":"a\"b\n","None":null,"Place":{"City":"B"},"Lines":[{"Pos":10,"Texts":[]}],"Customer@odata.bind":"Customers(7)","Ship":null}"##
      ),
      (
        ODataPayloadWriter(version: .v4, format: .v4(ieee754Compatible: true)),
        ##"{"@odata.type":"#M.Order","ID":1,"Total":"1.50","Big":"9","Note":"a\"b\n","None":null,"Place":{"City":"B"},"Lines":[{"Pos":10,"Texts":[]}],"Customer@odata.bind":"Customers(7)","Ship":null}"##
      ),
      (
        ODataPayloadWriter(version: .v401),
        ##"{"@type":"#M.Order","ID":1,"Total":1.50,"Big":9,"Note":"a\"b\n","None":null,"Place":{"City":"B"},"Lines":[{"Pos":10,"Texts":[]}],"Customer":{"@id":"Customers(7)"},"Ship":null}"##
      ),
      (
        ODataPayloadWriter(version: .v401, isShort: false),
        ##"{"@odata.type":"#M.Order","ID":1,"Total":1.50,"Big":9,"Note":"a\"b\n","None":null,"Place":{"City":"B"},"Lines":[{"Pos":10,"Texts":[]}],"Customer":{"@odata.id":"Customers(7)"},"Ship":null}"##
      ),
    ])
  func entity(writer: ODataPayloadWriter, expected: String) throws {
    #expect(Self.text(try writer.entity(try Self.entity())) == expected)
  }

  @Test("V2 dates are written in the form of V2")
  func verboseDates() throws {
    let entity = ODataEntity(properties: [
      ODataProperty("At", try ODataValue(text: "1970-01-01T00:00:01", type: .dateTime))
    ])
    #expect(Self.text(try ODataPayloadWriter(version: .v2).entity(entity)) == ##"{"At":"\/Date(1000)\/"}"##)
  }

  @Test("Several bindings, and one of a property that the model declares to-many, are an array")
  func bindings() throws {
    var link = ODataNavigationLink(name: "Parts")
    link.bindings = ["Things(2)"]
    var entity = ODataEntity()
    entity.navigationLinks = [link]
    let known = ODataPayloadWriter(version: .v4, model: PayloadTypingTests.model)
    #expect(Self.text(try known.entity(entity, type: "M.Thing")) == ##"{"Parts@odata.bind":["Things(2)"]}"##)
    entity.navigationLinks[0].bindings.append("Things(3)")
    let unknown = ODataPayloadWriter(version: .v4)
    #expect(Self.text(try unknown.entity(entity)) == ##"{"Parts@odata.bind":["Things(2)","Things(3)"]}"##)
    let verbose = ODataPayloadWriter(version: .v2)
    #expect(
      Self.text(try verbose.entity(entity))
        == ##"{"Parts":{"results":[{"__metadata":{"uri":"Things(2)"}},{"__metadata":{"uri":"Things(3)"}}]}}"##)
  }

  @Test("Dynamic properties have their type if JSON does not show it (JSON Format 4.01 §4.6.3)")
  func dynamic() throws {
    let entity = ODataEntity(properties: [
      ODataProperty("ID", .int32(1)), ODataProperty("Free", .int64(2)), ODataProperty("Text", .string("x")),
      ODataProperty("Many", .collection([.null, .int64(3)])), ODataProperty("None", .collection([])),
    ])
    let writer = ODataPayloadWriter(version: .v4, model: PayloadTypingTests.model)
    #expect(
      Self.text(try writer.entity(entity, type: "M.Thing"))
        == ##"{"ID":1,"Free@odata.type":"#Int64","Free":2,"Text":"x","##
        + ##""Many@odata.type":"#Collection(Int64)","Many":[null,3],"None":[]}"##)
  }

  @Test("References, parameters and single properties")
  func others() throws {
    let v2 = ODataPayloadWriter(version: .v2)
    let v4 = ODataPayloadWriter(version: .v4)
    #expect(Self.text(v2.reference("A(1)")) == ##"{"uri":"A(1)"}"##)
    #expect(Self.text(v4.reference("A(1)")) == ##"{"@odata.id":"A(1)"}"##)
    #expect(Self.text(ODataPayloadWriter(version: .v401).reference("A(1)")) == ##"{"@id":"A(1)"}"##)
    #expect(
      Self.text(try v4.parameters([.init("a", .int32(1)), .init("b", .collection([.null]))]))
        == ##"{"a":1,"b":[null]}"##)
    #expect(Self.text(try v2.property(.init("Name", .string("x")))) == ##"{"Name":"x"}"##)
    #expect(Self.text(try v4.property(.init("Name", .string("x")))) == ##"{"value":"x"}"##)
    let place = ODataValue.complex(ODataComplexValue(properties: [.init("City", .string("B"))]))
    #expect(Self.text(try v4.property(.init("Place", place))) == ##"{"City":"B"}"##)
    #expect(Self.text(try v2.property(.init("Place", place))) == ##"{"Place":{"City":"B"}}"##)
  }

  @Test("A nested delta is written in 4.01, and rejected before")
  func nestedDelta() throws {
    var gone = ODataEntity(id: "L(1)")
    gone.removal = .deleted
    var entity = ODataEntity()
    let delta = ODataDelta(items: [.deletedEntity(gone), .entity(ODataEntity(id: "L(2)"))])
    entity.navigationLinks = [ODataNavigationLink(name: "Lines", content: .delta(delta))]
    #expect(
      Self.text(try ODataPayloadWriter(version: .v401).entity(entity))
        == ##"{"Lines@delta":[{"@removed":{"reason":"deleted"},"@id":"L(1)"},{"@id":"L(2)"}]}"##)
    #expect(throws: ODataPayloadWritingError.self) { try ODataPayloadWriter(version: .v4).entity(entity) }
  }

  @Test("Values that a version cannot represent are rejected with their path")
  func rejected() throws {
    var line = ODataEntity(properties: [ODataProperty("D", try ODataValue(text: "2026-01-15", type: .date))])
    var entity = ODataEntity()
    entity.navigationLinks = [ODataNavigationLink(name: "Line", content: .entity(line))]
    do {
      _ = try ODataPayloadWriter(version: .v2).entity(entity)
      Issue.record("not rejected")
    } catch { #expect(error.path == "Line/D") }
    line = ODataEntity(properties: [.init("A", .null, annotations: [.init(term: "my.t", value: .null)])])
    #expect(throws: ODataPayloadWritingError.self) { try ODataPayloadWriter(version: .v2).entity(line) }
    #expect(Self.text(try ODataPayloadWriter(version: .v4).entity(line)) == ##"{"A@my.t":null,"A":null}"##)
  }

  @Test("Written bodies read back", arguments: [ODataVersion.v2, .v4, .v401])
  func roundTrip(version: ODataVersion) throws {
    let written = try ODataPayloadWriter(version: version).entity(try Self.entity())
    var options = PayloadOptions(expected: .entity)
    options.dialect = version.dialect
    let read = try #require(try readPayload([written], options: options).entity)
    #expect(read.typeName == "M.Order")
    #expect(read["Note"] == .string("a\"b\n"))
    #expect(read["None"] == .null)
  }
}
