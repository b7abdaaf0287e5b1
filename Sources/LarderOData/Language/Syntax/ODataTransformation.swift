/// One step of `$apply` (Data Aggregation 4.0 §3).
package indirect enum ODataTransformation: Sendable, Hashable {
  /// `identity`
  case identity
  /// `aggregate(…)`
  case aggregate([ODataAggregateExpression])
  /// `groupby((…),…)`: elements, then the transformations of each group.
  case groupBy([ODataGroupingElement], [ODataTransformation])
  /// `concat(…,…)`: two or more sequences.
  case concat([[ODataTransformation]])
  /// `compute(…)`
  case compute([ODataComputeItem])
  /// `filter(…)`
  case filter(ODataExpression)
  /// `search(…)`
  case search(ODataSearchExpression)
  /// `orderby(…)`
  case orderBy([ODataOrderByItem])
  /// `top(n)`
  case top(Int)
  /// `skip(n)`
  case skip(Int)
  /// `topcount(n,value)` and the five related transformations.
  case extremes(ODataExtremes, ODataExpression, ODataExpression)
  /// `join(property as alias,…)`, or `outerjoin`.
  case join(ODataPath, alias: String, isOuter: Bool, [ODataTransformation])
  /// `nest(… as alias,…)`
  case nest([ODataNestedSequence])
  /// `addnested(path,… as alias,…)`
  case addNested(ODataPath, [ODataNestedSequence])
  /// `ancestors(…)`, or `descendants`.
  case relatives(
    ODataHierarchyRelation, ODataHierarchyReference, [ODataTransformation], distance: Int?, keepsStart: Bool)
  /// `traverse(…)`
  case traverse(ODataHierarchyReference, isPostorder: Bool, [ODataTransformation], [ODataOrderByItem])
  /// A custom transformation: a function of the service on the collection.
  case custom(ODataPath)
}

/// The instances that `topcount` and the related transformations keep.
package enum ODataExtremes: String, Sendable, Hashable, CaseIterable {
  /// The given number of instances with the greatest values.
  case topcount
  /// The instances with the greatest values, until their sum reaches the given percentage.
  case toppercent
  /// The instances with the greatest values, until their sum reaches the given value.
  case topsum
  /// The given number of instances with the least values.
  case bottomcount
  /// The instances with the least values, until their sum reaches the given percentage.
  case bottompercent
  /// The instances with the least values, until their sum reaches the given value.
  case bottomsum
}

/// `ancestors` or `descendants`.
package enum ODataHierarchyRelation: String, Sendable, Hashable {
  /// The nodes above.
  case ancestors
  /// The nodes below.
  case descendants
}

/// A sequence of transformations with the name of its result.
package struct ODataNestedSequence: Sendable, Hashable {
  /// The sequence.
  package var transformations: [ODataTransformation]
  /// The name of the result.
  package var alias: String

  /// Creates a nested sequence.
  package init(_ transformations: [ODataTransformation], as alias: String) {
    self.transformations = transformations
    self.alias = alias
  }
}

/// The hierarchy that a transformation works on (Data Aggregation §6.2.1).
package struct ODataHierarchyReference: Sendable, Hashable {
  /// The collection of nodes, from `$root`.
  package var nodes: ODataPath
  /// The qualifier of the annotation `RecursiveHierarchy`.
  package var qualifier: String
  /// The path of the node's identifier.
  package var property: ODataPath

  /// Creates a reference to a hierarchy.
  package init(nodes: ODataPath, qualifier: String, property: ODataPath) {
    self.nodes = nodes
    self.qualifier = qualifier
    self.property = property
  }
}

/// An element of `groupby`.
package indirect enum ODataGroupingElement: Sendable, Hashable {
  /// A property.
  case property(ODataPath)
  /// `rollup(…)`: properties, from the least to the most detailed, optionally after the step `$all` for all instances.
  case rollup([ODataPath])
  /// `rollup(qualifier)`: a leveled hierarchy.
  case rollupHierarchy(String)
  /// `rolluprecursive(…)`
  case rollupRecursive(ODataHierarchyReference, [ODataTransformation])
}

/// An item of `aggregate` (Data Aggregation §3.2.1).
package struct ODataAggregateExpression: Sendable, Hashable {
  /// The operand: an expression, a path to a collection, a path that ends with `$count`, or a path that ends with a
  /// custom aggregate's name.
  package var expression: ODataExpression
  /// `with`: `sum`, `min`, `max`, `average`, `countdistinct`, or a qualified name; nil for `$count` and custom aggregates.
  package var method: String?
  /// `from` steps, in their order.
  package var from: [ODataAggregateFrom]
  /// `as`; nil for a custom aggregate that keeps its name, and where no alias is allowed (`$these/aggregate(…)`).
  package var alias: String?

  /// Creates an item.
  package init(
    _ expression: ODataExpression, with method: String? = nil, from: [ODataAggregateFrom] = [], as alias: String? = nil
  ) {
    self.expression = expression
    self.method = method
    self.from = from
    self.alias = alias
  }
}

/// `from properties with method` (Data Aggregation §3.2.1.4).
package struct ODataAggregateFrom: Sendable, Hashable {
  /// The properties to group by.
  package var properties: [ODataPath]
  /// The method; nil if a custom aggregate has its own.
  package var method: String?

  /// Creates a `from` step.
  package init(_ properties: [ODataPath], with method: String? = nil) {
    self.properties = properties
    self.method = method
  }
}
