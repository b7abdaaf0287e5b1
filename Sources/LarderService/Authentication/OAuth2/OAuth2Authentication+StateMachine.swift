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
      // With credentials of its own the client needs no refresh token (RFC 6749 §4.4.3), even where it was given one.
      if hasClientCredentials { return .request(.clientCredentials) }
      return refreshToken.map { .request(.refreshToken($0)) } ?? .fail(.invalidGrant)
    }

    /// The endpoint gave a token that was asked for at a moment.
    mutating func received(_ token: OAuth2Token, askedAt: Duration) {
      if let new = token.refreshToken { refreshToken = new }
      let until = token.lifetime.map { askedAt + $0 - min(skew, $0 / 10) }
      state = .holding(accessToken: token.accessToken, until: until)
    }

    /// The endpoint refused.
    mutating func failed(_ failure: AuthenticationFailure) {
      if failure == .invalidGrant, !hasClientCredentials { state = .ended(failure) }
    }

    /// The service answered 401 to a token; another request may have got a newer one meanwhile.
    mutating func rejected(_ accessToken: String) {
      if case .holding(accessToken, _) = state { state = .none }
    }
  }
}
