// Entities as complex values, and back: what is read without its declaration is a complex value, whose control
// information is in annotations.
extension ODataComplexValue {
  /// An entity as a complex value: its control information, links and streams are annotations.
  package init(_ entity: ODataEntity) {
    var frame = PayloadFrame(.complex, name: nil)
    frame.entity = entity
    frame.completeObject()
    self = frame.complex
  }

  /// Whether the value names an entity, and contains nothing else but control information.
  package var isReference: Bool {
    properties.isEmpty && annotations.contains { $0.term == "odata.id" }
      && annotations.allSatisfy { annotation in
        let term = ODataTerm(annotation.term)
        return term.isControl && term.target == nil && term.name != "odata.removed"
      }
  }
}

extension ODataEntity {
  /// A complex value as an entity of a type: its bindings and related entities are links.
  package init(_ complex: ODataComplexValue, type: EdmStructure?, model: EdmModel) {
    let type = complex.typeName.flatMap { model.structure($0) } ?? type
    self.init(typeName: complex.typeName)
    for property in complex.properties {
      guard let navigation = type?.navigationProperty(property.name) else {
        properties.append(property)
        continue
      }
      var link = ODataNavigationLink(
        name: property.name,
        content: .init(property.value, type: navigation.type.name.flatMap { model.structure($0) }, model: model))
      link.annotations = property.annotations
      navigationLinks.append(link)
    }
    for annotation in complex.annotations {
      let term = ODataTerm(annotation.term)
      guard case .string(let text) = annotation.value, term.isControl else {
        annotations.append(annotation)
        continue
      }
      switch (term.name, term.target) {
      case ("odata.id", nil): id = text
      case ("odata.bind", let name?):
        if let index = navigationLinks.firstIndex(where: { $0.name == name }) {
          navigationLinks[index].bindings.append(text)
        } else {
          var link = ODataNavigationLink(name: name)
          link.bindings = [text]
          navigationLinks.append(link)
        }
      default: annotations.append(annotation)
      }
    }
  }
}

extension ODataNavigationLink.Content {
  /// The value of a navigation property that was read as a plain value; nil if it is none of entities.
  package init?(_ value: ODataValue, type: EdmStructure?, model: EdmModel) {
    switch value {
    case .null: self = .null
    case .complex(let complex): self = .entity(ODataEntity(complex, type: type, model: model))
    case .collection(let items):
      let entities = items.compactMap { item in
        if case .complex(let complex) = item { ODataEntity(complex, type: type, model: model) } else { nil }
      }
      guard entities.count == items.count else { return nil }
      self = .collection(ODataEntityCollection(entities: entities))
    default: return nil
    }
  }
}
