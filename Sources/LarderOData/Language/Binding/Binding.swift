/// The state while one tree is bound: the names in scope, the depth and the number of nodes.
///
/// The methods that bind are in extensions of this type.
final class Binding {
  let index: BindingIndex
  let options: ODataBinderOptions
  let dialect: ODataDialect
  private let text: String?
  let aliases: [ODataAlias]
  /// The index of each alias, filled only if there are too many to search them.
  private var aliasPlaces: [String: Int] = [:]
  /// Query options that may be a function's parameters.
  var custom: [ODataCustomOption] = []
  /// The names of ``custom`` options that were used as parameters.
  var usedCustom: Set<String> = []
  /// The names of aliases whose values are being bound.
  private var openAliases: [String] = []
  private var depth = 0
  /// Stops recursion before the end of the stack.
  private var stack = StackGuard()
  private var nodes = 0
  /// The instance at which paths without a root begin; nil if there is none.
  var current: Instance?
  /// The instance that `$it` refers to.
  var it: Instance?
  /// The instance that `$this` refers to; nil if the option is not on a collection.
  var this: Instance?
  /// The instance that `$these` refers to.
  var these: Instance?
  /// Whether the current option is inside `$expand` or `$select`, where paths without a root do not begin at `$it`.
  var isNested = false
  /// The root of paths that name none: `$it` in the value of an alias that is used in a nested option.
  var implicitRoot = ODataBoundPath.Root.implicit
  /// The nodes of each `rolluprecursive` of the enclosing `groupby`.
  var rollupNodes: [Instance] = []
  /// The lambda variables in scope, the innermost last.
  var variables: [(name: String, instance: Instance)] = []

  /// The aliases of the `$compute` that is being bound, and the instance that they are properties of.
  var computing: (instance: Instance, types: [String: ODataBoundType])?
  /// The members of the type that was looked up last: most names of a URL belong to one type.
  private var table: StructureTable?

  /// The member of a type, its own or inherited; nil if it has none of that name.
  func member(_ name: String, of structure: EdmStructure) -> BindingIndex.Member? {
    if let table, table.structure === structure { return table.member(name) }
    table = index.tables[ObjectIdentifier(structure)]
    return table?.member(name)
  }

  /// An instance at which a path can begin, or which it has reached.
  struct Instance: Sendable {
    /// Shared, so that copying an instance costs one reference.
    private final class Storage: Sendable {
      let type: ODataBoundType
      let source: ODataBoundSource?
      let bindings: BindingPathNode?
      /// A single item of a collection, if it was created in advance.
      let item: Storage?

      init(_ type: ODataBoundType, _ source: ODataBoundSource?, _ bindings: BindingPathNode?, item: Storage? = nil) {
        self.type = type
        self.source = source
        self.bindings = bindings
        self.item = item
      }
    }

    private var storage: Storage

    init(_ type: ODataBoundType, source: ODataBoundSource? = nil, bindings: BindingPathNode? = nil) {
      storage = Storage(type, source, bindings)
    }

    /// Creates an instance for frequent use: the instance of a single item is created in advance.
    init(kept type: ODataBoundType, source: ODataBoundSource? = nil, bindings: BindingPathNode? = nil) {
      let item = type.isCollection ? Storage(type.single, source, bindings) : nil
      storage = Storage(type, source, bindings, item: item)
    }

    private init(_ storage: Storage) { self.storage = storage }

    var type: ODataBoundType {
      get { storage.type }
      set { storage = Storage(newValue, storage.source, storage.bindings) }
    }
    var source: ODataBoundSource? { storage.source }
    /// The position in the source's navigation property bindings at which the lookup continues.
    var bindings: BindingPathNode? { storage.bindings }

    /// Whether both share one storage.
    static func === (left: Instance, right: Instance) -> Bool { left.storage === right.storage }

    /// Whether the instance is an entity, or a collection of entities, of unknown type.
    var isOfAnyType: Bool {
      if case .abstract(.entityType) = storage.type.item { true } else { false }
    }

    /// A single item of the collection; a single instance is returned unchanged.
    var single: Instance {
      guard storage.type.isCollection else { return self }
      if let item = storage.item { return Instance(item) }
      return Instance(storage.type.single, source: source, bindings: bindings)
    }
  }

  init(_ binder: ODataBinder, text: String?, aliases: [ODataAlias]) {
    index = binder.index
    options = binder.options
    dialect = binder.options.version.dialect
    self.text = text
    self.aliases = aliases
    if aliases.count > 8 {
      for (place, alias) in aliases.enumerated() where aliasPlaces[alias.name] == nil {
        aliasPlaces[alias.name] = place
      }
    }
  }

  func error(_ problem: ODataBindingError.Problem, at position: SourcePosition) -> ODataBindingError {
    ODataBindingError(problem, at: position, in: text)
  }

  /// Begins a level, or several if one needs as much stack; every call is followed by ``leave(_:)``.
  func enter(_ position: SourcePosition, levels: Int = 1) throws(ODataBindingError) {
    guard depth + levels <= options.maxDepth else { throw error(.tooDeep(limit: options.maxDepth), at: position) }
    guard !stack.isSpent(at: depth, usual: options.maxDepth) else { throw error(.tooDeep(limit: depth), at: position) }
    guard nodes < options.maxNodes else { throw error(.tooLarge(limit: options.maxNodes), at: position) }
    depth += levels
    nodes += 1
  }

  func leave(_ levels: Int = 1) { depth -= levels }

  /// Binds a part with an instance as both the current instance and `$it`.
  func standAlone<Value>(
    on instance: Instance, _ bind: (Binding) throws(ODataBindingError) -> Value
  ) throws(ODataBindingError) -> Value {
    current = instance.single
    it = instance.single
    this = instance.single
    return try bind(self)
  }

  /// Returns the instance for a type's name and a set's name.
  func instance(_ name: String, from entitySet: String?) throws(ODataBindingError) -> Instance {
    let reference = EdmTypeReference(name)
    let type = index.type(of: reference, isNullable: false)
    if case .undeclared(let missing) = type.item {
      guard let item = index.type(missing) else {
        throw unknown(missing, what: "type", place: "in the model", among: index.types.keys, at: .none)
      }
      return try instance(ODataBoundType(item, isCollection: reference.isCollection), from: entitySet)
    }
    return try instance(type, from: entitySet)
  }

  private func instance(_ type: ODataBoundType, from entitySet: String?) throws(ODataBindingError) -> Instance {
    guard let entitySet else { return Instance(type) }
    var instance = try instance(set: entitySet)
    guard let declared = instance.type.structure, let structure = type.structure,
      structure.derives(from: declared) || declared.derives(from: structure)
    else { throw error(.wrongType(expected: "\(instance.type.item)", found: "\(type.item)"), at: .none) }
    instance.type = type
    return instance
  }

  func instance(set name: String) throws(ODataBindingError) -> Instance {
    guard case .source(_, let instance)? = index.roots[name] else {
      throw unknown(name, what: "entity set", place: "in the model", among: index.roots.keys, at: .none)
    }
    return instance
  }

  func unknown(
    _ name: String, what: String, place: String, among candidates: some Sequence<String>, at position: SourcePosition
  ) -> ODataBindingError {
    error(
      .unknownName(name, what: what, place: place, nearest: NearestName.find(name, among: candidates)), at: position)
  }
}

// Parameter aliases (§5.3): replaced by their values; an alias without a value is null.
extension Binding {
  /// Binds the value of an alias at the place of its use: paths in it begin at the resource, not in the enclosing
  /// option or lambda.
  func alias(_ name: String, at position: SourcePosition) throws(ODataBindingError) -> ODataBoundExpression {
    let place = aliases.count > 8 ? aliasPlaces[name] : aliases.firstIndex { $0.name == name }
    guard let alias = place.map({ aliases[$0] }) else {
      return ODataBoundExpression(.literal(.null), .null, at: position)
    }
    guard !openAliases.contains(name) else { throw error(.circularAlias(name), at: alias.position) }
    let outer = (current, this, variables, implicitRoot)
    openAliases.append(name)
    if isNested { implicitRoot = .it }
    current = it
    this = it
    variables = []
    defer {
      (current, this, variables, implicitRoot) = outer
      openAliases.removeLast()
    }
    return try bind(alias.value)
  }
}
