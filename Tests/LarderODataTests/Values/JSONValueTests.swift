import LarderTestSupport
import Testing

@testable import LarderOData

@Suite("Values in JSON", .timeLimit(.minutes(5)))
struct JSONValueTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let type: EdmPrimitiveType
    let json: String
    let value: ODataValue
    var testDescription: String { "\(type.rawValue) \(json)" }
    init(_ type: EdmPrimitiveType, _ json: String, _ value: ODataValue) {
      (self.type, self.json, self.value) = (type, json, value)
    }
  }

  static func decode(_ json: String, _ type: EdmPrimitiveType?, _ dialect: ODataDialect) throws -> ODataValue {
    var scanner = JSONScanner(Array(json.utf8))
    let token = try #require(try scanner.next())
    return try scanner.value(token, type: type, dialect: dialect)
  }

  private static func decimal(_ text: String) -> ODataValue { ODataDecimal(text).map(ODataValue.decimal) ?? .null }

  /// OData JSON Format 4.01 §7.1: as a V4 service writes it, and is written.
  static let v4: [Row] = [
    Row(.boolean, "true", .boolean(true)), Row(.boolean, "false", .boolean(false)), Row(.byte, "255", .byte(255)),
    Row(.sbyte, "-128", .sbyte(-128)), Row(.int16, "-32768", .int16(-32768)), Row(.int32, "2147483647", .int32(.max)),
    Row(.int64, "-9223372036854775808", .int64(.min)), Row(.int64, "9223372036854775807", .int64(.max)),
    Row(.decimal, "34.95", decimal("34.95")),
    Row(.decimal, "1234567890123456789012345678901234.5678", decimal("1234567890123456789012345678901234.5678")),
    Row(.decimal, "\"INF\"", decimal("INF")), Row(.double, "3.1415926535897931", .double(.pi)),
    Row(.double, "\"-INF\"", .double(-.infinity)),
    Row(.single, "\"INF\"", .single(.infinity)), Row(.single, "0.1", .single(0.1)),
    Row(.string, #""Say \"Hello\",\nthen go \u00e9\/""#, .string("Say \"Hello\",\nthen go é/")),
    Row(.binary, "\"T0RhdGE\"", .binary(Array("OData".utf8))), Row(.binary, "\"-_8\"", .binary([0xFB, 0xFF])),
    Row(.binary, "\"\"", .binary([])),
    Row(.date, "\"2012-12-03\"", ODataDate("2012-12-03").map(ODataValue.date) ?? .null),
    Row(
      .dateTimeOffset, "\"2012-12-03T07:16:23Z\"",
      ODataDateTimeOffset("2012-12-03T07:16:23Z").map(ODataValue.dateTimeOffset) ?? .null),
    Row(
      .duration, "\"P12DT23H59M59.999999999999S\"",
      ODataDuration("P12DT23H59M59.999999999999S").map(ODataValue.duration) ?? .null),
    Row(.timeOfDay, "\"07:59:59.999\"", ODataTimeOfDay("07:59:59.999").map(ODataValue.timeOfDay) ?? .null),
    Row(
      .guid, "\"01234567-89AB-CDEF-0123-456789ABCDEF\"",
      .guid(ODataGuid(high: 0x0123_4567_89ab_cdef, low: 0x0123_4567_89ab_cdef))),
    Row(.int32, "null", .null), Row(.int32, "5.0", .int32(5)), Row(.int64, "1e3", .int64(1000)),
  ]

  @Test("A V4 value is read, written and read again, in both number forms", arguments: v4)
  func readsV4(_ row: Row) throws {
    let value = try JSONValueTests.decode(row.json, row.type, .v4)
    #expect(value == row.value && row.value != .null || row.json == "null")
    for compatible in [true, false] {
      let written = try value.json(.v4(ieee754Compatible: compatible))
      #expect(try JSONValueTests.decode(written, row.type, .v4) == value, "\(written)")
    }
  }

  @Test("NaN is read and written as a string")
  func nan() throws {
    guard case .double(let number) = try JSONValueTests.decode("\"NaN\"", .double, .v4) else {
      throw ODataValueError(.malformed, type: .double, text: "")
    }
    #expect(number.isNaN)
    #expect(try ODataValue.double(.nan).json(.v4(ieee754Compatible: false)) == "\"NaN\"")
    #expect(try ODataValue.single(-.infinity).json(.verbose) == "\"-INF\"")
  }

  @Test("IEEE754Compatible turns 64-bit integers and decimals into strings (JSON Format §3.2)")
  func ieee754() throws {
    #expect(try ODataValue.int64(5).json(.v4(ieee754Compatible: true)) == "\"5\"")
    #expect(try ODataValue.int64(5).json(.v4(ieee754Compatible: false)) == "5")
    #expect(try JSONValueTests.decimal("1.50").json(.v4(ieee754Compatible: true)) == "\"1.50\"")
    #expect(try JSONValueTests.decimal("1.50").json(.v4(ieee754Compatible: false)) == "1.50")
    #expect(try ODataValue.int32(5).json(.v4(ieee754Compatible: true)) == "5")
    #expect(try ODataValue.binary([0xFB, 0xFF]).json(.v4(ieee754Compatible: true)) == "\"-_8\"")
    #expect(try ODataValue.binary([0xFB, 0xFF]).json(.light) == "\"+/8=\"")
  }

  private static func timestamp(_ text: String) -> ODataValue {
    ODataDateTimeOffset(text).map(ODataValue.dateTimeOffset) ?? .null
  }
  private static func clock(_ text: String) -> ODataValue { ODataDateTime(text).map(ODataValue.dateTime) ?? .null }

  /// Primitive types of the OData V2 JSON Format, and other forms that services of V2 and V3 send.
  static let v2: [Row] = [
    Row(.int64, "\"-9223372036854775808\"", .int64(.min)), Row(.int64, "7", .int64(7)),
    Row(.decimal, "\"34.9500\"", decimal("34.9500")),
    Row(.double, "\"1.5E+00\"", .double(1.5)), Row(.double, "\"NaN\"", .null),
    Row(.single, "\"INF\"", .single(.infinity)),
    Row(.double, "\"Infinity\"", .double(.infinity)), Row(.boolean, "\"true\"", .boolean(true)),
    Row(.int32, "\"12\"", .int32(12)),
    Row(.dateTime, #""\/Date(1395705600000)\/""#, clock("2014-03-25T00:00:00")),
    Row(.dateTime, "\"/Date(-1)/\"", clock("1969-12-31T23:59:59.999")),
    Row(.dateTime, "\"/Date(1395705600000+60)/\"", clock("2014-03-25T00:00:00")),
    Row(.dateTime, "\"/Date(1395705600000-0330)/\"", clock("2014-03-25T00:00:00")),
    Row(.dateTime, "\"2014-03-25T00:00:00\"", clock("2014-03-25T00:00:00")),
    Row(.dateTime, "\"2014-03-25T00:00:00.1234567\"", clock("2014-03-25T00:00:00.1234567")),
    Row(.dateTime, "\"2014-03-25T00:00:00Z\"", clock("2014-03-25T00:00:00")),
    Row(.dateTimeOffset, "\"/Date(1395752399000+0000)/\"", timestamp("2014-03-25T12:59:59Z")),
    Row(.dateTimeOffset, "\"/Date(1395752399000+60)/\"", timestamp("2014-03-25T12:59:59+01:00")),
    Row(.dateTimeOffset, "\"/Date(1395752399000-0330)/\"", timestamp("2014-03-25T12:59:59-05:30")),
    Row(.dateTimeOffset, "\"/Date(1395752399000)/\"", timestamp("2014-03-25T12:59:59Z")),
    Row(.dateTimeOffset, "\"2014-03-25T12:59:59+01:00\"", timestamp("2014-03-25T12:59:59+01:00")),
    Row(.time, "\"PT13H20M\"", ODataDuration("PT13H20M").map(ODataValue.duration) ?? .null),
    Row(.guid, "\"00000000-0000-0000-0000-000000000001\"", .guid(ODataGuid(high: 0, low: 1))),
    Row(.binary, "\"+/8=\"", .binary([0xFB, 0xFF])),
  ]

  @Test("A V2 or V3 value is read, written and read again", arguments: v2)
  func readsV2(_ row: Row) throws {
    let value = try JSONValueTests.decode(row.json, row.type, .v2)
    if row.json != "\"NaN\"" { #expect(value == row.value && value != .null) }
    for format in [ODataJSONFormat.verbose, .light] where row.json != "\"NaN\"" {
      let again = try JSONValueTests.decode(try value.json(format), row.type, .v2)
      #expect(again == value)
      if case .dateTimeOffset(let timestamp) = value, case .dateTimeOffset(let other) = again {
        #expect(timestamp.isIdentical(to: other))
      }
    }
  }

  @Test("V2 writes ticks if they are exact, otherwise ISO 8601")
  func ticks() throws {
    #expect(try JSONValueTests.clock("2014-03-25T00:00:00").json(.verbose) == #""\/Date(1395705600000)\/""#)
    #expect(try JSONValueTests.clock("2014-03-25T00:00:00.0000001").json(.verbose) == "\"2014-03-25T00:00:00.0000001\"")
    #expect(
      try JSONValueTests.timestamp("2014-03-25T12:59:59-05:30").json(.verbose) == #""\/Date(1395752399000-0330)\/""#)
    #expect(try JSONValueTests.timestamp("2014-03-25T12:59:59-05:30").json(.light) == "\"2014-03-25T12:59:59-05:30\"")
    #expect(throws: ODataValueError.self) {
      try JSONValueTests.clock("2014-03-25T00:00:00").json(.v4(ieee754Compatible: false))
    }
    #expect(throws: ODataValueError.self) { try ODataValue.timeOfDay(.midnight).json(.verbose) }
  }

  /// Each with the problem that must be reported.
  static let rejected: [(EdmPrimitiveType, String, ODataDialect, ODataValueError.Problem)] = [
    (.byte, "256", .v4, .outOfRange), (.byte, "-1", .v4, .outOfRange), (.sbyte, "128", .v4, .outOfRange),
    (.int16, "32768", .v4, .outOfRange),
    (.int32, "2147483648", .v4, .outOfRange), (.int64, "9223372036854775808", .v4, .outOfRange),
    (.int64, "1e999999", .v4, .outOfRange),
    (.int32, "1.5", .v4, .fractional), (.int64, "\"1.5\"", .v2, .fractional),
    (.int32, "\"1\"", .v4, .wrongKind("a JSON string")),
    (.string, "5", .v4, .wrongKind("a JSON number")), (.boolean, "1", .v2, .wrongKind("a JSON number")),
    (.date, "true", .v4, .wrongKind("JSON true")),
    (.date, "\"2012-02-30\"", .v4, .malformed), (.dateTimeOffset, "\"/Date(1)/\"", .v4, .malformed),
    (.dateTime, "\"/Date(1+)/\"", .v2, .malformed), (.dateTime, "\"/Date(1+1440)/\"", .v2, .outOfRange),
    (.dateTime, "\"/Date(99999999999999999999)/\"", .v2, .outOfRange),
    (.dateTimeOffset, "\"/Date(1+1440)/\"", .v2, .outOfRange),
    (.dateTime, "\"/Date(1)/ \"", .v2, .malformed), (.dateTime, "\"/Date()/\"", .v2, .malformed),
    (.guid, "\"123\"", .v4, .malformed),
    (.binary, "\"A\"", .v4, .malformed), (.binary, "\"AB\"", .v4, .malformed), (.binary, "\"A===\"", .v4, .malformed),
    (.binary, "\"AA AA\"", .v4, .malformed),
    (.double, "1e400", .v4, .outOfRange), (.double, "\"0x1p3\"", .v4, .malformed), (.double, "\"\"", .v2, .malformed),
    (.single, "1e39", .v4, .outOfRange),
    (.duration, "\"P1Y\"", .v4, .calendarDuration), (.decimal, "\"abc\"", .v4, .malformed),
    (.geographyPoint, "5", .v4, .wrongKind("a JSON number")),
  ]

  @Test("A wrong value is a typed error with type, text and cure", arguments: rejected)
  func rejects(_ type: EdmPrimitiveType, _ json: String, _ dialect: ODataDialect, _ problem: ODataValueError.Problem)
    throws
  {
    let error = #expect(throws: ODataValueError.self) { try JSONValueTests.decode(json, type, dialect) }
    #expect(error?.problem == problem && error?.type == type)
    #expect(error?.description.contains(type.qualifiedName) == true)
  }

  @Test("Base64 with line breaks, as XML and V2 services wrap it")
  func wrappedBase64() throws {
    #expect(try ODataValue(text: "\r\n AAEC\r\n/w==\n", type: .binary) == .binary([0, 1, 2, 255]))
    #expect(try JSONValueTests.decode(#""AAEC\r\n/w==""#, .binary, .v2) == .binary([0, 1, 2, 255]))
  }

  @Test("A long text is shortened in the error")
  func excerpt() {
    let error = #expect(throws: ODataValueError.self) {
      try ODataValue(text: String(repeating: "9", count: 5_000), type: .date)
    }
    #expect(error?.excerpt.count == 49)
  }

  @Test("A value without a declared type keeps its digits")
  func untyped() throws {
    let number = try #require(ODataDecimal("12345678901234567890.10"))
    #expect(try JSONValueTests.decode("12345678901234567890.10", nil, .v4) == .untypedNumber(number))
    #expect(try ODataValue.untypedNumber(number).json(.v4(ieee754Compatible: true)) == "12345678901234567890.10")
    #expect(try JSONValueTests.decode("\"x\"", nil, .v4) == .string("x"))
    #expect(try JSONValueTests.decode("false", nil, .v4) == .boolean(false))
  }

  @Test("An enumeration is read by name and by number")
  func enumerations() throws {
    func read(_ text: String) throws -> ODataValue {
      var scanner = JSONScanner(Array(text.utf8))
      let token = try #require(try scanner.next())
      return try scanner.withBytes(of: token) {
        try ODataValue(enumeration: token.kind == .string ? .string($0) : .number($0))
      }
    }
    #expect(try read("\"Solid,Yellow\"") == .enumeration("Solid,Yellow"))
    #expect(try read("\"Solid, Yellow\"") == .enumeration("Solid,Yellow"))
    #expect(try read("4") == .enumeration("4"))
    #expect(try read("\"-1\"") == .enumeration("-1"))
    for text in ["\"\"", "\"Solid%2CYellow\"", "\"a,\"", "\",a\"", "\"a b\"", "1.5"] {
      #expect(throws: ODataValueError.self) { try read(text) }
    }
  }

  @Test("Complex values and collections are written in each format's frame")
  func structures() throws {
    let value = ODataValue.complex(
      ODataComplexValue(
        typeName: "Ns.Address",
        properties: [ODataProperty("City", .string("Ulm")), ODataProperty("Codes", .collection([.int32(1), .null]))]))
    #expect(
      try value.json(.v4(ieee754Compatible: false)) == ##"{"@odata.type":"#Ns.Address","City":"Ulm","Codes":[1,null]}"##
    )
    #expect(
      try value.json(.verbose) == #"{"__metadata":{"type":"Ns.Address"},"City":"Ulm","Codes":{"results":[1,null]}}"#)
    #expect(try value.json(.light) == #"{"odata.type":"Ns.Address","City":"Ulm","Codes":[1,null]}"#)
    var deep = ODataValue.null
    for _ in 0..<600 { deep = .collection([deep]) }
    let error = #expect(throws: ODataValueError.self) { try deep.json(.light) }
    #expect(error?.problem == .tooDeep(limit: 512))
  }
}
