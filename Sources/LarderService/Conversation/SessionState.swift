import LarderOData

/// What a conversation has learned about the service. It is lost with the conversation.
struct SessionState: Sendable {
  var cookies: CookieJar
  var csrf: CSRFStateMachine
  var model: EdmModel?
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
}
