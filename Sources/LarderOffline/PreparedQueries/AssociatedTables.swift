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
    for segment in path.segments { visit(inside: segment) }
    visit(url.options)
  }

  /// Whether the query may read rows of the tables that belong to any entity, wherever its path begins.
  func canInclude(_ candidates: Set<Int>) -> Bool { isLeaving && (isUnknown || !tables.isDisjoint(with: candidates)) }

  // MARK: Options

  private mutating func visit(_ options: ODataBoundOptions?) {
    guard let options else { return }
    visit(options.filter)
    visit(options.compute)
    visit(options.orderBy)
    visit(options.apply ?? [])
    for item in options.select {
      visit(item.path)
      visit(item.options)
    }
    for item in options.expand {
      for segment in item.path.segments { visit(inside: segment) }
      visit(item.options)
      if item.unbound != nil { (isLeaving, isUnknown) = (true, true) }
    }
  }

  private mutating func visit(_ compute: [ODataBoundCompute]) { for item in compute { visit(item.expression) } }
  private mutating func visit(_ orderBy: [ODataBoundOrderBy]) { for item in orderBy { visit(item.expression) } }

  // MARK: Expressions

  private mutating func visit(_ expression: ODataBoundExpression?) {
    guard let expression else { return }
    switch expression.kind {
    case .literal, .enumeration: break
    case .path(let path), .isdefined(let path): visit(path)
    case .and(let parts), .or(let parts), .list(let parts), .array(let parts), .call(_, let parts):
      for part in parts { visit(part) }
    case .not(let part), .negate(let part): visit(part)
    case .binary(_, let left, let right), .membership(let left, let right):
      visit(left)
      visit(right)
    case .cast(let part, _), .isof(let part, _): visit(part)
    case .conditional(let branches):
      for branch in branches {
        visit(branch.condition)
        visit(branch.value)
      }
    case .object(let members): for member in members { visit(member.value) }
    }
  }

  private mutating func visit(_ path: ODataBoundPath) {
    switch path.root {
    case .root: isLeaving = true
    case .expression(let expression): visit(expression)
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
      visit(inside: segment)
    }
  }

  private mutating func note(_ segment: ODataBoundSegment) {
    if let table = segment.source.flatMap(plan.table(of:)) { tables.insert(table.number) } else { isUnknown = true }
  }

  private mutating func visit(inside segment: ODataBoundSegment) {
    switch segment.kind {
    case .count(let options): visit(options)
    case .filter(let expression): visit(expression)
    case .any(let lambda): visit(lambda?.predicate)
    case .all(let lambda): visit(lambda.predicate)
    case .aggregate(let aggregate): visit(aggregate)
    case .key(let parts): for part in parts { visit(part.value) }
    case .operation(_, let arguments), .operationImport(_, _, let arguments):
      for argument in arguments { visit(argument.value) }
    default: break
    }
  }

  // MARK: Transformations

  private mutating func visit(_ transformations: [ODataBoundTransformation]) {
    for transformation in transformations { visit(transformation) }
  }

  private mutating func visit(_ transformation: ODataBoundTransformation) {
    switch transformation {
    case .identity, .search, .top, .skip: break
    case .aggregate(let aggregates): for aggregate in aggregates { visit(aggregate) }
    case .groupBy(let groupings, let inner):
      for grouping in groupings { visit(grouping) }
      visit(inner)
    case .concat(let all): for inner in all { visit(inner) }
    case .compute(let items): visit(items)
    case .filter(let expression): visit(expression)
    case .orderBy(let items): visit(items)
    case .extremes(_, let number, let value):
      visit(number)
      visit(value)
    case .join(let path, _, _, let inner):
      visit(path)
      visit(inner)
    case .nest(let nested): for item in nested { visit(item.transformations) }
    case .addNested(let path, let nested):
      visit(path)
      for item in nested { visit(item.transformations) }
    case .relatives(_, let hierarchy, let inner, _, _):
      visit(hierarchy)
      visit(inner)
    case .traverse(let hierarchy, _, let inner, let order):
      visit(hierarchy)
      visit(inner)
      visit(order)
    case .custom(let path): visit(path)
    }
  }

  private mutating func visit(_ hierarchy: ODataBoundHierarchy) {
    visit(hierarchy.nodes)
    visit(hierarchy.property)
  }

  private mutating func visit(_ grouping: ODataBoundGrouping) {
    switch grouping {
    case .property(let path): visit(path)
    case .rollup(let paths), .rollupHierarchy(_, let paths): for path in paths { visit(path) }
    case .rollupRecursive(let hierarchy, let inner):
      visit(hierarchy)
      visit(inner)
    }
  }

  private mutating func visit(_ aggregate: ODataBoundAggregate) {
    switch aggregate.operand {
    case .expression(let expression): visit(expression)
    case .count(let path), .custom(let path, _): visit(path)
    }
    for step in aggregate.from { for path in step.properties { visit(path) } }
  }
}
