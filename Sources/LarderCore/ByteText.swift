/// Texts that hold any bytes: values of header fields, arguments of a process, names of files.
///
/// Bytes are read as UTF-8. Each byte that is not part of UTF-8 becomes one character of a private plane, U+10FE80 to
/// U+10FEFF for 0x80 to 0xFF, and is written as that byte again. The UTF-8 encoding of these characters is not read as
/// UTF-8, so every sequence of bytes is restored unchanged.
@_spi(Stores)
public enum ByteText {
  private static let escapes: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
  private static let escapeBase: UInt32 = 0x10FE00

  /// The text of bytes.
  public static func text(of bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !hasEscapes(text) { return text }
    var text = String.UnicodeScalarView()
    var rest = bytes[...]
    while let byte = rest.first {
      let sequence = rest.prefix(length(leading: byte))
      if let scalar = String(validating: sequence, as: UTF8.self)?.unicodeScalars.first,
        !escapes.contains(scalar.value)
      {
        text.append(scalar)
        rest = rest.dropFirst(sequence.count)
      } else {
        // A byte that is not UTF-8 is beyond ASCII, so the sum is a valid character in the range above.
        text.append(Unicode.Scalar(escapeBase + UInt32(byte)) ?? "\u{FFFD}")
        rest = rest.dropFirst()
      }
    }
    return String(text)
  }

  /// The bytes of a text.
  public static func bytes(of text: String) -> [UInt8] {
    guard hasEscapes(text) else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
    return bytes
  }

  /// The bytes of a path, with the NUL that ends it, for the operating system.
  public static func path(_ text: String) -> [CChar] { bytes(of: text).map { CChar(bitPattern: $0) } + [0] }

  /// Whether a text holds bytes that are not UTF-8. The first byte of such a character is rare.
  public static func hasEscapes(_ text: String) -> Bool {
    text.utf8.contains(0xF4) && text.unicodeScalars.contains { escapes.contains($0.value) }
  }

  /// The length of a UTF-8 sequence by its first byte.
  private static func length(leading byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}
