/// Hears whether a store that was told to open has opened. Both calls have an empty default.
public protocol OnlineODataStoreListener: AnyObject, Sendable {
  /// The store is open.
  func onlineStoreOpenFinished(_ store: OnlineODataStore)
  /// The store is not open; the error says why.
  func onlineStoreOpenFailed(_ store: OnlineODataStore, error: any Error)
}

extension OnlineODataStoreListener {
  /// Does nothing.
  public func onlineStoreOpenFinished(_ store: OnlineODataStore) {}
  /// Does nothing.
  public func onlineStoreOpenFailed(_ store: OnlineODataStore, error: any Error) {}
}
