/// A collection of entities, or one page of it (OData JSON Format 4.01 §12; V2 `results`, Atom feed).
public struct ODataEntityCollection: Sendable, Hashable {
  /// The context URL; nil if the payload has none.
  package var context: String?
  /// The entities of this page, in their order.
  public var entities: [ODataEntity]
  /// The number of entities on all pages, if the request asked for it (`$count=true`, `$inlinecount=allpages`).
  public var count: Int64?
  /// The next page; nil for the last one.
  public var nextLink: String?
  /// The URL of changes since this response; only on the last page.
  public var deltaLink: String?
  /// The URL of the collection itself, if the payload contains it.
  public var readLink: String?
  /// Actions and functions that are offered on the collection.
  public var operations: [ODataOperation]
  /// Instance annotations on the collection.
  public var annotations: [ODataAnnotation]

  /// Creates a collection of the given entities.
  public init(
    entities: [ODataEntity] = [], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil,
    context: String? = nil
  ) {
    self.entities = entities
    self.count = count
    self.nextLink = nextLink
    self.deltaLink = deltaLink
    self.context = context
    operations = []
    annotations = []
  }
}

/// A reference to an entity: its id alone (`$ref`, V2 `$links`; OData JSON Format 4.01 §14).
public struct ODataReference: Sendable, Hashable {
  /// The entity-id, absolute or relative to the context.
  public var id: String
  /// Instance annotations on the reference.
  public var annotations: [ODataAnnotation]

  /// Creates a reference to an id.
  public init(id: String, annotations: [ODataAnnotation] = []) {
    self.id = id
    self.annotations = annotations
  }
}

/// References to the entities of a collection, or one page of them.
public struct ODataReferenceCollection: Sendable, Hashable {
  /// The context URL; nil if the payload has none.
  package var context: String?
  /// The references of this page, in their order.
  public var references: [ODataReference]
  /// The number of references on all pages.
  public var count: Int64?
  /// The next page; nil for the last one.
  public var nextLink: String?
  /// Instance annotations on the collection.
  public var annotations: [ODataAnnotation]

  /// Creates a collection of the given references.
  package init(
    references: [ODataReference] = [], count: Int64? = nil, nextLink: String? = nil, context: String? = nil,
    annotations: [ODataAnnotation] = []
  ) {
    self.references = references
    self.count = count
    self.nextLink = nextLink
    self.context = context
    self.annotations = annotations
  }
}
