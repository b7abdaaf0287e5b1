/// A single-value container for an object or a collection. A type that wraps another type is decoded through it; a
/// scalar cannot be decoded from it.
///
/// Each scalar type has its own function: with the generic one, their `init(from:)` would call itself endlessly.
package protocol CompoundContainer: SingleValueDecodingContainer {
  var decoder: any Decoder { get }
  func mismatch(_ type: Any.Type) -> DecodingError
}

extension CompoundContainer {
  package var codingPath: [any CodingKey] { decoder.codingPath }
  package func decodeNil() -> Bool { false }
  package func decode(_ type: Bool.Type) throws -> Bool { throw mismatch(type) }
  package func decode(_ type: String.Type) throws -> String { throw mismatch(type) }
  package func decode(_ type: Double.Type) throws -> Double { throw mismatch(type) }
  package func decode(_ type: Float.Type) throws -> Float { throw mismatch(type) }
  package func decode(_ type: Int.Type) throws -> Int { throw mismatch(type) }
  package func decode(_ type: Int8.Type) throws -> Int8 { throw mismatch(type) }
  package func decode(_ type: Int16.Type) throws -> Int16 { throw mismatch(type) }
  package func decode(_ type: Int32.Type) throws -> Int32 { throw mismatch(type) }
  package func decode(_ type: Int64.Type) throws -> Int64 { throw mismatch(type) }
  package func decode(_ type: Int128.Type) throws -> Int128 { throw mismatch(type) }
  package func decode(_ type: UInt.Type) throws -> UInt { throw mismatch(type) }
  package func decode(_ type: UInt8.Type) throws -> UInt8 { throw mismatch(type) }
  package func decode(_ type: UInt16.Type) throws -> UInt16 { throw mismatch(type) }
  package func decode(_ type: UInt32.Type) throws -> UInt32 { throw mismatch(type) }
  package func decode(_ type: UInt64.Type) throws -> UInt64 { throw mismatch(type) }
  package func decode(_ type: UInt128.Type) throws -> UInt128 { throw mismatch(type) }
  package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: decoder) }
}
