public import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A change that the service rejected, or that is held because of one: an entity of the set `ErrorArchive`.
public struct OfflineODataArchivedRequest: ODataKeyed, Identifiable, Decodable, Hashable, Sendable {
  /// The name of the type.
  public static let odataTypeName = "Larder.ArchivedRequest"
  /// The number of the request: what `retry`, `discard` and `conflict` take.
  public let requestID: Int64
  /// Why it is here: `Rejected`, `Conflict`, `Held` and others.
  public let reason: String?
  /// Whether it was not sent because a request that it depends on is here.
  public let isHeld: Bool
  /// Whether another client has changed the entity.
  public let isConflict: Bool
  /// The status of the response; nil without a response.
  public let httpStatus: Int32?
  /// The code of the service's error.
  public let code: String?
  /// The message of the service's error, or why the request is held.
  public let message: String?
  /// The service's inner error, as JSON.
  public let innerError: String?
  /// What rejected the request.
  public let domain: String?
  /// The time of the failure.
  public let time: Date?
  /// The method of the request.
  public let method: String?
  /// The URL of the request.
  public let url: String?
  /// The content of the request.
  public let body: String?
  /// The path of the entity in the store.
  public let entityPath: String?
  /// The ETag that the change is based on.
  public let etag: String?
  /// The number of the transaction to which the request belongs.
  public let transactionID: Int64
  /// The caller's own tag.
  public let customTag: String?
  /// The group with which the request is uploaded.
  public let category: String?

  /// The key.
  public struct Key: ODataSingleKey {
    /// The number.
    public let requestID: Int64

    /// Creates a key.
    public init(_ value: Int64) { requestID = value }

    /// The property with its name in the store.
    public var odataParts: [(name: String, value: any ODataPrimitive)] { [("RequestID", requestID)] }
  }

  /// The key.
  public var odataKey: Key { Key(requestID) }
  /// The key.
  public var id: Key { odataKey }

  private enum CodingKeys: String, CodingKey {
    case requestID = "RequestID"
    case reason = "Reason"
    case isHeld = "Held"
    case isConflict = "Conflict"
    case httpStatus = "HTTPStatusCode"
    case code = "Code"
    case message = "Message"
    case innerError = "InnerError"
    case domain = "Domain"
    case time = "Time"
    case method = "RequestMethod"
    case url = "RequestURL"
    case body = "RequestBody"
    case entityPath = "EntityPath"
    case etag = "ETag"
    case transactionID = "TransactionID"
    case customTag = "CustomTag"
    case category = "Category"
  }

  /// The properties in queries.
  public struct Fields: ODataFields {
    /// Creates the fields.
    public init() {}
    /// The number of the request: what `retry`, `discard` and `conflict` take.
    public var requestID: Field<Int64> { .init("RequestID") }
    /// Why it is here: `Rejected`, `Conflict`, `Held` and others.
    public var reason: Field<String> { .init("Reason") }
    /// Whether it was not sent because a request that it depends on is here.
    public var isHeld: Field<Bool> { .init("Held") }
    /// Whether another client has changed the entity.
    public var isConflict: Field<Bool> { .init("Conflict") }
    /// The status of the response; nil without a response.
    public var httpStatus: Field<Int32> { .init("HTTPStatusCode") }
    /// The code of the service's error.
    public var code: Field<String> { .init("Code") }
    /// The message of the service's error, or why the request is held.
    public var message: Field<String> { .init("Message") }
    /// The service's inner error, as JSON.
    public var innerError: Field<String> { .init("InnerError") }
    /// What rejected the request.
    public var domain: Field<String> { .init("Domain") }
    /// The time of the failure.
    public var time: Field<Date> { .init("Time") }
    /// The method of the request.
    public var method: Field<String> { .init("RequestMethod") }
    /// The URL of the request.
    public var url: Field<String> { .init("RequestURL") }
    /// The content of the request.
    public var body: Field<String> { .init("RequestBody") }
    /// The path of the entity in the store.
    public var entityPath: Field<String> { .init("EntityPath") }
    /// The ETag that the change is based on.
    public var etag: Field<String> { .init("ETag") }
    /// The number of the transaction to which the request belongs.
    public var transactionID: Field<Int64> { .init("TransactionID") }
    /// The caller's own tag.
    public var customTag: Field<String> { .init("CustomTag") }
    /// The group with which the request is uploaded.
    public var category: Field<String> { .init("Category") }
    /// The requests that are held because of this one.
    public var dependents: NavigationCollection<OfflineODataArchivedRequest> { .init("DependentRequests") }
  }
}

/// A change that has not been uploaded: an entity of the set `RequestQueue`.
public struct OfflineODataPendingRequest: ODataKeyed, Identifiable, Decodable, Hashable, Sendable {
  /// The name of the type.
  public static let odataTypeName = "Larder.QueuedRequest"
  /// The number of the request.
  public let requestID: Int64
  /// `Queued`, or `Uncertain` if it was sent and its response was lost.
  public let status: String
  /// Whether a download has found that another client has changed the entity.
  public let isConflict: Bool
  /// The method of the request.
  public let method: String?
  /// The URL of the request.
  public let url: String?
  /// The content of the request.
  public let body: String?
  /// The path of the entity in the store.
  public let entityPath: String?
  /// The ETag that the change is based on.
  public let etag: String?
  /// The number of the transaction to which the request belongs.
  public let transactionID: Int64
  /// The caller's own tag.
  public let customTag: String?
  /// The group with which the request is uploaded.
  public let category: String?

  /// The key.
  public struct Key: ODataSingleKey {
    /// The number.
    public let requestID: Int64

    /// Creates a key.
    public init(_ value: Int64) { requestID = value }

    /// The property with its name in the store.
    public var odataParts: [(name: String, value: any ODataPrimitive)] { [("RequestID", requestID)] }
  }

  /// The key.
  public var odataKey: Key { Key(requestID) }
  /// The key.
  public var id: Key { odataKey }

  private enum CodingKeys: String, CodingKey {
    case requestID = "RequestID"
    case status = "Status"
    case isConflict = "Conflict"
    case method = "RequestMethod"
    case url = "RequestURL"
    case body = "RequestBody"
    case entityPath = "EntityPath"
    case etag = "ETag"
    case transactionID = "TransactionID"
    case customTag = "CustomTag"
    case category = "Category"
  }

  /// The properties in queries.
  public struct Fields: ODataFields {
    /// Creates the fields.
    public init() {}
    /// The number of the request.
    public var requestID: Field<Int64> { .init("RequestID") }
    /// `Queued`, or `Uncertain` if it was sent and its response was lost.
    public var status: Field<String> { .init("Status") }
    /// Whether a download has found that another client has changed the entity.
    public var isConflict: Field<Bool> { .init("Conflict") }
    /// The method of the request.
    public var method: Field<String> { .init("RequestMethod") }
    /// The URL of the request.
    public var url: Field<String> { .init("RequestURL") }
    /// The content of the request.
    public var body: Field<String> { .init("RequestBody") }
    /// The path of the entity in the store.
    public var entityPath: Field<String> { .init("EntityPath") }
    /// The ETag that the change is based on.
    public var etag: Field<String> { .init("ETag") }
    /// The number of the transaction to which the request belongs.
    public var transactionID: Field<Int64> { .init("TransactionID") }
    /// The caller's own tag.
    public var customTag: Field<String> { .init("CustomTag") }
    /// The group with which the request is uploaded.
    public var category: Field<String> { .init("Category") }
    /// The requests that depend on this one.
    public var dependents: NavigationCollection<OfflineODataPendingRequest> { .init("DependentRequests") }
  }
}
