/// A condition on the entities of a type: `$filter`.
///
/// ```swift
/// let dear = ODataFilter<Product> { $0.price > 100 && $0.name.contains("x") }
/// let any = ODataFilter { $0["Price"] > 100 && $0["Category"]["Name"].contains("x") }
/// ```
///
/// Filters compose by `&&`, `||` and `!`. They hold values, never text: a text of a user's stays one, whatever it holds.
public struct ODataFilter<Entity: ODataDescribed>: Sendable {
  let built: ODataExpression

  private init(_ built: ODataExpression) { self.built = built }

  /// The condition that the closure gives for an entity.
  public init(_ condition: (ODataInstance<Entity>) -> ODataOperand<Bool>) {
    built = LambdaNaming.naming(condition(ODataInstance(path: .instance)).expression)
  }

  /// The tree for a version: what V2 spells otherwise is other expressions there, and numbers of V4 are what a parser reads.
  public func expression(_ version: ODataVersion = .v401) -> ODataExpression {
    DialectSpelling.expression(built, version.dialect)
  }

  /// The text behind `$filter=`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(expression(version))
  }

  /// Both.
  public static func && (left: ODataFilter, right: ODataFilter) -> ODataFilter {
    ODataFilter(.all([left.built, right.built]))
  }

  /// One of both.
  public static func || (left: ODataFilter, right: ODataFilter) -> ODataFilter {
    ODataFilter(.any([left.built, right.built]))
  }

  /// Not this one.
  public static prefix func ! (filter: ODataFilter) -> ODataFilter {
    ODataFilter(ODataExpression(.not(filter.built)))
  }
}

extension ODataFilter where Entity == ODataUntyped {
  /// A condition on properties by their names.
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

  /// The order that the closure gives, the first item foremost.
  public init(@ODataOrderByBuilder _ items: (ODataInstance<Entity>) -> [ODataOrderByItem]) {
    built = items(ODataInstance(path: .instance)).map {
      ODataOrderByItem(LambdaNaming.naming($0.expression), isDescending: $0.isDescending)
    }
  }

  /// The items for a version.
  public func items(_ version: ODataVersion = .v401) -> [ODataOrderByItem] {
    built.map {
      ODataOrderByItem(DialectSpelling.expression($0.expression, version.dialect), isDescending: $0.isDescending)
    }
  }

  /// The text behind `$orderby=`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(items(version))
  }

  /// The left order, and the right one where that finds no difference.
  public static func + (left: ODataOrderBy, right: ODataOrderBy) -> ODataOrderBy {
    ODataOrderBy(left.built + right.built)
  }
}

extension ODataOrderBy where Entity == ODataUntyped {
  /// An order by properties by their names.
  public init(@ODataOrderByBuilder _ items: (ODataInstance<ODataUntyped>) -> [ODataOrderByItem]) {
    built = items(ODataInstance(path: .instance)).map {
      ODataOrderByItem(LambdaNaming.naming($0.expression), isDescending: $0.isDescending)
    }
  }
}

/// Collects the items of an order: one a line, or an array of them.
@resultBuilder
public enum ODataOrderByBuilder {
  /// One item.
  public static func buildExpression(_ item: ODataOrderByItem) -> [ODataOrderByItem] { [item] }
  /// A value, the least first.
  public static func buildExpression(_ operand: ODataOperand<some ODataPrimitive>) -> [ODataOrderByItem] {
    [operand.ascending]
  }
  /// A property by its name, the least first.
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
