/// Something that went wrong beside a request: the request is answered all the same.
public struct CacheDiagnostic: Sendable, CustomStringConvertible {
  /// What the cache was doing.
  public enum Operation: String, Sendable, Hashable {
    /// Looking an entry up, or reading its content.
    case read
    /// Taking content in, or keeping an entry.
    case store
    /// Changing an entry's metadata.
    case update
    /// Forgetting an entry.
    case remove
  }

  /// What was tried.
  public let operation: Operation
  /// The resource concerned; empty where no single one is.
  public let url: String
  /// What the cache said.
  public let error: CacheError

  /// One line: the operation and the error. The URL is left out, it may hold personal data.
  public var description: String { "Cache \(operation.rawValue): \(error)" }
}
