#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a value is encoded in the file.
public enum ObjectCoding: Int, Sendable, Hashable, CaseIterable {
  /// `Data` or `[UInt8]`: the bytes as they are.
  case bytes = 0
  /// A `Codable` value: JSON (RFC 8259), in UTF-8.
  case json = 1
  /// A ``ByteStorable`` value: its own bytes.
  case custom = 2

  fileprivate var explanation: String {
    switch self {
    case .bytes: "it was stored as raw bytes"
    case .json: "it was stored as an encoded value"
    case .custom: "it was stored as a value with its own encoding"
    }
  }
}

/// A value's bytes and their coding.
struct EncodedObject: Sendable {
  let coding: ObjectCoding
  let bytes: [UInt8]

  private static let encoder = JSONEncoder()
  private static let decoder = JSONDecoder()

  init(coding: ObjectCoding, bytes: [UInt8]) {
    self.coding = coding
    self.bytes = bytes
  }

  /// Encodes a value: bytes as they are, a ``ByteStorable`` value as its own bytes, every other value as JSON.
  init<Value: Codable & Sendable>(
    _ value: Value, key: String, for operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) {
    do {
      // Types are compared before values are cast, because a cast takes longer.
      switch EncodedObject.coding(of: Value.self) {
      case .bytes:
        if let bytes = value as? [UInt8] {
          self.init(coding: .bytes, bytes: bytes)
        } else {
          self.init(coding: .bytes, bytes: (value as? Data).map { [UInt8]($0) } ?? [])
        }
      case .custom: self.init(coding: .custom, bytes: try (value as? any ByteStorable)?.storedBytes() ?? [])
      case .json: self.init(coding: .json, bytes: [UInt8](try EncodedObject.encoder.encode(value)))
      }
    } catch { throw ObjectStoreError(operation, key: key, .unencodable(error)) }
  }

  /// Decodes the value. Throws `typeMismatch` or `undecodable`.
  func value<Value: Codable & Sendable>(
    _ type: Value.Type, key: String, for operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) -> Value {
    let requested = EncodedObject.coding(of: type)
    guard requested == coding else {
      throw ObjectStoreError(operation, key: key, .typeMismatch(requested: "\(type)", stored: coding.explanation))
    }
    do {
      switch coding {
      case .bytes:
        if let bytes = bytes as? Value { return bytes }
        if let data = Data(bytes) as? Value { return data }
      case .custom:
        if let storable = type as? any ByteStorable.Type, let value = try storable.init(storedBytes: bytes) as? Value {
          return value
        }
      case .json: return try EncodedObject.decoder.decode(type, from: Data(bytes))
      }
    } catch DecodingError.typeMismatch(_, let context) {
      throw ObjectStoreError(operation, key: key, .typeMismatch(requested: "\(type)", stored: context.debugDescription))
    } catch { throw ObjectStoreError(operation, key: key, .undecodable(requested: "\(type)", error)) }
    throw ObjectStoreError(operation, key: key, .typeMismatch(requested: "\(type)", stored: coding.explanation))
  }

  /// The coding of values of a type.
  static func coding(of type: Any.Type) -> ObjectCoding {
    if type == Data.self || type == [UInt8].self { return .bytes }
    return type is any ByteStorable.Type ? .custom : .json
  }
}
