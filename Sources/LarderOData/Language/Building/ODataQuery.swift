/// A query of a set: a path and options, collected one after the other.
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
  /// The options as they were built, not yet fitted to a version.
  public var options = ODataQueryOptions()

  /// A query of an entity set or singleton, by its name.
  public init(_ entitySet: String) { path = ODataPath.instance.appending(.name(entitySet)) }

  /// A query of any resource.
  public init(path: ODataPath) { self.path = path }

  /// The entity with a key of one part.
  public func key(_ value: some ODataPrimitive) -> ODataQuery {
    with(arguments: [ODataArgument(value: value.odataExpression)])
  }

  /// The entity with a key of several parts, in their order.
  public func key(_ parts: KeyValuePairs<String, any ODataPrimitive>) -> ODataQuery {
    with(arguments: parts.map { ODataArgument(name: $0.key, value: $0.value.odataExpression) })
  }

  private func with(arguments: [ODataArgument]) -> ODataQuery {
    var copy = self
    copy.path = path.appending(.arguments(arguments))
    return copy
  }

  /// A custom option: SAP's `sap-client`, a parameter of a function import.
  public func custom(_ name: String, _ value: String) -> ODataQuery {
    with { $0.custom.append(ODataCustomOption(name: name, value: value)) }
  }

  /// `$format`
  public func format(_ format: String) -> ODataQuery { with { $0.format = format } }

  /// The tree for a version.
  public func url(_ version: ODataVersion = .v401) -> ODataURL {
    ODataURL(
      .path(DialectSpelling.path(path, version.dialect)),
      options: DialectSpelling.options(options, version.dialect))
  }

  /// The options' tree for a version.
  public func queryOptions(_ version: ODataVersion = .v401) -> ODataQueryOptions { url(version).options }

  /// The URL relative to the service's root, percent-encoded: `Products?$filter=…`.
  public func text(_ version: ODataVersion = .v401) throws(ODataPrintingError) -> String {
    try ODataPrinter(version: version).print(url(version))
  }
}

extension ODataQuery where Entity == ODataUntyped {
  /// A query of an entity set or singleton of which nothing is known but its name.
  public init(_ entitySet: String) { path = ODataPath.instance.appending(.name(entitySet)) }
}
