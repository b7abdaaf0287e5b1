@_spi(Stores) import LarderCore

/// The parts of a literal: a word, and the text in single quotes after it, if any.
struct LiteralForm {
  /// The whole literal.
  let bytes: UnsafeBufferPointer<UInt8>
  /// The text before the first quote; empty if there is no quote.
  let prefix: UnsafeBufferPointer<UInt8>
  /// The text between the first and the last quote, with inner quotes still doubled; nil if there are no quotes.
  let quoted: UnsafeBufferPointer<UInt8>?

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    let cursor = ByteCursor(bytes)
    guard let first = bytes.firstIndex(of: UInt8(ascii: "'")), bytes.count - first >= 2,
      bytes.last == UInt8(ascii: "'")
    else {
      prefix = cursor.slice(0..<0)
      quoted = nil
      return
    }
    prefix = cursor.slice(0..<first)
    quoted = cursor.slice(first + 1..<bytes.count - 1)
  }

  /// The text between the quotes, with doubled quotes replaced by single ones.
  func string() throws(ODataValueError.Problem) -> String {
    guard let quoted else { throw .malformed }
    var text: [UInt8] = []
    text.reserveCapacity(quoted.count)
    var index = 0
    while index < quoted.count {
      let byte = quoted[index]
      if byte == UInt8(ascii: "'") {
        guard index + 1 < quoted.count, quoted[index + 1] == byte else { throw .malformed }
        index += 1
      }
      text.append(byte)
      index += 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The text between the quotes after a word.
  func content(
    prefix word: StaticString, isOptional: Bool = false
  ) throws(ODataValueError.Problem) -> UnsafeBufferPointer<UInt8> {
    guard let quoted, hasPrefix(word) || isOptional && prefix.isEmpty else { throw .malformed }
    return quoted
  }

  private func hasPrefix(_ word: StaticString) -> Bool {
    var cursor = ByteCursor(prefix)
    return cursor.take(word: word) && cursor.isAtEnd
  }

  /// The type that the word before the quotes denotes.
  func prefixType(_ dialect: ODataDialect) -> EdmPrimitiveType? {
    if hasPrefix("geography") { return .geography }
    if hasPrefix("geometry") { return .geometry }
    if hasPrefix("binary") { return .binary }
    guard dialect == .v2 else { return hasPrefix("duration") ? .duration : nil }
    if hasPrefix("X") { return .binary }
    if hasPrefix("datetime") { return .dateTime }
    if hasPrefix("datetimeoffset") { return .dateTimeOffset }
    if hasPrefix("time") { return .time }
    return hasPrefix("guid") ? .guid : nil
  }

  /// Reads `true` and `false`, in any case.
  func boolean() throws(ODataValueError.Problem) -> Bool {
    var cursor = ByteCursor(bytes)
    if cursor.take(word: "true"), cursor.isAtEnd { return true }
    cursor = ByteCursor(bytes)
    guard cursor.take(word: "false"), cursor.isAtEnd else { throw .malformed }
    return false
  }

  /// Reads V2's `X'00FF'` and `binary'00FF'`.
  func hexadecimal() throws(ODataValueError.Problem) -> [UInt8] {
    guard let quoted, hasPrefix("X") || hasPrefix("binary"), let binary = Hexadecimal.bytes(quoted) else {
      throw .malformed
    }
    return binary
  }

  /// Reads `Ns.Color'Red,Blue'`, also without the name.
  func enumeration() throws(ODataValueError.Problem) -> (typeName: String?, members: String) {
    guard let quoted, let members = EnumerationText.read(quoted) else { throw .malformed }
    if prefix.isEmpty { return (nil, members) }
    var isStart = true
    for byte in prefix {
      switch byte {
      case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), 0x80...0xFF: isStart = false
      case 0x30...0x39 where !isStart: break
      case UInt8(ascii: ".") where !isStart: isStart = true
      default: throw .malformed
      }
    }
    guard !isStart, prefix.contains(UInt8(ascii: ".")) else { throw .malformed }
    return (String(decoding: prefix, as: UTF8.self), members)
  }

  /// The type of a number's suffix in V2; nil if there is none.
  static func suffixType(_ bytes: UnsafeBufferPointer<UInt8>) -> EdmPrimitiveType? {
    guard bytes.count > 1, let last = bytes.last else { return nil }
    // "INF" ends with the suffix of Single.
    let cursor = ByteCursor(bytes)
    if cursor.isRest("INF") || cursor.isRest("-INF") { return nil }
    switch last | 0x20 {
    case UInt8(ascii: "l"): return .int64
    case UInt8(ascii: "m"): return .decimal
    case UInt8(ascii: "d"): return .double
    case UInt8(ascii: "f"): return .single
    default: return nil
    }
  }

  /// The bytes of a number without V2's suffix for the type.
  func withoutSuffix(_ type: EdmPrimitiveType) -> UnsafeBufferPointer<UInt8> {
    guard LiteralForm.suffixType(bytes) == type else { return bytes }
    return ByteCursor(bytes).slice(0..<bytes.count - 1)
  }
}
