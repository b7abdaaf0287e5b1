import LarderOData

/// What a conversation has learned, all of it forgotten with the conversation.
struct SessionState: Sendable {
  var cookies: CookieJar
  var csrf: CSRFStateMachine
  var model: EdmModel?
  /// From the version fields of answers, until the metadata says it.
  var seenVersion: ODataVersion?
  /// The service refused JSON.
  var speaksAtom = false
  /// The service takes no batches in JSON.
  var refusesJSONBatches = false
  /// A PATCH, MERGE or DELETE did not come through.
  var methodWasRefused = false

  init(host: String, csrf mode: CSRFMode) {
    cookies = CookieJar(host: host)
    csrf = CSRFStateMachine(mode: mode)
  }
}
