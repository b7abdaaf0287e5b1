extension SyntaxWriting {
  mutating func transformations(_ bound: [ODataBoundTransformation]) -> [ODataTransformation] {
    var written: [ODataTransformation] = []
    written.reserveCapacity(bound.count)
    for transformation in bound { written.append(self.transformation(transformation)) }
    return written
  }

  private mutating func transformation(_ bound: ODataBoundTransformation) -> ODataTransformation {
    switch bound {
    case .identity: return .identity
    case .aggregate(let items): return .aggregate(aggregates(items))
    case .groupBy(let elements, let steps): return .groupBy(groupings(elements), transformations(steps))
    case .concat(let sequences):
      var written: [[ODataTransformation]] = []
      for sequence in sequences { written.append(transformations(sequence)) }
      return .concat(written)
    case .compute(let items):
      var written: [ODataComputeItem] = []
      for item in items { written.append(compute(item)) }
      return .compute(written)
    case .filter(let condition): return .filter(expression(condition))
    case .search(let search): return .search(search)
    case .orderBy(let items): return .orderBy(orderBy(items))
    case .top(let count): return .top(count)
    case .skip(let count): return .skip(count)
    case .extremes(let kind, let count, let value): return .extremes(kind, expression(count), expression(value))
    case .join(let path, let alias, let isOuter, let steps):
      return .join(self.path(path), alias: alias, isOuter: isOuter, transformations(steps))
    case .nest(let sequences): return .nest(nested(sequences))
    case .addNested(let path, let sequences): return .addNested(self.path(path), nested(sequences))
    case .relatives(let relation, let reference, let steps, let distance, let keepsStart):
      return .relatives(
        relation, hierarchy(reference), transformations(steps), distance: distance, keepsStart: keepsStart)
    case .traverse(let reference, let isPostorder, let steps, let order):
      return .traverse(hierarchy(reference), isPostorder: isPostorder, transformations(steps), orderBy(order))
    case .custom(let path): return .custom(self.path(path))
    }
  }

  private mutating func nested(_ sequences: [ODataBoundNested]) -> [ODataNestedSequence] {
    var written: [ODataNestedSequence] = []
    for sequence in sequences {
      written.append(ODataNestedSequence(transformations(sequence.transformations), as: sequence.alias))
    }
    return written
  }

  private mutating func hierarchy(_ bound: ODataBoundHierarchy) -> ODataHierarchyReference {
    ODataHierarchyReference(nodes: path(bound.nodes), qualifier: bound.qualifier, property: path(bound.property))
  }

  private mutating func groupings(_ elements: [ODataBoundGrouping]) -> [ODataGroupingElement] {
    var written: [ODataGroupingElement] = []
    for element in elements {
      switch element {
      case .property(let path): written.append(.property(self.path(path)))
      case .rollup(let levels):
        written.append(
          .rollup(levels.map { $0.segments.isEmpty ? ODataPath([ODataPathSegment(.allEntities)]) : path($0) }))
      case .rollupHierarchy(let qualifier, _): written.append(.rollupHierarchy(qualifier))
      case .rollupRecursive(let reference, let steps):
        written.append(.rollupRecursive(hierarchy(reference), transformations(steps)))
      }
    }
    return written
  }

  private mutating func paths(_ bound: [ODataBoundPath]) -> [ODataPath] {
    var written: [ODataPath] = []
    for path in bound { written.append(self.path(path)) }
    return written
  }

  private mutating func aggregates(_ items: [ODataBoundAggregate]) -> [ODataAggregateExpression] {
    var written: [ODataAggregateExpression] = []
    for item in items { written.append(aggregate(item)) }
    return written
  }

  mutating func aggregate(_ bound: ODataBoundAggregate) -> ODataAggregateExpression {
    let operand: ODataExpression
    switch bound.operand {
    case .expression(let value): operand = expression(value)
    case .count(let path): operand = ending(path, .count(nil))
    case .custom(let path, let name): operand = ending(path, .name(name))
    }
    var from: [ODataAggregateFrom] = []
    for step in bound.from { from.append(ODataAggregateFrom(paths(step.properties), with: step.method)) }
    return ODataAggregateExpression(operand, with: bound.method, from: from, as: bound.alias)
  }

  private mutating func ending(_ path: ODataBoundPath, _ last: ODataPathSegment.Kind) -> ODataExpression {
    var written = self.path(path)
    written.segments.append(ODataPathSegment(last))
    return ODataExpression(.path(written))
  }
}
