internal import LarderOData

/// The values of properties that the model maps to elements of an entry outside its content ([MS-ODATA] §2.2.3.7.2.1,
/// "Customizable Feeds").
///
/// The elements of RFC 4287 and 5023 (`updated`, `author`, `app:edited`) carry data only if a mapping says so, and are
/// dropped otherwise. Elements of other namespaces without a mapping are kept as annotations.
final class AtomMappedValues {
  private struct Value {
    let namespace: String
    let path: String
    let text: String
  }

  private var values: [Value] = []

  /// A frame that collects the text of an element, of its children, and of its attributes.
  func frame(_ element: XMLElement, base: String?) -> AtomFrame {
    GatheringFrame(element, base: base, into: self, above: "")
  }

  /// An `atom:category` that names no type: V3 can map a property to its `term`.
  func category(_ element: XMLElement) { collect(element, path: element.name.local) }

  fileprivate func collect(_ element: XMLElement, path: String) {
    for attribute in element.attributes where attribute.name.prefix.isEmpty {
      values.append(
        Value(namespace: element.name.namespace, path: path + "/@" + attribute.name.local, text: attribute.value))
    }
  }

  fileprivate func add(_ text: String, namespace: String, path: String) {
    values.append(Value(namespace: namespace, path: path, text: text))
  }

  /// Adds the mapped properties that the content does not have.
  func addValues(into entity: inout ODataEntity, _ structure: EdmStructure?, _ types: AtomTypes) throws {
    defer { keepForeign(in: &entity, mapped: structure?.feedMappings ?? []) }
    guard let structure else {
      // Without a model it is unknown whether these are properties, so they are kept as annotations.
      for name in ["title", "summary"] {
        guard let text = text(namespace: AtomNamespace.atom, path: name), !text.isEmpty else { continue }
        entity.annotations.append(ODataAnnotation(term: "atom." + name, value: .string(text)))
      }
      return
    }
    for mapping in structure.feedMappings {
      guard let text = text(of: mapping) else { continue }
      let steps = mapping.sourcePath.split(separator: "/").map(String.init)
      try AtomMappedValues.add(text, path: steps[...], structure: structure, types, to: &entity.properties)
    }
  }

  private func keepForeign(in entity: inout ODataEntity, mapped: [EdmFeedMapping]) {
    for value in values {
      switch AtomVocabulary(value.namespace) {
      case .atom, .app: continue
      default: break
      }
      let isMapped = mapped.contains { mapping in
        mapping.targetPath == value.path && (mapping.namespaceURI ?? value.namespace) == value.namespace
      }
      if isMapped { continue }
      let term = "atom.element.{\(value.namespace)}\(value.path)"
      entity.annotations.append(ODataAnnotation(term: term, value: .string(value.text)))
    }
  }

  private func text(of mapping: EdmFeedMapping) -> String? {
    if let path = AtomMappedValues.syndication[mapping.targetPath] {
      return text(namespace: AtomNamespace.atom, path: path)
    }
    return text(namespace: mapping.namespaceURI, path: mapping.targetPath)
  }

  private func text(namespace: String?, path: String) -> String? {
    values.first { value in value.path == path && (namespace == nil || value.namespace == namespace) }?.text
  }

  /// Sets a value at a path of properties, unless the content has it.
  private static func add(
    _ text: String, path: ArraySlice<String>, structure: EdmStructure?, _ types: AtomTypes,
    to properties: inout [ODataProperty]
  ) throws {
    guard let step = path.first else { return }
    let type = structure?.property(step)?.type
    let place = properties.firstIndex { $0.name == step }
    guard path.count > 1 else {
      guard place == nil else { return }
      return properties.append(ODataProperty(step, try AtomScalar.value(text, type, types)))
    }
    var complex = ODataComplexValue()
    if let place {
      guard case .complex(let present) = properties[place].value else { return }
      complex = present
    }
    try add(text, path: path.dropFirst(), structure: types.structure(type?.name), types, to: &complex.properties)
    if let place {
      properties[place].value = .complex(complex)
    } else {
      properties.append(ODataProperty(step, .complex(complex)))
    }
  }

  private static let syndication = [
    "SyndicationAuthorEmail": "author/email", "SyndicationAuthorName": "author/name",
    "SyndicationAuthorUri": "author/uri", "SyndicationContributorEmail": "contributor/email",
    "SyndicationContributorName": "contributor/name", "SyndicationContributorUri": "contributor/uri",
    "SyndicationCustomProperty": "", "SyndicationPublished": "published", "SyndicationRights": "rights",
    "SyndicationSummary": "summary", "SyndicationTitle": "title", "SyndicationUpdated": "updated",
    "SyndicationCategoryLabel": "category/@label", "SyndicationCategoryScheme": "category/@scheme",
    "SyndicationCategoryTerm": "category/@term", "SyndicationLinkHref": "link/@href",
  ]
}

/// Collects the text of an element under its path.
private final class GatheringFrame: AtomFrame {
  private let values: AtomMappedValues
  private let path: String
  private let namespace: String
  private var content = ""
  private var hasChildren = false

  init(_ element: XMLElement, base: String?, into values: AtomMappedValues, above: String) {
    self.values = values
    path = above + element.name.local
    namespace = element.name.namespace
    super.init(element, base: base)
    values.collect(element, path: path)
  }

  override var wantsText: Bool { true }
  override func text(_ text: String) { content += text }
  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    hasChildren = true
    return GatheringFrame(element, base: base, into: values, above: path + "/")
  }
  override func end(_ reading: AtomReading) {
    if !hasChildren { values.add(content, namespace: namespace, path: path) }
  }
}
