/// A type that turns itself into bytes and back, for an ``ObjectStore`` to keep as they are.
///
/// It need not say how it is coded otherwise: as a `Codable` value it is its bytes, unless it says more.
public protocol ByteStorable: Codable, Sendable {
  /// Makes the value of what ``storedBytes()`` gave; throws for bytes that it cannot be made of.
  init(storedBytes: [UInt8]) throws

  /// The bytes to keep; what they leave out is lost.
  func storedBytes() throws -> [UInt8]
}

extension ByteStorable {
  /// Decodes the bytes.
  public init(from decoder: any Decoder) throws {
    try self.init(storedBytes: try decoder.singleValueContainer().decode([UInt8].self))
  }

  /// Encodes the bytes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(storedBytes())
  }
}
