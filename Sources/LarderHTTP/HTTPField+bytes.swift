/// Converts between the bytes of a field's value and its text, without loss.
///
/// HTTP does not define bytes beyond ASCII and passes them as they are (RFC 9110 §5.5, `obs-text`). Here they are read
/// as UTF-8, as most senders mean it. Each byte that is not part of UTF-8 becomes one character of a private plane,
/// U+10FE80 to U+10FEFF for 0x80 to 0xFF, and is written as that byte again. The UTF-8 encoding of these characters is
/// not read as UTF-8, so every sequence of bytes is restored unchanged.
extension HTTPField {
  /// Creates a field from the bytes of its value.
  public init(name: HTTPFieldName, bytes: some Collection<UInt8>) {
    self.init(name: name, value: HTTPField.text(of: bytes))
  }

  /// The value as sent on the wire.
  public var bytes: [UInt8] { HTTPField.bytes(of: value) }

  private static let escapes: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
  private static let escapeBase: UInt32 = 0x10FE00

  package static func text(of bytes: some Collection<UInt8>) -> String {
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

  package static func bytes(of text: String) -> [UInt8] {
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

  /// Whether the text may contain such a character: the first byte of their UTF-8 is rare.
  private static func hasEscapes(_ text: String) -> Bool {
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
