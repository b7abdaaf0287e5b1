// JSON to values (OData JSON Format 4.01 §7.1; OData V2 JSON Format, primitive types).
extension ODataValue {
  /// Reads a JSON scalar as a value of a type; without a type, as a string, a boolean, or a number with its digits.
  ///
  /// Both dialects accept 64-bit integers, decimals and floating-point numbers as numbers or strings, and binary in
  /// both base64 alphabets. V2 also accepts `/Date(ms±minutes)/`, and booleans and small integers in strings.
  ///
  /// - Throws: ``ODataValueError`` for other kinds of JSON, wrong forms and numbers out of range.
  package init(
    json scalar: JSONScalar, type: EdmPrimitiveType?, dialect: ODataDialect
  ) throws(ODataValueError) {
    do throws(ODataValueError.Problem) {
      self = try ODataValue(scalar, type: type, dialect: dialect)
    } catch {
      switch scalar {
      case .string(let bytes), .number(let bytes): throw ODataValueError(error, type: type, bytes: bytes)
      case .boolean, .null: throw ODataValueError(error, type: type, text: scalar.kind)
      }
    }
  }

  /// Reads a JSON value as a value of a primitive type: scalars, and GeoJSON objects.
  package init(json node: JSONNode, type: EdmPrimitiveType?, dialect: ODataDialect) throws(ODataValueError) {
    switch node {
    case .null: self = .null
    case .boolean(let flag): try self.init(json: JSONScalar.boolean(flag), type: type, dialect: dialect)
    case .string(let text): self = try ODataValue.scalar(text, type: type, dialect: dialect, JSONScalar.string)
    case .number(let text): self = try ODataValue.scalar(text, type: type, dialect: dialect, JSONScalar.number)
    case .array: throw ODataValueError(.wrongKind("A JSON array"), type: type, text: "[")
    case .object:
      guard let type, type.geoSpace != nil else {
        throw ODataValueError(.wrongKind("A JSON object"), type: type, text: "{")
      }
      do throws(ODataValueError.Problem) {
        self = .geo(try ODataGeo(geoJSON: node, type: type))
      } catch {
        throw ODataValueError(error, type: type, text: node["type"]?.string ?? "{")
      }
    }
  }

  private static func scalar(
    _ text: String, type: EdmPrimitiveType?, dialect: ODataDialect,
    _ make: (UnsafeBufferPointer<UInt8>) -> JSONScalar
  ) throws(ODataValueError) -> ODataValue {
    try withBytes(of: text, type: type) { bytes throws(ODataValueError.Problem) in
      try ODataValue(make(bytes), type: type, dialect: dialect)
    }
  }

  /// Reads an enumeration's value: member names or numbers joined by commas, or one JSON number (4.01 §7.1).
  package init(enumeration scalar: JSONScalar) throws(ODataValueError) {
    switch scalar {
    case .null: self = .null
    case .string(let bytes), .number(let bytes):
      guard let text = EnumerationText.read(bytes) else {
        throw ODataValueError(
          .notSupported("an enumeration value must be names or numbers joined by commas"), type: nil,
          text: String(decoding: bytes.prefix(256), as: UTF8.self))
      }
      self = .enumeration(text)
    case .boolean:
      throw ODataValueError(
        .notSupported("an enumeration value must be a string or a number"), type: nil, text: scalar.kind)
    }
  }

  private init(
    _ scalar: JSONScalar, type: EdmPrimitiveType?, dialect: ODataDialect
  ) throws(ODataValueError.Problem) {
    switch (scalar, type) {
    case (.null, _): self = .null
    case (.boolean(let flag), nil), (.boolean(let flag), .boolean): self = .boolean(flag)
    case (.string(let bytes), nil): self = .string(String(decoding: bytes, as: UTF8.self))
    case (.number(let bytes), nil):
      guard case .decimal(let number) = try ODataValue(number: bytes, type: .decimal) else { throw .malformed }
      self = .untypedNumber(number)
    case (.number(let bytes), .some(let type)):
      guard type.isNumeric else { throw .wrongKind(scalar.kind) }
      self = try ODataValue(number: bytes, type: type)
    case (.string(let bytes), .some(let type)): self = try ODataValue(string: bytes, type: type, dialect: dialect)
    case (.boolean, _): throw .wrongKind(scalar.kind)
    }
  }

  private init(
    string bytes: UnsafeBufferPointer<UInt8>, type: EdmPrimitiveType, dialect: ODataDialect
  ) throws(ODataValueError.Problem) {
    switch type {
    case .boolean, .byte, .sbyte, .int16, .int32:
      guard dialect == .v2 else { throw .wrongKind("a JSON string") }
    case .dateTime, .dateTimeOffset:
      if dialect == .v2, bytes.first == UInt8(ascii: "/") {
        self = try ODataValue(ticks: bytes, type: type)
        return
      }
    default: break
    }
    self = try ODataValue(lexical: bytes, type: type, skipsSpace: dialect == .v2)
  }

  /// Reads `/Date(ms)/` and `/Date(ms±minutes)/`. For `Edm.DateTimeOffset` the milliseconds are in local time: services
  /// of V2 and their clients subtract the offset from them to get UTC. For `Edm.DateTime`, which has no offset, they are
  /// the value, and the offset is not used.
  private init(ticks bytes: UnsafeBufferPointer<UInt8>, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    var cursor = ByteCursor(bytes)
    guard cursor.take(word: "/Date(") else { throw .malformed }
    let isNegative = cursor.take(UInt8(ascii: "-"))
    let run = cursor.digitRun()
    guard run.count > 0 else { throw .malformed }
    guard let magnitude = run.value, let milliseconds = Int64(exactly: magnitude) else { throw .outOfRange }
    var offset = 0
    if cursor.peek == UInt8(ascii: "+") || cursor.peek == UInt8(ascii: "-") {
      let isNegativeOffset = cursor.take(UInt8(ascii: "-"))
      if !isNegativeOffset { cursor.advance() }
      let minutes = cursor.digitRun()
      guard minutes.count > 0 else { throw .malformed }
      guard let minutes = minutes.value, minutes < 1440 else { throw .outOfRange }
      offset = isNegativeOffset ? -Int(minutes) : Int(minutes)
    }
    guard cursor.take(UInt8(ascii: ")")), cursor.take(UInt8(ascii: "/")), cursor.isAtEnd else { throw .malformed }
    guard let local = ODataDateTime(millisecondsSince1970: isNegative ? -milliseconds : milliseconds) else {
      throw .outOfRange
    }
    if type == .dateTime {
      self = .dateTime(local)
      return
    }
    guard let timestamp = ODataDateTimeOffset(date: local.date, time: local.time, offsetMinutes: offset) else {
      throw .outOfRange
    }
    self = .dateTimeOffset(timestamp)
  }
}

extension EdmPrimitiveType {
  /// Whether values of the type are numbers in JSON.
  var isNumeric: Bool {
    switch self {
    case .byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double: true
    default: false
    }
  }
}

/// The text of an enumeration's value: names or whole numbers, joined by commas (ABNF `enumValue`).
enum EnumerationText {
  /// The text without white space after commas; nil if it is not a list of names or numbers.
  static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var isStart = true
    for byte in bytes {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), 0x80...0xFF: isStart = false
      case UInt8(ascii: "-") where isStart, UInt8(ascii: "+") where isStart: break
      case UInt8(ascii: ",") where !isStart: isStart = true
      case UInt8(ascii: " ") where isStart && !text.isEmpty: continue
      default: return nil
      }
      text.append(byte)
    }
    return isStart ? nil : String(decoding: text, as: UTF8.self)
  }
}
