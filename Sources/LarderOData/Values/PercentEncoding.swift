/// Percent-encoding of the content of a path segment or query option (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Encodes every byte that could end or change a path segment or query option: all but letters, digits and
  /// `- . _ ~ ! $ ' ( ) * , : @`. The plus sign is encoded too, as many servers read it as a space.
  package static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(Hexadecimal.upper(byte >> 4))
        bytes.append(Hexadecimal.upper(byte & 0x0F))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes percent-encoding once; a plus sign is kept. Nil if a `%` is not followed by two hexadecimal digits or the
  /// bytes are not UTF-8.
  package static func decode(_ text: String) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(Hexadecimal.value), let low = rest.next().flatMap(Hexadecimal.value) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
      UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
      UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"):
      true
    default: false
    }
  }
}
