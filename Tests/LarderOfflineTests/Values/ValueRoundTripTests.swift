import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Values through cells and JSON columns", .timeLimit(.minutes(1)))
struct ValueRoundTripTests {
  /// The model of enumerations, with a complex type, a derived one and an open one.
  static let model: EdmModel = {
    var schema = EdmSchema(namespace: "Ns")
    schema.enumTypes = ValueCellTests.model.schemas.flatMap(\.enumTypes)
    var place = EdmComplexType(namespace: "Ns", name: "Place")
    place.properties = [
      EdmProperty(name: "Height", type: .primitive(.decimal)), EdmProperty(name: "Color", type: .named("Ns.Color")),
    ]
    place.isOpen = true
    var town = EdmComplexType(namespace: "Ns", name: "Town")
    town.baseType = "Ns.Place"
    town.properties = [EdmProperty(name: "Since", type: .primitive(.date))]
    schema.complexTypes = [place, town]
    return EdmModel(version: .v4, schemas: [schema])
  }()

  static let values: [(String, ODataValue)] = [
    ("Edm.Boolean", .boolean(true)), ("Edm.Byte", .byte(255)), ("Edm.SByte", .sbyte(-128)), ("Edm.Int16", .int16(-5)),
    ("Edm.Int32", .int32(.min)), ("Edm.Int64", .int64(.max)), ("Edm.Single", .single(0.1)),
    ("Edm.Double", .double(0.1)),
    ("Edm.Double", .double(.infinity)), ("Edm.Double", .double(-.infinity)), ("Edm.Decimal", .decimal(.nan)),
    ("Edm.Decimal", .decimal(ODataDecimal("12345678901234567890.50") ?? 0)), ("Edm.String", .string("ä\u{0}\"\\")),
    ("Edm.Guid", .guid(ODataGuid(high: 1, low: 2))), ("Edm.Binary", .binary([0, 255])),
    ("Edm.Date", ODataDate("2024-02-29").map { .date($0) } ?? .null),
    ("Edm.TimeOfDay", ODataTimeOfDay("23:59:59.5").map { .timeOfDay($0) } ?? .null),
    ("Edm.DateTimeOffset", ODataDateTimeOffset("2024-02-29T12:00:00+02:00").map { .dateTimeOffset($0) } ?? .null),
    ("Edm.DateTime", ODataDateTime("2024-02-29T12:00:00").map { .dateTime($0) } ?? .null),
    ("Edm.Duration", ODataDuration("P1DT0.5S").map { .duration($0) } ?? .null), ("Ns.Color", .enumeration("Blue")),
    ("Ns.Rights", .enumeration("Read,Write")), ("Edm.String", .null),
    ("Edm.GeographyPoint", .geo(ODataGeo(.geography, srid: 4326, shape: .point(.init(x: 1.5, y: -2))))),
    ("Collection(Edm.Decimal)", .collection([.decimal(1), .null, .decimal(ODataDecimal("0.10") ?? 0)])),
    ("Collection(Ns.Color)", .collection([.enumeration("Red"), .enumeration("Blue")])),
    ("Collection(Edm.Int64)", .collection([.int64(.max)])), ("Collection(Edm.Duration)", .collection([])),
    (
      "Collection(Edm.DateTimeOffset)",
      .collection(ODataDateTimeOffset("2024-02-29T12:00:00Z").map { [.dateTimeOffset($0)] } ?? [])
    ),
  ]

  @Test("a value is read from its column unchanged")
  func columns() async throws {
    let rig = try await SQLRig()
    for (type, value) in ValueRoundTripTests.values {
      let reference = EdmTypeReference(type)
      let storage = try #require(ColumnStorage(reference, model: ValueRoundTripTests.model))
      var filled = RowBatch(width: 1)
      try storage.append(value, type: reference, model: ValueRoundTripTests.model, to: &filled)
      let batch = filled
      let values = try await rig.database.write { (connection) throws(StorageError) in
        try connection.run("DROP TABLE IF EXISTS cell")
        try connection.run("CREATE TABLE cell(v \(storage.sqlDeclaration))")
        try connection.run("INSERT INTO cell VALUES(?1)", rows: batch)
        return try connection.first("SELECT v FROM cell") { (row) throws(StorageError) in
          Result { () throws(ODataValueError) in
            try storage.value(of: row, 0, type: reference, model: ValueRoundTripTests.model)
          }
        }
      }
      let result = try #require(values)
      #expect(try result.get() == value, "\(type)")
      if case .dateTimeOffset(let one) = value, case .dateTimeOffset(let other) = try result.get() {
        #expect(one.isIdentical(to: other))
      }
    }
    try await rig.database.close()
  }

  @Test("NaN in a REAL column is stored as text, and read back")
  func nan() throws {
    #expect(try ColumnStorage.real.sqlValue(of: .double(.nan)) == .text("NaN"))
  }

  @Test("JSON of complex values: canonical spellings, types where they are needed")
  func complexValues() throws {
    let town = ODataComplexValue(
      typeName: "Ns.Town",
      properties: [
        ODataProperty("Height", .decimal(ODataDecimal("12.50") ?? 0)), ODataProperty("Color", .enumeration("Blue")),
        ODataProperty("Since", ODataDate("1237-10-28").map { .date($0) } ?? .null),
        ODataProperty("Extra", .int64(7)), ODataProperty("Note", .string("x")),
        ODataProperty("Mass", .untypedNumber(ODataDecimal("1.500") ?? 0)),
      ])
    let type = EdmTypeReference("Collection(Ns.Place)")
    let value = ODataValue.collection([.complex(town), .null])
    let cell = try ColumnStorage.json.sqlValue(of: value, type: type, model: ValueRoundTripTests.model)
    let json =
      ##"[{"@odata.type":"#Ns.Town","Height":"12.50","Color":5,"Since":"1237-10-28","Extra@odata.type":"#Int64","Extra":7,"##
      + ##""Note":"x","Mass":1.500},null]"##
    #expect(cell == .text(json))
    #expect(try CanonicalJSON.value(json, type: type, model: ValueRoundTripTests.model) == value)
  }

  @Test("JSON that is nested too deeply is an error, not a trap")
  func depth() {
    var value = ODataValue.int32(1)
    for _ in 0..<200 { value = .collection([value]) }
    let nested = value
    #expect(throws: ODataValueError.self) { try ColumnStorage.json.sqlValue(of: nested) }
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: ODataValueError.self) { try CanonicalJSON.value(text, type: .abstract(.untyped), model: nil) }
    #expect(throws: ODataValueError.self) { try CanonicalJSON.value("[1,]", type: .abstract(.untyped), model: nil) }
  }

  @Test(
    "names of an enumeration's values",
    arguments: [
      ("Ns.Color", Int64(0), "Red"), ("Ns.Color", 5, "Blue"), ("Ns.Color", 3, "3"), ("Ns.Rights", 3, "Read,Write"),
      ("Ns.Rights", 2, "Write"), ("Ns.Rights", 0, "0"), ("Ns.Rights", 7, "7"),
    ])
  func enumerations(_ name: String, _ value: Int64, _ text: String) throws {
    let type = try #require(ValueRoundTripTests.model.enumType(name))
    #expect(EnumerationValue.text(value, type) == text)
    #expect(try EnumerationValue.read(text, type) == value)
  }
}
