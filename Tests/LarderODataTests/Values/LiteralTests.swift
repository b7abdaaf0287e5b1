@_spi(Stores) import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderOData

@Suite("Values in URLs", .timeLimit(.minutes(5)))
struct LiteralTests {
  private static func value(_ text: String, _ type: EdmPrimitiveType) -> ODataValue {
    (try? ODataValue(text: text, type: type)) ?? .null
  }

  /// OData V2, "Primitive Data Types", column "Literal form": literal, type, lexical value, as it is written.
  static let v2: [(String, EdmPrimitiveType, String, String)] = [
    ("X'23AB'", .binary, "I6s=", "X'23AB'"), ("binary'23ab'", .binary, "I6s=", "X'23AB'"),
    ("true", .boolean, "true", "true"),
    ("1", .boolean, "true", "true"), ("255", .byte, "255", "255"), ("-8", .sbyte, "-8", "-8"),
    ("16", .int16, "16", "16"), ("-32", .int32, "-32", "-32"),
    ("64L", .int64, "64", "64L"), ("-64l", .int64, "-64", "-64L"), ("64", .int64, "64", "64L"),
    ("2.345M", .decimal, "2.345", "2.345M"),
    ("2.345m", .decimal, "2.345", "2.345M"), ("1E+10d", .double, "1e10", "10000000000.0d"),
    ("2.029", .double, "2.029", "2.029d"), ("2.0D", .double, "2", "2.0d"),
    ("-INF", .double, "-INF", "-INF"), ("2.5f", .single, "2.5", "2.5f"), ("INFf", .single, "INF", "INFf"),
    ("INF", .single, "INF", "INFf"),
    ("datetime'2000-12-12T12:00'", .dateTime, "2000-12-12T12:00:00", "datetime'2000-12-12T12:00:00'"),
    (
      "datetimeoffset'2002-10-10T17:00:00Z'", .dateTimeOffset, "2002-10-10T17:00:00Z",
      "datetimeoffset'2002-10-10T17:00:00Z'"
    ),
    ("time'PT13H20M'", .time, "PT13H20M", "time'PT13H20M'"),
    (
      "guid'12345678-aaaa-bbbb-cccc-ddddeeeeffff'", .guid, "12345678-aaaa-bbbb-cccc-ddddeeeeffff",
      "guid'12345678-aaaa-bbbb-cccc-ddddeeeeffff'"
    ),
    ("'it''s'", .string, "it's", "'it''s'"), ("''", .string, "", "''"),
  ]

  @Test("V2 literals are read and written", arguments: v2)
  func v2Literals(_ literal: String, _ type: EdmPrimitiveType, _ lexical: String, _ written: String) throws {
    let value = try ODataValue(literal: literal, type: type, dialect: .v2)
    #expect(value == LiteralTests.value(lexical, type))
    #expect(try value.literal(dialect: .v2) == written)
    #expect(try ODataValue(literal: written, type: type, dialect: .v2) == value)
  }

  /// ABNF 4.01 `primitiveLiteral`.
  static let v4: [(String, EdmPrimitiveType, String, String)] = [
    ("duration'P6DT23H59M59.9999S'", .duration, "P6DT23H59M59.9999S", "duration'P6DT23H59M59.9999S'"),
    ("'P1D'", .duration, "P1D", "duration'P1D'"),
    ("binary'T0RhdGE'", .binary, "T0RhdGE", "binary'T0RhdGE'"), ("'T0RhdGE='", .binary, "T0RhdGE", "binary'T0RhdGE'"),
    ("binary''", .binary, "", "binary''"),
    ("tRUe", .boolean, "true", "true"), ("-42", .int32, "-42", "-42"), ("+42", .int64, "42", "42"),
    ("1.50", .decimal, "1.50", "1.50"), ("INF", .double, "INF", "INF"),
    ("2012-09-03", .date, "2012-09-03", "2012-09-03"), ("11:22", .timeOfDay, "11:22:00", "11:22:00"),
    ("2012-09-03T13:52+02:00", .dateTimeOffset, "2012-09-03T13:52:00+02:00", "2012-09-03T13:52:00+02:00"),
    (
      "01234567-89ab-cdef-0123-456789abcdef", .guid, "01234567-89ab-cdef-0123-456789abcdef",
      "01234567-89ab-cdef-0123-456789abcdef"
    ),
    ("'Hugo''s Tavern'", .string, "Hugo's Tavern", "'Hugo''s Tavern'"),
    (
      "geography'SRID=0;Point(142.1 64.1)'", .geographyPoint, "SRID=0;Point(142.1 64.1)",
      "geography'SRID=0;Point(142.1 64.1)'"
    ),
  ]

  @Test("V4 literals are read and written", arguments: v4)
  func v4Literals(_ literal: String, _ type: EdmPrimitiveType, _ lexical: String, _ written: String) throws {
    let value = try ODataValue(literal: literal, type: type, dialect: .v4)
    #expect(value == LiteralTests.value(lexical, type) && value != .null)
    #expect(try value.literal(dialect: .v4) == written)
    #expect(try ODataValue(literal: written, type: type, dialect: .v4) == value)
  }

  @Test(
    "Without a type, the form decides",
    arguments: [
      ("null", .v4, .null), ("true", .v4, .boolean(true)), ("FALSE", .v2, .boolean(false)), ("5", .v4, .int32(5)),
      ("5000000000", .v4, .int64(5_000_000_000)),
      ("99999999999999999999", .v4, value("99999999999999999999", .decimal)), ("1.10", .v4, value("1.10", .decimal)),
      ("1.5e3", .v4, value("1500", .decimal)),
      ("INF", .v4, .double(.infinity)), ("-INF", .v2, .double(-.infinity)), ("1.5", .v2, .double(1.5)),
      ("1.5f", .v2, .single(1.5)), ("2L", .v2, .int64(2)), ("2m", .v2, value("2", .decimal)),
      ("'x'", .v4, .string("x")), ("'Huge'", .v2, .string("Huge")), ("duration'PT5M'", .v4, value("PT5M", .duration)),
      ("time'PT5M'", .v2, value("PT5M", .duration)),
      ("Sales.Pattern'Solid,Yellow'", .v4, .enumeration("Solid,Yellow")),
      ("2012-09-03", .v4, value("2012-09-03", .date)),
      ("2012-09-03T13:52Z", .v4, value("2012-09-03T13:52Z", .dateTimeOffset)),
      ("11:22:33", .v4, value("11:22:33", .timeOfDay)),
      ("01234567-89ab-cdef-0123-456789abcdef", .v4, value("01234567-89ab-cdef-0123-456789abcdef", .guid)),
      ("guid'01234567-89ab-cdef-0123-456789abcdef'", .v2, value("01234567-89ab-cdef-0123-456789abcdef", .guid)),
      ("X'00fF'", .v2, .binary([0, 255])), ("binary'AP8'", .v4, .binary([0, 255])),
      ("datetime'2012-09-03T10:00:00'", .v2, value("2012-09-03T10:00:00", .dateTime)),
    ] as [(String, ODataDialect, ODataValue)])
  func untyped(_ literal: String, _ dialect: ODataDialect, _ expected: ODataValue) throws {
    #expect(try ODataValue(literal: literal, dialect: dialect) == expected)
  }

  @Test(
    "Invalid literals are rejected",
    arguments: [
      "", "'", "'a", "a'", "'a'b'", "abc", "datetime'2012'", "X'0'", "X'0G'", "guid'1'", "1.5.5", "L", "--1",
      "duration'1'", "5'", "time'P1Y'",
      "1x", ".Ns'a'", "Ns.'a'", "9Ns'a'",
    ])
  func rejects(_ literal: String) {
    #expect(throws: ODataValueError.self) { try ODataValue(literal: literal, dialect: .v2) }
    #expect(throws: ODataValueError.self) { try ODataValue(literal: literal, dialect: .v4) }
  }

  @Test("Enumeration literals have their type's name")
  func enumerations() throws {
    let literal = try ODataValue.enumeration("Red,Blue").literal(dialect: .v4, enumerationType: "Ns.Color")
    #expect(literal == "Ns.Color'Red,Blue'")
    let (name, members) = try ODataValue.enumeration(literal: literal)
    #expect(name == "Ns.Color" && members == "Red,Blue")
    #expect(try ODataValue.enumeration(literal: "'Red'").typeName == nil)
  }

  @Test("Types that a dialect does not have are errors")
  func foreignTypes() throws {
    #expect(throws: ODataValueError.self) { try LiteralTests.value("2012-09-03", .date).literal(dialect: .v2) }
    #expect(throws: ODataValueError.self) {
      try LiteralTests.value("2012-09-03T10:00:00", .dateTime).literal(dialect: .v4)
    }
    #expect(throws: ODataValueError.self) { try ODataValue.collection([]).literal(dialect: .v2) }
    #expect(throws: ODataValueError.self) { try LiteralTests.value("INF", .decimal).literal(dialect: .v2) }
    #expect(try ODataValue.collection([.int32(1)]).literal(dialect: .v4) == "[1]")
    #expect(
      try ODataValue.geo(ODataGeo(.geography, shape: .point(.init(x: 1, y: 2)))).literal(dialect: .v4)
        == "geography'SRID=4326;Point(1.0 2.0)'")
  }

  @Test("Percent-encoding leaves no byte that could end a path segment or an option")
  func percentEncoding() throws {
    let text = "a/b?c#d&e=f+g h%é'()*,;:@"
    let encoded = PercentEncoding.encode(text)
    #expect(encoded == "a%2Fb%3Fc%23d%26e%3Df%2Bg%20h%25%C3%A9'()*,%3B:@")
    #expect(PercentEncoding.decode(encoded) == text)
    for broken in ["%", "%4", "%GG", "%FF"] { #expect(PercentEncoding.decode(broken) == nil) }
    #expect(try ODataValue.string("O'Neil & Söhne").urlLiteral(dialect: .v2) == "'O''Neil%20%26%20S%C3%B6hne'")
  }
}
