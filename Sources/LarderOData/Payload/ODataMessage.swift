/// A message in a successful response (SAP Gateway: header `sap-message` in V2, `sap-messages` in V4).
public struct ODataMessage: Sendable, Hashable {
  /// The severity of a message.
  public enum Severity: Sendable, Hashable {
    /// Success.
    case success
    /// Information.
    case info
    /// A warning.
    case warning
    /// An error: a part of the request was not executed.
    case error
    /// A word or number that the service defines.
    case other(String)

    /// Parses V2's words (`success`, `info`, `information`, `warning`, `error`) and V4's numbers (1 to 4).
    package init(_ text: String) {
      switch text.lowercased() {
      case "success", "1": self = .success
      case "info", "information", "2": self = .info
      case "warning", "3": self = .warning
      case "error", "4": self = .error
      default: self = .other(text)
      }
    }
  }

  /// The service's code; empty if there is none.
  public var code: String
  /// The message for users.
  public var text: String
  /// The severity; nil if the service does not say.
  public var severity: Severity?
  /// The target of the message, a path or property.
  public var target: String?
  /// Further targets of the message.
  public var additionalTargets: [String]
  /// Whether the message concerns the request and not the entity's state.
  public var isTransition: Bool
  /// The URL of the long text.
  public var longTextURL: String?
  /// Messages below this one (V2 only).
  public var details: [ODataMessage]

  /// Creates a message.
  package init(
    code: String, text: String, severity: Severity? = nil, target: String? = nil, additionalTargets: [String] = [],
    isTransition: Bool = false, longTextURL: String? = nil, details: [ODataMessage] = []
  ) {
    self.code = code
    self.text = text
    self.severity = severity
    self.target = target
    self.additionalTargets = additionalTargets
    self.isTransition = isTransition
    self.longTextURL = longTextURL
    self.details = details
  }
}
