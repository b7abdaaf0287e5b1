@_spi(Stores) import LarderCore

/// One token of a JSON text and the position of its bytes, which it does not copy.
package struct JSONToken: Sendable {
  /// The kinds of tokens.
  package enum Kind: UInt8, Sendable {
    case beginObject, endObject, beginArray, endArray
    /// A member's name; its colon is checked with the token that follows.
    case name
    case string, number, `true`, `false`, null
  }

  /// The kind of the token.
  package let kind: Kind
  /// True for a name or string with at least one backslash: its bytes are not its text.
  package let isEscaped: Bool
  /// The first byte in the scanner's bytes; for names and strings the one after the quote.
  package let start: Int
  /// The byte after the last; for names and strings the closing quote.
  package let end: Int

  init(_ kind: Kind, start: Int, end: Int, isEscaped: Bool = false) {
    self.kind = kind
    self.start = start
    self.end = end
    self.isEscaped = isEscaped
  }
}

/// The text between the quotes of a JSON string that a ``JSONLexer`` has checked.
enum JSONText {
  /// The text, with escapes decoded.
  static func decode(_ bytes: UnsafeBufferPointer<UInt8>, isEscaped: Bool) -> String {
    guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: unescape(bytes), as: UTF8.self)
  }

  /// The text's UTF-8 with escapes decoded. Escapes were validated before; anything still wrong becomes U+FFFD.
  static func unescape(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    unescape(bytes, into: &out)
    return out
  }

  /// Appends the text's UTF-8 with escapes decoded.
  static func unescape(_ bytes: UnsafeBufferPointer<UInt8>, into out: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        out.append(byte)
        index += 1
        continue
      }
      let escape = bytes[index + 1]
      index += 2
      if let simple = simpleEscape(escape) {
        out.append(simple)
        continue
      }
      var code = UInt32(hex4(bytes, index) ?? 0xFFFD)
      index += 4
      if code & 0xFC00 == 0xD800, let low = hex4(bytes, index + 2), low & 0xFC00 == 0xDC00 {
        code = 0x10000 + ((code & 0x3FF) << 10 | UInt32(low & 0x3FF))
        index += 6
      }
      out.append(contentsOf: UTF8.encode(UnicodeScalar(code) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
    }
  }

  /// Returns the character that the escape `\x` represents; nil for `u` and for any byte that is no escape.
  static func simpleEscape(_ escape: UInt8) -> UInt8? {
    switch escape {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): escape
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// Parses four hexadecimal digits at a position; nil if there are none.
  static func hex4(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt16? {
    guard index >= 0, index + 4 <= bytes.count else { return nil }
    var code: UInt16 = 0
    for offset in 0..<4 {
      guard let digit = Hexadecimal.value(bytes[index + offset]) else { return nil }
      code = code << 4 | UInt16(digit)
    }
    return code
  }
}
