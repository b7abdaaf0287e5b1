/// One step of `$apply`, bound (Data Aggregation 4.0 §3).
package indirect enum ODataBoundTransformation: Sendable, Hashable {
  /// `identity`
  case identity
  /// `aggregate(…)`
  case aggregate([ODataBoundAggregate])
  /// `groupby((…),…)`
  case groupBy([ODataBoundGrouping], [ODataBoundTransformation])
  /// `concat(…,…)`
  case concat([[ODataBoundTransformation]])
  /// `compute(…)`
  case compute([ODataBoundCompute])
  /// `filter(…)`
  case filter(ODataBoundExpression)
  /// `search(…)`
  case search(ODataSearchExpression)
  /// `orderby(…)`
  case orderBy([ODataBoundOrderBy])
  /// `top(n)`
  case top(Int)
  /// `skip(n)`
  case skip(Int)
  /// `topcount(n,value)` and the related transformations.
  case extremes(ODataExtremes, ODataBoundExpression, ODataBoundExpression)
  /// `join(property as alias,…)`, or `outerjoin`.
  case join(ODataBoundPath, alias: String, isOuter: Bool, [ODataBoundTransformation])
  /// `nest(… as alias,…)`
  case nest([ODataBoundNested])
  /// `addnested(path,… as alias,…)`
  case addNested(ODataBoundPath, [ODataBoundNested])
  /// `ancestors(…)`, or `descendants`.
  case relatives(
    ODataHierarchyRelation, ODataBoundHierarchy, [ODataBoundTransformation], distance: Int?, keepsStart: Bool)
  /// `traverse(…)`
  case traverse(ODataBoundHierarchy, isPostorder: Bool, [ODataBoundTransformation], [ODataBoundOrderBy])
  /// A custom transformation: a function of the service on the collection.
  case custom(ODataBoundPath)
}

/// A sequence of transformations with the name of its result.
package struct ODataBoundNested: Sendable, Hashable {
  /// The sequence.
  package var transformations: [ODataBoundTransformation]
  /// The name.
  package var alias: String
}

/// The hierarchy that a transformation works on.
package struct ODataBoundHierarchy: Sendable, Hashable {
  /// The collection of nodes.
  package var nodes: ODataBoundPath
  /// The qualifier of the annotation `RecursiveHierarchy`.
  package var qualifier: String
  /// The path of the node's identifier, from the input's instances.
  package var property: ODataBoundPath
  /// The path of the identifier from the node itself (`NodeProperty`); empty if no annotation of the nodes' type has
  /// the qualifier.
  package var nodeProperty: [String]
  /// The path from a node to its parents (`ParentNavigationProperty`); empty if no annotation has the qualifier.
  package var parentNavigation: [String]
  /// The number of steps of ``property`` that lead to the node: 0 if the input's instances are nodes themselves, nil if
  /// only the identifiers are equal (the three cases of Data Aggregation 4.0 §6.2.2).
  package var nodeSteps: Int?
}

/// An element of `groupby`.
package indirect enum ODataBoundGrouping: Sendable, Hashable {
  /// A property.
  case property(ODataBoundPath)
  /// `rollup(…)`; a path without steps is `$all`.
  case rollup([ODataBoundPath])
  /// `rollup(qualifier)`: a leveled hierarchy, and the properties of its levels, from the top.
  case rollupHierarchy(String, levels: [ODataBoundPath])
  /// `rolluprecursive(…)`
  case rollupRecursive(ODataBoundHierarchy, [ODataBoundTransformation])
}

/// An item of `aggregate` (Data Aggregation §3.2.1).
package struct ODataBoundAggregate: Sendable, Hashable {
  /// The kinds of operands.
  package enum Operand: Sendable, Hashable {
    /// The value of an expression for each instance.
    case expression(ODataBoundExpression)
    /// The instances themselves (`$count`), or those at the end of a path.
    case count(ODataBoundPath)
    /// A custom aggregate, after the path to the instances that it is declared on.
    case custom(ODataBoundPath, String)
  }

  /// The operand.
  package var operand: Operand
  /// The method: `sum`, `min`, `max`, `average`, `countdistinct`, or a qualified name; nil for `$count` and custom
  /// aggregates.
  package var method: String?
  /// `from` steps.
  package var from: [ODataBoundAggregateFrom]
  /// The name of the value; nil if a custom aggregate keeps its own, and in `$these/aggregate(…)`.
  package var alias: String?
  /// The type of the value.
  package var type: ODataBoundType
}

/// `from properties with method`
package struct ODataBoundAggregateFrom: Sendable, Hashable {
  /// The properties to group by.
  package var properties: [ODataBoundPath]
  /// The method.
  package var method: String?
}
