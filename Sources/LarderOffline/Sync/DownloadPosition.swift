/// Where a download was interrupted: after a staged page. It is stored with the page's rows.
enum DownloadPosition: Codable, Sendable, Hashable {
  case whole(WholeRead)
  case changes(ChangesRead)
  /// All rows are staged.
  case ending(DownloadMachine.Ending)

  var staging: DownloadMachine.Staging {
    switch self {
    case .whole: .whole
    case .changes: .changes
    case .ending(let ending): ending.staging
    }
  }

  /// How far the clock may have been set back since the download began, in seconds. Beyond that, the age of the staged
  /// rows is unknown.
  static let maximumClockSetback = 3600.0

  /// When the first page was requested, in seconds since 1970.
  var began: Double {
    switch self {
    case .whole(let read): read.began ?? 0
    case .changes(let read): read.began ?? 0
    case .ending(let ending): ending.began ?? 0
    }
  }
}
