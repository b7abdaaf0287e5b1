@_spi(Stores) import LarderCore

/// Percent-encoding of URLs (RFC 3986 §2.1).
@_spi(Stores)
public enum PercentEncoding {
  /// A part of a URL, by the bytes that it contains unencoded.
  public enum Part: Sendable {
    /// Any text, such as a form field: only letters, digits and `- . _ ~` (RFC 3986 §2.3; RFC 6749 appendix B accepts
    /// `%20` too).
    case unreserved
    /// The content of a path segment or query option, of which no byte may end or change the part. Also
    /// `! $ ' ( ) * , : @`. The plus sign is encoded, as many servers read it as a space.
    case content
    /// A path as it was written: all bytes that it can contain, and valid escapes.
    case path
    /// A query, or a path with its query, as it was written: all bytes that it can contain, and valid escapes.
    case query
  }

  /// Encodes every byte that the part cannot contain.
  public static func encode(_ text: String, in part: Part = .content) -> String {
    if text.utf8.allSatisfy({ isPlain($0, in: part) }) { return text }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + bytes.count / 2)
    for (index, byte) in bytes.enumerated() {
      if isPlain(byte, in: part) || isEscape(bytes, at: index, in: part) {
        result.append(byte)
      } else {
        append(byte, to: &result)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Appends the escape of a byte.
  public static func append(_ byte: UInt8, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "%"))
    text.append(Hexadecimal.upper(byte >> 4))
    text.append(Hexadecimal.upper(byte & 0x0F))
  }

  /// Decodes percent-encoding once; a plus sign is kept. Nil if a `%` is not followed by two hexadecimal digits or the
  /// bytes are not UTF-8.
  public static func decode(_ text: String) -> String? {
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

  /// Whether a part can contain a byte unencoded.
  @inlinable
  public static func isPlain(_ byte: UInt8, in part: Part) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "*"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"):
      part != .unreserved
    case UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: ";"), UInt8(ascii: "="):
      part == .path || part == .query
    case UInt8(ascii: "?"): part == .query
    default: false
    }
  }

  private static func isEscape(_ bytes: [UInt8], at index: Int, in part: Part) -> Bool {
    bytes[index] == UInt8(ascii: "%") && (part == .path || part == .query) && index + 2 < bytes.count
      && Hexadecimal.value(bytes[index + 1]) != nil && Hexadecimal.value(bytes[index + 2]) != nil
  }
}
