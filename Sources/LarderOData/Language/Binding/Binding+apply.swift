// `$apply`: each step is bound on the result type of the step before it (Data Aggregation 4.0 §3).
extension Binding {
  func apply(
    _ transformations: [ODataTransformation], on start: Instance
  ) throws(ODataBindingError) -> ([ODataBoundTransformation], Instance) {
    try enter(.none)
    defer { leave() }
    let outer = (current, this, these)
    defer { (current, this, these) = outer }
    var instance = start
    instance.type.isCollection = true
    var bound: [ODataBoundTransformation] = []
    bound.reserveCapacity(transformations.count)
    for transformation in transformations {
      scope(instance)
      bound.append(try self.transformation(transformation, &instance))
    }
    return (bound, instance)
  }

  private func transformation(
    _ transformation: ODataTransformation, _ instance: inout Instance
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    switch transformation {
    case .identity: return .identity
    case .search(let search): return .search(search)
    case .top(let count): return .top(count)
    case .skip(let count): return .skip(count)
    case .filter(let condition): return .filter(try self.condition(condition))
    case .orderBy(let items): return .orderBy(try orderBy(items))
    case .compute(let items): return .compute(try compute(items, &instance))
    case .aggregate(let items): return .aggregate(try aggregate(items, &instance))
    case .groupBy(let elements, let inner): return try groupBy(elements, inner, &instance)
    case .concat(let sequences): return try concat(sequences, &instance)
    case .extremes(let kind, let count, let value): return try extremes(kind, count, value)
    case .custom(let path): return try customTransformation(path, &instance)
    case .join, .nest, .addNested: return try joining(transformation, &instance)
    case .relatives(let relation, let reference, let inner, let distance, let keepsStart):
      let (hierarchy, _) = try hierarchy(reference)
      let (steps, _) = try apply(inner, on: instance)
      return .relatives(relation, hierarchy, steps, distance: distance, keepsStart: keepsStart)
    case .traverse(let reference, let isPostorder, let inner, let order):
      let (hierarchy, nodes) = try hierarchy(reference)
      let (steps, terms) = try onNodes(nodes, inner, order)
      instance.type = adding(nodes, of: hierarchy, to: instance.type)
      return .traverse(hierarchy, isPostorder: isPostorder, steps, terms)
    }
  }

  private func extremes(
    _ kind: ODataExtremes, _ count: ODataExpression, _ value: ODataExpression
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    let bound = try bind(count)
    let measure = try aggregable(value)
    let countType = bound.type
    guard !countType.isCollection, countType.item.primitive?.isNumeric ?? countType.item.isOpen else {
      throw error(.wrongType(expected: "a number", found: "\(countType)"), at: count.position)
    }
    let needsNumber = kind != .topcount && kind != .bottomcount
    let isRight =
      needsNumber ? measure.type.item.primitive?.isNumeric ?? measure.type.item.isOpen : isOrdered(measure.type)
    guard isRight else {
      let expected = needsNumber ? "a number" : "a value that can be ordered"
      throw error(.wrongType(expected: expected, found: "\(measure.type)"), at: value.position)
    }
    return .extremes(kind, bound, measure)
  }

  private func concat(
    _ sequences: [[ODataTransformation]], _ instance: inout Instance
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    var bound: [[ODataBoundTransformation]] = []
    var types: [ODataBoundType] = []
    for sequence in sequences {
      let (steps, result) = try apply(sequence, on: instance)
      bound.append(steps)
      types.append(result.type)
    }
    if let first = types.first { instance.type = types.dropFirst().reduce(first) { merged($0, $1) } }
    return .concat(bound)
  }

  /// Merges the types of two sets of instances: the result has the properties of both.
  private func merged(_ left: ODataBoundType, _ right: ODataBoundType) -> ODataBoundType {
    guard left != right else { return left }
    func shape(_ type: ODataBoundType) -> ODataBoundShape {
      if case .shape(let shape) = type.item { return shape }
      return ODataBoundShape(base: type.structure, members: [], isClosed: false)
    }
    let (one, other) = (shape(left), shape(right))
    let members = one.members + other.members.filter { one.member($0.name) == nil }
    let both = ODataBoundShape(base: one.base, members: members, isClosed: one.isClosed && other.isClosed)
    return ODataBoundType(.shape(both), isCollection: true)
  }

  private func customTransformation(
    _ path: ODataPath, _ instance: inout Instance
  ) throws(ODataBindingError) -> ODataBoundTransformation {
    var walk = Walk(.expression, root: .implicit, instance)
    try finish(&walk, path.segments)
    guard let result = walk.instance, result.type.isCollection else {
      throw error(
        .wrongType(expected: "a function with a collection as its result", found: "\(walk.path.type ?? .untyped)"),
        at: path.position)
    }
    instance = result
    return .custom(walk.path)
  }
}
