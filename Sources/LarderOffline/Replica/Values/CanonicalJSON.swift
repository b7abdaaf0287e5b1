import LarderOData
import LarderService

// The content of JSON columns: V4 JSON, which both SQLite's JSON functions and the results of reads use.
//
// Decimals and durations are strings with their digits, 64-bit integers are numbers, enumerations of the model are
// their integers, guids are in lower case, binary values are base64url, INF, -INF and NaN are strings, and dates and
// timestamps are as in their columns. Derived complex values contain "@odata.type". Numbers without a declared type
// keep their digits, without quotes.
extension JSONWriter {
  /// Writes a value as the next value. Throws if it is a collection and the type is not, or the other way round.
  mutating func canonical(_ value: ODataValue, type: EdmTypeReference, model: EdmModel?) throws(ODataValueError) {
    try canonical(value, type: type, model: model, depth: 0)
  }

  private mutating func canonical(
    _ value: ODataValue, type: EdmTypeReference, model: EdmModel?, depth: Int
  ) throws(ODataValueError) {
    guard depth < CanonicalJSON.maximumDepth else {
      throw ODataValueError(.tooDeep(limit: CanonicalJSON.maximumDepth), type: nil, text: "")
    }
    try CanonicalJSON.checkForm(value, type)
    switch value {
    case .null: null()
    case .int64(let number): integer(number)
    case .decimal(let number): string(number.description)
    case .dateTime(let timestamp): string(timestamp.description)
    case .dateTimeOffset(let timestamp): string(timestamp.description)
    case .enumeration(let text):
      guard let declared = type.name.flatMap({ model?.enumType($0) }) else { return string(text) }
      integer(try EnumerationValue.read(text, declared))
    case .collection(let items):
      beginArray()
      for item in items { try canonical(item, type: type.item, model: model, depth: depth + 1) }
      endArray()
    case .complex(let complex): try canonical(complex, type: type.item, model: model, depth: depth)
    default: try value.write(to: &self, format: .v4(ieee754Compatible: false))
    }
  }

  private mutating func canonical(
    _ complex: ODataComplexValue, type: EdmTypeReference, model: EdmModel?, depth: Int
  ) throws(ODataValueError) {
    let name = complex.typeName ?? type.name
    let structure = name.flatMap { model?.structure($0) }
    beginObject()
    if let typeName = complex.typeName, typeName != type.name {
      self.name("@odata.type")
      string("#" + typeName)
    }
    for property in complex.properties {
      let declared = structure?.property(property.name)?.type
      if declared == nil, let dynamicName = CanonicalJSON.dynamicType(property.value) {
        self.name(property.name + "@odata.type")
        string("#" + dynamicName)
      }
      self.name(property.name)
      let type = declared.map { model?.underlying($0).type ?? $0 }
      if property.value == .null, type?.isCollection == true {
        // A collection is never null (CSDL 4.01 §7.2.1).
        beginArray()
        endArray()
        continue
      }
      try canonical(property.value, type: type ?? .abstract(.untyped), model: model, depth: depth + 1)
    }
    endObject()
  }
}

/// Reads the JSON of columns.
enum CanonicalJSON {
  static let maximumDepth = 100

  /// Throws if only one of a value and its declared type is a collection.
  fileprivate static func checkForm(_ value: ODataValue, _ type: EdmTypeReference) throws(ODataValueError) {
    let fits =
      switch (type, value) {
      case (_, .null), (.abstract, _): true
      case (.collection, .collection): true
      case (.collection, _), (.primitive, .collection), (.named, .collection): false
      case (.primitive, _), (.named, _): true
      }
    guard !fits else { return }
    let expectsCollection = if case .collection = type { true } else { false }
    throw ODataValueError(
      .collectionMismatch(expectsCollection: expectsCollection), type: type.item.primitive, text: "")
  }

  /// The type in `Name@odata.type` of a dynamic property, if its JSON does not show the type (JSON Format 4.01 §4.6.3);
  /// nil otherwise.
  static func dynamicType(_ value: ODataValue) -> String? {
    switch value {
    case .null, .boolean, .string, .untypedNumber, .complex, .enumeration: nil
    // Infinities and NaN are written as strings.
    case .double(let number): number.isFinite ? nil : value.type?.rawValue
    case .collection(let items):
      items.first.flatMap { first in
        first.type.flatMap { type in dynamicType(first).map { _ in "Collection(\(type.rawValue))" } }
      }
    default: value.type?.rawValue
    }
  }

  /// Reads the JSON text of a column.
  static func value(_ text: String, type: EdmTypeReference, model: EdmModel?) throws(ODataValueError) -> ODataValue {
    let node: JSONNode
    do { node = try JSONNode(Array(text.utf8)) } catch {
      throw ODataValueError(.malformed, type: type.primitive, text: text)
    }
    return try value(node, type: type, model: model)
  }

  /// Reads a JSON tree as a value of a type.
  static func value(_ node: JSONNode, type: EdmTypeReference, model: EdmModel?) throws(ODataValueError) -> ODataValue {
    switch (node, type) {
    case (.null, _): return .null
    case (.array(let items), _):
      var values: [ODataValue] = []
      values.reserveCapacity(items.count)
      for item in items { values.append(try value(item, type: type.item, model: model)) }
      return .collection(values)
    case (_, .primitive(let primitive)): return try ODataValue(json: node, type: primitive, dialect: .v4)
    case (.object(let members), _): return .complex(try complex(members, type: type, model: model))
    case (_, .named(let name)):
      guard let declared = model?.enumType(name) else { break }
      if case .number(let digits) = node, let number = Int64(digits) {
        return .enumeration(EnumerationValue.text(number, declared))
      }
      if case .string(let text) = node { return .enumeration(text) }
    default: break
    }
    return try ODataValue(untyped: node)
  }

  private static func complex(
    _ members: [JSONNode.Member], type: EdmTypeReference, model: EdmModel?
  ) throws(ODataValueError) -> ODataComplexValue {
    let declaredName = typeName(members, of: "")
    let structure = (declaredName ?? type.name).flatMap { model?.structure($0) }
    var result = ODataComplexValue(typeName: declaredName)
    for member in members where !member.name.contains("@") {
      let declared = structure?.property(member.name)?.type
      let name = declared ?? typeName(members, of: member.name).map { EdmTypeReference($0) }
      let type = name.map { model?.underlying($0).type ?? $0 } ?? .abstract(.untyped)
      result.properties.append(ODataProperty(member.name, try value(member.value, type: type, model: model)))
    }
    return result
  }

  private static func typeName(_ members: [JSONNode.Member], of property: String) -> String? {
    guard let text = members.first(where: { $0.name == property + "@odata.type" })?.value.string else { return nil }
    return text.hasPrefix("#") ? String(text.dropFirst()) : text
  }
}
