/// The parsed URL of an OData service (URL Conventions 4.01; ABNF `odataUri`).
public struct ODataURL: Sendable, Hashable {
  /// `https://host/service/`; nil if the URL is relative to it.
  public var serviceRoot: String?
  /// The resource that the path identifies.
  public var resource: ODataResource
  /// The options after `?`.
  public var options: ODataQueryOptions

  /// Joins all.
  package init(
    serviceRoot: String? = nil, _ resource: ODataResource, options: ODataQueryOptions = ODataQueryOptions()
  ) {
    self.serviceRoot = serviceRoot
    self.resource = resource
    self.options = options
  }
}

/// The kinds of resources that a URL identifies.
public enum ODataResource: Sendable, Hashable {
  /// The service's root: its service document.
  case service
  /// `$batch`
  case batch
  /// `$metadata`, with the fragment of a context URL if there is one.
  indirect case metadata(ODataContextFragment?)
  /// `$entity`, cast to a type if one follows (§4.3.4).
  case entity(castTo: String?)
  /// Everything else: sets, singletons, imports, `$crossjoin`, `$all`.
  case path(ODataPath)
}

/// The text after `#` of a context URL (Protocol §10; ABNF `contextFragment`).
public struct ODataContextFragment: Sendable, Hashable {
  /// The path; `Collection(…)` is ``collectionOf`` with an empty path.
  public var path: ODataPath
  /// The content of `Collection(…)`: `$ref`, `Edm.EntityType`, `Edm.ComplexType` or a qualified type.
  public var collectionOf: String?
  /// The select list; nil if there are no parentheses.
  public var selectList: [ODataSelectListItem]?
  /// `$entity`, `$delta`, `$deletedEntity`, `$link`, `$deletedLink`, `$ref`.
  public var item: String?

  /// Joins all.
  package init(
    path: ODataPath, collectionOf: String? = nil, selectList: [ODataSelectListItem]? = nil, item: String? = nil
  ) {
    self.path = path
    self.collectionOf = collectionOf
    self.selectList = selectList
    self.item = item
  }
}

/// An item of a context URL's select list (Protocol §10.7 to §10.11).
public struct ODataSelectListItem: Sendable, Hashable {
  /// The path: a property, `*`, an operation, an annotation.
  public var path: ODataPath
  /// Whether the property is expanded without being selected: `+`.
  public var isExpanded: Bool
  /// The list in parentheses after it.
  public var nested: [ODataSelectListItem]?

  /// Creates an item.
  package init(path: ODataPath, isExpanded: Bool = false, nested: [ODataSelectListItem]? = nil) {
    self.path = path
    self.isExpanded = isExpanded
    self.nested = nested
  }
}
