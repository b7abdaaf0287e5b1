// `$apply` (Data Aggregation 4.0 §3).
extension SyntaxWriter {
  /// Writes `applyExpr`: one transformation or more.
  mutating func apply(_ transformations: [ODataTransformation]) throws(ODataPrintingError) {
    try demand("a sequence of transformations", least: 1, found: transformations.count)
    for index in transformations.indices {
      if index > 0 { raw("/") }
      try enter()
      try transformation(transformations[index])
      leave()
    }
  }

  private mutating func transformation(_ transformation: ODataTransformation) throws(ODataPrintingError) {
    switch transformation {
    case .identity: raw("identity")
    case .custom(let path): try collectionFunction(path)
    default:
      raw(transformation.word)
      raw("(")
      switch transformation {
      case .concat, .groupBy, .nest, .addNested, .join: try sequences(transformation)
      default: try operands(transformation)
      }
      raw(")")
    }
  }

  /// Writes the arguments of transformations that contain other transformations.
  private mutating func sequences(_ transformation: ODataTransformation) throws(ODataPrintingError) {
    switch transformation {
    case .groupBy(let elements, let sequence): try grouping(elements, sequence)
    case .concat(let sequences):
      try demand("concat", least: 2, found: sequences.count)
      for index in sequences.indices {
        if index > 0 { raw(",") }
        try apply(sequences[index])
      }
    case .join(let path, let alias, _, let sequence):
      try listPath(path, in: .apply)
      try asAlias(alias)
      try afterComma(sequence)
    case .nest(let sequences): try nestedSequences(sequences)
    case .addNested(let path, let sequences):
      try listPath(path, in: .apply)
      raw(",")
      try nestedSequences(sequences)
    default: break
    }
  }

  private mutating func operands(_ transformation: ODataTransformation) throws(ODataPrintingError) {
    switch transformation {
    case .aggregate(let items):
      try demand("aggregate", least: 1, found: items.count)
      for index in items.indices {
        if index > 0 { raw(",") }
        try aggregateExpression(items[index], hasAlias: true)
      }
    case .compute(let items): try compute(items)
    case .filter(let filter): try expression(filter)
    case .search(let search): try self.search(search)
    case .orderBy(let items): try orderBy(items)
    case .top(let number), .skip(let number):
      guard number >= 0 else { throw error(.invalidValue("\(number) is negative; give 0 or more")) }
      raw(String(number))
    case .extremes(_, let number, let value):
      try expression(number)
      raw(",")
      try expression(value)
    case .relatives(_, let hierarchy, let start, let distance, let keepsStart):
      try relatives(hierarchy, start, distance: distance, keepsStart: keepsStart)
    case .traverse(let hierarchy, let isPostorder, let sequence, let order):
      try hierarchyReference(hierarchy)
      raw(isPostorder ? ",postorder" : ",preorder")
      try afterComma(sequence)
      if !order.isEmpty { try traversalOrder(order, isFirst: sequence.isEmpty) }
    default: break
    }
  }

  private mutating func afterComma(_ sequence: [ODataTransformation]) throws(ODataPrintingError) {
    guard !sequence.isEmpty else { return }
    raw(",")
    try apply(sequence)
  }

  private mutating func asAlias(_ alias: String) throws(ODataPrintingError) {
    word("as")
    try name(alias, "name after as")
  }

  private mutating func nestedSequences(_ sequences: [ODataNestedSequence]) throws(ODataPrintingError) {
    try demand("nest", least: 1, found: sequences.count)
    for index in sequences.indices {
      if index > 0 { raw(",") }
      try apply(sequences[index].transformations)
      try asAlias(sequences[index].alias)
    }
  }

  /// Writes a function of the service as a transformation (§3.6): its name is qualified and its arguments have names.
  private mutating func collectionFunction(_ path: ODataPath) throws(ODataPrintingError) {
    guard path.root == .implicit, path.segments.count == 2, case .qualifiedName(let name) = path.segments[0].kind,
      case .arguments(let arguments) = path.segments[1].kind, arguments.allSatisfy({ $0.name != nil })
    else {
      throw error(.misplaced("a path as a transformation", expected: "a qualified function with named arguments"))
    }
    try qualifiedName(name, least: 2)
    try self.arguments(arguments, inExpression: true)
  }
}

// Aggregates (§3.2.1).
extension SyntaxWriter {
  /// - Parameter hasAlias: false inside of a path, where an alias is not allowed.
  mutating func aggregateExpression(
    _ aggregate: ODataAggregateExpression, hasAlias: Bool
  ) throws(ODataPrintingError) {
    if case .path(let path) = aggregate.expression.kind {
      if aggregate.method == nil, path.root == .implicit, path.isWord("not", anyCase: isRelaxed) {
        throw error(.ambiguousName("not", readsAs: "the operator", cure: "give the custom aggregate another name"))
      }
      try memberPath(path, isOnlyPath: aggregate.method == nil, endsWithType: aggregate.method != nil)
    } else {
      guard aggregate.method != nil else {
        throw error(.misplaced("an expression without a method", expected: "with and a method"))
      }
      try expression(aggregate.expression)
    }
    try method(aggregate.method)
    for step in aggregate.from {
      word("from")
      try demand("from", least: 1, found: step.properties.count)
      try list(step.properties) { (writer, path) throws(ODataPrintingError) in try writer.listPath(path, in: .apply) }
      try method(step.method)
    }
    guard let alias = aggregate.alias else { return }
    guard hasAlias else { throw error(.misplaced("an alias", expected: "no alias if aggregate is part of a path")) }
    try asAlias(alias)
  }

  private mutating func method(_ method: String?) throws(ODataPrintingError) {
    guard let method else { return }
    word("with")
    if ["sum", "min", "max", "average", "countdistinct"].contains(method) { return raw(method) }
    try qualifiedName(method, "method of aggregation", least: 2)
  }
}

// Groups and hierarchies (§3.2.3, §6.2).
extension SyntaxWriter {
  private mutating func grouping(
    _ elements: [ODataGroupingElement], _ sequence: [ODataTransformation]
  ) throws(ODataPrintingError) {
    try demand("groupby", least: 1, found: elements.count)
    raw("(")
    try list(elements) { (writer, element) throws(ODataPrintingError) in try writer.groupingElement(element) }
    raw(")")
    try afterComma(sequence)
  }

  private mutating func groupingElement(_ element: ODataGroupingElement) throws(ODataPrintingError) {
    switch element {
    case .property(let path): try listPath(path, in: .apply)
    case .rollup(let paths):
      try demand("rollup", least: 2, found: paths.count)
      raw("rollup(")
      try list(paths) { (writer, path) throws(ODataPrintingError) in
        if path == paths[0], path.segments.map(\.kind) == [.allEntities] { return writer.raw("$all") }
        try writer.listPath(path, in: .apply)
      }
      raw(")")
    case .rollupHierarchy(let qualifier):
      raw("rollup(")
      try name(qualifier, "qualifier of a hierarchy")
      raw(")")
    case .rollupRecursive(let hierarchy, let sequence):
      raw("rolluprecursive(")
      try hierarchyReference(hierarchy)
      try afterComma(sequence)
      raw(")")
    }
  }

  private mutating func hierarchyReference(_ hierarchy: ODataHierarchyReference) throws(ODataPrintingError) {
    guard hierarchy.nodes.root == .root else {
      throw error(.misplaced("a path of nodes", expected: "one from $root"))
    }
    try memberPath(hierarchy.nodes)
    raw(",")
    try name(hierarchy.qualifier, "qualifier of a hierarchy")
    raw(",")
    try listPath(hierarchy.property, in: .apply)
  }

  private mutating func relatives(
    _ hierarchy: ODataHierarchyReference, _ start: [ODataTransformation], distance: Int?, keepsStart: Bool
  ) throws(ODataPrintingError) {
    try hierarchyReference(hierarchy)
    raw(",")
    try apply(start)
    if let distance {
      guard distance >= 0 else { throw error(.invalidValue("the distance \(distance) is negative")) }
      raw(",\(distance)")
    }
    guard keepsStart else { return }
    raw(",keep")
    space()
    raw("start")
  }

  /// Writes the items that a traversal orders by. A first item whose path reads as a transformation is written in
  /// parentheses.
  private mutating func traversalOrder(
    _ items: [ODataOrderByItem], isFirst: Bool
  ) throws(ODataPrintingError) {
    raw(",")
    let start = bytes.count
    guard isFirst, let first = items.first, first.expression.readsAsTransformation else { return try orderBy(items) }
    try expression(first.expression)
    parenthesize(from: start)
    if first.isDescending {
      space()
      raw("desc")
    }
    guard items.count > 1 else { return }
    raw(",")
    try orderBy(Array(items.dropFirst()))
  }
}

extension ODataExpression {
  fileprivate var readsAsTransformation: Bool {
    guard case .path(let path) = kind, path.root == .implicit, let first = path.segments.first else { return false }
    switch first.kind {
    case .name(let name): return name == "identity" || path.segments.count > 1 && path.segments[1].isArguments
    case .qualifiedName: return path.segments.count > 1 && path.segments[1].isArguments
    default: return false
    }
  }
}

extension ODataTransformation {
  /// The word before the parentheses.
  fileprivate var word: String {
    switch self {
    case .identity: "identity"
    case .aggregate: "aggregate"
    case .groupBy: "groupby"
    case .concat: "concat"
    case .compute: "compute"
    case .filter: "filter"
    case .search: "search"
    case .orderBy: "orderby"
    case .top: "top"
    case .skip: "skip"
    case .extremes(let kind, _, _): kind.rawValue
    case .join(_, _, let isOuter, _): isOuter ? "outerjoin" : "join"
    case .nest: "nest"
    case .addNested: "addnested"
    case .relatives(let relation, _, _, _, _): relation.rawValue
    case .traverse: "traverse"
    case .custom: ""
    }
  }
}
