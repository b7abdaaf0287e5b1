@_spi(Stores) import LarderCore

/// The parsing algorithm of RFC 9651 §4.2 over the bytes of one field value.
struct StructuredFieldReader {
  private let bytes: [UInt8]
  private var offset = 0
  private let limit: Int
  private var items = 0

  /// Creates a reader. `limit` applies to items and parameters together.
  init(_ text: String, limit: Int) {
    bytes = Array(text.utf8)
    self.limit = limit
  }

  private var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func failure(_ reason: String) -> StructuredFieldError {
    StructuredFieldError(reason: reason, offset: offset)
  }

  private mutating func consume(_ expected: UInt8) -> Bool {
    guard byte == expected else { return false }
    offset += 1
    return true
  }

  private mutating func skip(tabs: Bool = false) {
    while let next = byte, next == 0x20 || (tabs && next == 0x09) { offset += 1 }
  }

  private mutating func count() throws(StructuredFieldError) {
    items += 1
    guard items <= limit else { throw failure("more than \(limit) items") }
  }

  mutating func list() throws(StructuredFieldError) -> [StructuredField.Member] {
    var members: [StructuredField.Member] = []
    skip()
    while byte != nil {
      members.append(try member())
      skip(tabs: true)
      guard byte != nil else { break }
      guard consume(0x2C) else { throw failure("a comma is expected") }
      skip(tabs: true)
      guard byte != nil else { throw failure("the list ends with a comma") }
    }
    return members
  }

  mutating func wholeItem() throws(StructuredFieldError) -> StructuredField.Item {
    skip()
    let item = try item()
    skip()
    guard byte == nil else { throw failure("unexpected text after the item") }
    return item
  }

  private mutating func member() throws(StructuredFieldError) -> StructuredField.Member {
    guard consume(0x28) else { return .item(try item()) }
    var inner: [StructuredField.Item] = []
    while true {
      skip()
      if consume(0x29) { return .innerList(inner, try parameters()) }
      inner.append(try item())
      guard byte == 0x20 || byte == 0x29 else { throw failure("a space or ) is expected") }
    }
  }

  private mutating func item() throws(StructuredFieldError) -> StructuredField.Item {
    try count()
    let value = try value()
    return StructuredField.Item(value, try parameters())
  }

  private mutating func parameters() throws(StructuredFieldError) -> StructuredField.Parameters {
    var parameters: StructuredField.Parameters = []
    while consume(0x3B) {
      try count()
      skip()
      let name = try key()
      parameters[name] = consume(0x3D) ? try value() : .boolean(true)
    }
    return parameters
  }

  private mutating func key() throws(StructuredFieldError) -> String {
    let start = offset
    guard let first = byte, first == 0x2A || (0x61...0x7A).contains(first) else { throw failure("a key is expected") }
    while let next = byte {
      switch next {
      case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: offset += 1
      default: return String(decoding: bytes[start..<offset], as: UTF8.self)
      }
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func value() throws(StructuredFieldError) -> StructuredField.Value {
    switch byte ?? 0 {
    case 0x22: return .string(try string())
    case 0x3A: return .bytes(try binary())
    case 0x3F: return .boolean(try boolean())
    case 0x40: return .date(try date())
    case 0x25: return .displayString(try displayString())
    case 0x2D, 0x30...0x39: return try number()
    case 0x2A, 0x41...0x5A, 0x61...0x7A: return .token(token())
    default: throw failure("an item is expected")
    }
  }

  /// Reads a number (§4.2.4): at most 15 digits, or 12 and 3 behind a point.
  private mutating func number() throws(StructuredFieldError) -> StructuredField.Value {
    let isNegative = consume(0x2D)
    var magnitude: Int64 = 0
    var digits = 0
    while let next = byte, (0x30...0x39).contains(next) {
      digits += 1
      guard digits <= 15 else { throw failure("a number has at most 15 digits") }
      magnitude = magnitude * 10 + Int64(next - 0x30)
      offset += 1
    }
    guard digits > 0 else { throw failure("a digit is expected") }
    guard consume(0x2E) else { return .integer(isNegative ? -magnitude : magnitude) }
    guard digits <= 12 else { throw failure("a decimal has at most 12 digits before the point") }
    var fraction = 0
    while let next = byte, (0x30...0x39).contains(next) {
      fraction += 1
      guard fraction <= 3 else { throw failure("a decimal has at most 3 digits after the point") }
      magnitude = magnitude * 10 + Int64(next - 0x30)
      offset += 1
    }
    guard fraction > 0 else { throw failure("a digit is expected") }
    while fraction < 3 {
      magnitude *= 10
      fraction += 1
    }
    return .decimal(thousandths: isNegative ? -magnitude : magnitude)
  }

  private mutating func string() throws(StructuredFieldError) -> String {
    offset += 1
    var content: [UInt8] = []
    while let next = byte {
      switch next {
      case 0x22:
        offset += 1
        return String(decoding: content, as: UTF8.self)
      case 0x5C:
        offset += 1
        guard let escaped = byte, escaped == 0x22 || escaped == 0x5C else {
          throw failure("\" or \\ is expected after \\")
        }
        content.append(escaped)
      case 0x20...0x7E: content.append(next)
      default: throw failure("a string can contain only visible ASCII")
      }
      offset += 1
    }
    throw failure("the string is not closed")
  }

  private mutating func token() -> String {
    let start = offset
    while let next = byte, next == 0x3A || next == 0x2F || HTTPFieldName.isTokenByte(next) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func boolean() throws(StructuredFieldError) -> Bool {
    offset += 1
    if consume(0x31) { return true }
    guard consume(0x30) else { throw failure("?0 or ?1 is expected") }
    return false
  }

  private mutating func date() throws(StructuredFieldError) -> Int64 {
    offset += 1
    guard case .integer(let seconds) = try number() else { throw failure("a date has no fraction") }
    return seconds
  }

  /// Reads a byte sequence (§4.2.7): base64 between colons; padding may be absent.
  private mutating func binary() throws(StructuredFieldError) -> [UInt8] {
    offset += 1
    var content: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    var isPadded = false
    while let next = byte {
      offset += 1
      if next == 0x3A { return content }
      if next == 0x3D {
        isPadded = true
        continue
      }
      guard !isPadded, let six = Self.sextet(next) else { throw failure("base64 is expected") }
      buffer = buffer << 6 | six
      bits += 6
      if bits >= 8 {
        bits -= 8
        content.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    throw failure("the byte sequence is not closed")
  }

  private static func sextet(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte - 0x41)
    case 0x61...0x7A: UInt32(byte - 0x61) + 26
    case 0x30...0x39: UInt32(byte - 0x30) + 52
    case 0x2B: 62
    case 0x2F: 63
    default: nil
    }
  }

  /// Reads a display string (§4.2.10): UTF-8 with lower-case percent encoding.
  private mutating func displayString() throws(StructuredFieldError) -> String {
    offset += 1
    guard consume(0x22) else { throw failure("\" is expected") }
    var content: [UInt8] = []
    while let next = byte {
      offset += 1
      switch next {
      case 0x22:
        guard let text = String(validating: content, as: UTF8.self) else { throw failure("the text is not UTF-8") }
        return text
      case 0x25:
        guard let high = hexDigit(), let low = hexDigit() else {
          throw failure("two lower-case hex digits are expected")
        }
        content.append(high << 4 | low)
      case 0x20...0x7E: content.append(next)
      default: throw failure("a display string can contain only visible ASCII")
      }
    }
    throw failure("the display string is not closed")
  }

  private mutating func hexDigit() -> UInt8? {
    guard let next = byte else { return nil }
    offset += 1
    return (0x41...0x46).contains(next) ? nil : Hexadecimal.value(next)
  }
}
