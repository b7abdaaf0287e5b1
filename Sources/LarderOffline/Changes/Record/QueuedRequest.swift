import LarderOData

/// A change in the queue: an operation and its target, with entities by their identity. It is converted to an HTTP
/// request only when it is sent, with the keys and ETags that are known then.
struct QueuedRequest: Codable, Hashable, Sendable {
  /// The operation (OData Protocol 4.01 §11.4, §11.5.5).
  enum Operation: String, Codable, Sendable {
    /// POST of an entity to a collection. The body is `.entity`; `entity` is the created one.
    case create
    /// PATCH, MERGE and PUT of an entity. The body is `.entity`.
    case patch, merge, replace
    /// DELETE of an entity.
    case delete
    /// POST of a reference to a collection, PUT of a single one. The body is `.reference`; the path has no `$ref`.
    case createLink, updateLink
    /// DELETE of a reference. To remove one from a collection, the body is `.reference` and names it.
    case deleteLink
    /// PUT, PATCH and DELETE of a property or of its `$value`. The body is `.properties` with one property, or none.
    case replaceProperty, patchProperty, deleteProperty
    /// PUT of a property's or an entity's raw value (`/$value`): the body is `.bytes`.
    case replaceValue
    /// POST of an action. The body is `.properties` with its parameters; `.parameters` if some of them are entities.
    case action
    /// POST of bytes to a collection; PUT and DELETE of a media resource or stream property. The body is `.media`.
    case createMedia, updateMedia, deleteMedia
  }

  var operation: Operation
  var target: QueuedTarget
  var body = QueuedBody.none
  /// The entity that is created or changed; nil if it is not an entity of the store.
  var entity: RowReference?
  /// The header fields to send, in order, as the caller set them.
  var headers: [QueuedHeader] = []
  var customTag: String?
  /// The category that the caller set, to upload only some of the requests.
  var category: String?
  /// Whether it is never merged with another request.
  var isUnmodifiable = false
  /// `representation` or `minimal`; nil leaves it to the service.
  var returnPreference: String?
  /// The ETag of the server's version of the entity when the request was created; nil if there was none.
  var baseETag: String?
  /// Whether an earlier change of the store may have given the entity another ETag since ``baseETag``, which could not be
  /// read: then a condition that fails shows no other client's change.
  var isETagOld: Bool?
  /// For a change of a stream: the ETag of the stream; nil if it was not known.
  var streamETag: String?
  /// For a link to a single entity: its target when the request was created; nil in stores of earlier versions.
  var formerEnd: FormerEnd?
  /// Whether the service has demanded a condition for a request that is sent without one at first: links before V4.
  var wantsCondition: Bool?
  /// For a change of a stream: whether the service rejects the stream's own ETag, so that the request is sent with the
  /// entity's.
  var usesEntityETag: Bool?
  /// The condition that the caller set. Only `*` has an effect when the request is sent; an ETag was compared when it
  /// was created.
  var ifMatch: String?

  init(_ operation: Operation, _ target: QueuedTarget) {
    self.operation = operation
    self.target = target
  }

  /// Whether it is an update that sets a link to a single entity which is not stored in a column.
  var setsLink: Bool {
    guard case .entity(let body) = body else { return false }
    return body.links.contains { $0.formerEnd != nil }
  }

  /// Whether it changes a link to a single entity: as a request for that link, or as an update that sets it.
  var changesSingleLink: Bool { formerEnd != nil || setsLink }
}

/// The target of a link to a single entity before a request that changes it.
enum FormerEnd: Codable, Hashable, Sendable {
  /// No defining query includes the link.
  case unknown
  case nothing
  /// The identity of the entity.
  case row(Int64)
}

/// A header field.
struct QueuedHeader: Codable, Hashable, Sendable {
  var name: String
  var value: String
}

/// The resource of a queued request: a path relative to an entity of the store, or a text.
struct QueuedTarget: Codable, Hashable, Sendable {
  /// The entity at which the path begins; nil if it begins at the service's root.
  var row: RowReference?
  /// The path below the entity, without a leading slash: empty for the entity itself, `Items`, `Ns.Derived/Photo`,
  /// `Name/$value`. Without an entity, the whole path relative to the service's root: `Orders`, `Ns.Reset`.
  var path: String
  /// The query options as the caller set them, without `?`.
  var query: String?

  init(_ row: RowReference? = nil, _ path: String = "", query: String? = nil) {
    self.row = row
    self.path = path
    self.query = query
  }
}

/// The content of a queued request.
indirect enum QueuedBody: Codable, Hashable, Sendable {
  case none
  case entity(QueuedEntity)
  case properties([QueuedProperty])
  /// The parameters of an action: those that are entities are links.
  case parameters(QueuedEntity)
  case reference(QueuedReference)
  case bytes([UInt8], contentType: String)
  /// The bytes stored under a number: `StoredStreams`' generation.
  case media(stream: Int64, byteCount: Int64, contentType: String)
}

/// An entity in a body, with those that are created together with it or bound to it.
struct QueuedEntity: Codable, Hashable, Sendable {
  /// The qualified name of the type; nil if it is the declared one.
  var typeName: String?
  /// The row that is created or changed.
  var row: RowReference?
  /// The properties to send, without key properties that the server assigns.
  var properties: [QueuedProperty] = []
  var links: [QueuedLink] = []
  /// The existing entity that it stands for, in the parameters of an action.
  var reference: QueuedReference?
  /// Instance annotations on it; nil for none.
  var annotations: [QueuedAnnotation]?
}

/// An annotation in a body, with its term as in ``LarderOData/ODataAnnotation``.
struct QueuedAnnotation: Codable, Hashable, Sendable {
  var term: String
  var value: QueuedValue

  init(_ annotation: ODataAnnotation) { (term, value) = (annotation.term, QueuedValue(annotation.value)) }

  var annotation: ODataAnnotation { ODataAnnotation(term: term, value: value.value) }

  /// The stored form of annotations; nil for none.
  static func all(_ annotations: [ODataAnnotation]) -> [QueuedAnnotation]? {
    annotations.isEmpty ? nil : annotations.map(QueuedAnnotation.init)
  }
}

/// A property in a body.
struct QueuedProperty: Codable, Hashable, Sendable {
  var name: String
  var value: QueuedValue
  /// If the value is the key of an entity that the server has not seen yet: the entity and its key property.
  var key: QueuedKey?
  /// Annotations on it; nil for none.
  var annotations: [QueuedAnnotation]?
}

/// A key property of an entity of the store.
struct QueuedKey: Codable, Hashable, Sendable {
  var row: RowReference
  var property: String
}

/// A navigation property in a body.
struct QueuedLink: Codable, Hashable, Sendable {
  /// The name; a path for a navigation property of a complex value: `Home/Country`.
  var name: String
  var isCollection: Bool
  /// Entities that exist, or that another request creates: `@odata.bind`, in V2 `__metadata.uri`.
  var bindings: [QueuedReference] = []
  /// Entities that are created together with this one.
  var entities: [QueuedEntity] = []
  /// For a single-valued property: whether its link is removed.
  var isNull = false
  /// For a single-valued property in an update: see ``QueuedRequest/formerEnd``.
  var formerEnd: FormerEnd?
  /// Instance annotations on it; nil for none.
  var annotations: [QueuedAnnotation]?

  /// The path of names from the entity.
  var path: [String] { name.split(separator: "/").map(String.init) }
}

/// An entity that a request refers to.
enum QueuedReference: Codable, Hashable, Sendable {
  case row(RowReference)
  /// An entity that is not in the store, as the caller named it.
  case url(String)
}
