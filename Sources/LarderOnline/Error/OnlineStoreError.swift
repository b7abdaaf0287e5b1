public import LarderCore
public import LarderStorage

/// Why an online store or its cache cannot do what was requested. A service's own errors are `ODataServiceError`s.
public enum OnlineStoreError: Error, Sendable, CustomStringConvertible {
  /// The store is open, and the operation needs a closed one.
  case alreadyOpen
  /// Another store uses the cache of this service, in this process or another one.
  case cacheInUse(path: String)
  /// The store has no technical cache: its options do not enable it.
  case cacheNotEnabled
  /// The technical cache is closed.
  case cacheClosed
  /// The technical cache is open, and the operation needs a closed one.
  case cacheNotClosed
  /// The cache's file cannot be used.
  case storage(StorageError)
  /// The cache holds metadata that cannot be read, and the store is passive.
  case metadataUnreadable(String)

  /// What happened and what to do about it.
  public var description: String { explanation.description }

  /// Converts the failure of a file into the store's error.
  init(_ error: StorageError, path: String) {
    self = error.category == .inUse ? .cacheInUse(path: path) : .storage(error)
  }
}

extension OnlineStoreError: LarderError {
  /// The stable number, from 1 in the order of the cases.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .alreadyOpen: ErrorIdentity(1, "alreadyOpen", .state)
    case .cacheInUse: ErrorIdentity(2, "cacheInUse", .state)
    case .cacheNotEnabled: ErrorIdentity(3, "cacheNotEnabled", .state)
    case .cacheClosed: ErrorIdentity(4, "cacheClosed", .state)
    case .cacheNotClosed: ErrorIdentity(5, "cacheNotClosed", .state)
    case .storage(let error): ErrorIdentity(6, "storage", error.errorCategory)
    case .metadataUnreadable: ErrorIdentity(7, "metadataUnreadable", .invalidData)
    }
  }

  /// What happened and what to do about it.
  public var explanation: ErrorExplanation {
    switch self {
    case .alreadyOpen: ErrorExplanation("The store is open.", cure: "Close it first.")
    case .cacheInUse(let path):
      ErrorExplanation(
        "Another store uses the cache of this service (\(path)).",
        cure: "Close that store, or give this one another name.")
    case .cacheNotEnabled: ErrorExplanation("The store has no technical cache.", cure: "Enable it in the options.")
    case .cacheClosed: ErrorExplanation("The technical cache is closed.", cure: "Reopen it first.")
    case .cacheNotClosed: ErrorExplanation("The technical cache is open.", cure: "Close it first.")
    case .storage(let error): error.explanation
    case .metadataUnreadable(let reason):
      ErrorExplanation(
        "The cached metadata cannot be read: \(reason)", cure: "Open the store in active mode.")
    }
  }
}
