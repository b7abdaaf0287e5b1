import Testing

@testable import LarderOData

@Suite("Values typed by a model", .timeLimit(.minutes(5)))
struct PayloadTypingTests {
  /// A base and a derived entity type, a complex type, an enumeration, a type definition, V4.
  static let model: EdmModel = {
    var schema = EdmSchema(namespace: "M")
    var thing = EdmEntityType(namespace: "M", name: "Thing")
    thing.isOpen = true
    thing.key = [EdmPropertyRef(path: "ID")]
    thing.properties = [
      EdmProperty(name: "ID", type: .primitive(.int32)), EdmProperty(name: "Price", type: .primitive(.decimal)),
      EdmProperty(name: "Big", type: .primitive(.int64)), EdmProperty(name: "At", type: .primitive(.dateTimeOffset)),
      EdmProperty(name: "Color", type: .named("M.Color")), EdmProperty(name: "Weight", type: .named("M.Kilo")),
      EdmProperty(name: "Place", type: .named("M.Address")), EdmProperty(name: "Any", type: .abstract(.untyped)),
      EdmProperty(name: "Days", type: .collection(.primitive(.date))),
      EdmProperty(name: "Photo", type: .primitive(.stream)),
      EdmProperty(name: "Spot", type: .primitive(.geographyPoint)),
    ]
    thing.navigationProperties = [
      EdmNavigationProperty(name: "Parent", type: .named("M.Thing")),
      EdmNavigationProperty(name: "Parts", type: .collection(.named("M.Thing"))),
    ]
    var special = EdmEntityType(namespace: "M", name: "Special", baseType: "M.Thing")
    special.properties = [EdmProperty(name: "Token", type: .primitive(.guid))]
    var address = EdmComplexType(namespace: "M", name: "Address")
    address.properties = [EdmProperty(name: "Floor", type: .primitive(.byte))]
    schema.entityTypes = [thing, special]
    schema.complexTypes = [address]
    schema.enumTypes = [EdmEnumType(namespace: "M", name: "Color")]
    schema.typeDefinitions = [EdmTypeDefinition(namespace: "M", name: "Kilo", underlyingType: .double)]
    var container = EdmEntityContainer(namespace: "M", name: "C")
    container.entitySets = [EdmEntitySet(name: "Things", entityType: "M.Thing")]
    container.singletons = [EdmSingleton(name: "Best", type: "M.Thing")]
    schema.containers = [container]
    return EdmModel(version: .v4, schemas: [schema])
  }()

  static func read(_ text: String) throws -> ODataPayload {
    try readPayload(text, options: PayloadOptions(model: model))
  }

  static func value(_ text: String, _ type: EdmPrimitiveType) throws -> ODataValue {
    try ODataValue(text: text, type: type)
  }

  @Test("Declared types, type definitions, enumerations, geography, collections, inline streams, dynamic properties")
  func declared() throws {
    let entity = try #require(
      try Self.read(
        ##"""
        {"@odata.context":"$metadata#Things/$entity","ID":1,"Price":12345678901234567890.10,"Big":"9223372036854775807",
         "At":"2026-01-15T10:00:00.1234567+01:00","Color":"Red","Weight":"INF","Place":{"Floor":255},
         "Any":{"x":[1.50]},"Days":["2026-01-15"],"Photo":"AQID","Spot":{"type":"Point","coordinates":[1.5,2]},
         "Free":1.10,"Typed@odata.type":"#Int64","Typed":7,"Parent":null,"Parts":[]}
        """##
      ).entity)
    #expect(entity.typeName == "M.Thing")
    #expect(entity["ID"] == .int32(1))
    #expect(entity["Price"] == (try Self.value("12345678901234567890.10", .decimal)))
    #expect(entity["Big"] == .int64(.max))
    #expect(entity["At"] == (try Self.value("2026-01-15T10:00:00.1234567+01:00", .dateTimeOffset)))
    #expect(entity["Color"] == .enumeration("Red"))
    #expect(entity["Weight"] == .double(.infinity))
    #expect(entity["Place"] == .complex(ODataComplexValue(properties: [.init("Floor", .byte(255))])))
    #expect(entity["Days"] == .collection([try Self.value("2026-01-15", .date)]))
    #expect(entity.streams.first?.link.content != nil)
    #expect(entity["Spot"] == .geo(ODataGeo(.geography, shape: .point(.init(x: 1.5, y: 2)))))
    let number = try #require(ODataDecimal("1.10"))
    #expect(entity["Free"] == .untypedNumber(number))
    #expect(entity["Typed"] == .int64(7))
    #expect(entity.navigationLink("Parent")?.content == .null)
    #expect(entity.navigationLink("Parts")?.entities == [])
    guard case .complex(let any)? = entity["Any"], case .collection(let items)? = any["x"] else {
      Issue.record("\(entity)")
      return
    }
    #expect(try items.map { try $0.text() } == ["1.50"])
  }

  @Test("Derived types by their own type information, also after the properties; singletons; sets in rows")
  func derived() throws {
    let rows = try #require(
      try Self.read(
        ##"{"@odata.context":"#Things","value":[{"Token":"01234567-89ab-cdef-0123-456789abcdef","@odata.type":"#M.Special"},{"ID":2}]}"##
      ).collection)
    #expect(rows.entities[0]["Token"] == (try Self.value("01234567-89ab-cdef-0123-456789abcdef", .guid)))
    #expect(rows.entities[0].typeName == "M.Special")
    #expect(rows.entities[1].typeName == "M.Thing")
    #expect(try Self.read(##"{"@odata.context":"#Best","ID":3}"##).entity?["ID"] == .int32(3))
    let cast = try Self.read(
      ##"{"@context":"#Things/M.Special/$entity","Token":"01234567-89ab-cdef-0123-456789abcdef"}"##)
    #expect(cast.entity?.typeName == "M.Special")
    let nested = try #require(
      try Self.read(##"{"@context":"#Things(ID,Parts(ID))","value":[{"ID":1,"Parts":[{"ID":2,"Parent":{"ID":1}}]}]}"##)
        .collection)
    #expect(
      nested.entities[0].navigationLink("Parts")?.entities?[0].navigationLink("Parent")?.entity?["ID"] == .int32(1))
  }

  @Test("A context after the rows still gives their types")
  func lateContext() throws {
    let late = try #require(try Self.read(##"{"value":[{"ID":1}],"@odata.context":"#Things"}"##).collection)
    #expect(late.entities[0]["ID"] == .int32(1))
  }

  @Test("Single values by their context, and by the type that the caller expects")
  func single() throws {
    #expect(
      try Self.read(##"{"@odata.context":"#Things(1)/Price","value":1.50}"##).property?.value
        == (try Self.value("1.50", .decimal)))
    #expect(
      try Self.read(##"{"@odata.context":"#Things(1)/Place","Floor":3}"##).property?.value.complex?["Floor"] == .byte(3)
    )
    #expect(
      try Self.read(##"{"@odata.context":"#Things(1)/Days","value":["2026-01-15"]}"##).property?.value
        == .collection([try Self.value("2026-01-15", .date)]))
    #expect(
      try Self.read(##"{"@odata.context":"#Collection(Edm.Int64)","value":[1,"2"]}"##).property?.value
        == .collection([.int64(1), .int64(2)]))
    var options = PayloadOptions(model: Self.model, expectedType: .primitive(.int64))
    #expect(try readPayload(##"{"d":{"Total":"5"}}"##, options: options).property?.value == .int64(5))
    options.expectedType = .named("M.Thing")
    #expect(
      try readPayload(
        ##"{"d":{"results":[{"__metadata":{"uri":"u"},"At":"\/Date(0)\/","Big":"7"}]}}"##, options: options
      ).collection?.entities[0]["Big"] == .int64(7))
  }

  @Test("V2 dates and numbers by the type in __metadata")
  func verbose() throws {
    let entity = try #require(
      try Self.read(
        ##"{"d":{"__metadata":{"uri":"u","type":"M.Thing"},"ID":1,"At":"\/Date(1000+0060)\/","Price":"1.50","Parent":null,"Parts":{"results":[]}}}"##
      ).entity)
    #expect(entity["At"] == (try Self.value("1970-01-01T00:00:01+01:00", .dateTimeOffset)))
    #expect(entity["Price"] == (try Self.value("1.50", .decimal)))
    #expect(entity.navigationLink("Parent")?.content == .null)
    #expect(entity.navigationLink("Parts")?.entities == [])
  }

  @Test(
    "Values of a wrong type are rejected with byte and path",
    arguments: [
      (##"{"@odata.context":"#Things","value":[{"ID":1},{"ID":"x"}]}"##, "$.value[1].ID"),
      (##"{"@odata.context":"#Things","value":[{"ID":2147483648}]}"##, "$.value[0].ID"),
      (##"{"@odata.context":"#Things","value":[{"Place":1}]}"##, "$.value[0].Place"),
      (##"{"@odata.context":"#Things","value":[{"ID":{}}]}"##, "$.value[0].ID"),
      (##"{"@odata.context":"#Things","value":[{"ID":[1]}]}"##, "$.value[0].ID"),
      (##"{"@odata.context":"#Things","value":[{"Place":{"Floor":256}}]}"##, "$.value[0].Place.Floor"),
      (##"{"@odata.context":"#Things","value":[{"Parts":[{"Days":["x"]}]}]}"##, "$.value[0].Parts[0].Days[0]"),
      (##"{"@odata.context":"#Things","value":[{"Parent":1}]}"##, "$.value[0].Parent"),
      (##"{"@odata.context":"#Things","value":[1]}"##, "$.value[0]"),
      (##"{"@odata.context":"#Things","value":[null]}"##, "$.value[0]"),
    ])
  func rejected(text: String, path: String) throws {
    guard case .failure(let error)? = outcome([Array(text.utf8)], options: PayloadOptions(model: Self.model)) else {
      Issue.record("not rejected")
      return
    }
    #expect(error.path == path)
    #expect(error.offset > 0)
  }
}

extension ODataValue {
  var complex: ODataComplexValue? { if case .complex(let value) = self { value } else { nil } }
}

@Suite("Values that pass through a payload", .timeLimit(.minutes(5)))
struct PayloadValueTextTests {
  @Test(
    "Values are written with the characters that were read",
    arguments: [
      ("5", EdmPrimitiveType.byte), ("-5", .sbyte), ("1000", .decimal), ("0.001", .decimal), ("2026-01-05", .date),
      ("2026-01-05T01:02:03", .dateTime), ("01:02:03", .timeOfDay), ("2026-01-05T01:02:03.5+01:05", .dateTimeOffset),
      ("1234567890123456789012345000", .decimal), ("0.00012345678901234567890123", .decimal),
    ])
  func sameCharacters(text: String, type: EdmPrimitiveType) throws {
    #expect(try ODataValue(text: text, type: type).text() == text)
  }

  @Test("A small exponent is written as zeros")
  func exponent() throws {
    #expect(try ODataValue(text: "1e3", type: .decimal).text() == "1000")
  }
}
