/// Query options checked against the resource that they stand on (URL Conventions 4.01 §5).
public struct ODataBoundOptions: Sendable, Hashable {
  /// `$apply`
  public var apply: [ODataBoundTransformation]?
  /// `$compute`
  public var compute: [ODataBoundCompute] = []
  /// `$filter`
  public var filter: ODataBoundExpression?
  /// `$search`
  public var search: ODataSearchExpression?
  /// `$orderby`
  public var orderBy: [ODataBoundOrderBy] = []
  /// `$select`; empty for all properties that the service sends by default.
  public var select: [ODataBoundSelectItem] = []
  /// `$expand`
  public var expand: [ODataBoundExpandItem] = []
  /// `$skip`
  public var skip: Int?
  /// `$top`
  public var top: Int?
  /// `$count`, in V2 `$inlinecount`.
  public var count: Bool?
  /// `$levels`
  public var levels: ODataLevels?
  /// `$index`
  public var index: Int?
  /// `$format`
  public var format: String?
  /// `$schemaversion`
  public var schemaVersion: String?
  /// `$skiptoken`
  public var skipToken: String?
  /// `$deltatoken`
  public var deltaToken: String?
  /// `$id`
  public var id: String?
  /// Options that OData does not define, without those that were a function's parameters.
  public var custom: [ODataCustomOption] = []
  /// The type of the instances that the options select from, after `$apply` and `$compute`.
  public var type: ODataBoundType?

  init() {}
}

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
}
