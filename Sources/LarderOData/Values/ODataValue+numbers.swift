extension ODataValue {
  /// Reads a number of a numeric type from all of the bytes, exactly or correctly rounded.
  init(number bytes: UnsafeBufferPointer<UInt8>, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    switch type {
    case .double:
      self = .double(try ODataValue.double(bytes))
      return
    case .single:
      self = .single(try ODataValue.single(bytes))
      return
    default: break
    }
    var cursor = ByteCursor(bytes)
    if type != .decimal, let whole = ODataValue.plainInteger(bytes) {
      self = try ODataValue(whole: whole, type: type)
      return
    }
    let number = try ODataDecimal(&cursor)
    guard cursor.isAtEnd else { throw .malformed }
    self = type == .decimal ? .decimal(number) : try ODataValue(whole: try number.whole(), type: type)
  }

  private init(whole: Int64, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    switch type {
    case .byte: self = .byte(try ODataValue.narrow(whole))
    case .sbyte: self = .sbyte(try ODataValue.narrow(whole))
    case .int16: self = .int16(try ODataValue.narrow(whole))
    case .int32: self = .int32(try ODataValue.narrow(whole))
    default: self = .int64(whole)
    }
  }

  private static func narrow<Integer: FixedWidthInteger>(
    _ whole: Int64
  ) throws(ODataValueError.Problem) -> Integer {
    guard let number = Integer(exactly: whole) else { throw .outOfRange }
    return number
  }

  /// Reads a sign and at most 18 digits and nothing else: the most frequent case, without further checks.
  @inline(__always)
  private static func plainInteger(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    var index = 0
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { index = 1 }
    guard index < bytes.count, bytes.count - index <= 18 else { return nil }
    var value: Int64 = 0
    while index < bytes.count {
      let digit = bytes[index] &- 0x30
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int64(digit)
      index += 1
    }
    return isNegative ? -value : value
  }

  private static func double(_ bytes: UnsafeBufferPointer<UInt8>) throws(ODataValueError.Problem) -> Double {
    if let whole = plainInteger(bytes), whole.magnitude < 1 << 53, whole != 0 { return Double(whole) }
    switch try floating(bytes) {
    case .special(let value): return value
    case .text(let text):
      guard let value = Double(text) else { throw .malformed }
      guard value.isFinite else { throw .outOfRange }
      return value
    }
  }

  private static func single(_ bytes: UnsafeBufferPointer<UInt8>) throws(ODataValueError.Problem) -> Float {
    switch try floating(bytes) {
    case .special(let value): return Float(value)
    case .text(let text):
      guard let value = Float(text) else { throw .malformed }
      guard value.isFinite else { throw .outOfRange }
      return value
    }
  }

  private enum Floating {
    case special(Double)
    case text(String)
  }

  /// Checks the form, so that only digits are passed to the standard library's reader (which also accepts hexadecimal).
  private static func floating(_ bytes: UnsafeBufferPointer<UInt8>) throws(ODataValueError.Problem) -> Floating {
    let cursor = ByteCursor(bytes)
    switch cursor.peek {
    // The last forms are those of older services.
    case UInt8(ascii: "I") where cursor.isRest("INF") || cursor.isRest("Infinity"): return .special(.infinity)
    case UInt8(ascii: "-") where cursor.isRest("-INF") || cursor.isRest("-Infinity"): return .special(-.infinity)
    case UInt8(ascii: "N") where cursor.isRest("NaN") || cursor.isRest("Nan"): return .special(.nan)
    default: break
    }
    guard bytes.count <= ODataDecimal.digitLimit else { throw .tooLong(limit: ODataDecimal.digitLimit) }
    var check = cursor
    if !check.take(UInt8(ascii: "-")) { _ = check.take(UInt8(ascii: "+")) }
    let whole = check.digitRun().count
    var fraction = 0
    if check.peek == UInt8(ascii: "."), check.byte(ahead: 1) &- 0x30 < 10 {
      check.advance()
      fraction = check.digitRun().count
    }
    guard whole + fraction > 0 else { throw .malformed }
    if check.take(letter: UInt8(ascii: "e")) {
      if !check.take(UInt8(ascii: "-")) { _ = check.take(UInt8(ascii: "+")) }
      guard check.digitRun().count > 0 else { throw .malformed }
    }
    guard check.isAtEnd else { throw .malformed }
    return .text(String(decoding: bytes, as: UTF8.self))
  }
}
