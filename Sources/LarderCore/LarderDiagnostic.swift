/// Something that a store reports although no call fails: it repaired its file, left something out, or continued without
/// its cache.
///
/// Every store and cache has a hook `onDiagnostic` that receives these values. Forward them to a logger or to metrics:
/// ``level``, ``module`` and ``name`` are stable, ``fields`` are structured, and ``message`` is for people. No field contains
/// credentials, a key, or the query of a URL. The hook is called on any thread, and never under a lock of the store.
public struct LarderDiagnostic: Sendable, CustomStringConvertible {
  /// How much attention a diagnostic deserves.
  public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Normal operation, of interest when a problem is examined.
    case debug
    /// Normal operation that an operator may want to know.
    case info
    /// The store continued with less: without its cache, or without a feature that the service rejects.
    case warning
    /// Data was lost, or an operation of the store failed.
    case error

    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// How much attention it deserves.
  public let level: Level
  /// The module that reports: `LarderOnline`, `LarderOffline`, `LarderContent`, `LarderObjects`.
  public let module: String
  /// What happened, as a stable name: `cacheReplaced`.
  public let name: String
  /// What happened, in whole sentences, without the query of a URL.
  public let message: String
  /// The values concerned by name, such as `url`, `path`, `bytes` and `status`.
  public let fields: [String: String]
  /// The error behind it, if there was one.
  public let error: (any LarderError)?

  /// Makes a diagnostic. Stores make them; tests of a hook may.
  public init(
    _ level: Level, module: String, name: String, message: String, fields: [String: String] = [:],
    error: (any LarderError)? = nil
  ) {
    self.level = level
    self.module = module
    self.name = name
    self.message = message
    self.fields = fields
    self.error = error
  }

  /// ``message``.
  public var description: String { message }
}
