/// An entity in a payload: its type, URLs, properties and links.
///
/// Nothing is computed: a link that the payload omits is nil, even if it follows from the conventions (OData JSON
/// Format 4.01 §4.5 and §6; OData V2 JSON Format, "Representing Entries").
public struct ODataEntity: Sendable, Hashable {
  /// The qualified type name, without `#`; nil if the payload does not contain it.
  public var typeName: String?
  /// The entity-id (`@odata.id`, V2 `__metadata.id`, Atom `id`); nil if the payload does not contain it.
  public var id: String?
  /// Whether the payload declares that the entity has no id (`"@odata.id": null`, §4.6.8).
  public var isTransient = false
  /// The URL for changing the entity (`@odata.editLink`, V2 `__metadata.uri`).
  public var editLink: String?
  /// The URL for reading the entity (`@odata.readLink`, Atom `self`).
  public var readLink: String?
  /// The entity's ETag, with its quotes and `W/`.
  public var etag: String?
  /// The media resource of a media entity.
  public var media: ODataMediaLink?
  /// The structural properties in their order.
  public var properties: [ODataProperty]
  /// The navigation properties in the payload, in their order.
  public var navigationLinks: [ODataNavigationLink]
  /// The named streams, with the URLs for reading and changing them.
  public var streams: [ODataStreamProperty]
  /// Actions and functions that the payload advertises for this entity.
  public var operations: [ODataOperation]
  /// Instance annotations on the entity, including control information without a property above.
  public var annotations: [ODataAnnotation]
  /// The reason why the entity was removed; nil for other entities (V4 `@removed`, V2 `__metadata.deleted`, Atom
  /// tombstone).
  public var removal: ODataRemoval?
  /// The context URL of the entity itself; nil if it has none of its own.
  package var context: String?

  /// Creates an entity with the given properties.
  public init(
    typeName: String? = nil, id: String? = nil, properties: [ODataProperty] = [],
    navigationLinks: [ODataNavigationLink] = []
  ) {
    self.typeName = typeName
    self.id = id
    self.properties = properties
    self.navigationLinks = navigationLinks
    streams = []
    operations = []
    annotations = []
  }

  /// The value of a structural property; nil if there is none with that name. Searches linearly.
  public subscript(name: String) -> ODataValue? { properties.first { $0.name == name }?.value }

  /// The navigation link with a name; nil if the payload does not contain it. Searches linearly.
  public func navigationLink(_ name: String) -> ODataNavigationLink? { navigationLinks.first { $0.name == name } }
}

/// A media resource or named stream: the URLs for reading and changing it, its media type and ETag.
public struct ODataMediaLink: Sendable, Hashable {
  /// The URL for reading the bytes.
  public var readLink: String?
  /// The URL for changing the bytes.
  public var editLink: String?
  /// The media type of the bytes.
  public var contentType: String?
  /// The ETag of the bytes, separate from the entity's.
  public var etag: String?
  /// The bytes, if they are inline (OData JSON Format 4.01 §9).
  public var content: ODataValue?

  /// Creates a link.
  package init(
    readLink: String? = nil, editLink: String? = nil, contentType: String? = nil, etag: String? = nil,
    content: ODataValue? = nil
  ) {
    self.readLink = readLink
    self.editLink = editLink
    self.contentType = contentType
    self.etag = etag
    self.content = content
  }
}

/// A named stream of an entity.
public struct ODataStreamProperty: Sendable, Hashable {
  /// The property's name.
  public var name: String
  /// The URLs and the media type of the stream.
  public var link: ODataMediaLink

  /// Creates a stream property.
  package init(name: String, link: ODataMediaLink) {
    self.name = name
    self.link = link
  }
}

/// An action or function that the service offers on this entity or collection (OData JSON Format 4.01 §15 and §16).
public struct ODataOperation: Sendable, Hashable {
  /// The kinds of operations.
  public enum Kind: Sendable, Hashable {
    /// May have side effects; called by POST.
    case action
    /// Has none; called by GET.
    case function
    /// The payload does not say which (the V4 form `#Name` needs the metadata).
    case unknown
  }
  /// The kind of operation.
  public var kind: Kind
  /// The qualified name, or the metadata URL's fragment in V3; without `#`.
  public var name: String
  /// A title for users.
  public var title: String?
  /// The URL for calling it; nil if it follows from the conventions, or if the operation is not offered
  /// (`isAvailable`).
  public var target: String?
  /// False if the payload declares by `null` that the operation is not offered now.
  public var isAvailable = true
  /// Annotations on the operation.
  public var annotations: [ODataAnnotation]

  /// Creates an operation.
  package init(kind: Kind, name: String, title: String? = nil, target: String? = nil) {
    self.kind = kind
    self.name = name
    self.title = title
    self.target = target
    annotations = []
  }
}

/// The reason why an entity is no longer in a collection (OData JSON Format 4.01 §15.3).
public enum ODataRemoval: Sendable, Hashable {
  /// The entity was deleted.
  case deleted
  /// The entity exists, but no longer matches the request.
  case changed
  /// The payload has no reason, or another text as the reason.
  case other(String?)
}
