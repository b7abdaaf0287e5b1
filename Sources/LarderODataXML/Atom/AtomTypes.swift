internal import LarderOData

/// What a model says of types, as an Atom reader asks it; without a model, only what the payload says.
struct AtomTypes {
  let model: EdmModel?

  func structure(_ name: String?) -> EdmStructure? { name.flatMap { model?.structure($0) } }

  /// The type in `m:type`: `Edm.Int32`, V4's `Int32`, `#NS.Type`, `Collection(…)`, `#Collection(…)`.
  static func reference(_ text: String?) -> EdmTypeReference? {
    guard let text = text?.trimmed, !text.isEmpty else { return nil }
    let bare = text.hasPrefix("#") ? String(text.dropFirst()) : text
    guard bare.hasPrefix("Collection("), bare.hasSuffix(")") else { return EdmTypeReference(bare) }
    let item = bare.dropFirst(11).dropLast()
    return .collection(EdmTypeReference(String(item.hasPrefix("#") ? item.dropFirst() : item)).item)
  }

  /// How a value of a type is written.
  enum Shape {
    case primitive(EdmPrimitiveType)
    case enumeration
    case complex
    case unknown
  }

  func shape(_ type: EdmTypeReference?) -> Shape {
    switch type?.item {
    case .primitive(let primitive)?: return .primitive(primitive)
    case .abstract(.complexType)?: return .complex
    case .named(let name)?:
      guard let model else { return .unknown }
      if model.enumType(name) != nil { return .enumeration }
      if let definition = model.typeDefinition(name) { return .primitive(definition.underlyingType) }
      return model.structure(name) != nil ? .complex : .unknown
    case .abstract?, .collection?, nil: return .unknown
    }
  }

  /// The type of a feed's or entry's entities: what the context says (V4), else what the caller expects.
  func rowType(context: String?, expected: EdmTypeReference?) -> String? {
    if let fragment = context?.split(separator: "#", maxSplits: 1).dropFirst().first {
      let set = fragment.prefix { $0 != "/" && $0 != "(" }
      if let type = model?.entityType(of: String(set)) { return type.qualifiedName }
    }
    return expected?.name
  }
}
