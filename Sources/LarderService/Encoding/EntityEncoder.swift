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
    part.form = .object
    return KeyedEncodingContainer(EncodedMembers<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    part.form = .array
    return EncodedArray(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { EncodedSingle(encoder: self) }

  /// Encodes a value in the place of this encoder: a primitive value as the declared type, others by their own code.
  func encode(_ value: some Encodable) throws {
    if var primitive = EntityEncoder.primitive(value) {
      if value is Date, let precision = part.precision { primitive = primitive.truncated(toDigits: precision) }
      guard let fitted = part.type.fitted(primitive) else { throw misfit(value) }
      part.form = .value(fitted)
    } else {
      try value.encode(to: self)
      guard part.fits else { throw misfit(value) }
      try checkLinks(value)
    }
  }

  private func misfit(_ value: some Encodable) -> EncodingError {
    invalid(value, "the value of type \(type(of: value)) does not fit \(part.type.name ?? "the declared type")")
  }

  private func invalid(_ value: some Encodable, _ problem: String) -> EncodingError {
    EncodingError.invalidValue(value, .init(codingPath: codingPath, debugDescription: problem))
  }

  /// Throws for links that cannot be sent.
  private func checkLinks(_ value: some Encodable) throws {
    guard case .object = part.form else { return }
    let links = part.links
    let unbound = links.first { link in !links.contains { $0.name == link.name && $0.leadsToEntities } }
    if let unbound {
      throw invalid(value, "'\(unbound.name)' is bound to nothing; give the path of an entity, or unlink it")
    }
  }

  /// The encoder of a member of an object. A second value of a member replaces the first.
  func member(_ key: any CodingKey) -> EntityEncoder {
    let name = key.stringValue
    let member = EncodedPart(
      part.structure.member(name, model), precision: part.structure.precision(of: name, model), model)
    part.members.removeAll { $0.name == name }
    part.members.append((name, member))
    return EntityEncoder(part: member, codingPath: codingPath + [key], model: model)
  }

  /// The encoder of one more item of an array.
  func item() -> EntityEncoder {
    let item = EncodedPart(part.type.item, precision: part.precision, model)
    part.items.append(item)
    return EntityEncoder(
      part: item, codingPath: codingPath + [ItemKey(intValue: part.items.count - 1)], model: model)
  }

  /// The value of a type that OData has a primitive type for; nil for others.
  private static func primitive(_ value: some Encodable) -> ODataValue? {
    switch value {
    case let value as any ODataPrimitive: value.odataValue
    case let value as Decimal: ODataDecimal(value.description).map { .decimal($0) }
    case let value as any FixedWidthInteger: ODataDecimal(value.description).map { .decimal($0) }
    case let value as URL: .string(value.absoluteString)
    case let value as Duration: ODataDuration(value).map { .duration($0) }
    default: nil
    }
  }
}

// Properties that an open type does not declare, exact.
extension EntityEncoder: ODataDynamicEncoder {
  func encode(dynamic properties: [ODataProperty]) {
    for property in properties { member(MemberKey(property.name)).part.form = .value(property.value) }
  }
}

/// A part of the encoded value.
final class EncodedPart {
  enum Form {
    case nothing
    case value(ODataValue)
    case object
    case array
  }

  var form = Form.nothing
  /// The members of an object, in their order.
  var members: [(name: String, part: EncodedPart)] = []
  /// The items of an array.
  var items: [EncodedPart] = []
  let type: ValueType
  /// The declared digits of the second's fraction. Nil if the service does not say: by CSDL 4.01 §7.2.3 it has none then,
  /// but many services do not say it and store them.
  let precision: Int?
  private let model: EdmModel?

  init(_ type: ValueType, precision: Int? = nil, _ model: EdmModel?) {
    (self.type, self.precision, self.model) = (type, precision, model)
  }

  /// The type of an object: a derived one if the object names it before its other members.
  var structure: ValueType {
    guard let name = typeName, let derived = model?.structure(name) else { return type }
    return .structure(derived)
  }

  /// The qualified name of its type in an object, which may give it with the alias of a schema.
  private var typeName: String? {
    for (name, part) in members where name == "@odata.type" || name == "@type" {
      guard case .value(.string(let text)) = part.form else { continue }
      let type = String(text.drop { $0 == "#" })
      return model?.resolve(type) ?? type
    }
    return nil
  }

  /// Whether the type that an object names is the declared one, or derives from it.
  private var isOfDeclaredType: Bool {
    guard let typeName, let model, case .structure(let declared) = type else { return true }
    return model.isType(typeName, derivedFrom: declared.name)
  }

  /// The navigation properties that an object contains or binds, and whether they have an entity or a path.
  var links: [(name: String, leadsToEntities: Bool)] {
    members.compactMap { name, part in
      if let bound = EncodedPart.bound(name) { return (bound, !part.texts.isEmpty) }
      return !name.contains("@") && structure.isNavigation(name) ? (name, true) : nil
    }
  }

  /// The navigation property whose bindings a member has.
  private static func bound(_ name: String) -> String? {
    name.withoutEnding("@odata.bind") ?? name.withoutEnding("@bind")
  }

  /// Whether the declared type has values of this form.
  var fits: Bool {
    switch (form, type) {
    case (.nothing, _), (.object, .primitive), (.object, .enumeration), (.object, .collection): false
    case (.array, .primitive), (.array, .enumeration), (.array, .structure): false
    case (.object, .structure): isOfDeclaredType
    case (.value, _), (.object, _), (.array, _): true
    }
  }

  /// The part as the value of a property.
  var value: ODataValue {
    switch form {
    case .nothing: .null
    case .value(let value): value
    case .array: .collection(items.map(\.value))
    case .object: .complex(ODataComplexValue(entity))
    }
  }

  /// The part as an entity, with all its control information and annotations: what of these is sent, ``ContentRules``
  /// decides.
  var entity: ODataEntity {
    var entity = ODataEntity()
    var bindings: [(name: String, urls: [String])] = []
    var annotations: [(name: String, part: EncodedPart)] = []
    for (name, part) in members {
      if name == "@odata.type" || name == "@type" {
        entity.typeName = typeName
      } else if let bound = EncodedPart.bound(name) {
        bindings.append((bound, part.texts))
      } else if name.contains("@") {
        annotations.append((name, part))
      } else if structure.isNavigation(name) {
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
    for (name, part) in annotations { part.annotate(&entity, name) }
    return entity
  }

  /// Adds this part to an entity as the value of a member with an `@` in its name.
  private func annotate(_ entity: inout ODataEntity, _ name: String) {
    let parts = name.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isControl = !parts[1].contains(".")
    let term = isControl ? "odata." + parts[1] : parts[1]
    switch (term, parts[0], form) {
    case ("odata.id", "", .value(.string(let id))): entity.id = id
    case ("odata.removed", "", _):
      let reason = members.first { $0.name == "reason" }?.part.texts.first
      entity.removal = reason == "deleted" ? .deleted : reason == "changed" ? .changed : .other(reason)
    case ("odata.delta", let link, .array) where !link.isEmpty:
      let changes = items.map(\.entity).map { entity -> ODataDelta.Item in
        entity.removal == nil ? .entity(entity) : .deletedEntity(entity)
      }
      entity.navigationLinks.removeAll { $0.name == link && $0.bindings.isEmpty }
      entity.navigationLinks.append(ODataNavigationLink(name: link, content: .delta(ODataDelta(items: changes))))
    default:
      let annotation = ODataAnnotation(term: term, value: value)
      if let index = entity.properties.firstIndex(where: { $0.name == parts[0] }) {
        entity.properties[index].annotations.append(annotation)
      } else if let index = entity.navigationLinks.firstIndex(where: { $0.name == parts[0] }) {
        entity.navigationLinks[index].annotations.append(annotation)
      } else {
        entity.annotations.append(
          parts[0].isEmpty ? annotation : ODataAnnotation(term: parts[0] + "@" + term, value: value))
      }
    }
  }

  private var related: ODataNavigationLink.Content {
    switch form {
    case .array: .collection(ODataEntityCollection(entities: items.map(\.entity)))
    case .object: .entity(entity)
    case .nothing, .value: .null
    }
  }

  private var texts: [String] {
    switch form {
    case .value(.string(let text)): [text]
    case .array: items.flatMap(\.texts)
    case .nothing, .object, .value: []
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

  /// The declared precision of a property.
  fileprivate func precision(of name: String, _ model: EdmModel?) -> Int? {
    guard case .structure(let structure) = self, let property = structure.property(name) else { return nil }
    return property.facets.precision ?? model?.underlying(property.type).facets.precision
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
    case .enumeration(let names):
      switch value {
      case .enumeration: return value
      case .string(let text): return .enumeration(text)
      default: return (try? value.text()).flatMap { Int64($0) }.flatMap(names.name).map { .enumeration($0) }
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

extension ODataValue {
  /// A timestamp without the digits of the second's fraction that a service does not store (CSDL 4.01 §7.2.3).
  fileprivate func truncated(toDigits digits: Int) -> ODataValue {
    guard case .dateTimeOffset(let timestamp) = self, (0..<12).contains(digits) else { return self }
    let unit = (digits..<12).reduce(UInt64(1)) { unit, _ in unit * 10 }
    let picosecond = timestamp.time.picosecond
    return ODataDateTimeOffset(
      secondsSince1970: timestamp.secondsSince1970, picosecond: picosecond - picosecond % unit
    ).map { .dateTimeOffset($0) } ?? self
  }
}
