// Steps that begin with `$`, lambdas and annotations.
extension Binding {
  func annotation(_ term: String, _ qualifier: String?, _ walk: inout Walk, at position: SourcePosition) {
    let name = index.model.resolve(term)
    let type = index.model.term(name).map { index.type(of: $0.type, isNullable: true) } ?? .untyped
    // An instance without the annotation has the value null (§5.1.1.16).
    walk.append(.annotation(name, qualifier: qualifier), Instance(type.nullable()), at: position)
  }

  func count(
    _ options: ODataQueryOptions?, _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    let counted: Instance
    if let instance = walk.instance {
      guard instance.type.isCollection || instance.type.item.isOpen else {
        throw misplaced("$count", walk, "only collections can be counted", at: position)
      }
      counted = instance
    } else {
      throw misplaced("$count", walk, "", at: position)
    }
    var bound: ODataBoundOptions?
    if let options, !options.isBare {
      try allow([.filter, .search], options, on: "$count", at: position)
      bound = try nested(options, on: counted, .count, at: position)
    }
    walk.owner = counted
    walk.append(.count(bound), Instance(.primitive(.int64)), at: position)
  }

  func value(_ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard let instance = walk.instance, !instance.type.isCollection else {
      throw misplaced("$value", walk, "only a single value has a $value", at: position)
    }
    walk.owner = instance
    switch instance.type.item {
    case .structure(let structure):
      guard structure.hasStream else {
        let reason =
          structure.isEntityType ? "\(structure.name) is not a media entity" : "a complex value has no $value"
        throw misplaced("$value", walk, reason, at: position)
      }
      walk.append(.value, Instance(.primitive(.stream)), at: position)
    case .shape: throw misplaced("$value", walk, "", at: position)
    default: walk.append(.value, instance, at: position)
    }
  }

  func ref(_ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.structure?.isEntityType ?? instance.type.item.isOpenEntity else {
      throw misplaced("$ref", walk, "only entities have references", at: position)
    }
    walk.owner = instance
    walk.append(.ref, instance, at: position)
  }

  func each(_ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.isCollection else {
      throw misplaced("$each", walk, "only a collection has members", at: position)
    }
    walk.append(.each, instance.single, at: position)
  }

  func query(_ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard walk.place == .resource, let instance = walk.instance else { throw misplaced("$query", walk, at: position) }
    walk.append(.query, instance, at: position)
  }

  /// Binds V2's `Orders(1)/$links/Items(2)` as `Orders(1)/Items(2)/$ref`.
  func links(
    _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance, !instance.type.isCollection, instance.type.structure?.isEntityType == true
    else {
      throw misplaced("$links", walk, "only a single entity has links", at: position)
    }
    guard walk.next < segments.count else {
      throw misplaced("the end of the path", walk, "a navigation property must follow $links", at: position)
    }
    let next = segments[walk.next]
    try step(segments, &walk)
    guard case .navigation? = walk.path.lastKind else {
      throw error(
        .wrongType(expected: "a navigation property after $links", found: "\(walk.path.type ?? .untyped)"),
        at: next.position)
    }
    if walk.next < segments.count, case .arguments = segments[walk.next].kind { try step(segments, &walk) }
    // `$links/Items/$count` counts the items.
    if walk.next < segments.count, case .count = segments[walk.next].kind { return }
    try ref(&walk, at: position)
  }

  func filter(
    _ condition: ODataExpression, _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.isCollection else {
      throw misplaced("$filter", walk, "only a collection can be filtered", at: position)
    }
    let outer = (current, it, this)
    current = instance.single
    this = instance.single
    if it == nil { it = instance.single }
    defer { (current, it, this) = outer }
    let bound = try self.condition(condition)
    walk.append(.filter(bound), instance, at: position)
  }

  func any(
    _ lambda: ODataLambda?, _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    let bound = try self.lambda(lambda, "any", walk, at: position)
    walk.append(.any(bound), Instance(.boolean), at: position)
  }

  func all(
    _ lambda: ODataLambda, _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let bound = try self.lambda(lambda, "all", walk, at: position) else { return }
    walk.append(.all(bound), Instance(.boolean), at: position)
  }

  /// Binds the predicate of `any` and `all`. In it, names without the variable still refer to the enclosing instance
  /// (§5.1.1.13).
  private func lambda(
    _ lambda: ODataLambda?, _ name: String, _ walk: Walk, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundLambda? {
    guard let instance = walk.instance, instance.type.isCollection || instance.type.item.isOpen else {
      throw misplaced(name, walk, "only collections have items", at: position)
    }
    guard let lambda else { return nil }
    variables.append((lambda.variable, instance.single))
    defer { variables.removeLast() }
    return ODataBoundLambda(variable: lambda.variable, predicate: try condition(lambda.predicate))
  }

  func aggregate(
    _ expression: ODataAggregateExpression, _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.isCollection else {
      throw misplaced("aggregate", walk, "only collections can be aggregated", at: position)
    }
    let outer = current
    current = instance.single
    defer { current = outer }
    let bound = try aggregate(expression)
    walk.append(.aggregate(bound), Instance(bound.type), at: position)
  }

  func star(_ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard walk.place == .select || walk.place == .expand, let instance = walk.instance,
      instance.type.item.isStructured || instance.type.item.isOpen
    else { throw misplaced("*", walk, "", at: position) }
    walk.append(.star, instance, at: position)
  }

  func allOperations(_ namespace: String, _ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard walk.place == .select, walk.instance != nil else { throw misplaced("\(namespace).*", walk, "", at: position) }
    guard let name = index.namespaces[namespace] else {
      throw unknown(namespace, what: "namespace", place: "in the model", among: index.namespaces.keys, at: position)
    }
    walk.append(.allOperations(name), nil, at: position)
  }
}

extension ODataBoundType.Item {
  /// Whether the type can be an entity of any type.
  var isOpenEntity: Bool {
    switch self {
    case .abstract(.entityType), .untyped, .undeclared: true
    default: false
    }
  }
}
