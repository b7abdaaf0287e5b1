#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What an offline store holds a copy of: a query of the service, run again at each download.
///
/// ```swift
/// OfflineODataDefiningQuery("orders", "Orders?$filter=Status eq 'Open'&$expand=Items")
/// ```
public struct OfflineODataDefiningQuery: Sendable, Hashable {
  /// The name, unique in the store.
  public var name: String
  /// The URL, relative to the service's root; a whole URL below it becomes relative when the query is added.
  public var query: String
  /// Whether the bytes of media entities and stream properties come with the rows.
  public var automaticallyRetrievesStreams: Bool
  /// Whether a delta link is asked for and followed. Without it, each download reads everything.
  public var tracksChanges: Bool

  /// A query under a name.
  public init(
    _ name: String, _ query: String, automaticallyRetrievesStreams: Bool = false, tracksChanges: Bool = true
  ) {
    self.name = name
    self.query = query
    self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    self.tracksChanges = tracksChanges
  }

  /// Throws `invalidInput` for a name or text that cannot be.
  func check() throws(OfflineODataError) {
    let scalars = name.unicodeScalars
    guard !name.isEmpty, scalars.count <= 128, scalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw OfflineODataError(.invalidDefiningQueryName, "'\(name)'")
    }
    guard !query.isEmpty else { throw OfflineODataError(.invalidDefiningQuery, "it is empty") }
  }
}

/// A defining query and what became of it.
public struct OfflineODataDefiningQueryStatus: Sendable, Hashable {
  /// The query.
  public var definingQuery: OfflineODataDefiningQuery
  /// The rows of its own set that it has brought, without those that are expanded.
  public var rows: Int64
  /// When it was downloaded last; nil for never.
  public var lastDownload: Date?
  /// The way that the last download took; nil for never.
  public var lastWay: OfflineODataDownloadStrategy?
  /// Whether the next download follows a delta link.
  public var hasDeltaLink: Bool
  /// Whether a download was cut and goes on at its page, or has never been made.
  public var hasPendingDownload: Bool
  /// Links that the service has stated in line since the last whole read although the columns of their referential constraint
  /// differ: how many, by set and navigation property (`SalesOrder/to_Item`). The store joins such entities by the columns.
  public var contradictedLinks: [String: Int64] = [:]
}

/// The ways by which a defining query is brought up to date.
public enum OfflineODataDownloadStrategy: String, Sendable, Hashable, CaseIterable, Codable {
  /// By a delta link: only what changed was sent.
  case changes
  /// By a condition (`If-None-Match`): the service answered that nothing has changed.
  case notModified
  /// By reading everything and comparing by key.
  case whole
}
