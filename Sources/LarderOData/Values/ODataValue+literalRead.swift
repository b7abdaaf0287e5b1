extension ODataValue {
  /// Reads a literal of a known type. The text must be percent-decoded.
  ///
  /// `null` is a value of every type. The parts that 4.01 omits (the words before `'PT5M'` and `'Zm9v'`) and that V2
  /// makes optional (`L`, `M`, `d`, `f`) may be present or absent.
  package init(literal text: String, type: EdmPrimitiveType, dialect: ODataDialect) throws(ODataValueError) {
    self = try ODataValue.withBytes(of: text, type: type) { bytes throws(ODataValueError.Problem) in
      let literal = LiteralForm(bytes)
      if literal.prefix.isEmpty, literal.quoted == nil, ByteCursor(bytes).isRest("null") { return .null }
      return try dialect == .v4 ? ODataValue(v4: literal, type: type) : ODataValue(v2: literal, type: type)
    }
  }

  /// Reads a literal by its form alone. The text must be percent-decoded.
  ///
  /// Whole numbers become the smallest of Int32, Int64 and Decimal that holds them. In V4, other numbers become
  /// Decimal, which loses nothing; in V2 the suffix determines the type, and a number without one is Double. A quoted
  /// text is a string; with a qualified name before it, it is an enumeration's members.
  package init(literal text: String, dialect: ODataDialect) throws(ODataValueError) {
    self = try ODataValue.withBytes(of: text, type: nil) { bytes throws(ODataValueError.Problem) in
      let literal = LiteralForm(bytes)
      guard literal.quoted != nil else { return try ODataValue(bare: bytes, dialect: dialect) }
      if literal.prefix.isEmpty { return .string(try literal.string()) }
      if let type = literal.prefixType(dialect) {
        return try dialect == .v4 ? ODataValue(v4: literal, type: type) : ODataValue(v2: literal, type: type)
      }
      return .enumeration(try literal.enumeration().members)
    }
  }

  /// Reads `Ns.Color'Red,Blue'` or `'Red,Blue'`: the type's name, if it is written, and the members.
  package static func enumeration(
    literal text: String
  ) throws(ODataValueError) -> (typeName: String?, members: String) {
    try withBytes(of: text, type: nil) { bytes throws(ODataValueError.Problem) in
      try LiteralForm(bytes).enumeration()
    }
  }

  private init(v4 literal: LiteralForm, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    switch type {
    case .string, .stream:
      guard literal.prefix.isEmpty else { throw .malformed }
      self = .string(try literal.string())
    case .duration, .time:
      self = try ODataValue(lexical: try literal.content(prefix: "duration", isOptional: true), type: type)
    case .binary: self = try ODataValue(lexical: try literal.content(prefix: "binary", isOptional: true), type: type)
    case .boolean: self = .boolean(try literal.boolean())
    case _ where type.geoSpace != nil: self = try ODataValue(geo: literal, type: type)
    default:
      guard literal.quoted == nil else { throw .malformed }
      self = try ODataValue(lexical: literal.bytes, type: type)
    }
  }

  private init(v2 literal: LiteralForm, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    switch type {
    case .string, .stream:
      guard literal.prefix.isEmpty else { throw .malformed }
      self = .string(try literal.string())
    case .dateTime: self = try ODataValue(lexical: try literal.content(prefix: "datetime"), type: type)
    case .dateTimeOffset: self = try ODataValue(lexical: try literal.content(prefix: "datetimeoffset"), type: type)
    case .time, .duration: self = try ODataValue(lexical: try literal.content(prefix: "time"), type: type)
    case .guid: self = try ODataValue(lexical: try literal.content(prefix: "guid"), type: type)
    case .binary: self = .binary(try literal.hexadecimal())
    case .boolean:
      if literal.bytes.count == 1, literal.bytes[0] == 0x30 || literal.bytes[0] == 0x31 {
        self = .boolean(literal.bytes[0] == 0x31)
      } else {
        self = .boolean(try literal.boolean())
      }
    case .date, .timeOfDay: throw .notSupported("\(type.qualifiedName) has no literal in V1 to V3")
    case _ where type.geoSpace != nil: self = try ODataValue(geo: literal, type: type)
    default:
      guard literal.quoted == nil else { throw .malformed }
      self = try ODataValue(number: literal.withoutSuffix(type), type: type)
    }
  }

  private init(geo literal: LiteralForm, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    let content = try literal.content(prefix: type.geoSpace == .geography ? "geography" : "geometry")
    self = try ODataValue(lexical: content, type: type)
  }

  /// Reads a literal without quotes.
  private init(bare bytes: UnsafeBufferPointer<UInt8>, dialect: ODataDialect) throws(ODataValueError.Problem) {
    let cursor = ByteCursor(bytes)
    if cursor.isRest("null") {
      self = .null
    } else if let flag = try? LiteralForm(bytes).boolean() {
      self = .boolean(flag)
    } else if dialect == .v4, let value = ODataValue.bareTemporal(bytes) {
      self = value
    } else {
      self = try ODataValue(bareNumber: bytes, dialect: dialect)
    }
  }

  private static func bareTemporal(_ bytes: UnsafeBufferPointer<UInt8>) -> ODataValue? {
    // Each of these forms has a hyphen or colon in a place where a number has none.
    for type in [EdmPrimitiveType.guid, .dateTimeOffset, .date, .timeOfDay] {
      if let value = try? ODataValue(lexical: bytes, type: type) { return value }
    }
    return nil
  }

  private init(bareNumber bytes: UnsafeBufferPointer<UInt8>, dialect: ODataDialect) throws(ODataValueError.Problem) {
    if dialect == .v2, let type = LiteralForm.suffixType(bytes) {
      self = try ODataValue(v2: LiteralForm(bytes), type: type)
      return
    }
    let digits = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes[...]
    if !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) {
      if let value = try? ODataValue(number: bytes, type: .int32) {
        self = value
      } else if let value = try? ODataValue(number: bytes, type: .int64) {
        self = value
      } else {
        self = try ODataValue(number: bytes, type: .decimal)
      }
      return
    }
    let isSpecial = digits.first == UInt8(ascii: "I") || digits.first == UInt8(ascii: "N")
    self = try ODataValue(number: bytes, type: isSpecial || dialect == .v2 ? .double : .decimal)
  }
}
