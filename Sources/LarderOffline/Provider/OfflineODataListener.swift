/// An object that is notified of the events of an offline store. Every method has an empty default. Calls are made one
/// after another, on any thread.
public protocol OfflineODataListener: AnyObject, Sendable {
  /// The state of the store has changed.
  func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState)
  /// The first download, inside opening, has progressed.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataDownloadProgress)
  /// A download has progressed.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataDownloadProgress)
  /// An upload has progressed.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateUploadProgress progress: OfflineODataUploadProgress)
  /// A defining query has finished, with or without an error.
  func offlineODataProvider(_ provider: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome)
  /// A download has found that another user changed entities that have pending changes here.
  func offlineODataProvider(
    _ provider: OfflineODataProvider, didNoticeConflicts conflicts: [OfflineODataNoticedConflict])
}

extension OfflineODataListener {
  /// Does nothing.
  public func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataDownloadProgress
  ) {}
  /// Does nothing.
  public func offlineODataProvider(
    _ provider: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataDownloadProgress
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
