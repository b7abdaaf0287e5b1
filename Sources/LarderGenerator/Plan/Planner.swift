internal import LarderOData

/// Plans what is generated from a model.
struct Planner {
  let model: EdmModel
  let options: GeneratorOptions
  let annotations: ModelAnnotations
  let selection: ModelSelection
  let names: TypeNames
  let types: SwiftTypes
  let capabilities: RestrictionTable
  /// By the qualified name of a type, the generated types that derive from it directly, in the order of their names.
  let children: [String: [String]]
  /// By the qualified name of a type, the names of the type and of all types that derive from it, generated or not, in
  /// their order.
  let descendants: [String: [String]]
  /// The Swift names of the entity types that entities can be created of.
  private(set) var creatable: Set<String> = []
  private var omissions: Set<Omission> = []
  /// The qualified names of the types and containers that are planned.
  private var planned: Set<String> = []

  init(_ model: EdmModel, options: GeneratorOptions) throws(GeneratorError) {
    self.model = model
    self.options = options
    annotations = ModelAnnotations(model: model)
    selection = try ModelSelection(model, options: options)
    names = TypeNames(Planner.declarations(of: model), prefix: options.prefix)
    types = SwiftTypes(model: model, names: names, generated: selection.types)
    capabilities = RestrictionTable(model)
    children = Planner.children(model, selection.types)
    descendants = Planner.descendants(model)
  }

  /// Plans all declarations.
  mutating func plan() -> GenerationPlan {
    var plan = GenerationPlan()
    for schema in model.schemas {
      for type in schema.entityTypes where isFirst(type.qualifiedName) {
        plan.structures += structure(type).map { [$0] } ?? []
      }
      for type in schema.complexTypes where isFirst(type.qualifiedName) {
        plan.structures += structure(type).map { [$0] } ?? []
      }
      for type in schema.enumTypes where isFirst(type.qualifiedName) {
        plan.enumerations += enumeration(type).map { [$0] } ?? []
      }
      for type in schema.typeDefinitions where isFirst(type.qualifiedName) {
        plan.definitions += definition(type).map { [$0] } ?? []
      }
    }
    creatable = Set(plan.structures.filter { $0.create != nil }.map(\.name))
    for container in model.schemas.flatMap(\.containers) {
      guard let service = service(container) else { continue }
      if planned.insert(container.qualifiedName).inserted {
        plan.services.append(service)
      } else {
        omit(.repeatedName, container.qualifiedName)
      }
    }
    plan.operations = boundOperations()
    Recursion.markIndirect(&plan.structures)
    addRelatedCreations(&plan.structures)
    plan.structures.sort { $0.name < $1.name }
    plan.enumerations.sort { $0.name < $1.name }
    plan.definitions.sort { $0.name < $1.name }
    plan.services.sort { $0.name < $1.name }
    plan.omissions = omissions.sorted()
    return plan
  }

  /// Whether a type is generated and is the first one with its name, in the order in which the model looks types up.
  private mutating func isFirst(_ name: String) -> Bool {
    guard isPlanned(name) else { return false }
    let isFirst = planned.insert(name).inserted
    if !isFirst { omit(.repeatedName, name) }
    return isFirst
  }

  /// The items whose names none before them has; the others are omitted as parts of `owner`.
  mutating func first<Item>(_ items: [Item], of owner: String, named name: (Item) -> String) -> [Item] {
    var names: Set<String> = []
    return items.filter { item in
      let isFirst = names.insert(name(item)).inserted
      if !isFirst { omit(.repeatedName, "\(owner)/\(name(item))") }
      return isFirst
    }
  }

  mutating func omit(_ reason: Omission.Reason, _ name: String) {
    omissions.insert(Omission(reason: reason, name: name))
  }

  private static func children(_ model: EdmModel, _ generated: Set<String>) -> [String: [String]] {
    var children: [String: [String]] = [:]
    for name in generated.sorted() {
      let base = model.structure(name)?.chain.dropLast().last { generated.contains($0.name) }
      if let base { children[base.name, default: []].append(name) }
    }
    return children
  }

  private static func descendants(_ model: EdmModel) -> [String: [String]] {
    var descendants: [String: [String]] = [:]
    for schema in model.schemas {
      for name in schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName) {
        for base in model.structure(name)?.chain ?? [] { descendants[base.name, default: []].append(name) }
      }
    }
    return descendants.mapValues { Set($0).sorted() }
  }

  private func isPlanned(_ name: String) -> Bool { selection.types.contains(name) && names[name] != nil }

  /// The names of types without `Type` where a set of the type has that name. If all types end so, the ending says
  /// nothing, and those without such a set lose it too.
  private static func shortNames(of types: [EdmEntityType], _ setNames: [String: Set<String>]) -> [String?] {
    let names = types.map { $0.name.hasSuffix("Type") && $0.name != "Type" ? String($0.name.dropLast(4)) : nil }
    let ofSets = zip(types, names).map { type, name in
      name.flatMap { setNames[type.qualifiedName]?.contains($0) == true ? $0 : nil }
    }
    let areAllShort = names.allSatisfy { $0 != nil } && ofSets.contains { $0 != nil }
    return areAllShort ? names : ofSets
  }

  private static func declarations(of model: EdmModel) -> [TypeNames.Declaration] {
    var setNames: [String: Set<String>] = [:]
    for set in model.schemas.flatMap(\.containers).flatMap(\.entitySets) {
      setNames[model.resolve(set.entityType), default: []].insert(set.name)
    }
    var declarations: [TypeNames.Declaration] = []
    for schema in model.schemas {
      for (type, shortName) in zip(schema.entityTypes, shortNames(of: schema.entityTypes, setNames)) {
        declarations.append(
          .init(namespace: type.namespace, name: type.name, suffix: "Entity", shortName: shortName))
      }
      declarations += schema.complexTypes.map { .init(namespace: $0.namespace, name: $0.name, suffix: "Value") }
      declarations += schema.enumTypes.map { .init(namespace: $0.namespace, name: $0.name, suffix: "Enumeration") }
      declarations += schema.typeDefinitions.map { .init(namespace: $0.namespace, name: $0.name, suffix: "Definition") }
      declarations += schema.containers.map { .init(namespace: $0.namespace, name: $0.name, suffix: "Service") }
    }
    return declarations
  }
}

// Enumerations, type definitions and containers.
extension Planner {
  private mutating func enumeration(_ type: EdmEnumType) -> EnumerationPlan? {
    guard let name = names[type.qualifiedName] else { return nil }
    var table = NameTable(taken: names.all)
    let declared = first(type.members, of: type.qualifiedName, named: \.name)
    let members = table.members(declared.map { ($0.name, NameTable.enumerationMember($0.name)) })
    return EnumerationPlan(
      name: name, serviceName: type.qualifiedName, isFlags: type.isFlags,
      documentation: annotations.documentation(of: type, target: type.qualifiedName),
      members: zip(members, declared).map { name, member in
        let target = "\(type.qualifiedName)/\(member.name)"
        return (
          name, member.name, member.value, annotations.documentation(of: member, target: target),
          annotations.deprecation(of: target)
        )
      })
  }

  private mutating func definition(_ type: EdmTypeDefinition) -> DefinitionPlan? {
    guard let name = names[type.qualifiedName] else { return nil }
    switch SwiftTypes.form(type.underlyingType) {
    case .value(let swiftType, .primitive):
      return DefinitionPlan(
        name: name, serviceName: type.qualifiedName, type: swiftType,
        documentation: annotations.documentation(of: type, target: type.qualifiedName))
    case .omitted(let reason): omit(reason, type.qualifiedName)
    case .value, .excluded: break
    }
    return nil
  }

  private mutating func service(_ container: EdmEntityContainer) -> ServicePlan? {
    var roots: [(name: String, type: String, isSingleton: Bool, element: any EdmAnnotatable, target: String)] = []
    for part in parts(of: container) {
      let declared =
        part.entitySets.map { ($0.name, $0.entityType, false, $0 as any EdmAnnotatable) }
        + part.singletons.map { ($0.name, $0.type, true, $0 as any EdmAnnotatable) }
      let known = Set(roots.map(\.name))
      roots += first(declared, of: part.qualifiedName, named: \.0).filter { !known.contains($0.0) }
        .map { ($0.0, $0.1, $0.2, $0.3, "\(part.qualifiedName)/\($0.0)") }
    }
    // All sets and operations have names, so that a selection does not change those of others.
    var table = NameTable(taken: names.all)
    let members = table.members(roots.map { ($0.name, NameTable.set($0.name)) })
    let operations = imports(of: container, beside: members)
    var plan = ServicePlan(
      name: "", serviceName: container.qualifiedName,
      documentation: annotations.documentation(of: container, target: container.qualifiedName), sets: [],
      operations: operations)
    for (member, root) in zip(members, roots) {
      let type = model.resolve(root.type)
      if model.entityType(type) == nil, selection.selects(set: root.name) { omit(.setType, root.target) }
      guard selection.includes(root.name), model.entityType(type) != nil, isPlanned(type), let name = names[type]
      else { continue }
      plan.sets.append(
        (
          member, path(of: root.name, in: container), name, root.isSingleton,
          annotations.documentation(ofSet: root.element, named: root.name, target: root.target),
          annotations.deprecation(of: root.target)
        ))
    }
    guard let name = names[container.qualifiedName], !plan.sets.isEmpty || !operations.isEmpty else { return nil }
    plan.name = name
    return plan
  }

  /// The name of an entity set or an import in URLs. Only V2 and V3 have names of containers there, but for the default
  /// one.
  func path(of name: String, in container: EdmEntityContainer) -> String {
    let isUnqualified = model.version >= .v4 || model.defaultContainer?.qualifiedName == container.qualifiedName
    return isUnqualified ? name : "\(container.name).\(name)"
  }

  /// A container and those that it extends, the nearest first (CSDL 4.01 §13.1).
  func parts(of container: EdmEntityContainer) -> [EdmEntityContainer] {
    var parts = [container]
    while let base = parts.last?.extends.map(model.resolve),
      let part = model.schemas.flatMap(\.containers).first(where: { $0.qualifiedName == base }),
      !parts.contains(where: { $0.qualifiedName == base })
    { parts.append(part) }
    return parts
  }
}
