/// Receives the result of opening a store in the background. Both functions have an empty default.
public protocol OnlineODataStoreListener: AnyObject, Sendable {
  /// The store is open.
  func onlineStoreOpenFinished(_ store: OnlineODataStore)
  /// The store could not be opened; the error says why.
  func onlineStoreOpenFailed(_ store: OnlineODataStore, error: any Error)
}

extension OnlineODataStoreListener {
  /// Does nothing.
  public func onlineStoreOpenFinished(_ store: OnlineODataStore) {}
  /// Does nothing.
  public func onlineStoreOpenFailed(_ store: OnlineODataStore, error: any Error) {}
}
