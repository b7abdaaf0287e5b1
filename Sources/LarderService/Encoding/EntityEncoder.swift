import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encodes a value of the application by the declared types of an entity: the reverse of ``NodeDecoder``.
struct EntityEncoder: Encoder {
  let part: EncodedPart
  let codingPath: [any CodingKey]
  let model: EdmModel?

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = part.content {} else { part.content = .object([]) }
    return KeyedEncodingContainer(EncodedObject<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = part.content {} else { part.content = .array([]) }
    return EncodedArray(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { EncodedSingle(encoder: self) }

  /// Encodes a value in the place of this encoder: a primitive value as the declared type, others by their own code.
  func encode(_ value: some Encodable) throws {
    guard let primitive = EntityEncoder.primitive(value) else { return try value.encode(to: self) }
    guard let fitted = part.type.fitted(primitive) else {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: codingPath, debugDescription: "a \(type(of: value)) is no \(part.type.name ?? "such value")"))
    }
    part.content = .value(fitted)
  }

  /// The encoder of a member of an object.
  func member(_ key: any CodingKey) -> EntityEncoder {
    let member = EncodedPart(part.type.member(key.stringValue, model))
    if case .object(let members) = part.content { part.content = .object(members + [(key.stringValue, member)]) }
    return EntityEncoder(part: member, codingPath: codingPath + [key], model: model)
  }

  /// The encoder of one more item of an array.
  func item() -> EntityEncoder {
    var items: [EncodedPart] = []
    if case .array(let present) = part.content { items = present }
    let item = EncodedPart(part.type.item)
    part.content = .array(items + [item])
    return EntityEncoder(part: item, codingPath: codingPath + [ItemKey(intValue: items.count)], model: model)
  }

  /// The value of a type that OData has a primitive type for; nil for others.
  private static func primitive(_ value: some Encodable) -> ODataValue? {
    switch value {
    case let value as any ODataPrimitive: value.odataValue
    case let value as Decimal: ODataDecimal(value.description).map { .decimal($0) }
    case let value as any FixedWidthInteger: ODataDecimal(value.description).map { .decimal($0) }
    default: nil
    }
  }
}

// Properties that an open type does not declare, exact.
extension EntityEncoder: ODataDynamicEncoder {
  func encode(dynamic properties: [ODataProperty]) {
    for property in properties { member(MemberKey(property.name)).part.content = .value(property.value) }
  }
}

/// A part of the encoded value.
final class EncodedPart {
  enum Content {
    case none
    case value(ODataValue)
    case object([(name: String, part: EncodedPart)])
    case array([EncodedPart])
  }

  var content = Content.none
  let type: ValueType

  init(_ type: ValueType) { self.type = type }

  /// The part as the value of a property.
  var value: ODataValue {
    switch content {
    case .none: .null
    case .value(let value): value
    case .array(let items): .collection(items.map(\.value))
    case .object: .complex(ODataComplexValue(typeName: entity.typeName, properties: entity.properties))
    }
  }

  /// The part as an entity. Control information other than types and bindings is not sent.
  var entity: ODataEntity {
    guard case .object(let members) = content else { return ODataEntity() }
    var entity = ODataEntity()
    var bindings: [(name: String, urls: [String])] = []
    for (name, part) in members {
      if name == "@odata.type" || name == "@type", case .value(.string(let type)) = part.content {
        entity.typeName = String(type.drop { $0 == "#" })
      } else if let bound = name.withoutEnding("@odata.bind") ?? name.withoutEnding("@bind") {
        bindings.append((bound, part.texts))
      } else if name.contains("@") {
        continue
      } else if type.isNavigation(name) {
        entity.navigationLinks.append(ODataNavigationLink(name: name, content: part.related))
      } else {
        entity.properties.append(ODataProperty(name, part.value))
      }
    }
    for (name, urls) in bindings {
      if entity.navigationLink(name) == nil { entity.navigationLinks.append(ODataNavigationLink(name: name)) }
      for index in entity.navigationLinks.indices where entity.navigationLinks[index].name == name {
        entity.navigationLinks[index].bindings = urls
      }
    }
    return entity
  }

  private var related: ODataNavigationLink.Content {
    switch content {
    case .array(let items): .collection(ODataEntityCollection(entities: items.map(\.entity)))
    case .object: .entity(entity)
    case .none, .value: .null
    }
  }

  private var texts: [String] {
    switch content {
    case .value(.string(let text)): [text]
    case .array(let items): items.flatMap(\.texts)
    case .none, .object, .value: []
    }
  }
}

extension String {
  fileprivate func withoutEnding(_ ending: String) -> String? {
    hasSuffix(ending) ? String(dropLast(ending.count)) : nil
  }
}

extension ValueType {
  fileprivate func member(_ name: String, _ model: EdmModel?) -> ValueType {
    guard case .structure(let structure) = self else { return .untyped }
    let type = structure.property(name)?.type ?? structure.navigationProperty(name)?.type
    return type.map { ValueType($0, in: model) } ?? .untyped
  }

  fileprivate var item: ValueType { if case .collection(let item) = self { item } else { .untyped } }

  fileprivate func isNavigation(_ name: String) -> Bool {
    if case .structure(let structure) = self { structure.navigationProperty(name) != nil } else { false }
  }

  /// Converts a value to this type: a number of another type, or a text that is parsed. Nil if it does not fit.
  fileprivate func fitted(_ value: ODataValue) -> ODataValue? {
    guard value != .null else { return value }
    switch self {
    case .untyped: return value
    case .collection, .structure: return nil
    case .enumeration:
      switch value {
      case .enumeration: return value
      case .string(let text): return .enumeration(text)
      default: return nil
      }
    case .primitive(let type):
      if value.type == type { return value }
      // A text is parsed as any type; no other value becomes a text.
      guard type != .string, value.type != .boolean, type != .boolean || value.type == .string else { return nil }
      guard let text = try? value.text() else { return nil }
      if let fitted = try? ODataValue(text: text, type: type) { return fitted }
      // A `Date` is a time in UTC. Before V4 a time has no offset; a day is its midnight.
      guard case .dateTimeOffset = value, text.hasSuffix("Z") else { return nil }
      switch type {
      case .dateTime: return try? ODataValue(text: String(text.dropLast()), type: type)
      case .date:
        return text.hasSuffix("T00:00:00Z") ? try? ODataValue(text: String(text.prefix { $0 != "T" }), type: type) : nil
      default: return nil
      }
    }
  }
}
