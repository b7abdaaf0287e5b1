import LarderOData

/// The derivation of types in a whole model.
struct TypeHierarchy {
  let model: EdmModel
  private var derived: [String: [String]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    for schema in model.schemas {
      let names = schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName)
      for name in names {
        // If a document declares a name twice, the first declaration counts: the model returns that one.
        guard let base = model.structure(name)?.base?.name else { continue }
        if derived[base]?.contains(name) != true { derived[base, default: []].append(name) }
      }
    }
  }

  /// A type and all types derived from it, each after its base, in the order of the document.
  func types(from name: String) -> [EdmStructure] {
    var types: [EdmStructure] = []
    var pending = [name]
    while let next = pending.popLast() {
      guard let structure = model.structure(next) else { continue }
      types.append(structure)
      pending += (derived[structure.name] ?? []).reversed()
    }
    return types
  }

  /// The properties that a type itself declares. A name that it declares twice is returned once.
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
    var names: Set<String> = []
    return items.filter { names.insert(name($0)).inserted }
  }

  /// Whether the types are equal, or one derives from the other.
  func areRelated(_ first: String, _ second: String) -> Bool {
    model.isType(first, derivedFrom: second) || model.isType(second, derivedFrom: first)
  }
}
