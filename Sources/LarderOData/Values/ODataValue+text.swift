import LarderCore

// The lexical form: the text of a `$value` response, an XML element or a default value, and inside JSON strings.
extension ODataValue {
  /// Reads the lexical form of a value (ABNF `primitiveValue`): the text of an XML element, of `$value`, or of a
  /// default value.
  ///
  /// Base64 is read in both alphabets, with or without padding, and with white space as XML allows it; geo values as
  /// `SRID=n;Shape(…)`.
  public init(text: String, type: EdmPrimitiveType) throws(ODataValueError) {
    if type == .string || type == .stream {
      self = .string(text)
      return
    }
    self = try ODataValue.withBytes(of: text, type: type) { bytes throws(ODataValueError.Problem) in
      try ODataValue(lexical: bytes, type: type, skipsSpace: true)
    }
  }

  /// The lexical form, which ``init(text:type:)`` reads back.
  ///
  /// - Parameter isBase64URL: the alphabet of binary values: true for V4's, false for that of V1 to V3 and XML.
  /// - Throws: ``ODataValueError`` for complex values and collections, which have no lexical form, and null.
  public func text(isBase64URL: Bool = true) throws(ODataValueError) -> String {
    var bytes: [UInt8] = []
    try write(lexicalInto: &bytes, isBase64URL: isBase64URL)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Runs a reader over a text's bytes, and adds the type and the text to its problem.
  static func withBytes<Value>(
    of text: String, type: EdmPrimitiveType?,
    _ read: (UnsafeBufferPointer<UInt8>) throws(ODataValueError.Problem) -> Value
  ) throws(ODataValueError) -> Value {
    var copy = text
    let result: Result<Value, ODataValueError.Problem> = copy.withUTF8 { bytes in
      do throws(ODataValueError.Problem) { return .success(try read(bytes)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): return value
    case .failure(let problem): throw ODataValueError(problem, type: type, text: text)
    }
  }

  init(
    lexical bytes: UnsafeBufferPointer<UInt8>, type: EdmPrimitiveType, skipsSpace: Bool = false
  ) throws(ODataValueError.Problem) {
    var cursor = ByteCursor(bytes)
    switch type {
    case .string, .stream:
      self = .string(String(decoding: bytes, as: UTF8.self))
      return
    case .binary:
      guard let binary = Base64.decode(bytes, skipsSpace: skipsSpace) else { throw .malformed }
      self = .binary(binary)
      return
    case .boolean:
      guard cursor.isRest("true") || cursor.isRest("false") else { throw .malformed }
      self = .boolean(bytes.count == 4)
      return
    case .byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double:
      self = try ODataValue(number: bytes, type: type)
      return
    case .guid: self = .guid(try ODataValue.require(ODataGuid(&cursor)))
    case .date: self = .date(try ODataValue.require(ODataDate(&cursor)))
    case .timeOfDay: self = .timeOfDay(try ODataValue.require(ODataTimeOfDay(&cursor)))
    case .dateTimeOffset: self = .dateTimeOffset(try ODataValue.require(ODataDateTimeOffset(&cursor)))
    case .dateTime:
      self = .dateTime(try ODataValue.require(ODataDateTime(&cursor)))
      // Some services mark values of a type without time zones as UTC.
      if !cursor.take(UInt8(ascii: "Z")) { _ = cursor.take(word: "+00:00") }
    case .duration, .time: self = .duration(try ODataDuration(&cursor))
    default: self = .geo(try ODataGeo(wellKnownText: &cursor, type: type))
    }
    guard cursor.isAtEnd else { throw .malformed }
  }

  private static func require<Value>(_ value: Value?) throws(ODataValueError.Problem) -> Value {
    guard let value else { throw .malformed }
    return value
  }

  func write(lexicalInto bytes: inout [UInt8], isBase64URL: Bool) throws(ODataValueError) {
    switch self {
    case .boolean(let flag): bytes.append(ascii: flag ? "true" : "false")
    case .byte(let number): bytes.append(decimal: number)
    case .sbyte(let number): bytes.append(decimal: number)
    case .int16(let number): bytes.append(decimal: number)
    case .int32(let number): bytes.append(decimal: number)
    case .int64(let number): bytes.append(decimal: number)
    case .single(let number): ODataValue.write(number, into: &bytes)
    case .double(let number): ODataValue.write(number, into: &bytes)
    case .decimal(let number), .untypedNumber(let number): number.write(into: &bytes)
    case .string(let text), .enumeration(let text): bytes.append(contentsOf: text.utf8)
    case .guid(let guid): guid.write(into: &bytes)
    case .binary(let binary): Base64.append(binary, isURLSafe: isBase64URL, to: &bytes)
    case .date(let date): date.write(into: &bytes)
    case .timeOfDay(let time): time.write(into: &bytes)
    case .dateTimeOffset(let dateTime): dateTime.write(into: &bytes)
    case .dateTime(let dateTime): dateTime.write(into: &bytes)
    case .duration(let duration): duration.write(into: &bytes)
    case .geo(let geo): geo.write(wellKnownTextInto: &bytes)
    case .null, .complex, .collection:
      throw ODataValueError(.notSupported("\(kind) has no lexical form; write it as JSON"), type: nil, text: "")
    }
  }

  /// The shortest digits that read back as the same number; INF, -INF, NaN.
  static func write(_ number: some BinaryFloatingPoint & CustomStringConvertible, into bytes: inout [UInt8]) {
    if number.isNaN {
      bytes.append(ascii: "NaN")
    } else if number.isInfinite {
      bytes.append(ascii: number < 0 ? "-INF" : "INF")
    } else {
      bytes.append(contentsOf: number.description.utf8)
    }
  }

  /// The kind of the value, in words.
  var kind: String {
    switch self {
    case .null: "null"
    case .complex: "a complex value"
    case .collection: "a collection"
    case .enumeration: "an enumeration member"
    default: type?.qualifiedName ?? "a number"
    }
  }

  /// The primitive type; nil for null, enumerations, complex values, collections and untyped numbers.
  ///
  /// For a duration it is `Edm.Duration`, even if it was declared as `Edm.Time`.
  public var type: EdmPrimitiveType? {
    switch self {
    case .boolean: .boolean
    case .byte: .byte
    case .sbyte: .sbyte
    case .int16: .int16
    case .int32: .int32
    case .int64: .int64
    case .single: .single
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .guid: .guid
    case .binary: .binary
    case .date: .date
    case .timeOfDay: .timeOfDay
    case .dateTimeOffset: .dateTimeOffset
    case .dateTime: .dateTime
    case .duration: .duration
    case .geo(let geo): geo.type
    case .null, .enumeration, .complex, .collection, .untypedNumber: nil
    }
  }
}
