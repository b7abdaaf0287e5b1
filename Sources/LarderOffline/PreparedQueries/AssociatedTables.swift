import LarderOData

/// The tables that the expressions of a query reach outside the containment hierarchy: by an association, by navigation
/// back to the container, or from the service's root.
struct AssociatedTables {
  private let plan: ReplicaPlan
  /// Whether any path leaves the contained entities.
  private var isLeaving = false
  /// Whether a path reaches entities whose table the model does not determine.
  private var isUnknown = false
  private var tables: Set<Int> = []

  init(_ url: ODataBoundURL, _ path: ODataBoundPath, _ plan: ReplicaPlan) {
    self.plan = plan
    // The target of the path itself is known. This examines the expressions inside it.
    for segment in path.segments { look(inside: segment) }
    look(url.options)
  }

  /// Whether the query may read rows of the tables that belong to any entity, wherever its path begins.
  func mayHold(_ wanted: Set<Int>) -> Bool { isLeaving && (isUnknown || !tables.isDisjoint(with: wanted)) }

  // MARK: Options

  private mutating func look(_ options: ODataBoundOptions?) {
    guard let options else { return }
    look(options.filter)
    look(options.compute)
    look(options.orderBy)
    look(options.apply ?? [])
    for item in options.select {
      look(item.path)
      look(item.options)
    }
    for item in options.expand {
      for segment in item.path.segments { look(inside: segment) }
      look(item.options)
      if item.kept != nil { (isLeaving, isUnknown) = (true, true) }
    }
  }

  private mutating func look(_ compute: [ODataBoundCompute]) { for item in compute { look(item.expression) } }
  private mutating func look(_ orderBy: [ODataBoundOrderBy]) { for item in orderBy { look(item.expression) } }

  // MARK: Expressions

  private mutating func look(_ expression: ODataBoundExpression?) {
    guard let expression else { return }
    switch expression.kind {
    case .literal, .enumeration: break
    case .path(let path), .isdefined(let path): look(path)
    case .and(let parts), .or(let parts), .list(let parts), .array(let parts), .call(_, let parts):
      for part in parts { look(part) }
    case .not(let part), .negate(let part): look(part)
    case .binary(_, let left, let right), .membership(let left, let right):
      look(left)
      look(right)
    case .cast(let part, _), .isof(let part, _): look(part)
    case .conditional(let branches):
      for branch in branches {
        look(branch.condition)
        look(branch.value)
      }
    case .object(let members): for member in members { look(member.value) }
    }
  }

  private mutating func look(_ path: ODataBoundPath) {
    switch path.root {
    case .root: isLeaving = true
    case .expression(let expression): look(expression)
    case .implicit, .it, .this, .these, .variable: break
    }
    for segment in path.segments {
      switch segment.kind {
      case .source: note(segment)
      case .navigation(let step):
        if !step.property.containsTarget { isLeaving = true }
        note(segment)
      default: break
      }
      look(inside: segment)
    }
  }

  private mutating func note(_ segment: ODataBoundSegment) {
    if let table = segment.source.flatMap(plan.table(of:)) { tables.insert(table.number) } else { isUnknown = true }
  }

  private mutating func look(inside segment: ODataBoundSegment) {
    switch segment.kind {
    case .count(let options): look(options)
    case .filter(let expression): look(expression)
    case .any(let lambda): look(lambda?.predicate)
    case .all(let lambda): look(lambda.predicate)
    case .aggregate(let aggregate): look(aggregate)
    case .key(let parts): for part in parts { look(part.value) }
    case .operation(_, let arguments), .operationImport(_, _, let arguments):
      for argument in arguments { look(argument.value) }
    default: break
    }
  }

  // MARK: Transformations

  private mutating func look(_ transformations: [ODataBoundTransformation]) {
    for transformation in transformations { look(transformation) }
  }

  private mutating func look(_ transformation: ODataBoundTransformation) {
    switch transformation {
    case .identity, .search, .top, .skip: break
    case .aggregate(let aggregates): for aggregate in aggregates { look(aggregate) }
    case .groupBy(let groupings, let inner):
      for grouping in groupings { look(grouping) }
      look(inner)
    case .concat(let all): for inner in all { look(inner) }
    case .compute(let items): look(items)
    case .filter(let expression): look(expression)
    case .orderBy(let items): look(items)
    case .extremes(_, let number, let value):
      look(number)
      look(value)
    case .join(let path, _, _, let inner):
      look(path)
      look(inner)
    case .nest(let nested): for one in nested { look(one.transformations) }
    case .addNested(let path, let nested):
      look(path)
      for one in nested { look(one.transformations) }
    case .relatives(_, let hierarchy, let inner, _, _):
      look(hierarchy)
      look(inner)
    case .traverse(let hierarchy, _, let inner, let order):
      look(hierarchy)
      look(inner)
      look(order)
    case .custom(let path): look(path)
    }
  }

  private mutating func look(_ hierarchy: ODataBoundHierarchy) {
    look(hierarchy.nodes)
    look(hierarchy.property)
  }

  private mutating func look(_ grouping: ODataBoundGrouping) {
    switch grouping {
    case .property(let path): look(path)
    case .rollup(let paths), .rollupHierarchy(_, let paths): for path in paths { look(path) }
    case .rollupRecursive(let hierarchy, let inner):
      look(hierarchy)
      look(inner)
    }
  }

  private mutating func look(_ aggregate: ODataBoundAggregate) {
    switch aggregate.operand {
    case .expression(let expression): look(expression)
    case .count(let path), .custom(let path, _): look(path)
    }
    for step in aggregate.from { for path in step.properties { look(path) } }
  }
}
