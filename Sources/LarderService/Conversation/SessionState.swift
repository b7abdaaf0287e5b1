import LarderOData

/// What a conversation has learned about the service. It is lost with the conversation.
struct SessionState: Sendable {
  var cookies: CookieJar
  var csrf: CSRFStateMachine
  private(set) var model: EdmModel?
  /// Checks requests against the restrictions of the model.
  private(set) var rules: ModelRules?
  /// The version from the fields of responses, used until the metadata states it.
  var responseVersion: ODataVersion?
  /// The service rejected JSON.
  var usesAtom = false
  /// The service does not accept batches in JSON.
  var rejectsJSONBatches = false
  /// A PATCH, MERGE or DELETE was blocked.
  var methodWasRejected = false

  init(host: String, csrf mode: ODataCSRFMode) {
    cookies = CookieJar(host: host)
    csrf = CSRFStateMachine(mode: mode)
  }

  mutating func use(_ model: EdmModel, _ rules: ModelRules) { (self.model, self.rules) = (model, rules) }
}
