public import LarderHTTP

/// A request to a store: one request, or a batch of them.
public enum ODataRequest: Sendable {
  /// One request.
  case single(ODataSingleRequest)
  /// Several requests in one `$batch`.
  case batch(ODataBatchRequest)

  /// True if at least one read in the request uses the technical cache.
  package var usesCache: Bool {
    switch self {
    case .single(let request): request.usesCache
    case .batch(let batch): batch.usesCache
    }
  }

  /// Whether the technical cache alone is read, as in passive mode.
  package var readsCacheAlone: Bool { if case .single(let request) = self { request.readsCacheAlone } else { false } }

  /// True if nothing in the request changes data on the server.
  package var isRead: Bool {
    switch self {
    case .single(let request): request.isRead
    case .batch(let batch): batch.isRead
    }
  }

  /// The caller's own tag of the request; nil if there is none.
  public var customTag: String? {
    switch self {
    case .single(let request): request.customTag
    case .batch(let batch): batch.customTag
    }
  }
}

/// One OData request: an operation on a resource of the service.
public struct ODataSingleRequest: Sendable {
  /// The operation on the resource (OData Protocol 4.01 §11; OData V2 Operations).
  public enum Operation: Sendable, Hashable {
    /// Reads a resource: GET (§11.2).
    case read
    /// Adds an entity to a collection: POST (§11.4.2).
    case create
    /// Changes an entity, property or value (§11.4.3).
    case update(UpdateMethod)
    /// Removes an entity, or sets a property or value to null: DELETE (§11.4.5).
    case delete
    /// Adds a reference to a collection: POST to `$ref`, in V2 `$links` (§11.4.6.1).
    case createLink
    /// Sets the reference of a single-valued navigation property: PUT to `$ref`, in V2 `$links` (§11.4.6.3).
    case updateLink
    /// Removes a reference: DELETE (§11.4.6.2).
    case deleteLink
    /// Calls a function, or a V2 service operation by GET (§11.5.4).
    case invokeFunction
    /// Calls an action, or a V2 service operation by POST (§11.5.5).
    case invokeAction
    /// Reads the bytes of a media resource or stream property: GET (§11.2.5).
    case readMedia
    /// Adds a media entity by its bytes: POST (§11.4.7.1).
    case createMedia
    /// Replaces the bytes of a media resource or stream property: PUT (§11.4.7.2).
    case updateMedia
    /// Removes the bytes of a stream property: DELETE (§11.4.8.2).
    case deleteMedia
  }

  /// How an update treats properties that the body leaves out.
  public enum UpdateMethod: Sendable, Hashable {
    /// Leaves them unchanged: PATCH; for a V2 service MERGE (§11.4.3).
    case patch
    /// Leaves them unchanged: MERGE, whatever the version (OData V2).
    case merge
    /// Sets them to their defaults: PUT (§11.4.4).
    case replace
  }

  /// The content that the response to a change should have (RFC 7240 `return`; OData Protocol 4.01 §8.2.8.7).
  public enum ReturnPreference: String, Sendable, Hashable {
    /// The changed entity.
    case representation
    /// No content, if that is possible.
    case minimal
  }

  /// The operation.
  public var operation: Operation
  /// The resource: a path and query relative to the service root, or an absolute URL.
  ///
  /// Characters that a URL cannot contain are percent-encoded when it is sent; existing escapes stay as they are. A
  /// leading `/` starts at the host (RFC 3986 §4.2).
  public var path: String
  /// Additional fields; they override those of the conversation.
  public var fields: HTTPFields
  /// The content.
  public var body: ODataRequestBody
  /// The ETag that the resource must still have (`If-Match`), or `*`; nil sends no condition.
  public var ifMatch: String?
  /// Whether the technical cache may return and store the response. Only relevant for reads.
  public var useCache: Bool
  /// Whether the technical cache alone is read, as in passive mode.
  package var readsCacheAlone = false
  /// The conditions with which a store validates its stored response; nil sends none. The caller's own conditions are in
  /// ``fields``.
  package var validators: HTTPValidators?
  /// The content that the response to a change should have; nil leaves it to the service.
  public var returnPreference: ReturnPreference?
  /// The request's name in a batch, so that later requests can refer to it as `$name`; nil lets the batch assign a
  /// number.
  public var contentID: String?
  /// The caller's own tag; it stays with the request and is not sent.
  public var customTag: String?
  /// The group with which an offline store uploads the change, if it uploads only some groups; nil for none. Not sent.
  public var uploadCategory: String?
  /// Whether an offline store keeps the change separate instead of merging it with others. Not sent.
  public var isUnmodifiable = false
  /// Properties of a new entity that a store accepts although the metadata marks them as set by the service
  /// (`Core.Computed`, `Core.Permissions`, `sap:creatable`). Each is given by its name; a property in a complex value
  /// by its path. Not sent.
  public var allowedProperties: Set<String> = []
  /// The time limits of this request; nil uses those of the conversation.
  public var timeouts: HTTPTimeouts?

  /// Creates a request.
  public init(
    _ operation: Operation, _ path: String, body: ODataRequestBody = .none, fields: HTTPFields = [:],
    ifMatch: String? = nil, useCache: Bool = true, customTag: String? = nil
  ) {
    self.operation = operation
    self.path = path
    self.body = body
    self.fields = fields
    self.ifMatch = ifMatch
    self.useCache = useCache
    self.customTag = customTag
  }

  /// True if nothing changes on the server: reads and functions.
  package var isRead: Bool {
    switch operation {
    case .read, .readMedia, .invokeFunction: true
    default: false
    }
  }

  /// True if the request uses the technical cache: a read or function call with ``useCache``. Media requests never use
  /// it.
  package var usesCache: Bool { useCache && (operation == .read || operation == .invokeFunction) }
}
