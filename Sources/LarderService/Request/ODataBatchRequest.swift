public import LarderHTTP

/// Several requests sent as one (OData Protocol 4.01 §11.7; OData V2 Batch Processing).
public struct ODataBatchRequest: Sendable {
  /// One item of a batch: a request or a change set.
  public enum Item: Sendable {
    /// A request on its own; a change is a unit of its own.
    case single(ODataSingleRequest)
    /// Changes that succeed or fail together (V4: change set or atomicity group).
    case changeSet([ODataSingleRequest])

    /// Creates a read, such as `Articles('myuserid')?$top=30`.
    public static func read(_ path: String, useCache: Bool = true) -> Item { .single(.read(path, useCache: useCache)) }

    /// The requests of this item.
    public var requests: [ODataSingleRequest] {
      switch self {
      case .single(let request): [request]
      case .changeSet(let requests): requests
      }
    }
  }

  /// How a batch is written.
  public enum Format: Sendable, Hashable {
    /// JSON for 4.01 services, unless the service has rejected a batch in JSON; otherwise multipart.
    case automatic
    /// `multipart/mixed` (§11.7.7).
    case multipart
    /// JSON (OData JSON Format 4.01 §19). Services of version 4.0 may reject it; for earlier versions it is an error.
    case json
  }

  /// The parts in their order.
  public var items: [Item]
  /// How the batch is written.
  public var format: Format
  /// Fields of the batch request itself.
  public var fields: HTTPFields
  /// Whether the service continues after a part that failed (`Prefer: odata.continue-on-error`); nil leaves it to the
  /// service.
  public var continuesOnError: Bool?
  /// The caller's own tag; it stays with the request and is not sent.
  public var customTag: String?
  /// The time limits of the whole batch; nil uses those of the conversation.
  public var timeouts: HTTPTimeouts?

  /// Creates a batch of the given parts.
  public init(
    _ items: [Item], format: Format = .automatic, fields: HTTPFields = [:], continuesOnError: Bool? = nil,
    customTag: String? = nil
  ) {
    self.items = items
    self.format = format
    self.fields = fields
    self.continuesOnError = continuesOnError
    self.customTag = customTag
  }

  /// True if at least one read in the batch uses the technical cache.
  package var usesCache: Bool {
    items.contains { if case .single(let request) = $0 { request.usesCache } else { false } }
  }

  /// True if nothing in the batch changes data on the server.
  package var isRead: Bool { items.allSatisfy { $0.requests.allSatisfy(\.isRead) } }
}
