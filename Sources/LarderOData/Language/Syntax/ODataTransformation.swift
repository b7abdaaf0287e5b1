/// One step of `$apply` (Data Aggregation 4.0 §3).
public indirect enum ODataTransformation: Sendable, Hashable {
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
  /// `topcount(n,value)` and its five relatives.
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
  /// A function of the service on the collection.
  case custom(ODataPath)
}

/// Which items `topcount` and its relatives keep.
public enum ODataExtremes: String, Sendable, Hashable, CaseIterable {
  /// The given number of instances with the greatest values.
  case topcount
  /// The instances with the greatest values, until their sum reaches the given percentage.
  case toppercent
  /// The greatest, until their sum is so much.
  case topsum
  /// The given number of instances with the least values.
  case bottomcount
  /// The instances with the least values, until their sum reaches the given percentage.
  case bottompercent
  /// The least, until their sum is so much.
  case bottomsum
}

/// `ancestors` or `descendants`.
public enum ODataHierarchyRelation: String, Sendable, Hashable {
  /// Nodes above.
  case ancestors
  /// Nodes below.
  case descendants
}

/// A sequence with the name of its result.
public struct ODataNestedSequence: Sendable, Hashable {
  /// The sequence.
  public var transformations: [ODataTransformation]
  /// The name; nil only inside a sequence that takes its place from the one around it.
  public var alias: String

  /// Joins both.
  package init(_ transformations: [ODataTransformation], as alias: String) {
    self.transformations = transformations
    self.alias = alias
  }
}

/// The hierarchy that a transformation works on (Data Aggregation §6.2.1).
public struct ODataHierarchyReference: Sendable, Hashable {
  /// The collection of nodes, from `$root`.
  public var nodes: ODataPath
  /// The qualifier of the annotation `RecursiveHierarchy`.
  public var qualifier: String
  /// The path of the node's identifier.
  public var property: ODataPath

  /// Joins all.
  package init(nodes: ODataPath, qualifier: String, property: ODataPath) {
    self.nodes = nodes
    self.qualifier = qualifier
    self.property = property
  }
}

/// An element of `groupby`.
public indirect enum ODataGroupingElement: Sendable, Hashable {
  /// A property.
  case property(ODataPath)
  /// `rollup(…)`: properties, from the least to the most detailed; before them the step `$all` for all instances.
  case rollup([ODataPath])
  /// `rollup(qualifier)`: a leveled hierarchy.
  case rollupHierarchy(String)
  /// `rolluprecursive(…)`
  case rollupRecursive(ODataHierarchyReference, [ODataTransformation])
}

/// An item of `aggregate` (Data Aggregation §3.2.1).
public struct ODataAggregateExpression: Sendable, Hashable {
  /// What is aggregated: an expression, a path to a collection, a path that ends with `$count`, or one that ends with the name of a
  /// custom aggregate.
  public var expression: ODataExpression
  /// `with`: `sum`, `min`, `max`, `average`, `countdistinct`, or a qualified name; nil for `$count` and custom aggregates.
  public var method: String?
  /// `from` steps, in their order.
  public var from: [ODataAggregateFrom]
  /// `as`; nil for a custom aggregate that keeps its name, and where there is no place for one (`$these/aggregate(…)`).
  public var alias: String?

  /// Joins all.
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
public struct ODataAggregateFrom: Sendable, Hashable {
  /// The properties that are grouped by.
  public var properties: [ODataPath]
  /// The method; nil where a custom aggregate brings its own.
  public var method: String?

  /// Joins both.
  package init(_ properties: [ODataPath], with method: String? = nil) {
    self.properties = properties
    self.method = method
  }
}
