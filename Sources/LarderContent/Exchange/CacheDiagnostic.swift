/// An error of the cache during a request, which gets its response all the same.
public struct CacheDiagnostic: Sendable, CustomStringConvertible {
  /// What the cache was doing.
  public enum Operation: String, Sendable, Hashable {
    /// Looking up an entry, or reading its content.
    case read
    /// Receiving content, or storing an entry.
    case store
    /// Changing an entry's metadata.
    case update
    /// Removing an entry.
    case remove
  }

  /// The operation that failed.
  public let operation: Operation
  /// The resource concerned; empty if no single resource is.
  public let url: String
  /// The cache's error.
  public let error: CacheError

  /// One line: the operation and the error. The URL is omitted because it may contain personal data.
  public var description: String { "Cache \(operation.rawValue): \(error)" }
}
