import LarderOData

/// What a defining query and the service's metadata say about its download before anything is asked.
struct QueryTraits: Sendable, Hashable {
  /// What the metadata says about a feature.
  enum Support: Sendable, Hashable {
    case announced
    case denied
    /// Nothing: found out by asking.
    case unknown
  }

  var version: ODataVersion
  /// False for one entity: a key, a singleton, a to-one navigation property.
  var isCollection = true
  /// `$top` or `$skip` of the query's own: what is in the window changes with every change before it, so no delta tells
  /// it.
  var hasWindow = false
  /// `$filter` or `$search`.
  var hasFilter = false
  /// `$expand`.
  var hasExpand = false
  /// Change tracking (`Capabilities.ChangeTracking`).
  var tracking = Support.unknown
  /// `$count` (`Capabilities.CountRestrictions`, `sap:countable`).
  var counting = Support.unknown
  /// `$top` and `$skip` (`Capabilities.TopSupported`, `SkipSupported`, `sap:pageable`).
  var paging = Support.unknown
  /// The rows of a page that the application asked for.
  var pageSize: Int?
  /// False where the application wants no delta links for the query.
  var wantsTracking = true

  /// Whether a delta link is asked for and followed.
  ///
  /// V2 has no rule that a delta tells changes of expanded entities, and services that exist do not.
  var mayTrack: Bool {
    isCollection && !hasWindow && wantsTracking && tracking != .denied && !(version < .v4 && hasExpand)
  }

  /// Whether the service is asked how many rows there are.
  var mayCount: Bool { isCollection && !hasWindow && counting != .denied }

  /// Whether the client may cut the answer into pages by `$top` and `$skip`.
  var mayPage: Bool { isCollection && !hasWindow && paging != .denied }

  /// Whether a delta has to be checked by counting, for it may not tell all rows that have gone: V2's JSON has no form
  /// for deletions in the protocol, and with a filter services forget rows that leave it.
  func deltaNeedsCount(isAtom: Bool) -> Bool {
    mayCount && (hasFilter || (version < .v4 && !isAtom))
  }
}

/// What earlier downloads of a defining query have found out about the service. Forgotten when its metadata change.
struct QueryMemory: Codable, Sendable, Hashable {
  /// It refuses requests that ask for tracking.
  var refusesTracking = false
  /// It gives no delta link where one is asked for.
  var givesNoDeltaLink = false
  /// It refuses requests that ask for the count.
  var refusesCount = false
  /// Its count is not the number of rows that it gives.
  var countIsWrong = false
  /// It cuts its answers into pages by itself.
  var pagesItself = false
  /// It refuses `$top` and `$skip`, or does not heed them.
  var refusesWindows = false
  /// It refuses the preference for pages of a size.
  var refusesPageSize: Bool?
  /// What it refuses on its own links; that of the store, where one is known.
  var links: LinkMemory?
  /// Whether deltas come in Atom; nil where that was not tried.
  var deltaIsAtom: Bool?
  /// Deltas in a row that could not be read or applied.
  var unusableDeltas = 0
  /// It speaks no JSON.
  var speaksAtom = false
  /// The last whole read was one answer, so that its ETag says something about all of it.
  var wasOnePage = false
  /// Links that it has stated since the last whole read and that their referential constraints contradict, by table and
  /// navigation property: what joins the rows here is their columns.
  var contradictedLinks: [String: Int64]?

  /// Adds numbers; nil for none.
  static func sum(_ one: [String: Int64]?, _ other: [String: Int64]?) -> [String: Int64]? {
    let all = (one ?? [:]).merging(other ?? [:], uniquingKeysWith: +)
    return all.isEmpty ? nil : all
  }

  /// After this many useless deltas none is asked for any more.
  static let patience = 3
}

/// What a service has been found to refuse on the links to next pages that it gives. All queries of a store share it, for finding
/// it out costs a whole read. Forgotten when the metadata change.
struct LinkMemory: Codable, Sendable, Hashable {
  /// The name under which it is kept.
  static let setting = "link-memory"

  /// Links in the answers to requests that ask for the count: such a service writes `$count=true` into a link that it then rejects.
  var count = false
  /// Preferences beside a link.
  var preferences = false
}
