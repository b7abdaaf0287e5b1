import Foundation
import LarderOData
import LarderService
import Testing

/// Types in `Generated` whose values have properties that the metadata does not declare.
@Suite("Generated open types", .timeLimit(.minutes(1)))
struct OpenTypeTests {
  private let json = ##"""
    {"@odata.type": "#Shop.Reply", "@odata.etag": "1", "ID": 4, "Shape": {"Name": "s", "Sides": 3}, "Text": null,
     "Color": "red", "Count": 12345678901234567890.25, "Gone": null, "Flag": true, "Color@Core.Description": "x",
     "Sent@odata.type": "#Date", "Sent": "2026-11-27", "Big@odata.type": "#Int64", "Big": "9007199254740993",
     "Days@odata.type": "#Collection(Date)", "Days": ["2026-11-27"], "List": ["a", 1],
     "Home@odata.type": "#GeographyPoint", "Home": {"type": "Point", "coordinates": [7.5, 50]},
     "Size": {"@odata.type": "#Shop.Address", "City": "Bonn", "Width@odata.type": "#Decimal", "Width": "1.5"}}
    """##

  private func number(_ text: String) throws -> ODataDecimal { try #require(ODataDecimal(text)) }

  private func values() throws -> [String: ODataValue] {
    let day = try #require(ODataDate("2026-11-27"))
    return [
      "Color": .string("red"), "Count": .untypedNumber(try number("12345678901234567890.25")),
      "Flag": .boolean(true), "Sent": .date(day), "Big": .int64(9_007_199_254_740_993),
      "Days": .collection([.date(day)]), "List": .collection([.string("a"), .untypedNumber(try number("1"))]),
      "Home": .geo(ODataGeo(.geography, shape: .point(.init(x: 7.5, y: 50)))),
      "Size": .complex(
        ODataComplexValue(
          typeName: "Shop.Address",
          properties: [.init("City", .string("Bonn")), .init("Width", .decimal(try number("1.5")))])),
    ]
  }

  /// The text as the stores decode it.
  private func decode<Value: Decodable>(_ type: Value.Type, declared: String?) throws -> Value {
    let model = try model(shop)
    let node = try JSONNode(Array(json.utf8))
    let structure = declared.flatMap { model.structure($0) }.map { ValueType.structure($0) }
    return try NodeDecoder(node, structure ?? .untyped, codingPath: [], model: model).value(type)
  }

  @Test("undeclared properties are kept with their exact values, and no others", arguments: ["stores", "other"])
  func decoding(decoder: String) throws {
    let reply =
      decoder == "stores"
      ? try decode(Reply.self, declared: "Shop.Reply")
      : try JSONDecoder().decode(Reply.self, from: Data(json.utf8))
    let expected = try values()
    #expect(reply.odataDynamic.properties.map(\.name) == expected.keys.sorted())
    for (name, value) in expected { #expect(reply.odataDynamic[name] == value, "\(name)") }
    // OData CSDL 4.01 §6.3: a dynamic property that is null is absent.
    #expect(reply.odataDynamic["Gone"] == nil)
    #expect(reply.odataDynamic["Text"] == nil && reply.odataDynamic.changes.isEmpty && reply.odataChanges.isEmpty)
    #expect(reply.shape.odataDynamic["Sides"] == .untypedNumber(try number("3")))
  }

  @Test("a value of a derived type keeps the properties that its base type declares for itself")
  func baseTypes() throws {
    let document = try decode(Document.self, declared: "Shop.Document")
    #expect(document.as(Reply.self)?.odataDynamic["Color"] == .string("red"))
    let circle = try JSONDecoder().decode(
      Shape.self, from: Data(##"{"@odata.type": "#Shop.Circle", "Radius": 1, "Sides": 0}"##.utf8))
    #expect(circle.odataDynamic.properties == [.init("Sides", .untypedNumber(0))])
    #expect(circle.as(Circle.self)?.odataDynamic == circle.odataDynamic)
  }

  @Test("properties that the metadata declares and the Swift type leaves out are not undeclared")
  func leftOut() throws {
    struct Few: Decodable {
      let dynamic: ODataDynamicProperties
      enum CodingKeys: String, CodingKey { case id = "ID" }
      init(from decoder: any Decoder) throws {
        dynamic = try ODataDynamicProperties(from: decoder, besides: CodingKeys.self)
      }
    }
    let few = try decode(Few.self, declared: nil)
    #expect(few.dynamic["Shape"] == nil && few.dynamic["Text"] == nil && few.dynamic["ID"] == nil)
    #expect(few.dynamic.properties.map(\.name) == (try values().keys.sorted()))
  }

  @Test("encoded values decode as equal values; undeclared properties take part in comparisons")
  func encoding() throws {
    let reply = try decode(Reply.self, declared: "Shop.Reply")
    let copy = try JSONDecoder().decode(Reply.self, from: JSONEncoder().encode(reply))
    #expect(copy == reply && copy.hashValue == reply.hashValue)
    var other = copy
    other.odataDynamic["Color"] = .string("blue")
    #expect(other != reply)
    let list = try PropertyListDecoder().decode(Reply.self, from: PropertyListEncoder().encode(other.without("Gone")))
    #expect(list == other.without("Gone"))
  }

  @Test("an update sends the undeclared properties that have been assigned; nil removes one")
  func changes() throws {
    var reply = try decode(Reply.self, declared: "Shop.Reply")
    reply.odataDynamic["Color"] = .string("blue")
    reply.odataDynamic["New"] = .int32(7)
    reply.odataDynamic["Flag"] = nil
    reply.odataDynamic["Missing"] = nil
    reply.text = "x"
    #expect(
      reply.odataChanges == [
        .init("Text", .string("x")), .init("Color", .string("blue")), .init("Flag", .null), .init("New", .int32(7)),
      ])
    reply.odataSent(etag: "2")
    #expect(reply.odataChanges.isEmpty && reply.odataState.etag == "2" && reply.odataDynamic["New"] == .int32(7))
    let created = Reply(id: 1, shape: Shape(), odataDynamic: ["Color": .string("red")])
    #expect(created.odataChanges.isEmpty && created.odataDynamic["Color"] == .string("red"))
    #expect(created.odataDynamic.description == "[Color]")
  }

  @Test("creations, updates and complex values have undeclared properties after the declared ones")
  func requests() {
    let shape = Shape(name: "s", odataDynamic: ["Sides": .int32(3)])
    let create = Reply.Create(shape: shape, text: "x", odataDynamic: ["B": .boolean(true), "A": .null])
    #expect(create.odataProperties.map(\.name) == ["Shape", "Text", "A", "B"])
    #expect(create.odataProperties.last?.value == .boolean(true))
    #expect(Reply.Update(odataDynamic: ["A": .null]).odataProperties == [.init("A", .null)])
    guard case .complex(let value) = shape.odataValue else {
      Issue.record("no complex value")
      return
    }
    #expect(value.properties.map(\.name) == ["Name", "Outer", "Sides"] && value["Sides"] == .int32(3))
  }
}

extension Reply {
  fileprivate func without(_ name: String) -> Reply {
    var copy = self
    copy.odataDynamic[name] = nil
    return copy
  }
}
