import LarderOData
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A decoder, with the positions of the members that the keys of one type name.
final class RowMembers {
  let decoder: RowDecoder
  let places: KeyPlaces

  init(_ decoder: RowDecoder, _ places: KeyPlaces) { (self.decoder, self.places) = (decoder, places) }
}

/// The members of a row by their names.
struct RowKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  // The container holds a single reference, because the standard library copies containers with each call.
  private let members: RowMembers

  init(_ decoder: RowDecoder, _ places: KeyPlaces) { members = RowMembers(decoder, places) }

  @inline(__always)
  var decoder: RowDecoder { members.decoder }
  @inline(__always)
  private var places: KeyPlaces { members.places }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    var names = decoder.scope.names
    if let node = try? decoder.dynamicNode(), case .object(let members) = node {
      names += members.map(\.name).filter { !$0.contains("@") }
    }
    return names.compactMap(Key.init(stringValue:)).filter { contains($0) }
  }

  func contains(_ key: Key) -> Bool {
    let place = places.place(key)
    if place.number >= 0 { return (try? decoder.has(Int(place.number))) ?? false }
    return (try? decoder.dynamicMember(key.stringValue)) != nil
  }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(Int(places.place(key).number), key) }

  // Each scalar has its own function, so that no generic call is between the key and the column.

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.boolean(places.place(key), key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.string(places.place(key), key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.double(places.place(key), key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try decoder.float(places.place(key), key)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.integer(places.place(key), key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.integer(places.place(key), key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.integer(places.place(key), key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.integer(places.place(key), key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.integer(places.place(key), key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.integer(places.place(key), key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.integer(places.place(key), key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.value(type, places.place(key), key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try decoder.booleanIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try decoder.stringIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try decoder.doubleIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    let place = places.place(key)
    return try decoder.isMissing(place, key) ? nil : try decoder.float(place, key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try decoder.integerIfPresent(places.place(key), key)
  }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    let place = places.place(key)
    return try decoder.isMissing(place, key) ? nil : try decoder.valueIfRelated(type, place, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder.member(Int(places.place(key).number), key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder.member(Int(places.place(key).number), key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.member(Int(places.place(key).number), key) }
}
