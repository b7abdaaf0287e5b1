package import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes one scalar, into the Swift and Foundation types that its declared type allows and into types with raw
/// values.
package struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
  package let scalar: DecodedScalar
  let declared: DeclaredType
  package let codingPath: [any CodingKey]
  /// Resolves the types of nested values.
  let model: EdmModel?

  package init(_ scalar: DecodedScalar, _ declared: DeclaredType, codingPath: [any CodingKey], model: EdmModel?) {
    self.scalar = scalar
    self.declared = declared
    self.codingPath = codingPath
    self.model = model
  }

  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let node else { throw mismatch([String: Any].self) }
    return try node.container(keyedBy: type)
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let node else { throw mismatch([Any].self) }
    return try node.unkeyedContainer()
  }

  package func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private var node: NodeDecoder? {
    guard case .node(let node, let type) = scalar else { return nil }
    return NodeDecoder(node, type, codingPath: codingPath, model: model)
  }

  // MARK: Values

  package func decodeNil() -> Bool { if case .null = scalar { true } else { false } }
  package func decode(_ type: Bool.Type) throws -> Bool { try boolean() }
  package func decode(_ type: String.Type) throws -> String { try string() }
  package func decode(_ type: Double.Type) throws -> Double { try double() }
  package func decode(_ type: Float.Type) throws -> Float { try float() }
  package func decode(_ type: Int.Type) throws -> Int { try integer() }
  package func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  package func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  package func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  package func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  package func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
  package func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  package func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  package func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  package func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  package func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
  package func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
  package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ScalarDecoder.make(type, self) }

  package func boolean() throws -> Bool { try required(scalar.boolean) }
  package func string() throws -> String { try required(scalar.string) }
  package func integer<Number: FixedWidthInteger>() throws -> Number { try required(scalar.integer()) }
  package func double() throws -> Double { try required(scalar.double) }
  package func float() throws -> Float { try required(scalar.float) }

  private func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw mismatch(Value.self) }
    return value
  }

  /// Decodes a scalar as a value of any type.
  package static func make<Value: Decodable>(_ type: Value.Type, _ decoder: ScalarDecoder) throws -> Value {
    if type == Date.self || type == Decimal.self || type == UUID.self || type == Data.self || type == URL.self
      || type == Duration.self
    {
      return try decoder.required(decoder.scalar.foundation(type) as? Value)
    }
    if let node = decoder.node { return try node.value(type) }
    do { return try Value(from: decoder) } catch DecodingError.dataCorrupted(let context)
      where context.codingPath.count == decoder.codingPath.count
    {
      // No such raw value exists. The standard library's own message would contain the value.
      throw decoder.mismatch(type)
    }
  }

  package func mismatch(_ type: Any.Type) -> DecodingError {
    .mismatch(type, holds: scalar.kind, declared, at: codingPath)
  }
}

/// The declared type of a value, for messages.
package enum DeclaredType {
  case bound(ODataBoundType)
  case result(ValueType)
  /// Control information, and values that the query computes.
  case none

  /// The name as CSDL writes it; nil without a declared type.
  var name: String? {
    switch self {
    case .bound(let type): type.item == .untyped ? nil : type.description
    case .result(let type): type.declaredName
    case .none: nil
    }
  }
}

extension ValueType {
  /// The name as CSDL writes it; nil if the value itself determines the type.
  fileprivate var declaredName: String? {
    switch self {
    case .primitive(let type): type.qualifiedName
    case .enumeration, .structure: name
    case .untyped: nil
    case .collection(let item): item.declaredName.map { "Collection(\($0))" }
    }
  }
}

extension DecodingError {
  /// The error for a value that the requested type cannot hold.
  package static func mismatch(
    _ type: Any.Type, holds kind: String, _ declared: DeclaredType, at path: [any CodingKey]
  ) -> DecodingError {
    let declaration = declared.name.map { "is declared as \($0)" } ?? "has no declared type"
    let isNull = kind == DecodedScalar.null.kind
    let cure = isNull ? "; make it optional" : ""
    let context = Context(
      codingPath: path,
      debugDescription:
        "\(path.isEmpty ? "It " : "")\(declaration) and has \(kind), which cannot be decoded as \(type)\(cure)")
    return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

extension DecodingError {
  /// Why a Swift type cannot be decoded: the path, the declared type, the kind of value found and the requested type,
  /// but never the value.
  package var problem: String? {
    let (failure, missing): (Context, [any CodingKey])
    switch self {
    case .keyNotFound(let key, let context): (failure, missing) = (context, [key])
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      (failure, missing) = (context, [])
    @unknown default: return nil
    }
    let path = (failure.codingPath + missing).reduce("") { path, key in
      if key is ItemKey, let place = key.intValue { return "\(path)[\(place)]" }
      return path.isEmpty ? key.stringValue : "\(path)/\(key.stringValue)"
    }
    let description =
      missing.isEmpty ? failure.debugDescription : "is not in the result; select or expand it, or make it optional"
    return path.isEmpty ? description : "'\(path)' \(description)"
  }
}
