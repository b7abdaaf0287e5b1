/// Between the bytes of a field's value and its text, without loss.
///
/// Bytes beyond ASCII mean nothing to HTTP and pass as they are (RFC 9110 §5.5, `obs-text`). In a value's text UTF-8 is
/// read as such, as most senders mean it. Each byte that is no part of UTF-8 becomes one character of a private plane,
/// U+10FE80 to U+10FEFF for 0x80 to 0xFF, and is written as that byte again. These characters' own UTF-8 counts as no
/// UTF-8, so that every sequence of bytes comes back as it was.
extension HTTPField {
  /// A field with the value in these bytes.
  public init(name: HTTPFieldName, bytes: some Collection<UInt8>) {
    self.init(name: name, value: HTTPField.text(of: bytes))
  }

  /// The value as it is on the wire.
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
        // Within the range above for every byte beyond ASCII, and those within are UTF-8.
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

  /// True where the text may hold such a character: the first byte of their UTF-8 is rare.
  private static func hasEscapes(_ text: String) -> Bool {
    text.utf8.contains(0xF4) && text.unicodeScalars.contains { escapes.contains($0.value) }
  }

  /// How many bytes a sequence of UTF-8 has.
  private static func length(leading byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}
