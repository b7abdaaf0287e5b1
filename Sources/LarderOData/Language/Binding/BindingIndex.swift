/// The look-up tables of a binder, built once for a model.
final class BindingIndex: Sendable {
  /// The kinds of names under the service root.
  enum RootChild: Sendable {
    case source(ODataNavigationSource, Binding.Instance)
    case imported(ODataDeclaredImport)
  }

  /// The kinds of names in a structured type.
  enum Member: Sendable {
    case property(ODataDeclaredProperty)
    case navigation(ODataDeclaredNavigation)
  }

  let model: EdmModel
  /// The types by qualified name, by alias, and in default namespaces by their unqualified name.
  let types: [String: ODataBoundType.Item]
  /// The members of each type.
  let tables: [ObjectIdentifier: StructureTable]
  /// The sets, singletons and imports by name, also qualified by their container's name.
  let roots: [String: RootChild]
  /// The overloads by qualified name, by alias, and in default namespaces by their unqualified name.
  let operations: [String: [ODataDeclaredOperation]]
  /// The namespaces by name and by alias.
  let namespaces: [String: String]

  init(_ model: EdmModel, defaultNamespaces: [String]) {
    var building = BindingIndexBuilder(model, defaultNamespaces: defaultNamespaces)
    building.build()
    self.model = model
    types = building.types
    tables = building.tables
    roots = building.roots
    operations = building.operations
    namespaces = building.namespaces
  }

  func type(_ name: String) -> ODataBoundType.Item? { types[name] ?? types[model.resolve(name)] }

  func structure(_ name: String) -> EdmStructure? {
    if case .structure(let structure)? = type(name) { structure } else { nil }
  }

  func overloads(_ name: String) -> [ODataDeclaredOperation] {
    operations[name] ?? operations[model.resolve(name)] ?? []
  }

  func source(_ name: String) -> ODataNavigationSource? {
    if case .source(let source, _)? = roots[name] { source } else { nil }
  }

  /// The instance for a set or singleton.
  func instance(of name: String) -> Binding.Instance? {
    if case .source(_, let instance)? = roots[name] { instance } else { nil }
  }

  /// The member of a type, its own or inherited.
  func member(_ name: String, of structure: EdmStructure) -> Member? {
    tables[ObjectIdentifier(structure)]?.member(name)
  }

  func key(of structure: EdmStructure) -> [ODataDeclaredKeyPart] {
    tables[ObjectIdentifier(structure)]?.key ?? []
  }

  /// The names of all members of a type, for suggestions.
  func memberNames(of structure: EdmStructure) -> [String] {
    structure.chain.flatMap { $0.ownProperties.map(\.name) + $0.ownNavigationProperties.map(\.name) }
  }

  /// The type of a reference.
  func type(of reference: EdmTypeReference, isNullable: Bool) -> ODataBoundType {
    ODataBoundType(
      BindingIndexBuilder.item(of: reference, in: types), isCollection: reference.isCollection, isNullable: isNullable)
  }
}

/// The members that one type declares.
final class StructureTable: Sendable {
  let structure: EdmStructure
  let base: StructureTable?
  let members: [String: BindingIndex.Member]
  let key: [ODataDeclaredKeyPart]

  init(
    _ structure: EdmStructure, base: StructureTable?, members: [String: BindingIndex.Member],
    key: [ODataDeclaredKeyPart]
  ) {
    self.structure = structure
    self.base = base
    self.members = members
    self.key = key
  }

  /// The member with a name, declared or inherited.
  func member(_ name: String) -> BindingIndex.Member? {
    if let member = members[name] { return member }
    var table = base
    while let current = table {
      if let member = current.members[name] { return member }
      table = current.base
    }
    return nil
  }
}

/// A node of the tree of paths in a set's navigation property bindings (CSDL 4.01 §13.4.1).
final class BindingPathNode: Sendable {
  /// The steps that can follow.
  let children: [String: BindingPathNode]
  /// The target of the path that ends here.
  let target: String?

  /// The most steps of a binding path; longer ones are ignored.
  static let mostSteps = 32

  private init(children: [String: BindingPathNode], target: String?) {
    self.children = children
    self.target = target
  }

  static func make(_ bindings: [EdmNavigationPropertyBinding]) -> BindingPathNode? {
    let paths = bindings.map { binding in
      (steps: binding.path.split(separator: "/")[...], target: binding.target)
    }
    return make(paths.filter { (1...mostSteps).contains($0.steps.count) })
  }

  private static func make(_ paths: [(steps: ArraySlice<Substring>, target: String)]) -> BindingPathNode? {
    guard !paths.isEmpty else { return nil }
    let groups = Dictionary(grouping: paths.filter { !$0.steps.isEmpty }) { $0.steps.first ?? "" }
    var children: [String: BindingPathNode] = [:]
    for (name, group) in groups {
      children[String(name)] = make(group.map { ($0.steps.dropFirst(), $0.target) })
    }
    return BindingPathNode(children: children, target: paths.first { $0.steps.isEmpty }?.target)
  }
}
