/// Walks a tree in the order in which it is printed and puts other parts in the place of some. The methods of a conforming type
/// say what changes; those here walk on.
protocol SyntaxRewriting {
  /// Levels open around this place. What is nested deeper than ``SyntaxRewriteLimit`` stays as it is: no printer takes it.
  var level: Int { get set }

  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression
  mutating func rewrite(_ path: ODataPath) -> ODataPath
  mutating func rewrite(_ lambda: ODataLambda) -> ODataLambda
  mutating func rewrite(_ options: ODataQueryOptions) -> ODataQueryOptions
}

/// How deep trees are walked.
enum SyntaxRewriteLimit { static let depth = 300 }

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

  /// The expression with its parts rewritten.
  mutating func rewriteParts(of expression: ODataExpression) -> ODataExpression {
    guard level < SyntaxRewriteLimit.depth else { return expression }
    level += 1
    defer { level -= 1 }
    let kind: ODataExpression.Kind
    switch expression.kind {
    case .literal, .enumeration: return expression
    case .path(let path): kind = .path(rewrite(path))
    case .and(let operands): kind = .and(rewrite(operands))
    case .or(let operands): kind = .or(rewrite(operands))
    case .not(let operand): kind = .not(rewrite(operand))
    case .negate(let operand): kind = .negate(rewrite(operand))
    case .binary(let operation, let left, let right):
      let first = rewrite(left)
      kind = .binary(operation, first, rewrite(right))
    case .membership(let left, let right):
      let first = rewrite(left)
      kind = .membership(first, rewrite(right))
    case .list(let items): kind = .list(rewrite(items))
    case .call(let function, let arguments): kind = .call(function, rewrite(arguments))
    case .cast(let operand, let type): kind = .cast(operand.map { rewrite($0) }, type)
    case .isof(let operand, let type): kind = .isof(operand.map { rewrite($0) }, type)
    case .conditional(let branches):
      kind = .conditional(
        branches.map { branch in
          let condition = rewrite(branch.condition)
          return ODataConditionalBranch(condition: condition, value: rewrite(branch.value))
        })
    case .isdefined(let path): kind = .isdefined(rewrite(path))
    case .array(let items): kind = .array(rewrite(items))
    case .object(let members):
      kind = .object(members.map { ODataObjectMember(name: $0.name, value: rewrite($0.value)) })
    }
    return ODataExpression(kind, at: expression.position)
  }

  /// The path with what stands inside its steps rewritten.
  mutating func rewriteSteps(of path: ODataPath) -> ODataPath {
    var path = path
    if case .expression(let value) = path.root { path.root = .expression(rewrite(value)) }
    for index in path.segments.indices {
      switch path.segments[index].kind {
      case .arguments(let arguments):
        path.segments[index].kind = .arguments(
          arguments.map { ODataArgument(name: $0.name, value: rewrite($0.value)) })
      case .count(let options?): path.segments[index].kind = .count(rewrite(options))
      case .filter(let filter): path.segments[index].kind = .filter(rewrite(filter))
      case .any(let lambda?): path.segments[index].kind = .any(rewrite(lambda))
      case .all(let lambda): path.segments[index].kind = .all(rewrite(lambda))
      case .aggregate(let aggregate): path.segments[index].kind = .aggregate(rewrite(aggregate))
      default: break
      }
    }
    return path
  }

  /// The options with their parts rewritten, in the order in which they are printed.
  mutating func rewriteParts(of options: ODataQueryOptions) -> ODataQueryOptions {
    guard level < SyntaxRewriteLimit.depth else { return options }
    level += 1
    defer { level -= 1 }
    var options = options
    if let apply = options.apply { options.apply = rewrite(apply) }
    options.compute = rewrite(options.compute)
    if let filter = options.filter { options.filter = rewrite(filter) }
    options.orderBy = rewrite(options.orderBy)
    for index in options.expand.indices {
      options.expand[index].path = rewrite(options.expand[index].path)
      if !options.expand[index].options.isEmpty {
        options.expand[index].options = rewrite(options.expand[index].options)
      }
    }
    for index in options.select.indices where !options.select[index].options.isEmpty {
      options.select[index].options = rewrite(options.select[index].options)
    }
    for index in options.aliases.indices { options.aliases[index].value = rewrite(options.aliases[index].value) }
    return options
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
    guard level < SyntaxRewriteLimit.depth else { return transformation }
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
