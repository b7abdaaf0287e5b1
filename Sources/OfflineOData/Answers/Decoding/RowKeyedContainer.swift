import OData
import Storage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The members of a row by their names.
struct RowKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RowDecoder
  private let places: KeyPlaces

  init(_ decoder: RowDecoder, _ places: KeyPlaces) {
    self.decoder = decoder
    self.places = places
  }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    var names = decoder.scope.names
    if let node = try? decoder.dynamicNode(), case .object(let members) = node {
      names += members.map(\.name).filter { !$0.contains("@") }
    }
    return names.compactMap(Key.init(stringValue:)).filter { contains($0) }
  }

  func contains(_ key: Key) -> Bool {
    let number = places.number(key)
    if number >= 0 { return (try? decoder.has(number)) ?? false }
    return (try? decoder.dynamicMember(key.stringValue)) != nil
  }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(places.number(key), key) }

  // Each scalar has its own function, so that nothing stands between the key and the column.

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.boolean(places.number(key), key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.string(places.number(key), key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.double(places.number(key), key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    Float(try decoder.double(places.number(key), key))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.integer(places.number(key), key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.integer(places.number(key), key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.integer(places.number(key), key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.integer(places.number(key), key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.integer(places.number(key), key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.integer(places.number(key), key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.integer(places.number(key), key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.integer(places.number(key), key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.integer(places.number(key), key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.integer(places.number(key), key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.value(type, places.number(key), key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : try decoder.boolean(number, key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : try decoder.string(number, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : try decoder.double(number, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : Float(try decoder.double(number, key))
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(key) }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : try decoder.valueIfRelated(type, number, key)
  }

  @inline(__always)
  private func integerIfPresent<Number: FixedWidthInteger>(_ key: Key) throws -> Number? {
    let number = places.number(key)
    return try decoder.isMissing(number, key) ? nil : try decoder.integer(number, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder.member(places.number(key), key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder.member(places.number(key), key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.member(places.number(key), key) }
}
