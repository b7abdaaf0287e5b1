/// An error as the service words it: V4 `error`, V2 verbose `error`, V3 `odata.error`, Atom `m:error`
/// (OData JSON Format 4.01 §21; SAP Gateway's additions).
public struct ODataErrorPayload: Sendable, Hashable, CustomStringConvertible {
  /// The service's code; empty where it gives none.
  public var code: String
  /// The message for people.
  public var message: String
  /// The language of `message` (V2 and V3); nil where the payload does not say.
  public var messageLanguage: String?
  /// What the error is about, a path or property.
  public var target: String?
  /// More messages: V4 `details`, and SAP's `innererror.errordetails` behind them.
  public var details: [Detail]
  /// What the service tells its developers, whole, as data; SAP's members in it too.
  public var innerError: ODataValue?
  /// SAP: the transaction to look for in the back end (`innererror.transactionid`).
  public var transactionID: String?
  /// SAP: how to find out more (`innererror.Error_Resolution`), names and texts in their order.
  public var errorResolution: [ODataProperty]
  /// Instance annotations on the error, and members of no name above.
  public var annotations: [ODataAnnotation]

  /// One of several messages.
  public struct Detail: Sendable, Hashable {
    /// The service's code; empty where it gives none.
    public var code: String
    /// The message for people.
    public var message: String
    /// What it is about.
    public var target: String?
    /// How grave it is; nil where the payload does not say.
    public var severity: ODataMessage.Severity?
    /// SAP: where the long text is read.
    public var longTextURL: String?
    /// Members of no name above.
    public var annotations: [ODataAnnotation]

    /// Makes a detail.
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

  /// Makes an error.
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

  /// Code and message.
  public var description: String { code.isEmpty ? message : "\(code): \(message)" }
}
