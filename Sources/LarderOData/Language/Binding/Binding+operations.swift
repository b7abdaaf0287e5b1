// Functions and actions of the service (URL Conventions 4.01 §4.5; §5.1.1.4 for expressions).
extension Binding {
  /// Binds the names under the service's root: sets, singletons, imports.
  func rootChild(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    switch index.roots[name] {
    case .source(let source, let instance)?: walk.append(.source(source), instance, at: position)
    case .imported(let item)?: try imported(item, segments, &walk, at: position)
    case nil:
      throw unknown(
        name, what: "entity set, singleton or operation", place: "in the service", among: index.roots.keys, at: position
      )
    }
  }

  private func imported(
    _ item: ODataDeclaredImport, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard walk.place == .resource || item.isFunction else {
      throw misplaced("the action \(item.name)", walk, "only a URL can call it", at: position)
    }
    let given = takeArguments(segments, &walk)
    let operation = try overload(item.operations, named: item.name, arguments: given, &walk, at: position)
    let arguments = try self.arguments(given, operation, at: position)
    let result = operation.result.map { type in
      let entities = item.entitySet.flatMap { index.instance(of: $0) }
      return Instance(type, source: entities?.source, bindings: entities?.bindings)
    }
    walk.append(.operationImport(item, operation, arguments), result, at: position)
    try checkComposition(operation, segments, walk)
  }

  /// Binds `Ns.Function(…)`: bound to the value before it, or, at the beginning of an expression, unbound or bound to
  /// the current instance.
  func operation(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    let overloads = index.overloads(name)
    if walk.place == .select {
      return try selectOperation(name, overloads: overloads, segments: segments, &walk, at: position)
    }
    var candidates: [ODataDeclaredOperation] = []
    let isStart = walk.path.segments.isEmpty && walk.path.root == .implicit
    if isStart || walk.instance == nil { candidates = overloads.filter { $0.bindingType == nil } }
    if candidates.isEmpty, let instance = walk.instance { candidates = bound(overloads, to: instance.type) }
    if walk.place != .resource {
      candidates.removeAll { !$0.isFunction }
    } else if walk.path.segments.isEmpty {
      candidates = []
    }
    guard !candidates.isEmpty else {
      throw misplaced("\(name)", walk, "no overload of it has this binding type", at: position)
    }
    let given = takeArguments(segments, &walk)
    let operation = try overload(candidates, named: name, arguments: given, &walk, at: position)
    let arguments = try self.arguments(given, operation, at: position)
    let result = operation.result.map { self.result($0, of: operation, on: walk.instance) }
    walk.append(.operation(operation, arguments), result, at: position)
    try checkComposition(operation, segments, walk)
  }

  private func checkComposition(
    _ operation: ODataDeclaredOperation, _ segments: [ODataPathSegment], _ walk: Walk
  ) throws(ODataBindingError) {
    guard !operation.isComposable, walk.next < segments.count, walk.place == .resource else { return }
    let next = segments[walk.next]
    switch next.kind {
    case .value, .ref, .query: return
    case .count where operation.isFunction: return
    default:
      throw error(
        .misplacedStep("a further step", behind: operation.name, reason: "it is not composable"), at: next.position)
    }
  }

  /// The overloads whose binding parameter accepts a value of a type, the most derived first.
  private func bound(_ overloads: [ODataDeclaredOperation], to type: ODataBoundType) -> [ODataDeclaredOperation] {
    func distance(_ operation: ODataDeclaredOperation) -> Int? {
      guard let binding = operation.bindingType, binding.isCollection == type.isCollection else { return nil }
      guard let bindingStructure = binding.structure, var current = type.structure else {
        return ODataBoundType.promoted(binding.single, type.single) == nil ? nil : binding.item == type.item ? 0 : 1
      }
      var steps = 0
      while current != bindingStructure {
        guard let base = current.base else { return nil }
        current = base
        steps += 1
      }
      return steps
    }
    return overloads.compactMap { operation in distance(operation).map { ($0, operation) } }
      .sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func selectOperation(
    _ name: String, overloads: [ODataDeclaredOperation], segments: [ODataPathSegment], _ walk: inout Walk,
    at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance else { throw misplaced(name, walk, "", at: position) }
    // A selected operation can be bound to each entity, or to the collection.
    let many = ODataBoundType(instance.type.item, isCollection: true)
    let candidates = bound(overloads, to: instance.type.single) + bound(overloads, to: many)
    guard let first = candidates.first else {
      throw misplaced(name, walk, "no overload of it has this binding type", at: position)
    }
    guard walk.next < segments.count, case .arguments(let arguments) = segments[walk.next].kind else {
      return walk.append(.operations(first.name), nil, at: position)
    }
    walk.next += 1
    let names = arguments.compactMap(\.nameOfParameter)
    guard let operation = candidates.first(where: { $0.parameters.map(\.name) == names }) else {
      throw noOverload(name, names, candidates, at: position)
    }
    walk.append(.operation(operation, []), nil, at: position)
  }

  // MARK: Results

  private func result(
    _ type: ODataBoundType, of operation: ODataDeclaredOperation, on binding: Instance?
  ) -> Instance {
    guard let path = operation.entitySetPath, let name = operation.bindingName, let binding else {
      return Instance(type)
    }
    let steps = path.split(separator: "/")
    guard steps.first.map({ $0 == name }) == true else { return Instance(type) }
    var instance = binding.single
    for step in steps.dropFirst() {
      let step = String(step)
      if step.utf8.contains(UInt8(ascii: ".")), let structure = index.structure(step) {
        instance = Instance(
          ODataBoundType(.structure(structure)), source: instance.source,
          bindings: instance.bindings?.children[step] ?? instance.bindings)
        continue
      }
      guard let structure = instance.type.structure else { return Instance(type) }
      switch self.member(step, of: structure) {
      case .navigation(let navigation)?: instance = target(of: navigation, navigation.type.single, from: instance)
      case .property(let property)?:
        instance = Instance(
          property.type.single, source: instance.source, bindings: instance.bindings?.children[step])
      case nil: return Instance(type)
      }
    }
    return Instance(type, source: instance.source, bindings: instance.bindings)
  }
}

extension ODataArgument {
  /// The parameter name in a list of names: of an argument, or of a path that is one name.
  var nameOfParameter: String? {
    if let name { return name }
    guard case .path(let path) = value.kind, path.segments.count == 1, case .name(let name)? = path.segments.first?.kind
    else { return nil }
    return name
  }
}
