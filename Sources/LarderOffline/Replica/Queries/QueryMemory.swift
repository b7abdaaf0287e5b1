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
  /// What the service rejects on its own links. Replaced by the store's ``LinkMemory`` if there is one.
  var links: LinkMemory?
  /// Whether deltas come in Atom; nil if this was not tried.
  var deltaIsAtom: Bool?
  /// The number of consecutive deltas that could not be read or applied.
  var unusableDeltas = 0
  /// The service does not support JSON. This is tried again after a day, as the rejections are.
  var supportsOnlyAtom = false
  /// When the service rejected options last, in seconds since 1970; nil if it rejects none.
  var rejectionsLearned: Double?
  /// Whether the last whole read was one response, so that its ETag covers all rows.
  var wasOnePage = false
  /// The number of links that the service has sent since the last whole read and that contradict referential
  /// constraints, by table and navigation property. The store joins such rows by their columns.
  var contradictedLinks: [String: Int64]?

  /// The names in the store's file, which must not change.
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
    case supportsOnlyAtom = "speaksAtom"
    case wasOnePage
    case contradictedLinks
    case rejectionsLearned = "refusalsLearned"
  }

  /// Forgets after a day which options the service rejects, so that they are tried again.
  mutating func forgetOldRejections(now: Double) {
    guard rejectsTracking || rejectsCount || rejectsPageSize == true || rejectsWindows || supportsOnlyAtom else {
      rejectionsLearned = nil
      return
    }
    // An earlier version did not record the time.
    let learned = rejectionsLearned ?? now
    rejectionsLearned = learned
    guard !OptionRejection.isRecent(learned, now: now) else { return }
    (rejectsTracking, rejectsCount, rejectsWindows, supportsOnlyAtom) = (false, false, false, false)
    (rejectsPageSize, rejectionsLearned) = (nil, nil)
  }

  /// Adds the numbers of both; nil for none.
  static func sum(_ left: [String: Int64]?, _ right: [String: Int64]?) -> [String: Int64]? {
    let all = (left ?? [:]).merging(right ?? [:], uniquingKeysWith: +)
    return all.isEmpty ? nil : all
  }

  /// After this many unusable deltas, the download no longer requests one.
  static let unusableDeltaLimit = 3
}

/// What a service is known to reject on the links to next pages that it gives. All queries of a store share this
/// knowledge, because gaining it costs a whole read. It is discarded when the metadata changes.
struct LinkMemory: Codable, Sendable, Hashable {
  /// The name of the setting that stores it.
  static let setting = "link-memory"

  /// Whether the service rejects links in responses to requests that ask for the count. Such a service writes
  /// `$count=true` into a link that it then rejects.
  var rejectsCount = false
  /// Whether the service rejects preferences sent with a link.
  var rejectsPreferences = false
  /// When it was learned, in seconds since 1970. After a day it is tried again.
  var learned: Double?

  /// The names in the store's file, which must not change.
  private enum CodingKeys: String, CodingKey {
    case rejectsCount = "count"
    case rejectsPreferences = "preferences"
    case learned
  }

  func isRecent(now: Double) -> Bool { OptionRejection.isRecent(learned, now: now) }
}
