/// A condition on the entities of a type: `$filter`.
///
/// ```swift
/// let dear = ODataFilter<Product> { $0.price > 100 && $0.name.contains("x") }
/// let any = ODataFilter { $0["Price"] > 100 && $0["Category"]["Name"].contains("x") }
/// ```
///
/// Filters are combined with `&&`, `||` and `!`. They contain values, never text: a text from a user cannot change the
/// filter.
public struct ODataFilter<Entity: ODataDescribed>: Sendable {
  let built: ODataExpression

  private init(_ built: ODataExpression) { self.built = built }

  /// Creates a filter from the condition that the closure returns for an entity.
  public init(_ condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) {
    built = LambdaNaming.naming(condition(ODataInstance(path: .instance)).expression)
  }

  /// The expression for a version: V2's own forms of expressions, and V4's numbers in the types that a parser reads.
  package func expression(_ version: ODataVersion = .v401) -> ODataExpression {
    DialectSpelling.expression(built, version.dialect)
  }

  /// The value of `$filter=`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(expression(version))
  }

  /// A filter that requires both conditions.
  public static func && (left: ODataFilter, right: ODataFilter) -> ODataFilter {
    ODataFilter(.all([left.built, right.built]))
  }

  /// A filter that requires one of the conditions.
  public static func || (left: ODataFilter, right: ODataFilter) -> ODataFilter {
    ODataFilter(.any([left.built, right.built]))
  }

  /// A filter that negates the condition.
  public static prefix func ! (filter: ODataFilter) -> ODataFilter {
    ODataFilter(ODataExpression(.not(filter.built)))
  }
}

extension ODataFilter where Entity == ODataUntyped {
  /// Creates a filter on properties accessed by name.
  public init(_ condition: (ODataInstance<ODataUntyped>) -> ODataOperand<Bool>) {
    built = LambdaNaming.naming(condition(ODataInstance(path: .instance)).expression)
  }
}

/// An order of the entities of a type: `$orderby`.
///
/// ```swift
/// ODataOrderBy<Product> { [$0.price.descending, $0.name.ascending] }
/// ```
public struct ODataOrderBy<Entity: ODataDescribed>: Sendable {
  let built: [ODataOrderByItem]

  private init(_ built: [ODataOrderByItem]) { self.built = built }

  /// Creates an order from the items in the closure; the first item decides first.
  public init(@ODataOrderByBuilder _ items: (ODataOrdering<Entity>) -> [ODataOrderByItem]) {
    built = items(ODataOrdering(.instance)).map {
      ODataOrderByItem(LambdaNaming.naming($0.expression), isDescending: $0.isDescending)
    }
  }

  /// The items for a version.
  package func items(_ version: ODataVersion = .v401) -> [ODataOrderByItem] {
    built.map {
      ODataOrderByItem(DialectSpelling.expression($0.expression, version.dialect), isDescending: $0.isDescending)
    }
  }

  /// The value of `$orderby=`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(items(version))
  }

  /// Orders by the left items, then by the right ones.
  public static func + (left: ODataOrderBy, right: ODataOrderBy) -> ODataOrderBy {
    ODataOrderBy(left.built + right.built)
  }
}

extension ODataOrderBy where Entity == ODataUntyped {
  /// Creates an order by properties accessed by name.
  public init(@ODataOrderByBuilder _ items: (ODataOrdering<ODataUntyped>) -> [ODataOrderByItem]) {
    built = items(ODataOrdering(.instance)).map {
      ODataOrderByItem(LambdaNaming.naming($0.expression), isDescending: $0.isDescending)
    }
  }
}

/// Collects the items of an order: one per line, or an array of them.
@resultBuilder
public enum ODataOrderByBuilder {
  /// One item.
  public static func buildExpression(_ item: ODataOrderByItem) -> [ODataOrderByItem] { [item] }
  /// A value in ascending order.
  public static func buildExpression(_ operand: ODataOperand<some ODataPrimitive>) -> [ODataOrderByItem] {
    [operand.ascending]
  }
  /// A property accessed by name, in ascending order.
  public static func buildExpression(_ operand: ODataDynamic) -> [ODataOrderByItem] { [operand.ascending] }
  /// Several items.
  public static func buildExpression(_ items: [ODataOrderByItem]) -> [ODataOrderByItem] { items }
  /// All items in their order.
  public static func buildBlock(_ items: [ODataOrderByItem]...) -> [ODataOrderByItem] { items.flatMap(\.self) }
  /// Items of an `if`.
  public static func buildOptional(_ items: [ODataOrderByItem]?) -> [ODataOrderByItem] { items ?? [] }
  /// Items of an `if`.
  public static func buildEither(first items: [ODataOrderByItem]) -> [ODataOrderByItem] { items }
  /// Items of an `else`.
  public static func buildEither(second items: [ODataOrderByItem]) -> [ODataOrderByItem] { items }
  /// Items of a loop.
  public static func buildArray(_ items: [[ODataOrderByItem]]) -> [ODataOrderByItem] { items.flatMap(\.self) }
}
