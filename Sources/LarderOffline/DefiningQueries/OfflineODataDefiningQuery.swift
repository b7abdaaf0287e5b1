#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A query whose results an offline store copies. Each download runs it again.
///
/// ```swift
/// OfflineODataDefiningQuery("orders", "Orders?$filter=Status eq 'Open'&$expand=Items")
/// ```
public struct OfflineODataDefiningQuery: Sendable, Hashable {
  /// The name, unique in the store.
  public var name: String
  /// The URL, relative to the service's root. An absolute URL below the root is made relative when the query is added.
  public var query: String
  /// Whether the bytes of media entities and stream properties are downloaded with the rows.
  public var automaticallyRetrievesStreams: Bool
  /// Whether the store requests a delta link and follows it. Otherwise each download reads everything.
  public var tracksChanges: Bool
  /// Whether values that do not fit the declared type of their property are kept. Otherwise they fail the download.
  ///
  /// Results leave such a property out and contain the service's text in its annotation `larder.rawValue`. A query that
  /// needs the value fails, and names the entity. An entity whose key does not fit is left out.
  public var keepsRawValues: Bool

  /// Creates a query with a name.
  public init(
    _ name: String, _ query: String, automaticallyRetrievesStreams: Bool = false, tracksChanges: Bool = true,
    keepsRawValues: Bool = false
  ) {
    self.name = name
    self.query = query
    self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    self.tracksChanges = tracksChanges
    self.keepsRawValues = keepsRawValues
  }

  /// Throws `invalidInput` for a name or text that is not allowed.
  func check() throws(OfflineODataError) {
    let scalars = name.unicodeScalars
    guard !name.isEmpty, scalars.count <= 128, scalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw OfflineODataError(.invalidDefiningQueryName, "'\(name)'")
    }
    guard !query.isEmpty else { throw OfflineODataError(.invalidDefiningQuery, "it is empty") }
  }
}

/// The status of a defining query.
public struct OfflineODataDefiningQueryStatus: Sendable, Hashable {
  /// The query.
  public var definingQuery: OfflineODataDefiningQuery
  /// The number of rows of its own entity set that the query includes, without expanded ones.
  public var rows: Int64
  /// The date of the last download; nil if there was none.
  public var lastDownload: Date?
  /// The strategy of the last download; nil if there was none.
  package var lastStrategy: OfflineODataDownloadStrategy?
  /// Whether the next download follows a delta link.
  public var hasDeltaLink: Bool
  /// Whether an interrupted download can be resumed at its page, or the query was never downloaded.
  public var hasPendingDownload: Bool
  /// The number of inline links since the last whole read that contradict the columns of their referential constraint,
  /// by set and navigation property (`SalesOrder/to_Item`). The store joins such entities by the columns.
  package var contradictedLinks: [String: Int64] = [:]
}

/// The strategies by which a defining query is updated.
public enum OfflineODataDownloadStrategy: String, Sendable, Hashable, CaseIterable, Codable {
  /// A delta link: the service sends only the changes.
  case changes
  /// A conditional request (`If-None-Match`): the service responded that nothing has changed.
  case notModified
  /// Reading everything and comparing by key.
  case whole
}
