/// The parsed URL of an OData service (URL Conventions 4.01; ABNF `odataUri`).
public struct ODataURL: Sendable, Hashable {
  /// `https://host/service/`; nil if the URL is relative to it.
  public var serviceRoot: String?
  /// The resource that the path identifies.
  package var resource: ODataResource
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

  /// The path of the resource; nil for the service's root, `$metadata`, `$batch` and `$entity`.
  public var path: ODataPath? {
    if case .path(let path) = resource { path } else { nil }
  }
}

/// The kinds of resources that a URL identifies.
package enum ODataResource: Sendable, Hashable {
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
package struct ODataContextFragment: Sendable, Hashable {
  /// The path; `Collection(…)` is ``collectionOf`` with an empty path.
  package var path: ODataPath
  /// The content of `Collection(…)`: `$ref`, `Edm.EntityType`, `Edm.ComplexType` or a qualified type.
  package var collectionOf: String?
  /// The select list; nil if there are no parentheses.
  package var selectList: [ODataSelectListItem]?
  /// `$entity`, `$delta`, `$deletedEntity`, `$link`, `$deletedLink`, `$ref`.
  package var item: String?

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
package struct ODataSelectListItem: Sendable, Hashable {
  /// The path: a property, `*`, an operation, an annotation.
  package var path: ODataPath
  /// Whether the property is expanded without being selected: `+`.
  package var isExpanded: Bool
  /// The list in parentheses after it.
  package var nested: [ODataSelectListItem]?

  /// Creates an item.
  package init(path: ODataPath, isExpanded: Bool = false, nested: [ODataSelectListItem]? = nil) {
    self.path = path
    self.isExpanded = isExpanded
    self.nested = nested
  }
}
