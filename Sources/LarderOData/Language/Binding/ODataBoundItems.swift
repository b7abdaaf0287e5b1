// The items of bound query options.

/// An item of `$compute`.
package struct ODataBoundCompute: Sendable, Hashable {
  /// The expression.
  package var expression: ODataBoundExpression
  /// The name of its value.
  package var alias: String
}

/// An item of `$orderby`.
package struct ODataBoundOrderBy: Sendable, Hashable {
  /// The primitive value to order by.
  package var expression: ODataBoundExpression
  /// `desc`
  package var isDescending: Bool
}

/// An item of `$select`: a path that ends with a property, an operation, `*` or `Ns.*`.
package struct ODataBoundSelectItem: Sendable, Hashable {
  /// The path.
  package var path: ODataBoundPath
  /// Options of a complex property or a collection.
  package var options: ODataBoundOptions?
}

/// An item of `$expand`: a path that ends with a navigation property, a cast after one, a stream property, `*` or
/// `$value`.
package struct ODataBoundExpandItem: Sendable, Hashable {
  /// The kinds of expanded content.
  package enum Content: Sendable, Hashable {
    /// The related entities.
    case entities
    /// `$ref`: their references.
    case references
    /// `$count`: the number of related entities.
    case count
    /// A media stream or a stream property.
    case stream
  }

  /// The path, without `$ref` and `$count`.
  package var path: ODataBoundPath
  /// The kind of expanded content.
  package var content: Content
  /// The options of the expanded entities; nil if there are none.
  package var options: ODataBoundOptions?
  /// The options `$compute`, `$expand` and `$select` of entities of any type, unbound, with the aliases of the URL; nil
  /// if there are none, or if the binder binds them.
  package var unbound: ODataQueryOptions?
}
