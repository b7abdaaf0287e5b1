/// The ways that a download can take.
enum DownloadStrategy: String, Codable, Sendable, Hashable {
  /// By a delta link.
  case changes
  /// By reading everything.
  case whole
  /// By a condition that the service found unchanged.
  case condition
}

/// How the download of a query ended.
struct DownloadResult: Sendable, Hashable {
  var way: DownloadStrategy
  /// The service said that nothing has changed.
  var isUnchanged = false
}

/// What was found on the way of a download; goes to the event log.
enum DownloadNote: Sendable, Hashable {
  /// It goes on where it was cut.
  case resumed(DownloadMachine.Staging, pages: Int, rows: Int64)
  /// What was staged is too old to go on with.
  case stagingTooOld
  /// The service does not take the delta link any more: all is read.
  case deltaExpired(status: Int)
  /// A delta could not be read or applied: all is read.
  case deltaUnusable(OfflineODataError)
  /// A delta does not tell which rows are no longer expanded: all is read.
  case deltaIncomplete
  /// Rows here and there differ in number after a delta: all is read.
  case countsDiffer(service: Int64, here: Int64)
  /// The service refuses tracking, the count, or a page's size: asked without.
  case optionsRefused(status: Int, tracking: Bool, count: Bool, pageSize: Bool = false)
  /// The service refuses its own link after a request for the count: read from the beginning without it.
  case pageRefused(status: Int)
  /// The service refuses preferences beside its own link: asked without.
  case preferencesRefused(status: Int)
  /// A page's link is not taken any more: read from the beginning.
  case pagesExpired(status: Int)
  /// The page that a read was cut at cannot be read: read from the beginning.
  case pageUnusable(OfflineODataError)
  /// The data changed between pages: read from the beginning.
  case rowsMoved
  /// The data changed between pages again; taken as it is.
  case unstable(count: Int64, rows: Int64)
  /// The service gives no pages by itself: cut by `$top` and `$skip`.
  case windows(size: Int)
  /// The service does not heed `$top` and `$skip`.
  case windowsIgnored
  /// The entity that contains the rows is deleted here: there is no place for them.
  case containerDeleted
  /// Values have more digits than their type, the first of them at an entity and property.
  case fineValues(first: String, count: Int64)
  /// The service has changed or removed entities that changes of this device wait on.
  case changedBelow(Int)
}

extension DownloadNote: CustomStringConvertible {
  /// What was found, in a sentence.
  var description: String {
    switch self {
    case .resumed(.whole, let pages, let rows): "Goes on behind page \(pages), \(rows) rows."
    case .resumed(.changes, let pages, _): "Goes on behind page \(pages) of the changes."
    case .stagingTooOld: "The download was cut too long ago to go on there: it begins anew."
    case .deltaExpired(let status): "The delta link has expired (HTTP \(status)): everything is read."
    case .deltaUnusable(let error): "The delta cannot be used: everything is read. \(error.errorMessage)"
    case .deltaIncomplete: "The delta does not tell which rows are no longer expanded: everything is read."
    case .countsDiffer(let service, let here):
      "The service has \(service) rows, the store \(here) after the delta: everything is read."
    case .optionsRefused(let status, let tracking, let count, let pageSize):
      "The service refuses \(DownloadNote.list(tracking, count, pageSize)) (HTTP \(status))."
    case .pageRefused(let status):
      "The service refuses its own next page (HTTP \(status)): read from the beginning without $count."
    case .preferencesRefused(let status): "The service refuses preferences beside its next page (HTTP \(status))."
    case .pagesExpired(let status): "The next page has expired (HTTP \(status)): read from the beginning."
    case .pageUnusable(let error): "The next page cannot be used: read from the beginning. \(error.errorMessage)"
    case .rowsMoved: "The data changed between pages: read from the beginning."
    case .unstable(let count, let rows): "The service counts \(count) rows and gives \(rows), again and again."
    case .windows(let size): "The service gives no pages: asked for \(size) rows at a time."
    case .windowsIgnored: "The service does not heed $top and $skip."
    case .containerDeleted: "The entity that contains the rows waits to be deleted: they are not asked for."
    case .fineValues(let first, let count):
      "\(first)\(count > 1 ? " and \(count - 1) more values have" : " has") more than 12 digits of a second: kept as they came."
    case .changedBelow(let count):
      "The service has changed \(count) \(count == 1 ? "entity" : "entities") with changes that wait to be sent."
    }
  }

  private static func list(_ tracking: Bool, _ count: Bool, _ pageSize: Bool) -> String {
    [tracking ? "change tracking" : nil, count ? "$count" : nil, pageSize ? "odata.maxpagesize" : nil]
      .compactMap(\.self).joined(separator: " and ")
  }
}

/// Where a download was cut: behind a page that is staged. Kept with the page's rows.
enum DownloadPosition: Codable, Sendable, Hashable {
  case whole(WholeRead)
  case changes(ChangesRead)
  /// All is staged.
  case ending(DownloadMachine.Ending)

  var staging: DownloadMachine.Staging {
    switch self {
    case .whole: .whole
    case .changes: .changes
    case .ending(let ending): ending.staging
    }
  }

  /// So many seconds may a clock have been set back since then; more, and nobody knows how old it is.
  static let skew = 3600.0

  /// When its first page was asked for, in seconds since 1970.
  var began: Double {
    switch self {
    case .whole(let read): read.began ?? 0
    case .changes(let read): read.began ?? 0
    case .ending(let ending): ending.began ?? 0
    }
  }
}
