/// Walks a tree in the order in which it is printed and replaces parts of it. A conforming type implements the methods
/// for the parts that it changes; the default methods visit the children.
protocol SyntaxRewriting {
  /// The number of open levels.
  var level: Int { get set }
  /// Whether a part was nested deeper than ``SyntaxRewriteLimit`` and therefore not changed. The caller must then keep
  /// the whole original tree, as related parts may have changed differently.
  var isTooDeep: Bool { get set }

  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression
  mutating func rewrite(_ path: ODataPath) -> ODataPath
  mutating func rewrite(_ lambda: ODataLambda) -> ODataLambda
  mutating func rewrite(_ options: ODataQueryOptions) -> ODataQueryOptions
}

/// The depth to which trees are walked: far deeper than queries are, and safe on the smallest stacks.
enum SyntaxRewriteLimit { static let depth = 48 }

extension SyntaxRewriting {
  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression { rewriteParts(of: expression) }
  mutating func rewrite(_ path: ODataPath) -> ODataPath { rewriteSteps(of: path) }
  mutating func rewrite(_ options: ODataQueryOptions) -> ODataQueryOptions { rewriteParts(of: options) }

  mutating func rewrite(_ lambda: ODataLambda) -> ODataLambda {
    ODataLambda(variable: lambda.variable, predicate: rewrite(lambda.predicate))
  }

  mutating func rewrite(_ expressions: [ODataExpression]) -> [ODataExpression] {
    var result: [ODataExpression] = []
    result.reserveCapacity(expressions.count)
    for expression in expressions { result.append(rewrite(expression)) }
    return result
  }

  /// Returns the expression with its parts rewritten. Each kind of parts has its own function, which keeps the stack
  /// frames of a level small.
  mutating func rewriteParts(of expression: ODataExpression) -> ODataExpression {
    guard level < SyntaxRewriteLimit.depth else {
      isTooDeep = true
      return expression
    }
    level += 1
    defer { level -= 1 }
    switch expression.kind {
    case .literal, .enumeration: return expression
    case .path, .isdefined: return rewritePath(expression)
    case .and, .or, .list, .call, .array: return rewriteList(expression)
    case .not, .negate: return rewriteUnary(expression)
    case .cast, .isof: return rewriteTyped(expression)
    case .binary, .membership: return rewriteOperands(expression)
    case .conditional, .object: return rewriteMembers(expression)
    }
  }

  private mutating func rewritePath(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .path(let path): return ODataExpression(.path(rewrite(path)), at: expression.position)
    case .isdefined(let path): return ODataExpression(.isdefined(rewrite(path)), at: expression.position)
    default: return expression
    }
  }

  private mutating func rewriteList(_ expression: ODataExpression) -> ODataExpression {
    let items: [ODataExpression]
    switch expression.kind {
    case .and(let all), .or(let all), .list(let all), .call(_, let all), .array(let all): items = rewrite(all)
    default: return expression
    }
    switch expression.kind {
    case .and: return ODataExpression(.and(items), at: expression.position)
    case .or: return ODataExpression(.or(items), at: expression.position)
    case .list: return ODataExpression(.list(items), at: expression.position)
    case .call(let function, _): return ODataExpression(.call(function, items), at: expression.position)
    default: return ODataExpression(.array(items), at: expression.position)
    }
  }

  private mutating func rewriteUnary(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .not(let inner): return ODataExpression(.not(rewrite(inner)), at: expression.position)
    case .negate(let inner): return ODataExpression(.negate(rewrite(inner)), at: expression.position)
    default: return expression
    }
  }

  private mutating func rewriteTyped(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .cast(let inner?, let type): return ODataExpression(.cast(rewrite(inner), type), at: expression.position)
    case .isof(let inner?, let type): return ODataExpression(.isof(rewrite(inner), type), at: expression.position)
    default: return expression
    }
  }

  private mutating func rewriteOperands(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .binary(let operation, let left, let right):
      let first = rewrite(left)
      return ODataExpression(.binary(operation, first, rewrite(right)), at: expression.position)
    case .membership(let left, let right):
      let first = rewrite(left)
      return ODataExpression(.membership(first, rewrite(right)), at: expression.position)
    default: return expression
    }
  }

  private mutating func rewriteMembers(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .conditional(var branches):
      for index in branches.indices {
        branches[index].condition = rewrite(branches[index].condition)
        branches[index].value = rewrite(branches[index].value)
      }
      return ODataExpression(.conditional(branches), at: expression.position)
    case .object(var members):
      for index in members.indices { members[index].value = rewrite(members[index].value) }
      return ODataExpression(.object(members), at: expression.position)
    default: return expression
    }
  }

  /// Returns the path with the contents of its steps rewritten.
  mutating func rewriteSteps(of path: ODataPath) -> ODataPath {
    var path = path
    if case .expression(let value) = path.root { path.root = .expression(rewrite(value)) }
    for index in path.segments.indices {
      switch path.segments[index].kind {
      case .any, .all: path.segments[index].kind = rewriteLambda(path.segments[index].kind)
      case .arguments, .filter: path.segments[index].kind = rewriteArguments(path.segments[index].kind)
      case .count, .aggregate: path.segments[index].kind = rewriteOptions(path.segments[index].kind)
      default: break
      }
    }
    return path
  }

  private mutating func rewriteLambda(_ kind: ODataPathSegment.Kind) -> ODataPathSegment.Kind {
    switch kind {
    case .any(let lambda?): return .any(rewrite(lambda))
    case .all(let lambda): return .all(rewrite(lambda))
    default: return kind
    }
  }

  private mutating func rewriteArguments(_ kind: ODataPathSegment.Kind) -> ODataPathSegment.Kind {
    switch kind {
    case .arguments(var arguments):
      for index in arguments.indices { arguments[index].value = rewrite(arguments[index].value) }
      return .arguments(arguments)
    case .filter(let filter): return .filter(rewrite(filter))
    default: return kind
    }
  }

  private mutating func rewriteOptions(_ kind: ODataPathSegment.Kind) -> ODataPathSegment.Kind {
    switch kind {
    case .count(let options?): return .count(rewrite(options))
    case .aggregate(let aggregate): return .aggregate(rewrite(aggregate))
    default: return kind
    }
  }

  /// Returns the options with their parts rewritten, in the order in which they are printed.
  mutating func rewriteParts(of options: ODataQueryOptions) -> ODataQueryOptions {
    guard level < SyntaxRewriteLimit.depth else {
      isTooDeep = true
      return options
    }
    level += 1
    defer { level -= 1 }
    var options = options
    if let apply = options.apply { options.apply = rewrite(apply) }
    options.compute = rewrite(options.compute)
    if let filter = options.filter { options.filter = rewrite(filter) }
    options.orderBy = rewrite(options.orderBy)
    for index in options.expand.indices { rewriteItem(&options.expand[index].options) }
    for index in options.select.indices { rewriteItem(&options.select[index].options) }
    for index in options.aliases.indices { options.aliases[index].value = rewrite(options.aliases[index].value) }
    return options
  }

  private mutating func rewriteItem(_ options: inout ODataQueryOptions) {
    guard !options.isEmpty else { return }
    options = rewrite(options)
  }

  mutating func rewrite(_ items: [ODataOrderByItem]) -> [ODataOrderByItem] {
    items.map { ODataOrderByItem(rewrite($0.expression), isDescending: $0.isDescending) }
  }

  mutating func rewrite(_ items: [ODataComputeItem]) -> [ODataComputeItem] {
    items.map { ODataComputeItem(rewrite($0.expression), as: $0.alias, at: $0.position) }
  }
}

// `$apply`.
extension SyntaxRewriting {
  mutating func rewrite(_ transformations: [ODataTransformation]) -> [ODataTransformation] {
    transformations.map { rewrite($0) }
  }

  private mutating func rewrite(_ transformation: ODataTransformation) -> ODataTransformation {
    guard level < SyntaxRewriteLimit.depth else {
      isTooDeep = true
      return transformation
    }
    level += 1
    defer { level -= 1 }
    switch transformation {
    case .identity, .search, .top, .skip: return transformation
    case .aggregate(let items): return .aggregate(items.map { rewrite($0) })
    case .groupBy(let elements, let sequence):
      let elements = elements.map { rewrite($0) }
      return .groupBy(elements, rewrite(sequence))
    case .concat(let sequences): return .concat(sequences.map { rewrite($0) })
    case .compute(let items): return .compute(rewrite(items))
    case .filter(let filter): return .filter(rewrite(filter))
    case .orderBy(let items): return .orderBy(rewrite(items))
    case .extremes(let kind, let number, let value):
      let number = rewrite(number)
      return .extremes(kind, number, rewrite(value))
    case .join(let path, let alias, let isOuter, let sequence):
      return .join(path, alias: alias, isOuter: isOuter, rewrite(sequence))
    case .nest(let sequences): return .nest(rewrite(sequences))
    case .addNested(let path, let sequences): return .addNested(path, rewrite(sequences))
    case .relatives(let relation, let hierarchy, let start, let distance, let keepsStart):
      let hierarchy = rewrite(hierarchy)
      return .relatives(relation, hierarchy, rewrite(start), distance: distance, keepsStart: keepsStart)
    case .traverse(let hierarchy, let isPostorder, let sequence, let order):
      let hierarchy = rewrite(hierarchy)
      let sequence = rewrite(sequence)
      return .traverse(hierarchy, isPostorder: isPostorder, sequence, rewrite(order))
    case .custom(let path): return .custom(rewrite(path))
    }
  }

  private mutating func rewrite(_ sequences: [ODataNestedSequence]) -> [ODataNestedSequence] {
    sequences.map { ODataNestedSequence(rewrite($0.transformations), as: $0.alias) }
  }

  private mutating func rewrite(_ element: ODataGroupingElement) -> ODataGroupingElement {
    guard case .rollupRecursive(let hierarchy, let sequence) = element else { return element }
    let nodes = rewrite(hierarchy)
    return .rollupRecursive(nodes, rewrite(sequence))
  }

  private mutating func rewrite(_ hierarchy: ODataHierarchyReference) -> ODataHierarchyReference {
    ODataHierarchyReference(
      nodes: rewrite(hierarchy.nodes), qualifier: hierarchy.qualifier, property: hierarchy.property)
  }

  mutating func rewrite(_ aggregate: ODataAggregateExpression) -> ODataAggregateExpression {
    var aggregate = aggregate
    aggregate.expression = rewrite(aggregate.expression)
    return aggregate
  }
}
