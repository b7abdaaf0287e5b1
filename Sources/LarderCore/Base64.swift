/// Base64 in both alphabets (RFC 4648 §4 and §5): decodes either, padded or not; encodes in the requested one.
package enum Base64 {
  /// The bytes; nil if a character is invalid, the length is impossible, or bits after the last byte are set.
  ///
  /// - Parameter skipsSpace: whether white space is ignored, as in XML (XML Schema 1.1 part 2 §3.3.16).
  package static func decode(_ text: UnsafeBufferPointer<UInt8>, skipsSpace: Bool = false) -> [UInt8]? {
    if skipsSpace, text.contains(where: isSpace) {
      return text.filter { !isSpace($0) }.withUnsafeBufferPointer { decode($0) }
    }
    var end = text.count
    var padding = 0
    while end > 0, padding < 2, text[end - 1] == UInt8(ascii: "=") {
      end -= 1
      padding += 1
    }
    if padding > 0, text.count % 4 != 0 { return nil }
    guard end % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end / 4 * 3 + 2)
    var accumulator: UInt32 = 0
    var bits = 0
    for index in 0..<end {
      let digit = values[Int(text[index])]
      guard digit < 64 else { return nil }
      accumulator = accumulator << 6 | UInt32(digit)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
      }
    }
    return accumulator & (1 << UInt32(bits) - 1) == 0 ? bytes : nil
  }

  /// The bytes of a text; nil if it is not Base64.
  package static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { decode($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  /// The digits of bytes; padded unless the alphabet is the URL-safe one.
  package static func text(_ bytes: [UInt8], isURLSafe: Bool) -> String {
    String(unsafeUninitializedCapacity: maximumLength(bytes.count)) { buffer in
      bytes.withUnsafeBufferPointer { write($0, isURLSafe: isURLSafe, to: buffer) }
    }
  }

  /// Appends the digits of bytes; padded unless the alphabet is the URL-safe one.
  package static func append(_ bytes: [UInt8], isURLSafe: Bool, to text: inout [UInt8]) {
    text += [UInt8](unsafeUninitializedCapacity: maximumLength(bytes.count)) { buffer, count in
      count = bytes.withUnsafeBufferPointer { write($0, isURLSafe: isURLSafe, to: buffer) }
    }
  }

  /// The number of digits for a number of bytes, with padding.
  package static func maximumLength(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

  /// Writes the digits of bytes, padded unless the alphabet is the URL-safe one. Returns their number; the buffer has
  /// room for ``maximumLength(_:)``.
  package static func write(
    _ bytes: UnsafeBufferPointer<UInt8>, isURLSafe: Bool, to text: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    var count = 0
    func put(_ digit: UInt8) {
      text[count] = digit
      count += 1
    }
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      accumulator = accumulator << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        put(digit(accumulator >> bits & 0x3F, isURLSafe))
      }
      accumulator &= (1 << bits) - 1
    }
    if bits > 0 { put(digit(accumulator << (6 - bits) & 0x3F, isURLSafe)) }
    if !isURLSafe { while count % 4 != 0 { put(UInt8(ascii: "=")) } }
    return count
  }

  private static func digit(_ value: UInt32, _ isURLSafe: Bool) -> UInt8 {
    switch value {
    case 0..<26: UInt8(truncatingIfNeeded: 0x41 + value)
    case 26..<52: UInt8(truncatingIfNeeded: 0x61 + value - 26)
    case 52..<62: UInt8(truncatingIfNeeded: 0x30 + value - 52)
    case 62: UInt8(ascii: isURLSafe ? "-" : "+")
    default: UInt8(ascii: isURLSafe ? "_" : "/")
    }
  }

  private static let values: [UInt8] = (0..<256).map { byte in
    switch UInt8(byte) {
    case 0x41...0x5A: UInt8(byte - 0x41)
    case 0x61...0x7A: UInt8(byte - 0x61 + 26)
    case 0x30...0x39: UInt8(byte - 0x30 + 52)
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: 255
    }
  }
}
