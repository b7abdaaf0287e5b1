/// Something that a store reports although no call fails because of it: it replaced a damaged file, stopped using a
/// feature that the service rejects, or continued without its cache.
///
/// Every store and every cache with files has a hook `onDiagnostic` for these values. Forward them to a logger or to
/// metrics: ``level``, ``module``, ``name`` and the names of the ``fields`` are stable; ``message`` is for people. The
/// hook is called on any thread, and never under a lock. It must not wait for a call of the store. The article "Diagnostics" lists all names.
public struct LarderDiagnostic: Sendable, CustomStringConvertible {
  /// How much attention a diagnostic deserves, in ascending order.
  public enum Level: Sendable, Hashable, Comparable, CaseIterable {
    /// Routine work, of interest when a problem is examined.
    case debug
    /// Normal operation that an operator may want to know.
    case info
    /// The store continues with less: without its cache, or without a feature that the service rejects.
    case warning
    /// Stored data was damaged.
    case error
  }

  /// How much attention the diagnostic deserves.
  public let level: Level
  /// The module that reports it: `LarderOnline`, `LarderOffline`, `LarderContent` or `LarderObjects`.
  public let module: String
  /// What happened, as a name that is stable and unique in its module, such as `cacheReplaced`.
  public let name: String
  /// What happened, in whole sentences. It can contain text that the service sent.
  public let message: String
  /// The values concerned, by stable names such as `url`, `path` and `status`. No field contains an
  /// encryption key, or the user information or the query of a URL. Its path can contain keys of entities.
  public let fields: [String: String]
  /// The error behind it; nil if there was none.
  public let error: (any LarderError)?

  /// Creates a diagnostic, as stores do; an application needs this only to test its hook.
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

  /// The ``message``.
  public var description: String { message }
}

/// The diagnostics of a module: a case for each, which is its name. A test compares them with the article "Diagnostics".
package protocol DiagnosticName: RawRepresentable<String>, CaseIterable, Sendable {
  /// The module that reports them.
  static var module: String { get }
  /// The level, and the names of the fields that a diagnostic may have.
  var form: (level: LarderDiagnostic.Level, fields: [String]) { get }
}

extension LarderDiagnostic {
  /// Creates a diagnostic of a module; fields without a value are left out.
  package init(
    _ name: some DiagnosticName, _ message: String, _ fields: [String: String?] = [:],
    error: (any LarderError)? = nil
  ) {
    let form = name.form
    assert(fields.keys.allSatisfy(form.fields.contains), "\(name.rawValue) has a field that its form does not name")
    self.init(
      form.level, module: type(of: name).module, name: name.rawValue, message: ErrorExplanation.sentence(message),
      fields: fields.compactMapValues(\.self), error: error)
  }

  /// Calls a hook. In debug builds, the process ends if the caller is in the closure of a ``Locked``.
  package func report(to hook: (@Sendable (LarderDiagnostic) -> Void)?) {
    #if DEBUG
      LockNesting.check()
    #endif
    hook?(self)
  }

  /// A URL as a field contains it: without user information, query and fragment.
  package static func url(_ text: String) -> String {
    let text = text.prefix { $0 != "?" && $0 != "#" }
    guard let scheme = text.firstRange(of: "://") else { return String(text) }
    let authority = text[scheme.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return String(text) }
    return String(text[..<scheme.upperBound] + text[text.index(after: at)...])
  }
}
