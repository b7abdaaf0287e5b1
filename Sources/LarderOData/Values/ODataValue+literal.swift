@_spi(Stores) import LarderCore
@_spi(Stores) import LarderHTTP

// Values as written in URLs: keys, parameters, operands (V4 ABNF `primitiveLiteral`; V2 primitive types, "Literal
// Form").
extension ODataValue {
  /// The literal, not percent-encoded: `'it''s'`, `2L` or `2`, `datetime'…'` or `2012-09-03T10:00:00Z`.
  ///
  /// - Parameters:
  ///   - dialect: the dialect.
  ///   - enumerationType: the qualified name before an enumeration's members. It is optional in V4.01, and required in
  ///     older versions.
  /// - Throws: ``ODataValueError`` for types that the dialect does not have, and for complex values and collections in
  ///   the dialect of V1 to V3; in V4 they are JSON, which must be the value of a parameter alias.
  package func literal(
    dialect: ODataDialect, enumerationType: String? = nil
  ) throws(ODataValueError) -> String {
    switch self {
    case .null: return "null"
    case .string(let text): return ODataValue.quoted(text)
    case .enumeration(let members): return (enumerationType ?? "") + ODataValue.quoted(members)
    case .geo(var geo):
      // The grammar requires an SRID; these are the model's defaults (CSDL 4.01 §7.2.6).
      geo.srid = geo.srid ?? (geo.space == .geography ? 4326 : 0)
      return "\(geo.space.rawValue)'\(geo.wellKnownText)'"
    case .untypedNumber(let number): return number.description
    default: return try dialect == .v4 ? literalV4() : literalV2()
    }
  }

  /// The literal, percent-encoded for a path segment or a query option.
  package func urlLiteral(
    dialect: ODataDialect, enumerationType: String? = nil
  ) throws(ODataValueError) -> String {
    PercentEncoding.encode(try literal(dialect: dialect, enumerationType: enumerationType))
  }

  private static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "'")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'") { bytes.append(byte) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "'"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func literalV4() throws(ODataValueError) -> String {
    switch self {
    case .duration: "duration'\(try text())'"
    case .binary: "binary'\(try text())'"
    case .dateTime:
      throw ODataValueError(
        .notSupported("Edm.DateTime is not a type of V4; use Edm.DateTimeOffset"), type: type, text: try text())
    case .complex, .collection: try json(.v4(ieee754Compatible: false))
    default: try text()
    }
  }

  private func literalV2() throws(ODataValueError) -> String {
    switch self {
    case .int64(let number): return "\(number)L"
    case .decimal(let number):
      if number.isFinite { return "\(number)M" }
    case .double(let number): return number.isFinite ? "\(number)d" : try text()
    case .single(let number): return (number.isFinite ? number.description : try text()) + "f"
    case .dateTime(let dateTime): return "datetime'\(dateTime)'"
    case .dateTimeOffset(let dateTime): return "datetimeoffset'\(dateTime)'"
    case .duration(let duration): return "time'\(duration)'"
    case .guid(let guid): return "guid'\(guid)'"
    case .binary(let binary): return "X'\(Hexadecimal.text(binary).uppercased())'"
    case .date, .timeOfDay, .complex, .collection: break
    default: return try text()
    }
    throw ODataValueError(
      .notSupported("\(kind) has no literal in V1 to V3"), type: type, text: (try? text()) ?? kind)
  }
}
