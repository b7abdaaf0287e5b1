@_spi(Stores) import LarderCore

/// Converts between the bytes of a field's value and its text, without loss.
///
/// HTTP does not define bytes beyond ASCII and passes them as they are (RFC 9110 §5.5, `obs-text`). Here they are read
/// as UTF-8, as most senders mean it; a byte that is not part of UTF-8 becomes one character of a private plane
/// (``LarderCore/ByteText``).
extension HTTPField {
  /// Creates a field from the bytes of its value.
  public init(name: HTTPFieldName, bytes: some Collection<UInt8>) {
    self.init(name: name, value: ByteText.text(of: bytes))
  }

  /// The value as sent on the wire.
  public var bytes: [UInt8] { ByteText.bytes(of: value) }

  package static func text(of bytes: some Collection<UInt8>) -> String { ByteText.text(of: bytes) }

  package static func bytes(of text: String) -> [UInt8] { ByteText.bytes(of: text) }
}
