/// The strategy of a download.
enum DownloadStrategy: String, Codable, Sendable, Hashable {
  /// The store follows a delta link.
  case changes
  /// The store reads everything.
  case whole
  /// The store sends a conditional request, and the service reports no change.
  case condition
}

/// How the download of a query ended.
struct DownloadResult: Sendable, Hashable {
  var strategy: DownloadStrategy
  /// Whether the service reported that nothing has changed.
  var isUnchanged = false
}
