import OData
import Storage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes one scalar: into Swift's and Foundation's types where the value allows it, and into types with raw values.
struct ScalarDecoder: Decoder, SingleValueDecodingContainer {
  /// A value, as far as a decoder tells them apart.
  enum Scalar {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    /// A member of an enumeration by number and by name.
    case member(Int64, String)
    /// An object or array.
    case node(JSONNode)
    /// Something else that is no scalar.
    case compound

    init(_ node: JSONNode) {
      switch node {
      case .null: self = .null
      case .boolean(let flag): self = .boolean(flag)
      case .string(let text): self = .text(text)
      case .number(let text):
        if let number = Int64(text) { self = .integer(number) } else { self = .text(text) }
      case .array, .object: self = .node(node)
      }
    }

    init(
      _ row: borrowing Row, _ column: Int32, _ storage: ColumnStorage, _ type: ODataBoundType, _ types: AnswerTypes
    ) {
      switch row.storageClass(column) {
      case .null: self = .null
      case .real: self = .real(row.real(column))
      case .blob: self = unsafe .bytes(Array(row.rawBytes(column)))
      case .text: self = .text(row.utf8Text(column))
      case .integer:
        let number = row.integer(column)
        switch storage {
        case .boolean: self = .boolean(number != 0)
        case .enumeration:
          var name = String(number)
          if case .enumeration(let names) = types.type(type) { name = names.name(number) ?? name }
          self = .member(number, name)
        default: self = .integer(number)
        }
      }
    }
  }

  let scalar: Scalar
  let codingPath: [any CodingKey]

  init(_ scalar: Scalar, codingPath: [any CodingKey]) {
    self.scalar = scalar
    self.codingPath = codingPath
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .node(let node) = scalar else { throw mismatch([String: Any].self) }
    return try NodeDecoder(node, codingPath: codingPath).container(keyedBy: type)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .node(let node) = scalar else { throw mismatch([Any].self) }
    return try NodeDecoder(node, codingPath: codingPath).unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  // MARK: Values

  func decodeNil() -> Bool { if case .null = scalar { true } else { false } }
  func decode(_ type: Bool.Type) throws -> Bool { try boolean() }
  func decode(_ type: String.Type) throws -> String { try string() }
  func decode(_ type: Double.Type) throws -> Double { try double() }
  func decode(_ type: Float.Type) throws -> Float { Float(try double()) }
  func decode(_ type: Int.Type) throws -> Int { try integer() }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ScalarDecoder.make(type, self) }

  func boolean() throws -> Bool {
    if case .boolean(let flag) = scalar { return flag }
    throw mismatch(Bool.self)
  }

  func string() throws -> String {
    switch scalar {
    case .text(let text), .member(_, let text): return text
    // Computed values may be of another class than their declared type.
    case .integer, .real, .boolean, .bytes, .null, .node, .compound: throw mismatch(String.self)
    }
  }

  func integer<Number: FixedWidthInteger>() throws -> Number {
    let found: Number? =
      switch scalar {
      case .integer(let number), .member(let number, _): Number(exactly: number)
      case .real(let number): Number(exactly: number)
      case .text(let text): Number(text) ?? ODataDecimal(text).flatMap { Number(String(describing: $0)) }
      default: nil
      }
    guard let found else { throw mismatch(Number.self) }
    return found
  }

  func double() throws -> Double {
    switch scalar {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    case .text("INF"): return .infinity
    case .text("-INF"): return -.infinity
    case .text("NaN"): return .nan
    case .text(let text):
      if let number = Double(text), number.isFinite { return number }
    default: break
    }
    throw mismatch(Double.self)
  }

  // MARK: Foundation's types

  /// A scalar as a value of any type.
  static func make<Value: Decodable>(_ type: Value.Type, _ decoder: ScalarDecoder) throws -> Value {
    if type == Date.self || type == Decimal.self || type == UUID.self || type == Data.self || type == URL.self
      || type == Duration.self
    {
      if let value = decoder.foundation(type) as? Value { return value }
      throw decoder.mismatch(type)
    }
    if case .node(let node) = decoder.scalar {
      return try NodeDecoder(node, codingPath: decoder.codingPath).value(type)
    }
    return try Value(from: decoder)
  }

  private func foundation(_ type: Any.Type) -> Any? {
    switch scalar {
    case .text(var text):
      if type == Data.self {
        guard case .binary(let bytes)? = try? ODataValue(text: text, type: .binary) else { return nil }
        return Data(bytes)
      }
      if type == URL.self { return URL(string: text) }
      return text.withUTF8 { bytes -> Any? in
        switch type {
        case is Date.Type: unsafe ScalarText.date(bytes)
        case is Decimal.Type: unsafe ScalarText.decimal(bytes)
        case is UUID.Type: unsafe ScalarText.uuid(bytes)
        default: unsafe ODataDuration(String(decoding: bytes, as: UTF8.self)).map { Duration($0) }
        }
      }
    case .bytes(let bytes): return type == Data.self ? Data(bytes) : nil
    case .integer(let number): return type == Decimal.self ? Decimal(number) : nil
    case .real(let number): return type == Decimal.self ? Decimal(exactly: ODataDecimal(number)) : nil
    case .null, .boolean, .member, .node, .compound: return nil
    }
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "The value is \(kind), which is no \(type)")
    if case .null = scalar { return .valueNotFound(type, context) }
    return .typeMismatch(type, context)
  }

  /// What the value is, without the value.
  private var kind: String {
    switch scalar {
    case .null: "null"
    case .boolean: "a boolean"
    case .integer: "an integer, or out of the type's range"
    case .real: "a floating-point number"
    case .text: "a text of another form"
    case .bytes: "binary"
    case .member: "a member of an enumeration"
    case .node, .compound: "an object or a collection"
    }
  }
}
