import LarderOData

/// Which types derive from which, over a whole model.
struct TypeHierarchy {
  let model: EdmModel
  private var derived: [String: [String]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    for schema in model.schemas {
      let names = schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName)
      for name in names {
        // Where a document declares a name twice, the first counts: that is what the model answers.
        guard let base = model.structure(name)?.base?.name else { continue }
        if derived[base]?.contains(name) != true { derived[base, default: []].append(name) }
      }
    }
  }

  /// A type and all below it, each after its base, in the order of the document.
  func types(from name: String) -> [EdmStructure] {
    var found: [EdmStructure] = []
    var waiting = [name]
    while let next = waiting.popLast() {
      guard let structure = model.structure(next) else { continue }
      found.append(structure)
      waiting += (derived[structure.name] ?? []).reversed()
    }
    return found
  }

  /// The properties that a type itself declares; a name that it declares twice, once.
  func ownProperties(of type: EdmStructure) -> [EdmProperty] {
    unique(model.entityType(type.name)?.properties ?? model.complexType(type.name)?.properties ?? [], \.name)
  }

  /// The navigation properties that a type itself declares.
  func ownNavigationProperties(of type: EdmStructure) -> [EdmNavigationProperty] {
    unique(
      model.entityType(type.name)?.navigationProperties ?? model.complexType(type.name)?.navigationProperties ?? [],
      \.name)
  }

  private func unique<Item>(_ items: [Item], _ name: (Item) -> String) -> [Item] {
    var seen: Set<String> = []
    return items.filter { seen.insert(name($0)).inserted }
  }

  /// True where one type is the other, or one derives from the other.
  func areRelated(_ one: String, _ other: String) -> Bool {
    model.isType(one, derivedFrom: other) || model.isType(other, derivedFrom: one)
  }
}
