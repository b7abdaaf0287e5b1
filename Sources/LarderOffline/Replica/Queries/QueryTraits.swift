import LarderOData

/// What a defining query and the service's metadata say about its download before any request is sent.
struct QueryTraits: Sendable, Hashable {
  /// What the metadata says about a feature.
  enum Support: Sendable, Hashable {
    case announced
    case denied
    /// The metadata does not say. The download finds out.
    case unknown
  }

  var version: ODataVersion
  /// False for one entity: a key, a singleton, a to-one navigation property.
  var isCollection = true
  /// Whether the query itself has `$top` or `$skip`. The rows in the window then change with every change before it, so
  /// no delta can report them.
  var hasWindow = false
  /// Whether the query has `$filter` or `$search`.
  var hasFilter = false
  /// Whether the query has `$expand`.
  var hasExpand = false
  /// Change tracking (`Capabilities.ChangeTracking`).
  var tracking = Support.unknown
  /// `$count` (`Capabilities.CountRestrictions`, `sap:countable`).
  var counting = Support.unknown
  /// `$top` and `$skip` (`Capabilities.TopSupported`, `SkipSupported`, `sap:pageable`).
  var paging = Support.unknown
  /// The page size in rows that the application has set.
  var pageSize: Int?
  /// False if the application wants no delta links for the query.
  var wantsTracking = true

  /// Whether the download requests and follows a delta link.
  ///
  /// V2 has no rule that a delta reports changes of expanded entities, and existing services do not report them.
  var mayTrack: Bool {
    isCollection && !hasWindow && wantsTracking && tracking != .denied && !(version < .v4 && hasExpand)
  }

  /// Whether the download asks the service for the number of rows.
  var mayCount: Bool { isCollection && !hasWindow && counting != .denied }

  /// Whether the client may divide the result into pages with `$top` and `$skip`.
  var mayPage: Bool { isCollection && !hasWindow && paging != .denied }

  /// Whether the rows must be counted after a delta, because it may not report all removed rows. V2's JSON has no
  /// standard form for deletions, and with a filter, services forget to report rows that no longer match it.
  func deltaNeedsCount(isAtom: Bool) -> Bool {
    mayCount && (hasFilter || (version < .v4 && !isAtom))
  }
}

/// What earlier downloads of a defining query have learned about the service. It is discarded when the metadata
/// changes.
struct QueryMemory: Codable, Sendable, Hashable {
  /// The service rejects requests that ask for change tracking.
  var rejectsTracking = false
  /// The service returns no delta link when asked for one.
  var givesNoDeltaLink = false
  /// The service rejects requests that ask for the count.
  var rejectsCount = false
  /// The service's count differs from the number of rows that it returns.
  var countIsWrong = false
  /// The service divides its results into pages without being asked.
  var pagesItself = false
  /// The service rejects or ignores `$top` and `$skip`.
  var rejectsWindows = false
  /// The service rejects the preference for a page size.
  var rejectsPageSize: Bool?
  /// What the service rejects on its own links. If the store has a ``LinkMemory``, it is that one.
  var links: LinkMemory?
  /// Whether deltas come in Atom; nil if this was not tried.
  var deltaIsAtom: Bool?
  /// The number of consecutive deltas that could not be read or applied.
  var unusableDeltas = 0
  /// The service does not support JSON.
  var speaksAtom = false
  /// Whether the last whole read was one response, so that its ETag covers all rows.
  var wasOnePage = false
  /// The number of links that the service has sent since the last whole read and that contradict referential
  /// constraints, by table and navigation property. The store joins such rows by their columns.
  var contradictedLinks: [String: Int64]?

  /// The names in the store's file, which stay.
  private enum CodingKeys: String, CodingKey {
    case rejectsTracking = "refusesTracking"
    case givesNoDeltaLink
    case rejectsCount = "refusesCount"
    case countIsWrong
    case pagesItself
    case rejectsWindows = "refusesWindows"
    case rejectsPageSize = "refusesPageSize"
    case links
    case deltaIsAtom
    case unusableDeltas
    case speaksAtom
    case wasOnePage
    case contradictedLinks
  }

  /// Adds the numbers of both; nil for none.
  static func sum(_ left: [String: Int64]?, _ right: [String: Int64]?) -> [String: Int64]? {
    let all = (left ?? [:]).merging(right ?? [:], uniquingKeysWith: +)
    return all.isEmpty ? nil : all
  }

  /// After this many unusable deltas, the download no longer requests one.
  static let patience = 3
}

/// What a service is known to reject on the links to next pages that it gives. All queries of a store share this
/// knowledge, because gaining it costs a whole read. It is discarded when the metadata changes.
struct LinkMemory: Codable, Sendable, Hashable {
  /// The name of the setting that stores it.
  static let setting = "link-memory"

  /// Whether the service rejects links in responses to requests that ask for the count. Such a service writes
  /// `$count=true` into a link that it then rejects.
  var count = false
  /// Whether the service rejects preferences sent with a link.
  var preferences = false
}
