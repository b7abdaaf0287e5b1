internal import LarderOData

/// Looks up types in the model for an Atom reader. Without a model, only the types in the payload are known.
struct AtomTypes {
  let model: EdmModel?

  func structure(_ name: String?) -> EdmStructure? { name.flatMap { model?.structure($0) } }

  /// Parses the type in `m:type`: `Edm.Int32`, V4's `Int32`, `#NS.Type`, `Collection(…)`, `#Collection(…)`.
  static func reference(_ text: String?) -> EdmTypeReference? {
    guard let text = text?.trimmed, !text.isEmpty else { return nil }
    let bare = text.hasPrefix("#") ? String(text.dropFirst()) : text
    guard bare.hasPrefix("Collection("), bare.hasSuffix(")") else { return EdmTypeReference(bare) }
    let item = bare.dropFirst(11).dropLast()
    return .collection(EdmTypeReference(String(item.hasPrefix("#") ? item.dropFirst() : item)).item)
  }

  /// How values of a type are written.
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

  /// The type of a feed's or entry's entities: the one in the context URL (V4), else the one that the caller expects.
  func rowType(context: String?, expected: EdmTypeReference?) -> String? {
    if let fragment = context?.split(separator: "#", maxSplits: 1).dropFirst().first {
      let set = fragment.prefix { $0 != "/" && $0 != "(" }
      if let type = model?.entityType(of: String(set)) { return type.qualifiedName }
    }
    return expected?.name
  }
}
