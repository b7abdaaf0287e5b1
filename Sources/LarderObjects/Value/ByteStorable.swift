/// A type that converts itself to bytes and back. An ``ObjectStore`` stores these bytes as they are.
///
/// The type needs no other `Codable` implementation: by default it is encoded as its bytes.
public protocol ByteStorable: Codable, Sendable {
  /// Creates the value from the bytes of ``storedBytes()``. Throws if the bytes are invalid.
  init(storedBytes: [UInt8]) throws

  /// The bytes to store; what they do not contain is lost.
  func storedBytes() throws -> [UInt8]
}

extension ByteStorable {
  /// Decodes the value from its bytes.
  public init(from decoder: any Decoder) throws {
    try self.init(storedBytes: try decoder.singleValueContainer().decode([UInt8].self))
  }

  /// Encodes the value as its bytes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(storedBytes())
  }
}
