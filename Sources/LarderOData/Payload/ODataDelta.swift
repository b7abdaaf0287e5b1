/// The changes since a delta link was created, or one page of them (OData JSON Format 4.01 §15).
///
/// The 4.0 spellings (`$deletedEntity`, `id`, `reason`), those of 4.01 (`@removed`), V2 JSON (`__metadata.deleted`) and
/// Atom tombstones are read into the same items, in the order of the payload.
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

  /// The context URL; nil if the payload has none.
  package var context: String?
  /// The changes in their order.
  public var items: [Item]
  /// The number of changes on all pages, if the payload contains it.
  public var count: Int64?
  /// The next page; nil for the last one.
  public var nextLink: String?
  /// The URL of later changes; only on the last page.
  public var deltaLink: String?
  /// Instance annotations on the delta.
  public var annotations: [ODataAnnotation]

  /// Creates a delta with the given changes.
  package init(
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
  /// The entity-id at the start of the link.
  public var source: String
  /// The navigation property's name, or a path to it through complex properties.
  public var relationship: String
  /// The entity-id at the end of the link; nil for a deleted to-one link.
  public var target: String?
  /// Annotations on the link.
  public var annotations: [ODataAnnotation]

  /// Creates a link.
  package init(source: String, relationship: String, target: String?, annotations: [ODataAnnotation] = []) {
    self.source = source
    self.relationship = relationship
    self.target = target
    self.annotations = annotations
  }
}
