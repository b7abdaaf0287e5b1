internal import LarderOData

/// Reads the element of a property, or of an item of a collection ([MS-ODATA] §2.2.6.2.3 to §2.2.6.2.7; OData Atom
/// Format 4.0 §7).
///
/// The kind of value is determined by `m:null`, `m:type`, the declared type and the children, in this order.
final class AtomPropertyFrame: AtomFrame {
  private let local: String
  private let type: EdmTypeReference?
  /// The type that the payload names.
  private let ownType: EdmTypeReference?
  private let isNull: Bool
  private var content = ""
  private var properties: [ODataProperty] = []
  private var items: [ODataValue] = []
  private var annotations: [ODataAnnotation] = []
  private var complexAnnotations: [ODataAnnotation] = []
  private var geo: GMLShape?
  private let deliver: (ODataProperty) throws -> Void

  init(
    _ element: XMLElement, base: String?, declared: EdmTypeReference?,
    deliver: @escaping (ODataProperty) throws -> Void
  ) {
    local = element.name.local
    ownType = AtomTypes.reference(element.metadata("type"))
    type = ownType ?? declared
    let null = element.metadata("null")?.trimmed
    isNull = null == "true" || null == "1"
    self.deliver = deliver
    super.init(element, base: base)
  }

  override var wantsText: Bool { !isNull }
  override func text(_ text: String) { content += text }

  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    let vocabulary = AtomVocabulary(element.name.namespace)
    let local = element.name.local
    if vocabulary.isOfFeeds { return SkippedAtomFrame(element, base: base) }
    if vocabulary == .gml {
      return GMLFrame(element, base: base) { self.geo = $0 }
    }
    if vocabulary == .metadata, local == "annotation" {
      return AtomAnnotations.annotation(element, base: base, reading) { annotation, target in
        guard let target else { return self.complexAnnotations.append(annotation) }
        self.complexAnnotations.append(ODataAnnotation(term: target + "@" + annotation.term, value: annotation.value))
      }
    }
    if isItem(element, vocabulary, reading) {
      return AtomPropertyFrame(element, base: base, declared: type?.item) { self.items.append($0.value) }
    }
    let declared = reading.types.structure(type?.item.name)?.property(local)?.type
    return AtomPropertyFrame(element, base: base, declared: declared) { self.properties.append($0) }
  }

  /// Whether an element is an item of a collection: `d:element` (V1 to V3) or `m:element` (V4). Without a type, a
  /// property with that name looks no different; it is read as an item.
  private func isItem(_ element: XMLElement, _ vocabulary: AtomVocabulary, _ reading: AtomReading) -> Bool {
    if type?.isCollection == true { return true }
    guard element.name.local == "element", vocabulary == .data || vocabulary == .metadata else { return false }
    if vocabulary == .metadata { return true }
    return type == nil
  }

  override func end(_ reading: AtomReading) throws {
    let value = try value(reading.types)
    // A complex value keeps its annotations itself.
    if case .complex = value {} else { annotations += complexAnnotations }
    switch (value, ownType) {
    // A complex value contains its type, and a primitive one implies it. The type of items or a member would be lost.
    case (.complex, _), (.null, _), (_, nil): break
    case (_, let type?) where type.name != nil:
      annotations.append(ODataAnnotation(term: "odata.type", value: .string(type.description)))
    default: break
    }
    try deliver(ODataProperty(local, value, annotations: annotations))
  }

  private func value(_ types: AtomTypes) throws -> ODataValue {
    if isNull { return .null }
    if type?.isCollection == true || !items.isEmpty { return .collection(items) }
    if let geo { return try AtomScalar.geo(geo, type) }
    var isComplex = !properties.isEmpty
    if case .complex = types.shape(type) { isComplex = true }
    // An empty element with a type that is not in the Edm namespace and not in the model can only be a complex value.
    if type?.name != nil, case .unknown = types.shape(type), content.trimmed.isEmpty { isComplex = true }
    if isComplex {
      return .complex(
        ODataComplexValue(typeName: ownType?.name, properties: properties, annotations: complexAnnotations))
    }
    return try AtomScalar.value(content, type, types)
  }
}

/// Reads `m:annotation` (OData Atom Format 4.0 §18; V3 has the same element).
enum AtomAnnotations {
  private static let notations = ["string", "bool", "int", "float", "decimal"]

  static func annotation(
    _ element: XMLElement, base: String?, _ reading: AtomReading,
    deliver: @escaping (ODataAnnotation, _ target: String?) throws -> Void
  ) -> AtomFrame {
    let term = element.attribute("term") ?? ""
    let target = element.attribute("target").flatMap { $0.isEmpty || $0 == "." ? nil : $0 }
    let attribute = notations.lazy.compactMap { name in element.attribute(name).map { (name, $0) } }.first
    return AtomPropertyFrame(element, base: base, declared: nil) { property in
      var value = property.value
      if let (name, text) = attribute { value = try AtomScalar.value(text, type(of: name), reading.types) }
      try deliver(ODataAnnotation(term: term, value: value), target)
    }
  }

  private static func type(of notation: String) -> EdmTypeReference {
    switch notation {
    case "bool": .primitive(.boolean)
    case "int": .primitive(.int32)
    case "float": .primitive(.double)
    case "decimal": .primitive(.decimal)
    default: .primitive(.string)
    }
  }
}
