/// The related entities to include with the entities of a type: `$expand`.
///
/// ```swift
/// ODataExpand<Product> { $0.category.select { $0.name } }
/// ODataExpand<Category> { $0.products.filter { $0.price > 100 }.orderBy { $0.price.descending }.top(5) }
/// ```
///
/// For V2, which has no nested options, nested expansions and selections become paths.
public struct ODataExpand<Entity: ODataDescribed>: Sendable {
  let built: [ODataExpandItem]

  private init(_ built: [ODataExpandItem]) { self.built = built }

  /// Creates an expansion of the navigation properties in the closure, one per line.
  public init(@ODataExpandBuilder _ items: (ODataExpansion<Entity>) -> [ODataExpandItem]) {
    built = items(ODataExpansion(.instance))
  }

  /// Expands all navigation properties, `*`, to the given number of levels.
  public static func all(levels: ODataLevels? = nil) -> ODataExpand {
    var options = ODataQueryOptions()
    options.levels = levels
    return ODataExpand([ODataExpandItem(ODataPath.instance.appending(.star), options: options)])
  }

  /// The items for V4.
  package func items(_ version: ODataVersion = .v401) -> [ODataExpandItem] {
    var options = ODataQueryOptions()
    options.expand = built
    return DialectSpelling.options(options, version.dialect).expand
  }

  /// The value of `$expand=`. In V2, nested selections are part of `$select`: use ``ODataQuery`` for both.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(items(version))
  }

  /// Joins two expansions.
  public static func + (left: ODataExpand, right: ODataExpand) -> ODataExpand { ODataExpand(left.built + right.built) }
}

extension ODataExpand where Entity == ODataUntyped {
  /// Creates an expansion of navigation properties, accessed by name.
  public init(@ODataExpandBuilder _ items: (ODataExpansion<ODataUntyped>) -> [ODataExpandItem]) {
    built = items(ODataExpansion(.instance))
  }
}

/// The navigation properties of a type in `$expand`, and its complex properties, through which theirs are reached.
@dynamicMemberLookup
public struct ODataExpansion<Entity: ODataDescribed>: Sendable {
  private let path: ODataPath

  init(_ path: ODataPath) { self.path = path }

  /// A navigation property by its field.
  public subscript<Member: ODataExpandableMember>(
    dynamicMember field: KeyPath<Entity.Fields, Member>
  ) -> Member.Expansion { Entity.Fields()[keyPath: field].expansion(at: path) }

  /// A navigation property by its name.
  public subscript(name: String) -> ODataExpandedCollection<ODataUntyped> {
    ODataExpandedCollection<ODataUntyped>(path.appending(.name(name)))
  }

  /// The navigation properties of a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataExpansion<Derived> {
    ODataExpansion<Derived>(path.appending(.qualifiedName(Derived.odataTypeName)))
  }
}

/// An expanded entity.
public struct ODataExpandedEntity<Entity: ODataDescribed>: ODataEntityOptions, Sendable {
  fileprivate var item: ODataExpandItem

  init(_ path: ODataPath) {
    item = ODataExpandItem(path)
    item.selection = Entity.odataSelection
  }

  /// The nested options, written in parentheses.
  public var options: ODataQueryOptions {
    get { item.options }
    set { item.options = newValue }
  }

  /// Casts the entity to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataExpandedEntity<Derived> {
    ODataExpandedEntity<Derived>(item.path.appending(.qualifiedName(Derived.odataTypeName)))
  }

  /// `$ref`: the reference instead of the entity.
  public var reference: ODataExpandItem { item.with(.ref) }
}

/// Expanded entities.
public struct ODataExpandedCollection<Entity: ODataDescribed>: ODataCollectionOptions, ODataEntityOptions, Sendable {
  fileprivate var item: ODataExpandItem

  init(_ path: ODataPath) {
    item = ODataExpandItem(path)
    item.selection = Entity.odataSelection
  }

  /// The nested options, written in parentheses.
  public var options: ODataQueryOptions {
    get { item.options }
    set { item.options = newValue }
  }

  /// Casts the entities to a derived type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> ODataExpandedCollection<Derived> {
    ODataExpandedCollection<Derived>(item.path.appending(.qualifiedName(Derived.odataTypeName)))
  }

  /// `$ref`: references instead of entities, with the options so far.
  public var references: ODataExpandItem { item.with(.ref) }

  /// `$count`: the number of entities instead of the entities, with the options so far.
  public var itemCount: ODataExpandItem { item.with(.count(nil)) }
}

extension ODataExpandItem {
  fileprivate func with(_ step: ODataPathSegment.Kind) -> ODataExpandItem {
    ODataExpandItem(path.appending(step), options: options)
  }
}

/// Collects the items of `$expand`, one per line.
@resultBuilder
public enum ODataExpandBuilder {
  /// An expanded entity.
  public static func buildExpression(_ part: ODataExpandedEntity<some ODataDescribed>) -> [ODataExpandItem] {
    [part.item]
  }
  /// An expanded collection.
  public static func buildExpression(_ part: ODataExpandedCollection<some ODataDescribed>) -> [ODataExpandItem] {
    [part.item]
  }
  /// References, or the number of entities.
  public static func buildExpression(_ item: ODataExpandItem) -> [ODataExpandItem] { [item] }
  /// All items in their order.
  public static func buildBlock(_ items: [ODataExpandItem]...) -> [ODataExpandItem] { items.flatMap(\.self) }
  /// Items of an `if`.
  public static func buildOptional(_ items: [ODataExpandItem]?) -> [ODataExpandItem] { items ?? [] }
  /// Items of an `if`.
  public static func buildEither(first items: [ODataExpandItem]) -> [ODataExpandItem] { items }
  /// Items of an `else`.
  public static func buildEither(second items: [ODataExpandItem]) -> [ODataExpandItem] { items }
  /// Items of a loop.
  public static func buildArray(_ items: [[ODataExpandItem]]) -> [ODataExpandItem] { items.flatMap(\.self) }
}
