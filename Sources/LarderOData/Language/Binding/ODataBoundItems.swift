// The items of bound query options.

/// An item of `$compute`.
public struct ODataBoundCompute: Sendable, Hashable {
  /// The expression.
  public var expression: ODataBoundExpression
  /// The name of its value.
  public var alias: String
}

/// An item of `$orderby`.
public struct ODataBoundOrderBy: Sendable, Hashable {
  /// What is ordered by: a primitive value.
  public var expression: ODataBoundExpression
  /// `desc`
  public var isDescending: Bool
}

/// An item of `$select`: a path that ends with a property, an operation, `*` or `Ns.*`.
public struct ODataBoundSelectItem: Sendable, Hashable {
  /// The path.
  public var path: ODataBoundPath
  /// Options of a complex property or a collection.
  public var options: ODataBoundOptions?
}

/// An item of `$expand`: a path that ends with a navigation property, a cast behind one, a stream property, `*` or `$value`.
public struct ODataBoundExpandItem: Sendable, Hashable {
  /// What is expanded.
  public enum Content: Sendable, Hashable {
    /// The related entities.
    case entities
    /// `$ref`: their references.
    case references
    /// `$count`: how many they are.
    case count
    /// A media stream or a stream property.
    case stream
  }

  /// The path, without `$ref` and `$count`.
  public var path: ODataBoundPath
  /// What is expanded.
  public var content: Content
  /// Options of the expanded entities; nil where there are none.
  public var options: ODataBoundOptions?
  /// Of entities of any type, `$compute`, `$expand` and `$select` as they were given, with the aliases of the URL; nil where
  /// there are none, and where the binder binds them.
  package var kept: ODataQueryOptions?
}
