package import LarderOData

/// The type of a value in V4 JSON, as far as its spelling and its decoding depend on it.
package indirect enum ValueType: Sendable {
  case primitive(EdmPrimitiveType)
  case enumeration(ODataEnumNames)
  case structure(EdmStructure)
  case untyped
  case collection(ValueType)

  /// The name after `#` in `@odata.type`: built-in types without `Edm.` (JSON Format 4.01 §4.6.3).
  package var name: String? {
    switch self {
    case .primitive(let type): type.rawValue
    case .enumeration(let names): names.typeName
    case .structure(let type): type.name
    case .untyped: nil
    case .collection(let item): item.name.map { "Collection(\($0))" }
    }
  }
}

extension ValueType {
  /// Resolves the type of a bound expression or column.
  package init(_ type: ODataBoundType, in model: EdmModel?) {
    let item: ValueType =
      switch type.item {
      case .primitive(let type): .primitive(type)
      case .definition(let definition): .primitive(definition.definition.underlyingType)
      case .enumeration(let type): .enumeration(ODataEnumNames(type.enumeration))
      case .structure(let structure): .structure(structure)
      case .shape(let shape): shape.base.map { .structure($0) } ?? .untyped
      case .undeclared(let name): ValueType(EdmTypeReference(name), in: model)
      case .untyped, .null, .abstract: .untyped
      }
    self = type.isCollection ? .collection(item) : item
  }

  /// Resolves a declared type; types that the model does not declare are untyped.
  package init(_ reference: EdmTypeReference, in model: EdmModel?) {
    let item: ValueType
    switch reference.item {
    case .primitive(let type): item = .primitive(type)
    case .named(let name):
      if let definition = model?.typeDefinition(name) {
        item = .primitive(definition.underlyingType)
      } else if let type = model?.enumType(name) {
        item = .enumeration(ODataEnumNames(type))
      } else {
        item = model?.structure(name).map { .structure($0) } ?? .untyped
      }
    case .abstract, .collection: item = .untyped
    }
    self = reference.isCollection ? .collection(item) : item
  }

  /// The type of a member of an object in V4 JSON: declared by the object's type, or given by a type annotation.
  init(of name: String, in members: [JSONNode.Member], _ object: ValueType, _ model: EdmModel?) {
    var structure: EdmStructure?
    if case .structure(let declared) = object { structure = declared }
    if let annotatedType = ValueType.annotation(of: "", in: members) {
      structure = model?.structure(annotatedType) ?? structure
    }
    if let property = structure?.property(name) {
      self.init(property.type, in: model)
    } else if let navigation = structure?.navigationProperty(name) {
      self.init(navigation.type, in: model)
    } else {
      self.init(ofUndeclared: name, in: members, model)
    }
  }

  /// The type that an annotation gives for an undeclared property.
  package init(ofUndeclared name: String, in members: [JSONNode.Member], _ model: EdmModel?) {
    self = ValueType.annotation(of: name, in: members).map { ValueType(EdmTypeReference($0), in: model) } ?? .untyped
  }

  /// The value of `@odata.type`, of the object or of a property in it, without `#`.
  package static func annotation(of property: String, in members: [JSONNode.Member]) -> String? {
    for spelling in ["@odata.type", "@type"] {
      guard let annotation = members.first(where: { $0.name == property + spelling })?.value.string else { continue }
      guard let hash = annotation.lastIndex(of: "#") else { return annotation }
      let name = annotation[annotation.index(after: hash)...]
      return name.hasPrefix("Collection(") || name.contains(".") ? String(name) : "Edm." + name
    }
    return nil
  }
}

/// An enumeration's name, and the names of its values.
package struct ODataEnumNames: Sendable {
  package let typeName: String
  private let type: EdmEnumType

  package init(_ type: EdmEnumType) {
    typeName = type.qualifiedName
    self.type = type
  }

  /// The value of a member's name, or of several names joined by commas; nil for other texts.
  package func value(_ text: String) -> Int64? { try? EnumerationValue.read(text, type) }

  /// The names of a value's members, joined by commas: the member with that value or, for flags, the members that make
  /// it up. Nil if there are none.
  package func name(_ value: Int64) -> String? {
    if let member = type.member(value: value) { return member.name }
    guard type.isFlags, value > 0 else { return nil }
    var rest = value
    var chosen: [String] = []
    for member in type.members.sorted(by: { $0.value > $1.value }) {
      guard member.value > 0, value & member.value == member.value, rest & member.value != 0 else { continue }
      chosen.append(member.name)
      rest &= ~member.value
    }
    return rest == 0 ? chosen.reversed().joined(separator: ",") : nil
  }
}
