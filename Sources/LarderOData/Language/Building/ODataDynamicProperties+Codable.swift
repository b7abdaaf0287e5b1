#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A decoder that knows the exact values of undeclared properties.
package protocol ODataDynamicDecoder: Decoder {
  /// The properties that neither the metadata nor the Swift type declares.
  func dynamicProperties(besides isDeclared: (String) -> Bool) throws -> [ODataProperty]
}

/// An encoder that keeps the exact values of undeclared properties.
package protocol ODataDynamicEncoder: Encoder {
  /// Adds undeclared properties to the encoded object.
  func encode(dynamic properties: [ODataProperty])
}

// Other coders have the JSON format of V4: a type annotation precedes a value that JSON alone does not type.
extension ODataDynamicProperties {
  /// Decodes the members of an object that are no declared properties and no control information.
  public init<Declared: CodingKey>(from decoder: any Decoder, besides declared: Declared.Type) throws {
    if let decoder = decoder as? any ODataDynamicDecoder {
      self.init(read: try decoder.dynamicProperties { Declared(stringValue: $0) != nil })
    } else {
      self.init(read: try DynamicObject(from: decoder).properties { Declared(stringValue: $0) != nil })
    }
  }

  /// Encodes the properties as members of the object that the encoder has begun.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? any ODataDynamicEncoder {
      encoder.encode(dynamic: properties)
    } else {
      var container = encoder.container(keyedBy: DynamicName.self)
      try container.encode(properties)
    }
  }
}

/// The name of a member.
private struct DynamicName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }

  static func type(of property: String) -> DynamicName { DynamicName(stringValue: property + "@odata.type") }
}

/// A JSON object whose members have the types of their annotations.
private struct DynamicObject {
  let container: KeyedDecodingContainer<DynamicName>

  init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: DynamicName.self) }

  func properties(besides isDeclared: (String) -> Bool = { _ in false }) throws -> [ODataProperty] {
    try container.allKeys.filter { !$0.stringValue.contains("@") && !isDeclared($0.stringValue) }
      .sorted { $0.stringValue < $1.stringValue }.map { ODataProperty($0.stringValue, try value($0)) }
  }

  private func value(_ key: DynamicName) throws -> ODataValue {
    var name = try container.decodeIfPresent(String.self, forKey: .type(of: key.stringValue))?.drop { $0 == "#" } ?? ""
    if name.hasPrefix("Collection(") { name = name.dropFirst(11).dropLast() }
    if name.hasPrefix("Edm.") { name = name.dropFirst(4) }
    let type = EdmPrimitiveType(rawValue: String(name))
    if type?.geoSpace != nil { return .geo(try container.decode(ODataGeo.self, forKey: key)) }
    return try container.decode(DynamicValue.self, forKey: key).typed(type)
  }
}

/// A value that is decoded by its form.
private struct DynamicValue: Decodable {
  let value: ODataValue

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.singleValueContainer(), let other = DynamicValue.value(container) {
      value = other
      return
    }
    let object = try DynamicObject(from: decoder)
    let type = try object.container.decodeIfPresent(String.self, forKey: .type(of: "")).map { $0.drop { $0 == "#" } }
    value = .complex(ODataComplexValue(typeName: type.map { String($0) }, properties: try object.properties()))
  }

  /// A value other than an object.
  private static func value(_ container: any SingleValueDecodingContainer) -> ODataValue? {
    if container.decodeNil() { return .null }
    if let flag = try? container.decode(Bool.self) { return .boolean(flag) }
    if let text = try? container.decode(String.self) { return .string(text) }
    if let number = try? container.decode(Int64.self) { return .untypedNumber(ODataDecimal(number)) }
    if let number = try? container.decode(Decimal.self) { return .untypedNumber(ODataDecimal(number)) }
    if let items = try? container.decode([DynamicValue].self) { return .collection(items.map(\.value)) }
    return nil
  }

  /// The value as one of a type that was annotated.
  func typed(_ type: EdmPrimitiveType?) throws -> ODataValue {
    guard let type else { return value }
    func typed(_ value: ODataValue) throws -> ODataValue {
      switch value {
      case .string(let text): try ODataValue(text: text, type: type)
      case .untypedNumber(let number): try ODataValue(text: number.description, type: type)
      case .collection(let items): .collection(try items.map(typed))
      default: value
      }
    }
    return try typed(value)
  }
}

/// A value that is encoded by its form.
private struct DynamicItem: Encodable {
  let value: ODataValue

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .complex(let value):
      var container = encoder.container(keyedBy: DynamicName.self)
      try container.encodeIfPresent(value.typeName.map { "#" + $0 }, forKey: .type(of: ""))
      return try container.encode(value.properties)
    case .collection(let items): return try items.map(DynamicItem.init).encode(to: encoder)
    case .geo(let shape): return try shape.encode(to: encoder)
    default: break
    }
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .boolean(let flag): try container.encode(flag)
    case .untypedNumber(let number):
      if let exact = Decimal(exactly: number) { try container.encode(exact) } else { try container.encode(number) }
    default: try container.encode(value.text())
    }
  }
}

extension KeyedEncodingContainer<DynamicName> {
  fileprivate mutating func encode(_ properties: [ODataProperty]) throws {
    for property in properties {
      try encodeIfPresent(property.value.typeAnnotation, forKey: .type(of: property.name))
      try encode(DynamicItem(value: property.value), forKey: DynamicName(stringValue: property.name))
    }
  }
}

extension ODataValue {
  /// The value of `@odata.type` for values that JSON alone does not type (JSON Format 4.01 §4.6.3).
  package var typeAnnotation: String? {
    switch self {
    case .string, .boolean, .null, .enumeration, .complex, .untypedNumber: nil
    case .collection(let items):
      items.first { $0 != .null }?.typeAnnotation.map { "#Collection(\($0.dropFirst()))" }
    default: type.map { "#" + $0.rawValue }
    }
  }
}
