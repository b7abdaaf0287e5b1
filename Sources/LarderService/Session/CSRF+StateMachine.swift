/// When a token against cross-site request forgery (CSRF) is fetched and sent.
public enum ODataCSRFMode: Sendable, Hashable {
  /// As soon as the service requires one (403 with `X-CSRF-Token: Required`), and from then on before each change.
  case automatic
  /// Before the first modifying request.
  case always
  /// Never: a 403 is an error.
  case never
}

/// The state of the service's CSRF token, as a pure state machine.
///
/// `unknown` changes to `needed` after a rejection or, in mode `always`, before the first change. `needed` is left when
/// a token arrives. `holding` changes to `needed` when this token is rejected or the session changes.
struct CSRFStateMachine: Equatable {
  /// What to do with a modifying request.
  enum Action: Equatable {
    /// Send it, with the token if there is one.
    case send(token: String?)
    /// Fetch a token first, and ask the state machine again.
    case fetch
    /// Return the rejection to the caller.
    case deliver
  }

  private enum State: Equatable { case unknown, needed, holding(String) }

  private let mode: ODataCSRFMode
  private var state = State.unknown

  init(mode: ODataCSRFMode) { self.mode = mode }

  /// Decides what to do before a modifying request is sent.
  func beforeSending() -> Action {
    switch (mode, state) {
    case (.never, _), (.automatic, .unknown): .send(token: nil)
    case (.always, .unknown), (_, .needed): .fetch
    case (_, .holding(let token)): .send(token: token)
    }
  }

  /// Decides what to do after the service rejected a request because a (valid) token was missing.
  ///
  /// - Parameters:
  ///   - token: the token sent with the request; another request may have fetched a newer one meanwhile.
  ///   - isReplay: whether the request had been rejected before: it is not sent a third time.
  mutating func afterRejection(of token: String?, isReplay: Bool) -> Action {
    guard mode != .never, !isReplay else { return .deliver }
    if case .holding(let current) = state, current != token { return .send(token: current) }
    state = .needed
    return .fetch
  }

  /// Records a token from the service.
  mutating func received(_ token: String) { state = .holding(token) }

  /// Records that the session has changed, which makes its token invalid.
  mutating func sessionChanged() { if case .holding = state { state = .needed } }

  /// True if a response is a rejection because a token is missing.
  static func isRejection(status: Int, field: String?) -> Bool {
    status == 403 && field.map { $0.lowercased() == "required" } ?? false
  }

  /// The token in the response to a fetch; nil if there is none.
  static func token(in field: String?) -> String? {
    guard let field, !field.isEmpty, !["required", "fetch"].contains(field.lowercased()) else { return nil }
    return field
  }
}
