/// Percent-encodes characters that a URL cannot contain, and no others (RFC 3986 §2.1).
enum PercentEncoding {
  /// The part of the URL to which the text belongs.
  enum Component { case path, query }

  /// Encodes every byte that the component cannot contain; `%` only if two hexadecimal digits do not follow it.
  static func encoded(_ text: String, in component: Component) -> String {
    let bytes = Array(text.utf8)
    guard !bytes.indices.allSatisfy({ isLegal(bytes, at: $0, in: component) }) else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + bytes.count / 2)
    for index in bytes.indices {
      let byte = bytes[index]
      if isLegal(bytes, at: index, in: component) {
        result.append(byte)
      } else {
        result.append(0x25)
        result.append(hexDigit(byte >> 4))
        result.append(hexDigit(byte & 0x0F))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Encodes all but unreserved characters, for form fields and header values (RFC 6749 appendix B accepts `%20` too).
  static func encodedStrictly(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        result.append(byte)
      } else {
        result.append(0x25)
        result.append(hexDigit(byte >> 4))
        result.append(hexDigit(byte & 0x0F))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isLegal(_ bytes: [UInt8], at index: Int, in component: Component) -> Bool {
    let byte = bytes[index]
    if byte == 0x25 {
      return index + 2 < bytes.count && isHexDigit(bytes[index + 1]) && isHexDigit(bytes[index + 2])
    }
    if isUnreserved(byte) || isSubDelimiter(byte) { return true }
    switch byte {
    case 0x3A, 0x40, 0x2F: return true  // : @ /
    case 0x3F: return component == .query
    default: return false
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  private static func isSubDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true
    default: false
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }

  private static func hexDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x37 + nibble }
}
