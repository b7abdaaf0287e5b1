/// Builds the look-up tables of a model, and reports duplicate names and circular base types.
struct EdmIndexBuilder {
  /// The longest chain of base types that is followed.
  static let inheritanceDepth = 100

  let schemas: [EdmSchema]
  let names: EdmNames
  var declarations: [String: EdmIndex.Declaration] = [:]
  var terms: [String: EdmIndex.Place] = [:]
  var associations: [String: EdmIndex.Place] = [:]
  var functions: [String: [EdmIndex.Place]] = [:]
  var actions: [String: [EdmIndex.Place]] = [:]
  var structures: [String: EdmStructure] = [:]
  var annotations: [String: [EdmAnnotation]] = [:]
  var defaultContainer: EdmIndex.Place?
  var entitySets: [String: EdmEntitySet] = [:]
  var singletons: [String: EdmSingleton] = [:]
  var functionImports: [String: EdmFunctionImport] = [:]
  var actionImports: [String: EdmActionImport] = [:]
  var diagnostics: [EdmDiagnostic] = []

  init(schemas: [EdmSchema], names: EdmNames) {
    self.schemas = schemas
    self.names = names
  }

  mutating func build() -> EdmIndex {
    let count = schemas.reduce(0) { $0 + $1.entityTypes.count + $1.complexTypes.count }
    structures.reserveCapacity(count)
    declarations.reserveCapacity(schemas.reduce(count) { $0 + $1.enumTypes.count + $1.typeDefinitions.count })
    for (place, schema) in schemas.enumerated() { declare(schema, place) }
    buildStructures()
    indexContainers()
    for schema in schemas {
      for group in schema.annotationGroups {
        annotations[group.target, default: []] += group.annotations.map { annotation in
          var annotation = annotation
          annotation.qualifier = annotation.qualifier ?? group.qualifier
          return annotation
        }
      }
    }
    return EdmIndex(self)
  }

  private mutating func report(_ kind: EdmDiagnostic.Kind, _ message: String, at path: String) {
    diagnostics.append(EdmDiagnostic(kind, message, at: MetadataLocation(path: path)))
  }

  private mutating func declare(_ schema: EdmSchema, _ place: Int) {
    for (item, type) in schema.entityTypes.enumerated() { declare(type.qualifiedName, .entityType(place, item)) }
    for (item, type) in schema.complexTypes.enumerated() { declare(type.qualifiedName, .complexType(place, item)) }
    for (item, type) in schema.enumTypes.enumerated() { declare(type.qualifiedName, .enumType(place, item)) }
    for (item, type) in schema.typeDefinitions.enumerated() {
      declare(type.qualifiedName, .typeDefinition(place, item))
    }
    for (item, container) in schema.containers.enumerated() {
      declare(container.qualifiedName, .container(place, item))
    }
    for (item, term) in schema.terms.enumerated() {
      if terms.updateIfAbsent(term.qualifiedName, EdmIndex.Place(schema: place, place: item)) { continue }
      report(.duplicateName, "the term \(term.name) is declared twice", at: term.qualifiedName)
    }
    for (item, association) in schema.associations.enumerated() {
      if associations.updateIfAbsent(association.qualifiedName, EdmIndex.Place(schema: place, place: item)) {
        continue
      }
      report(
        .duplicateName, "the association \(association.name) is declared twice", at: association.qualifiedName)
    }
    for (item, function) in schema.functions.enumerated() {
      functions[function.qualifiedName, default: []].append(EdmIndex.Place(schema: place, place: item))
    }
    for (item, action) in schema.actions.enumerated() {
      actions[action.qualifiedName, default: []].append(EdmIndex.Place(schema: place, place: item))
    }
  }

  private mutating func declare(_ name: String, _ declaration: EdmIndex.Declaration) {
    if declarations.updateIfAbsent(name, declaration) { return }
    report(.duplicateName, "\(name) is declared twice", at: name)
  }

  // MARK: Inheritance

  private mutating func buildStructures() {
    var depths: [String: Int] = [:]
    for schema in schemas {
      for type in schema.entityTypes { build(type.qualifiedName, &depths) }
      for type in schema.complexTypes { build(type.qualifiedName, &depths) }
    }
  }

  /// Builds a type after its base types; without recursion, and each type once.
  private mutating func build(_ name: String, _ depths: inout [String: Int]) {
    var chain: [String] = []
    var visited: Set<String> = []
    var next: String? = name
    var cuts = false
    while let current = next, structures[current] == nil, chain.count <= EdmIndexBuilder.inheritanceDepth {
      guard visited.insert(current).inserted else {
        report(.circularBaseType, "\(current) derives from itself; its base type is ignored", at: current)
        cuts = true
        break
      }
      chain.append(current)
      next = baseType(of: current)
    }
    var base = cuts ? nil : next.flatMap { structures[$0] }
    var depth = base.flatMap { depths[$0.name] } ?? 0
    for current in chain.reversed() {
      if depth >= EdmIndexBuilder.inheritanceDepth {
        let message = "\(current) derives from more than \(EdmIndexBuilder.inheritanceDepth - 1) other types"
        report(.tooManyBaseTypes, message, at: current)
        base = nil
        depth = 0
      }
      guard let built = structure(current, base) else { continue }
      structures[current] = built
      depth += 1
      depths[current] = depth
      base = built
    }
  }

  private func baseType(of name: String) -> String? {
    switch declarations[name] {
    case .entityType(let schema, let place): schemas[schema].entityTypes[place].baseType
    case .complexType(let schema, let place): schemas[schema].complexTypes[place].baseType
    default: nil
    }
  }

  private func structure(_ name: String, _ base: EdmStructure?) -> EdmStructure? {
    switch declarations[name] {
    case .entityType(let schema, let place): EdmStructure(schemas[schema].entityTypes[place], base: base)
    case .complexType(let schema, let place): EdmStructure(schemas[schema].complexTypes[place], base: base)
    default: nil
    }
  }

  // MARK: Containers

  private mutating func indexContainers() {
    var others: [EdmIndex.Place] = []
    for (schema, content) in schemas.enumerated() {
      for (place, container) in content.containers.enumerated() {
        let here = EdmIndex.Place(schema: schema, place: place)
        if container.isDefault, defaultContainer == nil { defaultContainer = here } else { others.append(here) }
      }
    }
    if defaultContainer == nil, !others.isEmpty { defaultContainer = others.removeFirst() }
    for place in [defaultContainer].compactMap(\.self) + others {
      index(schemas[place.schema].containers[place.place])
    }
  }

  /// Adds the content of a container and of the containers it extends, under unqualified and under qualified names.
  private mutating func index(_ container: EdmEntityContainer) {
    var next: EdmEntityContainer? = container
    var visited: Set<String> = []
    reportDuplicateChildren(of: container)
    while let current = next, visited.insert(current.qualifiedName).inserted {
      for prefix in ["", container.name + ".", container.qualifiedName + "."] {
        for set in current.entitySets { entitySets.updateIfAbsent(prefix + set.name, set) }
        for singleton in current.singletons { singletons.updateIfAbsent(prefix + singleton.name, singleton) }
        for item in current.functionImports { functionImports.updateIfAbsent(prefix + item.name, item) }
        for item in current.actionImports { actionImports.updateIfAbsent(prefix + item.name, item) }
      }
      guard let base = current.extends, case .container(let schema, let place)? = declarations[base] else { return }
      next = schemas[schema].containers[place]
    }
  }

  /// Reports duplicate names. All children of a container share one namespace (CSDL 4.01 §13). Before V4 the overloads
  /// of one function import may share a name ([MC-CSDL] §2.1.15).
  private mutating func reportDuplicateChildren(of container: EdmEntityContainer) {
    var kinds: [String: String] = [:]
    let children =
      container.entitySets.map { ("entity set", $0.name, false) }
      + container.singletons.map { ("singleton", $0.name, false) }
      + container.functionImports.map { ("function import", $0.name, $0.function == nil) }
      + container.actionImports.map { ("action import", $0.name, false) }
    for (kind, name, isOverload) in children {
      guard let other = kinds[name] else {
        kinds[name] = kind
        continue
      }
      if isOverload, kind == other { continue }
      let what = kind == other ? "the \(kind) \(name) is declared twice" : "\(name) is \(other) and \(kind)"
      report(.duplicateName, what, at: container.qualifiedName + "/" + name)
    }
  }
}

extension Dictionary {
  /// Adds a value under a new key; false if the key is taken.
  @discardableResult
  fileprivate mutating func updateIfAbsent(_ key: Key, _ value: Value) -> Bool {
    if self[key] != nil { return false }
    self[key] = value
    return true
  }
}
