internal import LarderOData

/// The types of a model that are generated: those that the patterns select, and all that they refer to.
struct ModelSelection {
  /// Qualified names of entity, complex and enumeration types and type definitions.
  private(set) var types: Set<String> = []
  private let model: EdmModel
  private let only: [NamePattern]
  private let except: [NamePattern]

  init(_ model: EdmModel, options: GeneratorOptions) throws(GeneratorError) {
    self.model = model
    only = options.only
    except = options.except
    let declared = ModelSelection.types(of: model)
    let sets = ModelSelection.sets(of: model)
    if let pattern = ModelSelection.unmatchedPatterns(in: model, options: options).first {
      throw .unmatchedPattern(pattern.text)
    }
    var roots = declared
    if !options.only.isEmpty {
      roots = declared.filter { name in options.only.contains { $0.matches(name) } }
      roots += sets.filter { set in options.only.contains { $0.matches(set.name) } }.map { model.resolve($0.type) }
      // A value of an abstract type is one of a derived type.
      let abstract = Set(roots.filter { model.structure($0)?.isAbstract == true })
      roots += declared.filter { model.structure($0)?.chain.contains { abstract.contains($0.name) } == true }
    }
    var pending = roots
    while let name = pending.popLast() {
      guard includes(name), types.insert(name).inserted else { continue }
      pending += ModelSelection.references(of: name, in: model)
    }
    if types.isEmpty { throw .nothingSelected }
  }

  /// The patterns that match no type and no entity set.
  static func unmatchedPatterns(in model: EdmModel, options: GeneratorOptions) -> [NamePattern] {
    let names = types(of: model) + sets(of: model).map(\.name)
    return (options.only + options.except).filter { !names.contains(where: $0.matches) }
  }

  /// The options without the patterns that match nothing; nil if no pattern is left of those that select.
  static func matched(_ options: GeneratorOptions, in model: EdmModel) -> GeneratorOptions? {
    let unmatched = Set(unmatchedPatterns(in: model, options: options))
    var matched = options
    matched.only.removeAll(where: unmatched.contains)
    matched.except.removeAll(where: unmatched.contains)
    return options.only.isEmpty || !matched.only.isEmpty ? matched : nil
  }

  /// Whether an entity set or singleton is selected by its name, whatever its type.
  func selects(set name: String) -> Bool {
    includes(name) && (only.isEmpty || only.contains { $0.matches(name) })
  }

  /// Whether a name is not left out.
  func includes(_ name: String) -> Bool { !except.contains { $0.matches(name) } }

  private static func types(of model: EdmModel) -> [String] {
    model.schemas.flatMap { schema in
      schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName)
        + schema.enumTypes.map(\.qualifiedName) + schema.typeDefinitions.map(\.qualifiedName)
    }
  }

  /// The names of entity sets and singletons, with their types.
  private static func sets(of model: EdmModel) -> [(name: String, type: String)] {
    model.schemas.flatMap(\.containers).flatMap { container in
      container.entitySets.map { ($0.name, $0.entityType) } + container.singletons.map { ($0.name, $0.type) }
    }
  }

  /// The types that a type names: its base type and those of its members.
  private static func references(of name: String, in model: EdmModel) -> [String] {
    guard let structure = model.structure(name) else { return [] }
    var names = structure.base.map { [$0.name] } ?? []
    names += structure.properties.compactMap(\.type.name)
    names += structure.navigationProperties.compactMap(\.type.name)
    return names.map { model.resolve($0) }
  }
}
