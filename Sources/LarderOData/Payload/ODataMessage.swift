/// A message that accompanies a successful answer (SAP Gateway: header `sap-message` in V2, `sap-messages` in V4).
public struct ODataMessage: Sendable, Hashable {
  /// How grave a message is.
  public enum Severity: Sendable, Hashable {
    /// All went well.
    case success
    /// Information.
    case info
    /// The caller should look at it.
    case warning
    /// Something was not done.
    case error
    /// A word or number that the service defines.
    case other(String)

    /// Takes V2's words (`success`, `info`, `information`, `warning`, `error`) and V4's numbers (1 to 4).
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

  /// The service's code; empty where it gives none.
  public var code: String
  /// The message for people.
  public var text: String
  /// How grave it is; nil where the service does not say.
  public var severity: Severity?
  /// What it is about, a path or property.
  public var target: String?
  /// More targets of the same message.
  public var additionalTargets: [String]
  /// True where the message concerns the request and not the entity's state.
  public var isTransition: Bool
  /// Where the long text is read.
  public var longTextURL: String?
  /// Messages below this one (V2 only).
  public var details: [ODataMessage]

  /// Makes a message.
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
