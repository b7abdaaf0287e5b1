public import LarderHTTP

/// What a store is asked to do: one request, or a batch of them.
public enum ODataRequest: Sendable {
  /// One request.
  case single(ODataSingleRequest)
  /// Several requests in one `$batch`.
  case batch(ODataBatchRequest)

  /// True where at least one read of it wants the technical cache.
  public var usesCache: Bool {
    switch self {
    case .single(let request): request.usesCache
    case .batch(let batch): batch.usesCache
    }
  }

  /// True where nothing in it changes anything on the server.
  public var isRead: Bool {
    switch self {
    case .single(let request): request.isRead
    case .batch(let batch): batch.isRead
    }
  }

  /// The caller's own mark on the request; nil where there is none.
  public var customTag: String? {
    switch self {
    case .single(let request): request.customTag
    case .batch(let batch): batch.customTag
    }
  }
}

/// One OData request: an operation on a resource of the service.
public struct ODataSingleRequest: Sendable {
  /// What happens to the resource (OData Protocol 4.01 §11; OData V2 Operations).
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

  /// How an update treats what the body leaves out.
  public enum UpdateMethod: Sendable, Hashable {
    /// Leaves it alone: PATCH; a V2 service is sent MERGE (§11.4.3).
    case patch
    /// Leaves it alone: MERGE, whatever the version (OData V2).
    case merge
    /// Sets it to its default: PUT (§11.4.4).
    case replace
  }

  /// What the answer to a change shall hold (RFC 7240 `return`; OData Protocol 4.01 §8.2.8.7).
  public enum ReturnPreference: String, Sendable, Hashable {
    /// The changed entity.
    case representation
    /// No content where that is possible.
    case minimal
  }

  /// What is done.
  public var operation: Operation
  /// The resource: a path and query relative to the service root, or an absolute URL.
  ///
  /// Characters that a URL cannot hold are percent-encoded when it is sent; what is encoded already stays as it is.
  /// A leading `/` starts at the host (RFC 3986 §4.2).
  public var path: String
  /// Fields to send; they win over those that the conversation would set.
  public var fields: HTTPFields
  /// The content.
  public var body: ODataRequestBody
  /// The ETag that the resource must still have (`If-Match`), or `*`; nil sends no condition.
  public var ifMatch: String?
  /// Whether the technical cache may serve and keep the answer. Has a meaning for reads alone.
  public var useCache: Bool
  /// What the answer to a change shall hold; nil leaves it to the service.
  public var returnPreference: ReturnPreference?
  /// The request's name in a batch, so that later ones can refer to it as `$name`; nil lets the batch number it.
  public var contentID: String?
  /// The caller's own mark; travels with the request and is not sent.
  public var customTag: String?
  /// The group that an offline store uploads the change with, where it uploads some groups only; nil for none. Not sent.
  public var uploadCategory: String?
  /// Whether an offline store leaves the change as it is, where it merges others. Not sent.
  public var isUnmodifiable = false
  /// Properties of entities that are made which an offline store queues although the metadata mark them as the service's own
  /// (`Core.Computed`, `Core.Permissions`, `sap:creatable`): by name, those in complex values by their path. Not sent.
  public var allowedProperties: Set<String> = []
  /// Time limits of this request; nil takes the conversation's.
  public var timeouts: HTTPTimeouts?

  /// Makes a request.
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

  /// True where nothing changes on the server: reads and functions.
  public var isRead: Bool {
    switch operation {
    case .read, .readMedia, .invokeFunction: true
    default: false
    }
  }

  /// True where the technical cache takes part: a read or function call with ``useCache``. Media never does.
  public var usesCache: Bool { useCache && (operation == .read || operation == .invokeFunction) }
}
