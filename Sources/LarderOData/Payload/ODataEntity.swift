/// An entity as a payload carries it: what it is, where it lives, its properties and links.
///
/// Nothing here is computed: a link that the payload leaves out is nil, even where the conventions would give it
/// (OData JSON Format 4.01 §4.5 and §6; OData V2 JSON Format, "Representing Entries").
public struct ODataEntity: Sendable, Hashable {
  /// The qualified type name, without `#`; nil where the payload does not say it.
  public var typeName: String?
  /// The entity-id (`@odata.id`, V2 `__metadata.id`, Atom `id`); nil where it is not said.
  public var id: String?
  /// True where the payload says that the entity has no id (`"@odata.id": null`, §4.6.8).
  public var isTransient = false
  /// Where the entity is changed (`@odata.editLink`, V2 `__metadata.uri`).
  public var editLink: String?
  /// Where the entity is read (`@odata.readLink`, Atom `self`).
  public var readLink: String?
  /// The entity's ETag, with its quotes and `W/`.
  public var etag: String?
  /// The media resource of a media entity.
  public var media: ODataMediaLink?
  /// The structural properties in their order.
  public var properties: [ODataProperty]
  /// The navigation properties that the payload mentions, in their order.
  public var navigationLinks: [ODataNavigationLink]
  /// Named streams: where each is read and changed.
  public var streams: [ODataStreamProperty]
  /// Actions and functions that the payload advertises for this entity.
  public var operations: [ODataOperation]
  /// Instance annotations on the entity, control information of no name above among them.
  public var annotations: [ODataAnnotation]
  /// Why the entity is gone; nil for an entity that is there (V4 `@removed`, V2 `__metadata.deleted`, Atom tombstone).
  public var removal: ODataRemoval?
  /// The context URL that stands on the entity itself; nil where it has none of its own.
  public var context: String?

  /// An entity of the given properties.
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

  /// The value of a structural property; nil where there is none of that name. Walks the properties.
  public subscript(name: String) -> ODataValue? { properties.first { $0.name == name }?.value }

  /// The navigation link of a name; nil where the payload does not mention it. Walks the links.
  public func navigationLink(_ name: String) -> ODataNavigationLink? { navigationLinks.first { $0.name == name } }
}

/// Where a media resource or named stream is read and changed, and of which type and version it is.
public struct ODataMediaLink: Sendable, Hashable {
  /// Where the bytes are read.
  public var readLink: String?
  /// Where the bytes are changed.
  public var editLink: String?
  /// The media type of the bytes.
  public var contentType: String?
  /// The ETag of the bytes, apart from the entity's.
  public var etag: String?
  /// The bytes, where the payload carries them inline (OData JSON Format 4.01 §9).
  public var content: ODataValue?

  /// Makes a link.
  public init(
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
  /// Where its bytes are.
  public var link: ODataMediaLink

  /// Joins a name and a link.
  public init(name: String, link: ODataMediaLink) {
    self.name = name
    self.link = link
  }
}

/// An action or function that the service offers on this entity or collection (OData JSON Format 4.01 §15 and §16).
public struct ODataOperation: Sendable, Hashable {
  /// Which of the two.
  public enum Kind: Sendable, Hashable {
    /// May have side effects; called by POST.
    case action
    /// Has none; called by GET.
    case function
    /// The payload does not say which (the V4 form `#Name` needs the metadata).
    case unknown
  }
  /// Which of the two.
  public var kind: Kind
  /// The qualified name, or the metadata URL's fragment in V3; without `#`.
  public var name: String
  /// A name for people.
  public var title: String?
  /// Where it is called; nil where it follows from the conventions, or the operation is not offered (`isAvailable`).
  public var target: String?
  /// False where the payload says by `null` that the operation is not offered now.
  public var isAvailable = true
  /// What else the payload says of it.
  public var annotations: [ODataAnnotation]

  /// Makes an operation.
  public init(kind: Kind, name: String, title: String? = nil, target: String? = nil) {
    self.kind = kind
    self.name = name
    self.title = title
    self.target = target
    annotations = []
  }
}

/// Why an entity is no longer in a collection (OData JSON Format 4.01 §15.3).
public enum ODataRemoval: Sendable, Hashable {
  /// It was deleted.
  case deleted
  /// It exists, and no longer matches the request.
  case changed
  /// The payload has no reason, or another text as the reason.
  case other(String?)
}
