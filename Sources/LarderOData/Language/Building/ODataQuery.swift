/// A query of a set: a path and options, built by chained calls.
///
/// ```swift
/// let query = ODataQuery<Product>("Products")
///   .filter { $0.price > 100 && $0.name.contains("x") }
///   .orderBy { $0.price.descending }
///   .expand { $0.category.select { $0.name } }
///   .top(10)
/// let url = try query.text()
/// ```
///
/// A query can be written in both dialects: `query.text(.v2)` throws an ``ODataPrintingError`` for anything V2 lacks.
public struct ODataQuery<Entity: ODataDescribed>: ODataCollectionOptions, ODataEntityOptions, Sendable {
  /// The path of the set, singleton or property.
  public var path: ODataPath
  /// The options as built, not yet converted to a version.
  public var options = ODataQueryOptions()
  /// Whether `$select` names the properties of the type, and of expanded types, where nothing is selected.
  package var selectsDeclared = false

  /// Creates a query of an entity set or singleton.
  public init(_ entitySet: String) { path = ODataPath.instance.appending(.name(entitySet)) }

  /// Creates a query of any resource.
  public init(path: ODataPath) { self.path = path }

  /// The entity with a key of one property.
  public func key(_ value: some ODataPrimitive) -> ODataQuery {
    with(arguments: [ODataArgument(value: value.odataExpression)])
  }

  /// The entity with a key of several properties, in the key's order.
  public func key(_ parts: KeyValuePairs<String, any ODataPrimitive>) -> ODataQuery {
    with(arguments: parts.map { ODataArgument(name: $0.key, value: $0.value.odataExpression) })
  }

  /// The query of another resource that selects the declared properties if this one does.
  package func at<Other: ODataDescribed>(_ path: ODataPath, as type: Other.Type) -> ODataQuery<Other> {
    var query = ODataQuery<Other>(path: path)
    query.selectsDeclared = selectsDeclared
    return query
  }

  func with(arguments: [ODataArgument]) -> ODataQuery {
    var copy = self
    copy.path = path.appending(.arguments(arguments))
    return copy
  }

  /// Adds a custom option, such as SAP's `sap-client` or a parameter of a function import.
  public func custom(_ name: String, _ value: String) -> ODataQuery {
    with { $0.custom.append(ODataCustomOption(name: name, value: value)) }
  }

  /// `$format`
  public func format(_ format: String) -> ODataQuery { with { $0.format = format } }

  /// The URL as a tree for a version.
  public func url(_ version: ODataVersion = .v401) -> ODataURL {
    let options = selectsDeclared ? options.selecting(Entity.odataSelection) : options
    return ODataURL(
      .path(DialectSpelling.path(path, version.dialect)),
      options: DialectSpelling.options(options, version.dialect))
  }

  /// The options as a tree for a version.
  package func queryOptions(_ version: ODataVersion = .v401) -> ODataQueryOptions { url(version).options }

  /// The URL relative to the service's root, percent-encoded: `Products?$filter=…`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(url(version))
  }
}

extension ODataQuery where Entity == ODataUntyped {
  /// Creates a query of an entity set or singleton whose type is not described.
  public init(_ entitySet: String) { path = ODataPath.instance.appending(.name(entitySet)) }
}

extension ODataQueryOptions {
  /// The options with `$select` of some properties if nothing is selected, and with those of the types of expanded
  /// entities.
  fileprivate func selecting(_ properties: [String]) -> ODataQueryOptions {
    var options = self
    if select.isEmpty {
      options.select = properties.map { name in
        ODataSelectItem(ODataPath.instance.appending(name == "*" ? .star : .name(name)))
      }
    }
    options.expand = expand.map { item in
      ODataExpandItem(item.path, options: item.options.selecting(item.selection))
    }
    return options
  }
}
