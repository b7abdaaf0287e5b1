import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Values in cells", .timeLimit(.minutes(1)))
struct ValueCellTests {
  static let model: EdmModel = {
    var schema = EdmSchema(namespace: "Ns")
    var color = EdmEnumType(namespace: "Ns", name: "Color")
    color.members = [EdmEnumMember(name: "Red", value: 0), EdmEnumMember(name: "Blue", value: 5)]
    var rights = EdmEnumType(namespace: "Ns", name: "Rights")
    rights.isFlags = true
    rights.underlyingType = .byte
    rights.members = [EdmEnumMember(name: "Read", value: 1), EdmEnumMember(name: "Write", value: 2)]
    schema.enumTypes = [color, rights]
    return EdmModel(version: .v4, schemas: [schema])
  }()

  /// The column value of a scalar that is written as JSON.
  static func cell(_ json: String, _ type: String, _ dialect: ODataDialect = .v4) throws -> SQLValue {
    let reference = EdmTypeReference(type)
    let storage = try #require(ColumnStorage(reference, model: model))
    var batch = RowBatch(width: 1)
    try withScalar(json, dialect) { (scalar) throws(ODataValueError) in
      try storage.append(scalar, type: reference, model: model, to: &batch)
    }
    return try #require(batch.value(0, 0))
  }

  static func withScalar(
    _ json: String, _ dialect: ODataDialect, _ body: (PayloadScalar) throws(ODataValueError) -> Void
  ) throws(ODataValueError) {
    var bytes = Array(json.utf8)
    var kind = PayloadScalar.Kind.number
    switch json {
    case "null": kind = .null
    case "true": kind = .true
    case "false": kind = .false
    case let text where text.hasPrefix("\""):
      kind = .string
      bytes = Array(bytes.dropFirst().dropLast())
    default: break
    }
    let result: Result<Void, ODataValueError> = unsafe bytes.withUnsafeBufferPointer { bytes in
      let scalar = unsafe PayloadScalar(
        kind: kind, isEscaped: bytes.contains(UInt8(ascii: "\\")), bytes: bytes, dialect: dialect)
      return Result { () throws(ODataValueError) in try body(scalar) }
    }
    try result.get()
  }

  @Test(
    "V4 spellings",
    arguments: [
      ("Edm.Boolean", "true", SQLValue.integer(1)), ("Edm.Boolean", "false", .integer(0)),
      ("Edm.Boolean", "null", .null),
      ("Edm.Byte", "255", .integer(255)), ("Edm.SByte", "-128", .integer(-128)),
      ("Edm.Int16", "-32768", .integer(-32768)),
      ("Edm.Int32", "2147483647", .integer(2_147_483_647)), ("Edm.Int32", "1e3", .integer(1000)),
      ("Edm.Int64", "9223372036854775807", .integer(.max)), ("Edm.Int64", "\"-9223372036854775808\"", .integer(.min)),
      ("Edm.Double", "1.5", .real(1.5)), ("Edm.Double", "0.1", .real(0.1)), ("Edm.Double", "\"INF\"", .real(.infinity)),
      ("Edm.Double", "\"-INF\"", .real(-.infinity)), ("Edm.Double", "\"NaN\"", .text("NaN")),
      ("Edm.Double", "7", .real(7)),
      ("Edm.Double", "1.7976931348623157e308", .real(1.7976931348623157e308)),
      ("Edm.Double", "123456789.125", .real(123456789.125)),
      ("Edm.Single", "0.1", .real(Double(Float(0.1)))),
      ("Edm.Single", "3.4028235e38", .real(Double(Float.greatestFiniteMagnitude))),
      ("Edm.Decimal", "12.50", .text("12.50")), ("Edm.Decimal", "\"12.50\"", .text("12.50")),
      ("Edm.Decimal", "12345678901234567890.123456789", .text("12345678901234567890.123456789")),
      ("Edm.Decimal", "\"007\"", .text("7")), ("Edm.Decimal", "\"INF\"", .text("INF")),
      ("Edm.Decimal", "1e2", .text("1e2")),
      ("Edm.String", "\"ä\"", .text("ä")), ("Edm.String", "\"\"", .text("")),
      ("Edm.String", #""a\nb\u00e4\ud83c\udf0d\/""#, .text("a\nbä🌍/")),
      ("Edm.Guid", "\"0A1B2C3D-0000-1111-2222-abcdefabcdef\"", .text("0a1b2c3d-0000-1111-2222-abcdefabcdef")),
      ("Edm.Guid", "\"0a1b2c3d-0000-1111-2222-abcdefabcdef\"", .text("0a1b2c3d-0000-1111-2222-abcdefabcdef")),
      ("Edm.Date", "\"2024-02-29\"", .text("2024-02-29")), ("Edm.Date", "\"-0044-03-15\"", .text("-0044-03-15")),
      ("Edm.DateTimeOffset", "\"2024-02-29T12:00:00Z\"", .text("2024-02-29T12:00:00Z")),
      ("Edm.DateTimeOffset", "\"2024-02-29T12:00:00.1230000+02:00\"", .text("2024-02-29T12:00:00.1230000+02:00")),
      ("Edm.DateTimeOffset", "\"2024-02-29T12:00Z\"", .text("2024-02-29T12:00:00Z")),
      ("Edm.DateTimeOffset", "\"2016-12-31T23:59:60Z\"", .text("2016-12-31T23:59:60Z")),
      ("Edm.TimeOfDay", "\"07:59:59\"", .text("07:59:59")),
      ("Edm.TimeOfDay", "\"07:59:59.9990\"", .text("07:59:59.999")),
      ("Edm.TimeOfDay", "\"07:59\"", .text("07:59:00")), ("Edm.Duration", "\"P1DT2H\"", .text("P1DT2H")),
      ("Edm.Duration", "\"PT36H0.50S\"", .text("PT36H0.50S")), ("Edm.Binary", "\"AP8\"", .blob([0, 255])),
      ("Edm.Binary", "\"\"", .blob([])),
      ("Ns.Color", "\"Blue\"", .integer(5)), ("Ns.Color", "5", .integer(5)), ("Ns.Color", "\"5\"", .integer(5)),
      ("Ns.Rights", "\"Read,Write\"", .integer(3)), ("Ns.Rights", "\"Read, 2\"", .integer(3)),
    ])
  func v4(_ type: String, _ json: String, _ expected: SQLValue) throws {
    #expect(try ValueCellTests.cell(json, type) == expected)
  }

  @Test(
    "V2 spellings",
    arguments: [
      ("Edm.DateTime", #""/Date(1709208000000)/""#, SQLValue.text("2024-02-29T12:00:00")),
      ("Edm.DateTime", #""\/Date(1709208000123)\/""#, .text("2024-02-29T12:00:00.123")),
      ("Edm.DateTime", #""\/Date(-1)\/""#, .text("1969-12-31T23:59:59.999")),
      ("Edm.DateTime", #""\/Date(1709208000000+0060)\/""#, .text("2024-02-29T12:00:00")),
      ("Edm.DateTime", #""/Date(1709208000000-90)/""#, .text("2024-02-29T12:00:00")),
      ("Edm.DateTime", "\"2024-02-29T12:00:00\"", .text("2024-02-29T12:00:00")),
      ("Edm.DateTimeOffset", #""\/Date(1709208000000+0060)\/""#, .text("2024-02-29T12:00:00+01:00")),
      ("Edm.DateTimeOffset", #""/Date(1709208000000-90)/""#, .text("2024-02-29T12:00:00-01:30")),
      ("Edm.DateTimeOffset", #""/Date(1709208000000)/""#, .text("2024-02-29T12:00:00Z")),
      ("Edm.DateTimeOffset", "\"2024-02-29T12:00:00Z\"", .text("2024-02-29T12:00:00Z")),
      ("Edm.Time", "\"PT13H20M\"", .text("PT13H20M")), ("Edm.Int64", "\"42\"", .integer(42)),
      ("Edm.Decimal", "\"-12.5000\"", .text("-12.5000")), ("Edm.Double", "\"1.25E2\"", .real(125)),
      ("Edm.Boolean", "\"true\"", .integer(1)), ("Edm.Int32", "\"17\"", .integer(17)),
      ("Edm.Byte", "\"200\"", .integer(200)),
      ("Edm.Binary", "\"/+8=\"", .blob([255, 239])),
    ])
  func v2(_ type: String, _ json: String, _ expected: SQLValue) throws {
    #expect(try ValueCellTests.cell(json, type, .v2) == expected)
  }

  @Test(
    "texts that are not values of the type",
    arguments: [
      ("Edm.Byte", "256"), ("Edm.SByte", "-129"), ("Edm.Int16", "32768"), ("Edm.Int32", "2147483648"),
      ("Edm.Int64", "9223372036854775808"), ("Edm.Int32", "1.5"), ("Edm.Int32", "\"1\""), ("Edm.Boolean", "1"),
      ("Edm.Boolean", "\"yes\""), ("Edm.String", "1"), ("Edm.String", "true"), ("Edm.Guid", "\"1\""),
      ("Edm.Double", "\"x\""),
      ("Edm.Double", "1e999"), ("Edm.Decimal", "\"1.2.3\""), ("Edm.Decimal", "true"), ("Edm.Date", "\"2023-02-29\""),
      ("Edm.DateTimeOffset", "\"2023-02-29T00:00:00Z\""), ("Edm.DateTimeOffset", "\"2023-02-28T24:00:00Z\""),
      ("Edm.DateTimeOffset", "\"2023-02-28T00:00:00\""),
      ("Edm.DateTimeOffset", "\"2023-02-28T00:00:00.1234567890123Z\""),
      ("Edm.TimeOfDay", "\"25:00:00\""), ("Edm.Duration", "\"P1Y\""), ("Edm.Duration", "\"PT99999999999999999999S\""),
      ("Edm.Binary", "\"*\""), ("Ns.Color", "\"Green\""), ("Ns.Color", "\"Red,Blue\""), ("Ns.Rights", "256"),
      ("Ns.Color", "true"),
    ])
  func rejected(_ type: String, _ json: String) {
    #expect(throws: ODataValueError.self) { try ValueCellTests.cell(json, type) }
  }

  @Test("an error names the property, and the batch is unchanged")
  func namesProperty() throws {
    let structure = try #require(ValueCellTests.entityModel.structure("Ns.Item"))
    let column = ReplicaColumn(
      number: 0, name: "Size/Width", path: ["Size", "Width"], declaringType: structure, property: nil,
      type: .primitive(.int16), storage: .integer)
    var batch = RowBatch(width: 1)
    var failure: ColumnValueError?
    try? ValueCellTests.withScalar("70000", .v4) { scalar in
      do throws(ColumnValueError) { try column.append(scalar, model: ValueCellTests.model, to: &batch) } catch {
        failure = error
      }
    }
    #expect(failure?.property == "Size/Width")
    #expect(failure?.cause.problem == .outOfRange)
    #expect(batch.openCells == 0 && batch.rowCount == 0)
  }

  static let entityModel: EdmModel = {
    var schema = EdmSchema(namespace: "Ns")
    schema.entityTypes = [EdmEntityType(namespace: "Ns", name: "Item")]
    return EdmModel(version: .v4, schemas: [schema])
  }()

  @Test("the fast paths read the same values as the value types")
  func fastPaths() throws {
    var seed = PrintedSeed(for: "quick ways")
    let kinds = [
      ("decimal", "Edm.Decimal"), ("decimal", "Edm.Double"), ("decimal", "Edm.Single"), ("decimal", "Edm.Int32"),
      ("moment", "Edm.DateTimeOffset"), ("moment", "Edm.DateTime"), ("moment", "Edm.Date"),
      ("duration", "Edm.Duration"),
      ("moment", "Edm.TimeOfDay"), ("decimal", "Edm.Guid"),
    ]
    var read = 0
    for _ in 0..<4000 {
      let (kind, type) = RandomValues.pick(kinds, &seed)
      var text = RandomValues.spoiled(kind, &seed)
      if type == "Edm.TimeOfDay" { text = String(text.split(separator: "T").last?.dropLast() ?? "") }
      if type == "Edm.Date" { text = String(text.split(separator: "T").first ?? "") }
      if text.contains("\\") || text.contains("\"") { continue }
      let dialect = Bool.random(using: &seed) ? ODataDialect.v4 : .v2
      let primitive = try #require(EdmPrimitiveType(qualifiedName: type))
      let storage = try #require(ColumnStorage(.primitive(primitive), model: ValueCellTests.model))
      var expected: SQLValue?
      try? ValueCellTests.withScalar("\"\(text)\"", dialect) { (scalar) throws(ODataValueError) in
        expected = try storage.sqlValue(of: try scalar.value(as: primitive), type: .primitive(primitive))
      }
      let failure = try? ValueCellTests.cell("\"\(text)\"", type, dialect)
      #expect(
        (failure == nil) == (expected == nil),
        "\(type) \(text): \(String(describing: failure)) \(String(describing: expected))")
      guard let failure, let expected else { continue }
      read += 1
      #expect(ValueCellTests.isSame(failure, expected, storage), "\(type) \(text): \(failure) \(expected)")
    }
    #expect(read > 1000)
  }

  private static func isSame(_ one: SQLValue, _ other: SQLValue, _ storage: ColumnStorage) -> Bool {
    guard case .text(var left) = one, case .text(var right) = other else { return one == other }
    return left.withUTF8 { left in
      right.withUTF8 { right in
        let (left, right) = unsafe (TextBytes(left), TextBytes(right))
        switch storage {
        case .decimal: return DecimalText.order(left, right) == 0
        case .dateTimeOffset, .dateTime, .date: return DateTimeText.order(left, right) == 0
        case .duration: return DurationText.order(left, right) == 0
        default: return TextBytes.order(left, right) == 0
        }
      }
    }
  }

  @Test("numbers are rounded correctly")
  func numbers() throws {
    var seed = PrintedSeed(for: "numbers")
    for _ in 0..<4000 {
      let digits =
        Int64.random(in: -9_999_999_999_999...9_999_999_999_999, using: &seed)
        / RandomValues.pick([1, 10, 1000, 10_000_000], &seed)
      let scale = Int.random(in: 0...6, using: &seed)
      let text = ODataDecimal(significand: digits, exponent: -scale)?.description ?? "0"
      #expect(try ValueCellTests.cell(text, "Edm.Double") == .real(Double(text) ?? .nan), "\(text)")
      #expect(try ValueCellTests.cell(text, "Edm.Single") == .real(Double(Float(text) ?? .nan)), "\(text)")
    }
  }
}

extension RowBatch {
  func value(_ row: Int, _ column: Int) -> SQLValue? { cellValues.dropFirst(row * width + column).first }
}
