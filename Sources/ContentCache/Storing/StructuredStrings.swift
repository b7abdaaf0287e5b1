/// Reads a structured field that is a list of strings (RFC 9651 §3.1, §3.3.3, §4.2).
package enum StructuredStrings {
  /// The strings of a field's lines, parameters left out; nil where the field is malformed or holds anything else.
  package static func list(_ lines: [String]) -> [String]? {
    var reader = Reader(bytes: Array(lines.joined(separator: ",").utf8))
    return reader.list()
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ expected: UInt8) -> Bool {
      guard byte == expected else { return false }
      position += 1
      return true
    }

    mutating func skip(_ isSkipped: (UInt8) -> Bool) {
      while let byte, isSkipped(byte) { position += 1 }
    }

    /// §4.2.1: items with commas between them, and none behind the last.
    mutating func list() -> [String]? {
      var strings: [String] = []
      skip { $0 == 0x20 }
      while byte != nil {
        guard let string = string(), parameters() else { return nil }
        strings.append(string)
        skip(FieldText.isBlank)
        if byte == nil { return strings }
        guard take(0x2C) else { return nil }
        skip(FieldText.isBlank)
        if byte == nil { return nil }
      }
      return strings
    }

    /// §4.2.5.
    mutating func string() -> String? {
      guard take(0x22) else { return nil }
      var text: [UInt8] = []
      while let here = byte {
        position += 1
        switch here {
        case 0x22: return String(decoding: text, as: UTF8.self)
        case 0x5C:
          guard let escaped = byte, escaped == 0x22 || escaped == 0x5C else { return nil }
          position += 1
          text.append(escaped)
        case 0x20...0x7E: text.append(here)
        default: return nil
        }
      }
      return nil
    }

    /// §4.2.3.2: passed over, but they must be well-formed.
    mutating func parameters() -> Bool {
      while take(0x3B) {
        skip { $0 == 0x20 }
        guard let first = byte, first == 0x2A || (0x61...0x7A).contains(first) else { return false }
        skip(Reader.isKey)
        if take(0x3D), !bareItem() { return false }
      }
      return true
    }

    /// §4.2.3.1: only as far as its end must be found.
    mutating func bareItem() -> Bool {
      if byte == 0x22 { return string() != nil }
      let start = position
      if take(0x3A) {
        skip { $0 != 0x3A && $0 != 0x22 && $0 != 0x2C }
        return take(0x3A)
      }
      skip { byte in
        switch byte {
        case 0x22, 0x28, 0x29, 0x2C, 0x3B, 0x3D, 0...0x20, 0x7F...: false
        default: true
        }
      }
      return position > start
    }

    static func isKey(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x5F, 0x2D, 0x2E, 0x2A: true
      default: false
      }
    }
  }
}
