@_spi(Stores) import LarderCore

// JSON in URLs (URL Conventions 4.01 §5.1.1.14; ABNF `arrayOrObject`): arrays and objects whose values are strings in double
// quotes, or expressions.
extension SyntaxReader {
  /// `[…]` or `{…}`
  mutating func arrayOrObject() throws(ODataSyntaxError) -> ODataExpression {
    try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      reader.skipSpace()
      let position = reader.position
      switch reader.peek {
      case UInt8(ascii: "["): return ODataExpression(.array(try reader.array()), at: position)
      case UInt8(ascii: "{"): return ODataExpression(.object(try reader.object()), at: position)
      default: throw reader.unexpected("'['", "'{'")
      }
    }
  }

  private mutating func array() throws(ODataSyntaxError) -> [ODataExpression] {
    var items: [ODataExpression] = []
    index += 1
    skipSpace()
    if take(UInt8(ascii: "]")) { return items }
    repeat {
      items.append(try jsonValue())
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw unexpected("','", "']'") }
    return items
  }

  private mutating func object() throws(ODataSyntaxError) -> [ODataObjectMember] {
    var members: [ODataObjectMember] = []
    index += 1
    skipSpace()
    if take(UInt8(ascii: "}")) { return members }
    repeat {
      skipSpace()
      let name = try jsonString()
      skipSpace()
      try demand(UInt8(ascii: ":"))
      members.append(ODataObjectMember(name: name, value: try jsonValue()))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw unexpected("','", "'}'") }
    return members
  }

  private mutating func jsonValue() throws(ODataSyntaxError) -> ODataExpression {
    skipSpace()
    guard peek == UInt8(ascii: "\"") else { return try expression() }
    let position = position
    return ODataExpression(.literal(.string(try jsonString())), at: position)
  }

  /// A string in double quotes with JSON's escapes.
  mutating func jsonString() throws(ODataSyntaxError) -> String {
    let start = index
    guard take(UInt8(ascii: "\"")) else { throw unexpected("a string in double quotes") }
    var text: [UInt8] = []
    while index < end {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &text)
      default:
        text.append(byte)
        index += 1
      }
    }
    throw error(
      .unexpected(expected: ["a double quote to end the string that starts at character \(offset(of: start) + 1)"]))
  }

  private mutating func escape(into text: inout [UInt8]) throws(ODataSyntaxError) {
    let start = index
    index += 1
    let letter = peek
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      guard let scalar = escapedScalar() else {
        throw error(
          .unexpected(expected: ["four hexadecimal digits that form a character"]),
          at: (index - start) % 6 == 0 ? start : index)
      }
      text.append(contentsOf: String(Character(scalar)).utf8)
    default: throw error(.unexpected(expected: [#"an escape (\" \\ \/ \b \f \n \r \t \uXXXX)"#]), at: start + 1)
    }
  }

  /// Reads the four digits of an escape, or a surrogate pair.
  private mutating func escapedScalar() -> Unicode.Scalar? {
    guard let first = hexadecimalUnit() else { return nil }
    guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
    guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let second = hexadecimalUnit(), second & 0xFC00 == 0xDC00
    else { return nil }
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
  }

  private mutating func hexadecimalUnit() -> UInt32? {
    guard index + 4 <= end else { return nil }
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Hexadecimal.value(bytes[index]) else { return nil }
      unit = unit << 4 | UInt32(digit)
      index += 1
    }
    return unit
  }
}
