extension OAuth2Authentication {
  /// The lifecycle of a token, as a pure state machine.
  ///
  /// `none` is left when a token arrives. `holding` returns to `none` when the token expires or the service rejects it.
  /// `ended` (the grant is no longer valid) is never left: the user must sign in again.
  struct StateMachine {
    /// What to do for a request.
    enum Action: Equatable {
      /// Send this access token.
      case use(String)
      /// Request a token from the endpoint.
      case request(OAuth2Grant)
      /// Fail.
      case fail(HTTPAuthenticationError)
    }

    private enum State {
      case none
      case holding(accessToken: String, until: Duration?)
      case ended(HTTPAuthenticationError)
    }

    private var state = State.none
    private var refreshToken: String?
    private let hasClientCredentials: Bool
    private let skew: Duration

    /// - Parameter skew: how long before its expiry a token counts as expired; a tenth of its lifetime at most.
    init(refreshToken: String?, hasClientCredentials: Bool, skew: Duration) {
      self.refreshToken = refreshToken
      self.hasClientCredentials = hasClientCredentials
      self.skew = skew
    }

    /// Decides what to do for a request that is sent now.
    func next(now: Duration) -> Action {
      switch state {
      case .ended(let failure): return .fail(failure)
      case .holding(let token, let until) where until.map { now < $0 } ?? true: return .use(token)
      case .holding, .none: break
      }
      // A client with its own credentials needs no refresh token (RFC 6749 §4.4.3), even if it received one.
      if hasClientCredentials { return .request(.clientCredentials) }
      return refreshToken.map { .request(.refreshToken($0)) } ?? .fail(.invalidGrant())
    }

    /// Records a token from the endpoint, which was requested at the time `askedAt`.
    mutating func received(_ token: OAuth2Token, requestedAt: Duration) {
      if let new = token.refreshToken { refreshToken = new }
      let until = token.lifetime.map { requestedAt + $0 - min(skew, $0 / 10) }
      state = .holding(accessToken: token.accessToken, until: until)
    }

    /// Records what another process has received.
    mutating func received(_ newer: OAuth2SharedTokens.Newer, at now: Duration) {
      refreshToken = newer.refreshToken
      if let token = newer.token { received(token, requestedAt: now) }
    }

    /// Records a rejection by the endpoint.
    mutating func failed(_ failure: HTTPAuthenticationError) {
      if case .invalidGrant = failure, !hasClientCredentials { state = .ended(failure) }
    }

    /// Records that the service responded with 401 to a token. Another request may have received a newer token
    /// meanwhile.
    mutating func rejected(_ accessToken: String) {
      if case .holding(accessToken, _) = state { state = .none }
    }
  }
}
