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

/// A problem that did not prevent a request from getting its response.
public enum OnlineStoreDiagnostic: Sendable, CustomStringConvertible {
  /// The cache's file was damaged: it was moved aside and a new one created.
  case cacheReplaced(path: String, setAside: String, reason: String)
  /// The cache could not be read; the request continued as after a miss.
  case cacheReadFailed(urls: [String], StorageError)
  /// A response could not be cached; the caller received it nevertheless.
  case cacheWriteFailed(urls: [String], StorageError)
  /// A cached response was damaged on disk and removed.
  case entryDamaged(url: String)
  /// A response is larger than the cache's size limit and was not cached.
  case entryTooLarge(url: String, bytes: Int)
  /// The cache exceeded its size; the least recently used responses were removed.
  case cacheCleanedUp(entries: Int, bytes: Int)
  /// The cached metadata could not be read; it is downloaded again.
  case metadataUnreadable(reason: String)
  /// The service rejects conditions inside batches; they are left out from now on.
  case batchConditionsRefused(status: Int)
  /// The service rejects requests for change tracking; they are sent without it until the store is closed.
  case trackingRefused(status: Int)

  /// What happened, without any URL's query.
  public var description: String {
    switch self {
    case .cacheReplaced(let path, let aside, let reason):
      "The cache \(path) was damaged (\(reason)); it was moved to \(aside), and a new cache was created."
    case .cacheReadFailed(_, let error): "The cache could not be read: \(error)"
    case .cacheWriteFailed(_, let error): "A response could not be stored: \(error)"
    case .entryDamaged(let url): "A stored response was damaged and removed: \(url.prefix { $0 != "?" })"
    case .entryTooLarge(let url, let bytes):
      "A response of \(bytes) bytes is larger than the cache and was not stored: \(url.prefix { $0 != "?" })"
    case .cacheCleanedUp(let entries, let bytes): "\(entries) responses (\(bytes) bytes) were removed to free space."
    case .metadataUnreadable(let reason): "The cached metadata could not be read: \(reason)"
    case .batchConditionsRefused(let status): "The service rejects conditions in batches (HTTP \(status))."
    case .trackingRefused(let status): "The service rejects change tracking (HTTP \(status))."
    }
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
