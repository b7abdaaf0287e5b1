/// What an offline store tells while it works.
public enum OfflineODataEvent: Sendable {
  /// The store is in another state.
  case stateChanged(OfflineODataState)
  /// A download, or the first one inside opening, has gone on.
  case progress(OfflineODataProgress)
  /// A defining query is done, well or not.
  case queryFinished(OfflineODataQueryOutcome)
  /// A download has noticed that another has changed entities under changes that wait to be sent.
  case conflictsNoticed([OfflineODataNoticedConflict])
  /// A download has ended well.
  case downloadFinished(OfflineODataDownloadReport)
  /// An upload has gone on.
  case uploadProgress(OfflineODataUploadProgress)
  /// An upload has ended well; what the service refused is in its report.
  case uploadFinished(OfflineODataUploadReport)
  /// An upload was cut: what it had done, and why.
  case uploadFailed(OfflineODataUploadReport, OfflineODataError)
  /// A download has ended with an error; below it, the error of the layer where it happened.
  case downloadFailed(OfflineODataError, cause: (any Error)?)
}

/// The states of an offline store.
public enum OfflineODataState: String, Sendable, Hashable {
  case closed
  case opening
  case open
  case closing
}

/// How far a download is.
public struct OfflineODataProgress: Sendable, Hashable {
  /// What is being done.
  public enum Step: String, Sendable, Hashable {
    /// The service's metadata are read and compared.
    case metadata
    /// Rows are read into the next state of the tables.
    case reading
    /// Changes are read.
    case changes
    /// What was read becomes what readers see.
    case committing
    /// The bytes of media entities and stream properties are read.
    case streams
    /// The query is done.
    case done
  }

  /// What is being done.
  public var step: Step
  /// The defining query; nil for what concerns all.
  public var query: String?
  /// Defining queries that are done.
  public var queriesDone: Int
  /// Defining queries of this download.
  public var queriesTotal: Int
  /// Rows of this query that have come, with those that an earlier, cut download has brought; each counted once.
  public var rows: Int64
  /// Bytes of this query that have come.
  public var bytes: Int64
  /// The rows of the query in all, where the service counts them.
  public var totalRows: Int64?

  init(
    _ step: Step, query: String? = nil, queriesDone: Int = 0, queriesTotal: Int = 0, rows: Int64 = 0, bytes: Int64 = 0,
    totalRows: Int64? = nil
  ) {
    self.step = step
    self.query = query
    self.queriesDone = queriesDone
    self.queriesTotal = queriesTotal
    self.rows = rows
    self.bytes = bytes
    self.totalRows = totalRows
  }
}

/// What became of one defining query in a download.
public struct OfflineODataQueryOutcome: Sendable, Hashable {
  /// The defining query's name.
  public var name: String
  /// The way that it took; nil where it failed before it had one.
  public var way: OfflineODataDownloadStrategy?
  /// Rows that came in this download, each counted once.
  public var rows: Int64 = 0
  /// Bytes that came.
  public var bytes: Int64 = 0
  /// Pages that they came in.
  public var pages = 0
  /// What was found on the way, in sentences: an expired delta link, a service that does not page.
  public var notes: [String] = []
  /// Changes that wait to be sent and whose entities another has changed.
  public var conflicts: [OfflineODataNoticedConflict] = []
  /// Why it failed; nil where it did not.
  public var error: OfflineODataError?
}

/// What became of a download.
public struct OfflineODataDownloadReport: Sendable, Hashable {
  /// One a defining query.
  public var queries: [OfflineODataQueryOutcome] = []
  /// The rows that came in all.
  public var rows: Int64 { queries.reduce(0) { $0 + $1.rows } }
  /// The bytes that came in all.
  public var bytes: Int64 { queries.reduce(0) { $0 + $1.bytes } }
}

/// Hears what an offline store does. Every call has an empty default; calls come one after another, on any thread.
public protocol OfflineODataDelegate: AnyObject, Sendable {
  /// The store is in another state.
  func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState)
  /// The first download, inside opening, has gone on.
  func offlineODataProvider(_ provider: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataProgress)
  /// A download has gone on.
  func offlineODataProvider(_ provider: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataProgress)
  /// An upload has gone on.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateUploadProgress progress: OfflineODataUploadProgress)
  /// A defining query is done, well or not.
  func offlineODataProvider(_ provider: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome)
  /// A download has noticed that another has changed entities under changes that wait to be sent.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didNoticeConflicts conflicts: [OfflineODataNoticedConflict])
}

extension OfflineODataDelegate {
  /// Does nothing.
  public func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataProgress
  ) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataProgress
  ) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateUploadProgress progress: OfflineODataUploadProgress
  ) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome
  ) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didNoticeConflicts conflicts: [OfflineODataNoticedConflict]
  ) {}
}
