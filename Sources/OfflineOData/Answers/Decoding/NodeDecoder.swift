import OData

/// Decodes JSON of a column: collections, complex values that are not flattened, undeclared properties.
struct NodeDecoder: Decoder {
  let node: JSONNode
  let codingPath: [any CodingKey]

  init(_ node: JSONNode, codingPath: [any CodingKey]) {
    self.node = node
    self.codingPath = codingPath
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The node as a value of any type.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch node {
    case .array, .object: try Value(from: self)
    default: try ScalarDecoder.make(type, scalar)
    }
  }

  var scalar: ScalarDecoder { ScalarDecoder(ScalarDecoder.Scalar(node), codingPath: codingPath) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = node else { throw mismatch([String: Any].self, "an object") }
    return KeyedDecodingContainer(NodeKeyedContainer<Key>(members, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let items) = node else { throw mismatch([Any].self, "an array") }
    return NodeUnkeyedContainer(items, codingPath: codingPath)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    switch node {
    case .array, .object: NodeSingleContainer(decoder: self)
    default: scalar
    }
  }

  private func mismatch(_ type: Any.Type, _ wanted: String) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "The value is not \(wanted)")
    return node == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

/// An object where one value is asked for: types that wrap another hand it on.
struct NodeSingleContainer: SingleValueDecodingContainer {
  let decoder: NodeDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }
  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: decoder) }
}

/// The members of a JSON object.
struct NodeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let members: [JSONNode.Member]
  let codingPath: [any CodingKey]

  init(_ members: [JSONNode.Member], codingPath: [any CodingKey]) {
    self.members = members
    self.codingPath = codingPath
  }

  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { members.contains { $0.name == key.stringValue } }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).node == .null }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder(key).value(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { NodeDecoder(.object(members), codingPath: codingPath) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: Key) throws -> NodeDecoder {
    guard let found = members.first(where: { $0.name == key.stringValue }) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "There is no '\(key.stringValue)'"))
    }
    return NodeDecoder(found.value, codingPath: codingPath + [key])
  }
}

/// The items of a JSON array.
struct NodeUnkeyedContainer: UnkeyedDecodingContainer {
  private let items: [JSONNode]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(_ items: [JSONNode], codingPath: [any CodingKey]) {
    self.items = items
    self.codingPath = codingPath
  }

  var count: Int? { items.count }
  var isAtEnd: Bool { currentIndex >= items.count }

  mutating func decodeNil() throws -> Bool {
    guard try current().node == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try current().value(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try current().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try current()
    currentIndex += 1
    return decoder
  }

  private func current() throws -> NodeDecoder {
    let path = codingPath + [ItemKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "There are only \(items.count) items"))
    }
    return NodeDecoder(items[currentIndex], codingPath: path)
  }
}

/// The place of an item in a coding path.
struct ItemKey: CodingKey {
  let intValue: Int?
  var stringValue: String { intValue.map { "Index \($0)" } ?? "" }

  init(intValue: Int) { self.intValue = intValue }
  init?(stringValue: String) { nil }
}
