/// An error in a response: V4 `error`, V2 verbose `error`, V3 `odata.error`, Atom `m:error` (OData JSON Format 4.01
/// §21; SAP Gateway's additions).
public struct ODataErrorPayload: Sendable, Hashable, CustomStringConvertible {
  /// The service's code; empty if there is none.
  public var code: String
  /// The message for users.
  public var message: String
  /// The language of `message` (V2 and V3); nil if the payload does not contain it.
  public var messageLanguage: String?
  /// The target of the error, a path or property.
  public var target: String?
  /// Further messages: V4 `details`, followed by SAP's `innererror.errordetails`.
  public var details: [Detail]
  /// The whole inner error, for the service's developers, as data; including SAP's members.
  public var innerError: ODataValue?
  /// SAP: the transaction to search for in the back end (`innererror.transactionid`).
  public var transactionID: String?
  /// SAP: hints for resolving the error (`innererror.Error_Resolution`), names and texts in their order.
  public var errorResolution: [ODataProperty]
  /// Instance annotations on the error, and members without a property above.
  public var annotations: [ODataAnnotation]

  /// One of several messages.
  public struct Detail: Sendable, Hashable {
    /// The service's code; empty if there is none.
    public var code: String
    /// The message for users.
    public var message: String
    /// The target of the message.
    public var target: String?
    /// The severity; nil if the payload does not contain it.
    public var severity: ODataMessage.Severity?
    /// SAP: the URL of the long text.
    public var longTextURL: String?
    /// Members without a property above.
    public var annotations: [ODataAnnotation]

    /// Code, target and message on one line.
    package var line: String {
      [code, target ?? "", message].filter { !$0.isEmpty }.joined(separator: ": ")
    }

    /// Creates a detail.
    package init(
      code: String, message: String, target: String? = nil, severity: ODataMessage.Severity? = nil,
      longTextURL: String? = nil
    ) {
      self.code = code
      self.message = message
      self.target = target
      self.severity = severity
      self.longTextURL = longTextURL
      annotations = []
    }
  }

  /// Creates an error.
  package init(
    code: String, message: String, messageLanguage: String? = nil, target: String? = nil, details: [Detail] = []
  ) {
    self.code = code
    self.message = message
    self.messageLanguage = messageLanguage
    self.target = target
    self.details = details
    errorResolution = []
    annotations = []
  }

  /// The message with what only its target and the details say: `Several errors. (ASSERT_RANGE: stock: The value is too
  /// large)`. Services put the reasons for a rejection there (OData JSON Format 4.01 §21.1).
  package var fullMessage: String {
    var reasons: [String] = []
    if let target, !target.isEmpty, !message.contains(target) { reasons.append(target) }
    let details = details.filter { $0.message != message && !$0.message.isEmpty }
    reasons += details.prefix(Self.shownDetails).map(\.line)
    if details.count > Self.shownDetails { reasons.append("… \(details.count - Self.shownDetails) more") }
    return reasons.isEmpty ? message : "\(message) (\(reasons.joined(separator: "; ")))"
  }

  /// The number of details that are shown to people.
  package static let shownDetails = 20

  /// Code and message.
  public var description: String { code.isEmpty ? message : "\(code): \(message)" }
}
