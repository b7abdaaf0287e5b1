package import LarderOData

/// Decodes V4 JSON by its declared type: collections, complex values that are not flattened, and undeclared properties.
package struct NodeDecoder: ODataTypedDecoder {
  package let node: JSONNode
  let type: ValueType
  package let codingPath: [any CodingKey]
  let model: EdmModel?

  package init(_ node: JSONNode, _ type: ValueType, codingPath: [any CodingKey], model: EdmModel?) {
    self.node = node
    self.type = type
    self.codingPath = codingPath
    self.model = model
  }

  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  package var primitiveType: EdmPrimitiveType? { if case .primitive(let type) = type { type } else { nil } }

  /// The node as a value of any type.
  package func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    switch node {
    case .array, .object: try Value(from: self)
    default: try ScalarDecoder.make(type, scalar)
    }
  }

  package var scalar: ScalarDecoder {
    ScalarDecoder(DecodedScalar(node, type), .result(type), codingPath: codingPath, model: model)
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = node else { throw scalar.mismatch([String: Any].self) }
    return KeyedDecodingContainer(NodeKeyedContainer<Key>(members, self))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let items) = node else { throw scalar.mismatch([Any].self) }
    return NodeUnkeyedContainer(items, self)
  }

  package func singleValueContainer() throws -> any SingleValueDecodingContainer {
    switch node {
    case .array, .object: NodeSingleContainer(node: self)
    default: scalar
    }
  }

  /// The decoder of a value within this one.
  func inner(_ node: JSONNode, _ type: ValueType, _ key: any CodingKey) -> NodeDecoder {
    NodeDecoder(node, type, codingPath: codingPath + [key], model: model)
  }
}

/// A container for an object or array from which one value is decoded.
struct NodeSingleContainer: CompoundContainer {
  let node: NodeDecoder
  var decoder: any Decoder { node }

  func mismatch(_ type: Any.Type) -> DecodingError { node.scalar.mismatch(type) }
}

/// The members of a JSON object.
struct NodeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let members: [JSONNode.Member]
  private let object: NodeDecoder

  init(_ members: [JSONNode.Member], _ object: NodeDecoder) {
    self.members = members
    self.object = object
  }

  var codingPath: [any CodingKey] { object.codingPath }

  var allKeys: [Key] { members.compactMap { $0.name.contains("@") ? nil : Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { members.contains { $0.name == key.stringValue } }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).node == .null }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder(key).value(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { object }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: Key) throws -> NodeDecoder {
    guard let member = members.first(where: { $0.name == key.stringValue }) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "The value has no member '\(key.stringValue)'"))
    }
    return object.inner(member.value, ValueType(of: key.stringValue, in: members, object.type, object.model), key)
  }
}

/// The items of a JSON array.
struct NodeUnkeyedContainer: UnkeyedDecodingContainer {
  private let items: [JSONNode]
  private let array: NodeDecoder
  private(set) var currentIndex = 0

  init(_ items: [JSONNode], _ array: NodeDecoder) {
    self.items = items
    self.array = array
  }

  var codingPath: [any CodingKey] { array.codingPath }
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
    let key = ItemKey(intValue: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self,
        .init(codingPath: codingPath + [key], debugDescription: "The collection has only \(items.count) items"))
    }
    var item = array.type
    if case .collection(let inner) = item { item = inner }
    return array.inner(items[currentIndex], item, key)
  }
}
