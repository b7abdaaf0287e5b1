extension OAuth2Authentication {
  /// The life of a token, as a pure state machine.
  ///
  /// `none` leaves by a token. `holding` leaves by its end of life, or by the service's refusal, to `none`. `ended`
  /// (the grant is no longer valid) never leaves: the user must sign in again.
  struct StateMachine {
    /// What to do for a request.
    enum Action: Equatable {
      /// Send this access token.
      case use(String)
      /// Ask the endpoint.
      case request(OAuth2Grant)
      /// Fail.
      case fail(AuthenticationFailure)
    }

    private enum State {
      case none
      case holding(accessToken: String, until: Duration?)
      case ended(AuthenticationFailure)
    }

    private var state = State.none
    private var refreshToken: String?
    private let hasClientCredentials: Bool
    private let skew: Duration

    /// - Parameter skew: how long before its end a token counts as over; a tenth of its life at most.
    init(refreshToken: String?, hasClientCredentials: Bool, skew: Duration) {
      self.refreshToken = refreshToken
      self.hasClientCredentials = hasClientCredentials
      self.skew = skew
    }

    /// What to do for a request at a moment.
    func next(now: Duration) -> Action {
      switch state {
      case .ended(let failure): return .fail(failure)
      case .holding(let token, let until) where until.map { now < $0 } ?? true: return .use(token)
      case .holding, .none: break
      }
      if let refreshToken { return .request(.refreshToken(refreshToken)) }
      return hasClientCredentials ? .request(.clientCredentials) : .fail(.invalidGrant)
    }

    /// The endpoint gave a token that was asked for at a moment.
    mutating func received(_ token: OAuth2Token, askedAt: Duration) {
      if let new = token.refreshToken { refreshToken = new }
      let until = token.lifetime.map { askedAt + $0 - min(skew, $0 / 10) }
      state = .holding(accessToken: token.accessToken, until: until)
    }

    /// The endpoint refused a grant: another one to try, or nil.
    mutating func failed(_ failure: AuthenticationFailure, grant: OAuth2Grant) -> OAuth2Grant? {
      guard failure == .invalidGrant, case .refreshToken = grant else { return nil }
      refreshToken = nil
      if hasClientCredentials { return .clientCredentials }
      state = .ended(failure)
      return nil
    }

    /// The service answered 401 to a token; another request may have got a newer one meanwhile.
    mutating func rejected(_ accessToken: String) {
      if case .holding(accessToken, _) = state { state = .none }
    }
  }
}
