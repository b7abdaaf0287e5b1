public import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One of the last operations of a store: an entity of the set `EventLog`.
public struct OfflineODataLoggedOperation: ODataKeyed, Identifiable, Decodable, Hashable, Sendable {
  /// The name of the type.
  public static let odataTypeName = "Larder.Event"
  /// The number of the operation.
  public let eventID: Int64
  /// The time at which the operation ended.
  public let time: Date
  /// The kind of the operation: `Open`, `Download`, `Query`, `Upload`, `Metadata` and others.
  public let type: String
  /// The defining query that it concerns.
  public let definingQuery: String?
  /// How the query was downloaded.
  public let strategy: String?
  /// The number of rows.
  public let rows: Int64?
  /// The number of bytes received.
  public let bytes: Int64?
  /// The number of pages.
  public let pages: Int32?
  /// The duration of the operation.
  public var duration: Duration? { milliseconds.map { .milliseconds($0) } }
  private let milliseconds: Int64?
  /// Remarks, and the message of an error.
  public let details: String?
  /// The number of the error; nil if the operation succeeded.
  public let errorCode: Int32?

  /// The key of an operation.
  public struct Key: ODataSingleKey {
    /// The number of the operation.
    public let eventID: Int64

    /// Creates a key.
    public init(_ value: Int64) { eventID = value }

    /// The property with its name in the store.
    public var odataParts: [(name: String, value: any ODataPrimitive)] { [("EventID", eventID)] }
  }

  /// The key of an operation.
  public var odataKey: Key { Key(eventID) }
  /// The key of an operation.
  public var id: Key { odataKey }

  private enum CodingKeys: String, CodingKey {
    case eventID = "EventID"
    case time = "Time"
    case type = "EventType"
    case definingQuery = "DefiningQuery"
    case strategy = "Strategy"
    case rows = "Rows"
    case bytes = "Bytes"
    case pages = "Pages"
    case milliseconds = "Milliseconds"
    case details = "Details"
    case errorCode = "ErrorCode"
  }

  /// The properties in queries.
  public struct Fields: ODataFields {
    /// Creates the fields.
    public init() {}
    /// The number of the operation.
    public var eventID: Field<Int64> { .init("EventID") }
    /// The time at which the operation ended.
    public var time: Field<Date> { .init("Time") }
    /// The kind of the operation: `Open`, `Download`, `Query`, `Upload`, `Metadata` and others.
    public var type: Field<String> { .init("EventType") }
    /// The defining query that it concerns.
    public var definingQuery: Field<String> { .init("DefiningQuery") }
    /// How the query was downloaded.
    public var strategy: Field<String> { .init("Strategy") }
    /// The number of rows.
    public var rows: Field<Int64> { .init("Rows") }
    /// The number of bytes received.
    public var bytes: Field<Int64> { .init("Bytes") }
    /// The number of pages.
    public var pages: Field<Int32> { .init("Pages") }
    /// The duration of the operation in milliseconds.
    public var milliseconds: Field<Int64> { .init("Milliseconds") }
    /// Remarks, and the message of an error.
    public var details: Field<String> { .init("Details") }
    /// The number of the error; nil if the operation succeeded.
    public var errorCode: Field<Int32> { .init("ErrorCode") }
  }
}
