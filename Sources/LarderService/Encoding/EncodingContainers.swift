import LarderOData

/// The members of an object.
struct EncodedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: EntityEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil(forKey key: Key) { encoder.member(key).part.form = .value(.null) }
  func encode(_ value: some Encodable, forKey key: Key) throws { try encoder.member(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder.member(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.member(key).unkeyedContainer()
  }
  // A superclass encodes into the same entity.
  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key) }
}

/// The items of an array.
struct EncodedArray: UnkeyedEncodingContainer {
  let encoder: EntityEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.part.items.count }

  func encodeNil() { encoder.item().part.form = .value(.null) }
  func encode(_ value: some Encodable) throws { try encoder.item().encode(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder.item().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.item().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder.item() }
}

/// One value.
struct EncodedSingle: SingleValueEncodingContainer {
  let encoder: EntityEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() { encoder.part.form = .value(.null) }
  func encode(_ value: some Encodable) throws { try encoder.encode(value) }
}
