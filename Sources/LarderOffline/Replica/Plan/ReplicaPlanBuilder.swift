import LarderOData

extension ReplicaPlan {
  /// Creates the tables for a model.
  init(model: EdmModel) {
    var builder = ReplicaPlanBuilder(model)
    self = builder.build()
  }
}

/// Finds the tables of a model, breadth first from its sets, then the relations between them.
struct ReplicaPlanBuilder {
  /// The number of tables from which on the contained entities of one navigation property share a table, whatever
  /// contains them.
  static let sharingThreshold = 1000

  let hierarchy: TypeHierarchy
  let model: EdmModel
  var tables: [TableDraft] = []
  private var byName: [String: Int] = [:]
  private var byNavigation: [String: Int] = [:]
  /// The sets of each type.
  private var setsOfType: [String: [Int]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    hierarchy = TypeHierarchy(model)
  }

  mutating func build() -> ReplicaPlan {
    addRoots()
    var next = 0
    while next < tables.count {
      follow(next)
      next += 1
    }
    var relations = ReplicaRelations(tables: tables, hierarchy: hierarchy)
    relations.resolve()
    let finished = tables.map { table in
      EntityTable(
        number: table.number, name: table.name, place: table.place, types: table.types,
        columns: table.columns.columns, key: table.key, navigations: relations.navigations[table.number])
    }
    return ReplicaPlan(model: model, tables: finished, links: relations.links)
  }

  /// Adds the sets and singletons, first those of the default container, by their plain names.
  private mutating func addRoots() {
    var containers = model.containersOfPlainNames
    for container in model.schemas.flatMap(\.containers)
    where !containers.contains(where: { $0.qualifiedName == container.qualifiedName }) {
      containers.append(container)
    }
    for container in containers {
      for set in container.entitySets {
        addRoot(
          set.name, in: container, place: .entitySet(set.name), type: set.entityType,
          bindings: set.navigationPropertyBindings)
      }
      for singleton in container.singletons {
        addRoot(
          singleton.name, in: container, place: .singleton(singleton.name), type: singleton.type,
          bindings: singleton.navigationPropertyBindings)
      }
    }
  }

  private mutating func addRoot(
    _ name: String, in container: EdmEntityContainer, place: EntityTable.Place, type: String,
    bindings: [EdmNavigationPropertyBinding]
  ) {
    guard let structure = model.structure(type), structure.isEntityType else { return }
    if let existing = byName[name] {
      // A container extends another one, or a second container has a set with the same name.
      if tables[existing].types[0].name == structure.name { return }
      let qualified = container.qualifiedName + "." + name
      guard byName[qualified] == nil else { return }
      return add(qualified, place: place, type: structure, root: qualified, steps: [], bindings: bindings)
    }
    add(name, place: place, type: structure, root: name, steps: [], bindings: bindings)
    if case .entitySet = place, let number = byName[name] { setsOfType[structure.name, default: []].append(number) }
  }

  private mutating func add(
    _ name: String, place: EntityTable.Place, type: EdmStructure, root: String, steps: [String],
    bindings: [EdmNavigationPropertyBinding]
  ) {
    let types = hierarchy.types(from: type.name)
    let table = TableDraft(
      number: tables.count, name: name, place: place, root: root, steps: steps, bindings: bindings,
      types: types.isEmpty ? [type] : types, hierarchy: hierarchy)
    byName[name] = table.number
    tables.append(table)
  }

  // MARK: Navigation

  /// Finds the targets of a table's navigation properties, and adds the missing tables.
  private mutating func follow(_ number: Int) {
    for navigation in tables[number].columns.navigations {
      guard let name = navigation.property.type.name, let type = model.structure(name), type.isEntityType else {
        // The target has any type, or a type that the document does not declare: there is no table for it.
        continue
      }
      let target =
        navigation.property.containsTarget ? contained(in: number, navigation, type) : bound(number, navigation, type)
      tables[number].navigations.append(
        TableDraft.Navigation(
          path: navigation.path, declaringType: navigation.declaringType, property: navigation.property, target: target)
      )
    }
  }

  /// The table of contained entities. A table that is contained in itself is reused, so that recursive containment
  /// ends.
  private mutating func contained(in parent: Int, _ navigation: TableColumns.Navigation, _ type: EdmStructure) -> Int {
    let key = navigation.declaringType.name + "/" + navigation.path.joined(separator: "/")
    var above: Int? = parent
    while let current = above {
      if tables[current].containmentKey == key { return current }
      guard case .containment(let next, _) = tables[current].place else { break }
      above = next
    }
    if tables.count >= ReplicaPlanBuilder.sharingThreshold, let existing = byNavigation[key] { return existing }
    let path = navigation.path.joined(separator: "/")
    let number = tables.count
    var name = tables[parent].name + "/" + path
    // Two types of the hierarchy may declare the navigation property.
    if byName[name] != nil { name = tables[parent].name + "/" + navigation.declaringType.name + "/" + path }
    add(
      name, place: .containment(parent: parent, path: navigation.path), type: type, root: tables[parent].root,
      steps: tables[parent].steps + navigation.path, bindings: tables[parent].bindings)
    tables[number].containmentKey = key
    if byNavigation[key] == nil { byNavigation[key] = number }
    return number
  }

  /// The table of entities that are not contained: the set that the model binds, the only set of the type, or a table
  /// for the type.
  private mutating func bound(_ number: Int, _ navigation: TableColumns.Navigation, _ type: EdmStructure) -> Int {
    let bindingPath = tables[number].steps + navigation.path
    let bindings = tables[number].bindings.filter { BindingPath.steps($0.path) == bindingPath }
    let chain = Set(navigation.declaringType.chain.map(\.name))
    let binding = bindings.first { BindingPath.cast($0.path).map { chain.contains($0) } ?? true } ?? bindings.first
    if let binding, let target = table(bindingTarget: binding.target),
      hierarchy.areRelated(tables[target].types[0].name, type.name)
    {
      return target
    }
    // The set of the type itself, or of the nearest base type.
    for ancestor in type.chain.reversed() {
      guard let sets = setsOfType[ancestor.name] else { continue }
      if sets.count == 1 { return sets[0] }
      break
    }
    if let existing = byName[type.name] { return existing }
    let next = tables.count
    add(type.name, place: .type(type.name), type: type, root: type.name, steps: [], bindings: [])
    return next
  }

  /// The table of a binding target: `Set`, `Ns.Container/Set`, or `Set/Contained` (CSDL 4.01 §13.4.2).
  private mutating func table(bindingTarget target: String) -> Int? {
    var steps = target.split(separator: "/").map(String.init)[...]
    if let first = steps.first, first.contains("."), steps.count > 1, byName[first] == nil { steps.removeFirst() }
    guard let first = steps.popFirst(), var number = byName[first] else { return nil }
    for step in steps where !step.contains(".") {
      // Contained tables are created in the order of the plan. Tables that others bind to may not exist yet.
      let navigation = tables[number].columns.navigations.first {
        $0.path == [step] && $0.property.containsTarget
      }
      guard let navigation, let name = navigation.property.type.name, let type = model.structure(name) else {
        return nil
      }
      let key = navigation.declaringType.name + "/" + step
      let existing = tables.first { table in
        table.containmentKey == key && table.place == .containment(parent: number, path: navigation.path)
      }
      number = existing?.number ?? contained(in: number, navigation, type)
    }
    return number
  }
}

extension EdmModel {
  /// The container whose sets have unqualified names in URLs, and those that it extends.
  var containersOfPlainNames: [EdmEntityContainer] {
    var containers: [EdmEntityContainer] = []
    var next = defaultContainer
    while let current = next, !containers.contains(where: { $0.qualifiedName == current.qualifiedName }) {
      containers.append(current)
      next = current.extends.flatMap { container($0) }
    }
    return containers
  }
}

/// Paths of navigation property bindings (CSDL 4.01 §13.4.1).
enum BindingPath {
  /// The names of the properties on the path, without type casts.
  static func steps(_ path: String) -> [String] {
    path.split(separator: "/").filter { !$0.contains(".") }.map(String.init)
  }

  /// The last type cast on the path; nil if there is none.
  static func cast(_ path: String) -> String? { path.split(separator: "/").last { $0.contains(".") }.map(String.init) }
}
