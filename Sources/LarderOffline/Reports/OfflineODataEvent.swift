/// An event that an offline store reports while it works.
public enum OfflineODataEvent: Sendable {
  /// The state of the store has changed.
  case stateChanged(OfflineODataState)
  /// A download has progressed. The first download, inside opening, reports this too.
  case downloadProgress(OfflineODataDownloadProgress)
  /// A defining query has finished, with or without an error.
  case queryFinished(OfflineODataQueryOutcome)
  /// A download has found that another user changed entities that have pending changes here.
  case conflictsNoticed([OfflineODataNoticedConflict])
  /// A download has finished successfully.
  case downloadFinished(OfflineODataDownloadReport)
  /// An upload has progressed.
  case uploadProgress(OfflineODataUploadProgress)
  /// An upload has finished. The report also counts the changes that went to the error archive.
  case uploadFinished(OfflineODataUploadReport)
  /// An upload was interrupted. The values are the report of the work until then, and the reason.
  case uploadFailed(OfflineODataUploadReport, OfflineODataError)
  /// A download has ended with an error. `cause` is the error of the layer where it happened.
  case downloadFailed(OfflineODataError, cause: (any Error)?)
}

/// The states of an offline store.
public enum OfflineODataState: String, Sendable, Hashable {
  case closed
  case opening
  case open
  case closing
}

/// The progress of a download.
public struct OfflineODataDownloadProgress: Sendable, Hashable {
  /// A step of a download.
  public enum Step: String, Sendable, Hashable {
    /// The service's metadata are read and compared.
    case metadata
    /// Rows are read into staging tables, which readers do not see yet.
    case reading
    /// Changes since the last download are read.
    case changes
    /// The staged rows are made visible to readers.
    case committing
    /// The bytes of media entities and stream properties are downloaded.
    case streams
    /// The query has finished.
    case done
  }

  /// The current step.
  public var step: Step
  /// The name of the defining query; nil for a step that concerns all queries.
  public var query: String?
  /// The number of defining queries that have finished.
  public var finishedQueries: Int
  /// The number of defining queries in this download.
  public var totalQueries: Int
  /// The rows of this query downloaded so far, including those of an earlier, interrupted download. Each row is counted
  /// once.
  public var rows: Int64
  /// The number of bytes of this query downloaded so far.
  public var byteCount: Int64
  /// The total number of rows of the query, if the service counts them.
  public var totalRows: Int64?

  init(
    _ step: Step, query: String? = nil, finishedQueries: Int = 0, totalQueries: Int = 0, rows: Int64 = 0,
    byteCount: Int64 = 0,
    totalRows: Int64? = nil
  ) {
    self.step = step
    self.query = query
    self.finishedQueries = finishedQueries
    self.totalQueries = totalQueries
    self.rows = rows
    self.byteCount = byteCount
    self.totalRows = totalRows
  }
}

/// The outcome of one defining query in a download.
public struct OfflineODataQueryOutcome: Sendable, Hashable {
  /// The defining query's name.
  public var name: String
  /// The download strategy that was used; nil if the query failed before one was chosen.
  public var strategy: OfflineODataDownloadStrategy?
  /// The rows downloaded for this query in this download. Each row is counted once.
  public var rows: Int64 = 0
  /// The number of bytes downloaded.
  public var byteCount: Int64 = 0
  /// The pages downloaded.
  public var pages = 0
  /// Remarks in sentences, for example that a delta link has expired or that the service does not page.
  public var notes: [String] = []
  /// The links that the query expands and that the service did not return, as paths from the query's rows
  /// (`Items/Product`). Reads of them fail with `notDownloaded`.
  public var missingLinks: [String] = []
  /// Pending changes whose entities another user has changed.
  public var conflicts: [OfflineODataNoticedConflict] = []
  /// The reason why the query failed; nil if it succeeded.
  public var error: OfflineODataError?
}

/// The report of a download.
public struct OfflineODataDownloadReport: Sendable, Hashable {
  /// The outcomes, one for each defining query.
  public var queries: [OfflineODataQueryOutcome] = []
  /// The total number of rows downloaded.
  public var rows: Int64 { queries.reduce(0) { $0 + $1.rows } }
  /// The total number of bytes downloaded.
  public var byteCount: Int64 { queries.reduce(0) { $0 + $1.byteCount } }
}
