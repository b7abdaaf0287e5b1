/// What changed since a delta link was made, or one page of it (OData JSON Format 4.01 §15).
///
/// The 4.0 spellings (`$deletedEntity`, `id`, `reason`), those of 4.01 (`@removed`), V2 JSON (`__metadata.deleted`)
/// and Atom tombstones end up in the same items, in the order of the payload.
public struct ODataDelta: Sendable, Hashable {
  /// One change.
  public enum Item: Sendable, Hashable {
    /// An entity was added or changed: the properties given have new values.
    case entity(ODataEntity)
    /// An entity was deleted or no longer matches, as `removal` says; `id` or the key properties identify it.
    case deletedEntity(ODataEntity)
    /// Two entities became related.
    case addedLink(ODataDeltaLink)
    /// Two entities are no longer related.
    case deletedLink(ODataDeltaLink)
  }

  /// The context URL; nil where the payload has none.
  public var context: String?
  /// The changes in their order.
  public var items: [Item]
  /// How many there are over all pages, where the payload says it.
  public var count: Int64?
  /// The next page; nil for the last one.
  public var nextLink: String?
  /// Where later changes are read; on the last page only.
  public var deltaLink: String?
  /// Instance annotations on the delta.
  public var annotations: [ODataAnnotation]

  /// A delta of the given changes.
  public init(
    items: [Item] = [], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil, context: String? = nil
  ) {
    self.items = items
    self.count = count
    self.nextLink = nextLink
    self.deltaLink = deltaLink
    self.context = context
    annotations = []
  }
}

/// A link that was added or deleted (OData JSON Format 4.01 §15.4 and §15.5).
public struct ODataDeltaLink: Sendable, Hashable {
  /// The entity-id where the link starts.
  public var source: String
  /// The navigation property's name, or a path to it through complex properties.
  public var relationship: String
  /// The entity-id where the link ends; nil for a deleted to-one link.
  public var target: String?
  /// What else the payload says of it.
  public var annotations: [ODataAnnotation]

  /// Makes a link.
  public init(source: String, relationship: String, target: String?, annotations: [ODataAnnotation] = []) {
    self.source = source
    self.relationship = relationship
    self.target = target
    self.annotations = annotations
  }
}
