/// When a token against cross-site request forgery is fetched and sent.
public enum CSRFMode: Sendable, Hashable {
  /// As soon as the service asks for one (403 with `X-CSRF-Token: Required`), and from then on before it asks.
  case automatic
  /// Before the first modifying request.
  case always
  /// Never: a 403 is an error.
  case never
}

/// What is known about the service's token, as a pure state machine.
///
/// `unknown` leaves by a refusal or, in mode `always`, by the first change: to `needed`. `needed` leaves by a token.
/// `holding` leaves to `needed` by a refusal of this very token or by another session.
struct CSRFStateMachine: Equatable {
  /// What to do with a modifying request.
  enum Action: Equatable {
    /// Send it, with the token where there is one.
    case send(token: String?)
    /// Get a token first, and ask again with it.
    case fetch
    /// Give the refusal to the caller.
    case deliver
  }

  private enum State: Equatable { case unknown, needed, holding(String) }

  private let mode: CSRFMode
  private var state = State.unknown

  init(mode: CSRFMode) { self.mode = mode }

  /// A modifying request wants to go.
  func beforeSending() -> Action {
    switch (mode, state) {
    case (.never, _), (.automatic, .unknown): .send(token: nil)
    case (.always, .unknown), (_, .needed): .fetch
    case (_, .holding(let token)): .send(token: token)
    }
  }

  /// The service refused a request for want of a (valid) token.
  ///
  /// - Parameters:
  ///   - token: what was sent with the request; another request may have got a newer one meanwhile.
  ///   - isReplay: the request had been refused before: it is not sent a third time.
  mutating func afterRefusal(of token: String?, isReplay: Bool) -> Action {
    guard mode != .never, !isReplay else { return .deliver }
    if case .holding(let current) = state, current != token { return .send(token: current) }
    state = .needed
    return .fetch
  }

  /// The service gave a token.
  mutating func received(_ token: String) { state = .holding(token) }

  /// The session is another one: its token is worthless.
  mutating func sessionChanged() { if case .holding = state { state = .needed } }

  /// True where an answer is a refusal for want of a token.
  static func isRefusal(status: Int, field: String?) -> Bool {
    status == 403 && field.map { $0.lowercased() == "required" } ?? false
  }

  /// The token in an answer to a fetch; nil where there is none.
  static func token(in field: String?) -> String? {
    guard let field, !field.isEmpty, !["required", "fetch"].contains(field.lowercased()) else { return nil }
    return field
  }
}
