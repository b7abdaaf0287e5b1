import LarderOData

/// A change as it waits to be sent: what is done to what, with entities by their identity. It becomes HTTP only when it
/// is sent, with the keys and ETags that are known then.
struct QueuedRequest: Codable, Hashable, Sendable {
  /// What is done (OData Protocol 4.01 §11.4, §11.5.5).
  enum Operation: String, Codable, Sendable {
    /// POST of an entity to a collection. The body is `.entity`; `entity` is the one that is made.
    case create
    /// PATCH, MERGE and PUT of an entity. The body is `.entity`.
    case patch, merge, replace
    /// DELETE of an entity.
    case delete
    /// POST of a reference to a collection, PUT of a single one. The body is `.reference`; the path has no `$ref`.
    case createLink, updateLink
    /// DELETE of a reference; of one in a collection the body is `.reference` and says which.
    case deleteLink
    /// PUT, PATCH and DELETE of a property or of its `$value`. The body is `.properties` of one, or none.
    case replaceProperty, patchProperty, deleteProperty
    /// PUT of a property's or an entity's raw value (`/$value`): the body is `.bytes`.
    case replaceValue
    /// POST of an action with `.properties`, its parameters.
    case action
    /// POST of bytes to a collection; PUT and DELETE of a media resource or stream property. The body is `.media`.
    case createMedia, updateMedia, deleteMedia
  }

  var operation: Operation
  var target: QueuedTarget
  var body = QueuedBody.none
  /// The entity that is made or changed; nil where it is none of the store's.
  var entity: RowReference?
  /// Fields to send, in order, as the caller gave them.
  var headers: [QueuedHeader] = []
  var customTag: String?
  /// The caller's group of requests, to upload some of them only.
  var category: String?
  /// Never merged with another.
  var isUnmodifiable = false
  /// `representation` or `minimal`; nil leaves it to the service.
  var returnPreference: String?
  /// The ETag that the server's version of the entity had when the request was made; nil where it had none.
  var baseETag: String?
  /// Of a change of a stream: the ETag that the stream had; nil where none was known.
  var streamETag: String?
  /// Of the link to one entity: where it led when the request was made; nil in stores of earlier versions.
  var formerEnd: FormerEnd?
  /// The service has asked for a condition where none goes at first: links before V4.
  var wantsCondition: Bool?
  /// Of a change of a stream: the service refuses the stream's own ETag, so the request goes under the entity's.
  var usesEntityETag: Bool?
  /// The condition that the caller gave: only `*` has a meaning when it is sent, an ETag was compared when it was made.
  var ifMatch: String?

  init(_ operation: Operation, _ target: QueuedTarget) {
    self.operation = operation
    self.target = target
  }

  /// Whether it is an update with a link to one entity that no column tells.
  var setsLink: Bool {
    guard case .entity(let body) = body else { return false }
    return body.links.contains { $0.formerEnd != nil }
  }

  /// Whether it changes a link to one entity: it is a request for that link, or an update that sets it.
  var changesSingleLink: Bool { formerEnd != nil || setsLink }
}

/// Where the link to one entity led before a request that changes it.
enum FormerEnd: Codable, Hashable, Sendable {
  /// No defining query has brought the link.
  case unknown
  case nothing
  /// The entity's identity.
  case row(Int64)
}

/// A header field.
struct QueuedHeader: Codable, Hashable, Sendable {
  var name: String
  var value: String
}

/// The resource of a queued request: a path from an entity of the store, or plain text.
struct QueuedTarget: Codable, Hashable, Sendable {
  /// The entity that the path begins at; nil where it begins at the service's root.
  var row: RowReference?
  /// What follows the entity without a slash in front: empty for itself, `Items`, `Ns.Derived/Photo`, `Name/$value`. Without
  /// an entity the whole path relative to the service's root: `Orders`, `Ns.Reset`.
  var path: String
  /// Query options as the caller gave them, without `?`.
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
  case reference(QueuedReference)
  case bytes([UInt8], contentType: String)
  /// The bytes kept in the store under a number: `StoredStreams`' generation.
  case media(stream: Int64, byteCount: Int64, contentType: String)
}

/// An entity in a body, with those that are made with it or bound to it.
struct QueuedEntity: Codable, Hashable, Sendable {
  /// The type's qualified name; nil where it is the declared one.
  var typeName: String?
  /// The row that it makes or changes.
  var row: RowReference?
  /// What is sent; key properties that the server gives are not in it.
  var properties: [QueuedProperty] = []
  var links: [QueuedLink] = []
}

/// A property in a body.
struct QueuedProperty: Codable, Hashable, Sendable {
  var name: String
  var value: QueuedValue
  /// Where the value is the key of an entity that the server has not yet seen: which, and which property of it.
  var key: QueuedKey?
}

/// A key property of an entity of the store.
struct QueuedKey: Codable, Hashable, Sendable {
  var row: RowReference
  var property: String
}

/// A navigation property in a body.
struct QueuedLink: Codable, Hashable, Sendable {
  var name: String
  var isCollection: Bool
  /// Entities that exist, or come to be by another request: `@odata.bind`, in V2 `__metadata.uri`.
  var bindings: [QueuedReference] = []
  /// Entities that are made with this one.
  var entities: [QueuedEntity] = []
  /// Of a single one: it is made empty.
  var isNull = false
  /// Of a single one in an update: see ``QueuedRequest/formerEnd``.
  var formerEnd: FormerEnd?
}

/// An entity that a request refers to.
enum QueuedReference: Codable, Hashable, Sendable {
  case row(RowReference)
  /// One that the store has not: as the caller gave it.
  case url(String)
}
