import LarderOData

/// A value in its stored form, which contains its type.
struct QueuedValue: Hashable, Sendable {
  var value: ODataValue

  init(_ value: ODataValue) { self.value = value }
}

// The JSON encoding: null, booleans, texts and arrays as they are; other primitive values as `{"t": type, "v": text}`;
// complex values as `{"t": type name or "", "p": […]}` with members that are objects with `n` (name) and `v` (value).
// Objects and members with annotations have them in `a`.
extension QueuedValue: Codable {
  private enum Key: String, CodingKey { case type = "t", value = "v", properties = "p", annotations = "a" }

  private struct Member: Codable {
    let n: String
    let v: QueuedValue
    let a: [QueuedAnnotation]?

    init(_ property: ODataProperty) {
      (n, v, a) = (property.name, QueuedValue(property.value), QueuedAnnotation.all(property.annotations))
    }

    var property: ODataProperty { ODataProperty(n, v.value, annotations: a?.map(\.annotation) ?? []) }
  }

  init(from decoder: any Decoder) throws {
    if let single = try? decoder.singleValueContainer() {
      if single.decodeNil() { self.init(.null); return }
      if let flag = try? single.decode(Bool.self) { self.init(.boolean(flag)); return }
      if let text = try? single.decode(String.self) { self.init(.string(text)); return }
      if let items = try? single.decode([QueuedValue].self) { self.init(.collection(items.map(\.value))); return }
    }
    let container = try decoder.container(keyedBy: Key.self)
    let type = try container.decode(String.self, forKey: .type)
    if let members = try container.decodeIfPresent([Member].self, forKey: .properties) {
      self.init(
        .complex(
          ODataComplexValue(
            typeName: type.isEmpty ? nil : type, properties: members.map(\.property),
            annotations: try container.decodeIfPresent([QueuedAnnotation].self, forKey: .annotations)?
              .map(\.annotation) ?? [])))
      return
    }
    let text = try container.decode(String.self, forKey: .value)
    switch type {
    case "enum": self.init(.enumeration(text))
    case "number":
      guard case .decimal(let number) = try ODataValue(text: text, type: .decimal) else { throw Self.unknown(decoder) }
      self.init(.untypedNumber(number))
    default:
      guard let primitive = EdmPrimitiveType(qualifiedName: type) else { throw Self.unknown(decoder) }
      self.init(try ODataValue(text: text, type: primitive))
    }
  }

  private static func unknown(_ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a value of an unknown type"))
  }

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .null, .boolean, .string, .collection:
      var single = encoder.singleValueContainer()
      switch value {
      case .boolean(let flag): try single.encode(flag)
      case .string(let text): try single.encode(text)
      case .collection(let items): try single.encode(items.map(QueuedValue.init))
      default: try single.encodeNil()
      }
    case .complex(let complex):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(complex.typeName ?? "", forKey: .type)
      try container.encode(complex.properties.map(Member.init), forKey: .properties)
      try container.encodeIfPresent(QueuedAnnotation.all(complex.annotations), forKey: .annotations)
    case .enumeration(let text): try encode("enum", text, to: encoder)
    case .untypedNumber(let number): try encode("number", number.description, to: encoder)
    default: try encode(value.type?.qualifiedName ?? "", try value.text(), to: encoder)
    }
  }

  private func encode(_ type: String, _ text: String, to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(type, forKey: .type)
    try container.encode(text, forKey: .value)
  }
}
