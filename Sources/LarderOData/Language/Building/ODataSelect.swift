/// The properties to return of the entities of a type: `$select`.
///
/// ```swift
/// ODataSelect<Product> {
///   $0.name
///   $0.address.city
/// }
/// ```
public struct ODataSelect<Entity: ODataDescribed>: Sendable {
  let built: [ODataSelectItem]

  private init(_ built: [ODataSelectItem]) { self.built = built }

  /// Creates a selection of the properties in the closure, one per line.
  public init(@ODataSelectBuilder _ items: (ODataSelection<Entity>) -> [ODataSelectItem]) {
    built = items(ODataSelection(.instance))
  }

  /// The items for a version.
  package func items(_ version: ODataVersion = .v401) -> [ODataSelectItem] {
    var options = ODataQueryOptions()
    options.select = built
    return DialectSpelling.options(options, version.dialect).select
  }

  /// The value of `$select=`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(items(version))
  }

  /// Joins two selections.
  public static func + (left: ODataSelect, right: ODataSelect) -> ODataSelect { ODataSelect(left.built + right.built) }
}

extension ODataSelect where Entity == ODataUntyped {
  /// Creates a selection of properties accessed by name.
  public init(@ODataSelectBuilder _ items: (ODataSelection<ODataUntyped>) -> [ODataSelectItem]) {
    built = items(ODataSelection(.instance))
  }
}

/// The properties of a type in `$select`. Without a property, it selects all structural ones, `*`.
@dynamicMemberLookup
public struct ODataSelection<Entity: ODataDescribed>: Sendable {
  private let path: ODataPath

  init(_ path: ODataPath) { self.path = path }

  /// A property by its field.
  public subscript<Member: ODataMember>(dynamicMember field: KeyPath<Entity.Fields, Member>) -> Member.Selection {
    Entity.Fields()[keyPath: field].selection(at: path)
  }

  /// A property accessed by name; members of a complex property can follow.
  public subscript(name: String) -> ODataSelection<ODataUntyped> {
    ODataSelection<ODataUntyped>(path.appending(.name(name)))
  }

  /// Casts to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataSelection<Derived> {
    ODataSelection<Derived>(path.appending(.qualifiedName(Derived.odataTypeName)))
  }

  fileprivate var item: ODataSelectItem { ODataSelectItem(path.segments.isEmpty ? path.appending(.star) : path) }
}

/// A collection of complex values in `$select`, with options of its own (4.01).
public struct ODataSelectedItems<Entity: ODataDescribed>: ODataCollectionOptions, ODataSelectOption, Sendable {
  fileprivate var item: ODataSelectItem

  init(_ path: ODataPath) { item = ODataSelectItem(path) }

  /// The nested options, written in parentheses.
  public var options: ODataQueryOptions {
    get { item.options }
    set { item.options = newValue }
  }
}

/// Collects the items of `$select`, one per line.
@resultBuilder
public enum ODataSelectBuilder {
  /// A primitive or navigation property.
  public static func buildExpression(_ item: ODataSelectItem) -> [ODataSelectItem] { [item] }
  /// A complex property, a property accessed by name, or all structural properties.
  public static func buildExpression(_ part: ODataSelection<some ODataDescribed>) -> [ODataSelectItem] { [part.item] }
  /// A collection of complex values.
  public static func buildExpression(_ part: ODataSelectedItems<some ODataDescribed>) -> [ODataSelectItem] {
    [part.item]
  }
  /// All items in their order.
  public static func buildBlock(_ items: [ODataSelectItem]...) -> [ODataSelectItem] { items.flatMap(\.self) }
  /// Items of an `if`.
  public static func buildOptional(_ items: [ODataSelectItem]?) -> [ODataSelectItem] { items ?? [] }
  /// Items of an `if`.
  public static func buildEither(first items: [ODataSelectItem]) -> [ODataSelectItem] { items }
  /// Items of an `else`.
  public static func buildEither(second items: [ODataSelectItem]) -> [ODataSelectItem] { items }
  /// Items of a loop.
  public static func buildArray(_ items: [[ODataSelectItem]]) -> [ODataSelectItem] { items.flatMap(\.self) }
}
