@_spi(Stores) public import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Authentication with OAuth 2.0 bearer tokens, requested and renewed at the token endpoint (RFC 6749).
///
/// A token is renewed shortly before it expires, and once after a 401. However many requests wait for a token, it is
/// requested once, and a failure is reported to all of them.
public final class OAuth2Authentication: HTTPAuthentication {
  /// The user to whom the tokens belong.
  public let identity: String
  private let client: OAuth2Client
  private let transport: any HTTPTransport
  private let environment: LarderEnvironment
  private let onRefreshToken: @Sendable (String) -> Void
  private let sharedTokens: OAuth2SharedTokens?
  private let state: Locked<StateMachine>
  private let fetch: SharedFetch<String, HTTPAuthenticationError>

  /// Creates the application's own access, with client credentials (RFC 6749 §4.4).
  public convenience init(
    clientCredentials client: OAuth2Client, transport: any HTTPTransport, skew: Duration = .seconds(30),
    environment: LarderEnvironment = .system
  ) {
    let identity = "client \(client.id) \(client.tokenEndpoint.absoluteString) \(client.scope ?? "")"
    self.init(
      client, identity: identity, machine: StateMachine(refreshToken: nil, hasClientCredentials: true, skew: skew),
      transport: transport, environment: environment, onRefreshToken: { _ in })
  }

  /// Creates a user's access from a refresh token (RFC 6749 §6).
  ///
  /// - `identity`: the user.
  /// - `onRefreshToken`: called with each new refresh token, which the application should save.
  public convenience init(
    refreshToken: String, identity: String, client: OAuth2Client, transport: any HTTPTransport,
    skew: Duration = .seconds(30), environment: LarderEnvironment = .system,
    onRefreshToken: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.init(
      client, identity: identity,
      machine: StateMachine(refreshToken: refreshToken, hasClientCredentials: false, skew: skew),
      transport: transport, environment: environment, onRefreshToken: onRefreshToken)
  }

  /// Creates a user's access from a token just received, for example from ``OAuth2DeviceFlow``.
  public convenience init(
    token: OAuth2Token, identity: String, client: OAuth2Client, transport: any HTTPTransport,
    skew: Duration = .seconds(30), environment: LarderEnvironment = .system,
    onRefreshToken: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    var machine = StateMachine(refreshToken: token.refreshToken, hasClientCredentials: false, skew: skew)
    machine.received(token, requestedAt: environment.uptime())
    self.init(
      client, identity: identity, machine: machine, transport: transport, environment: environment,
      onRefreshToken: onRefreshToken)
  }

  /// Creates a user's access from a refresh token that other processes use too.
  ///
  /// - Parameter token: a token just received; nil if there is none.
  package convenience init(
    sharing sharedTokens: OAuth2SharedTokens, refreshToken: String?, token: OAuth2Token? = nil, identity: String,
    client: OAuth2Client, transport: any HTTPTransport, skew: Duration = .seconds(30),
    environment: LarderEnvironment = .system
  ) {
    var machine = StateMachine(refreshToken: refreshToken, hasClientCredentials: false, skew: skew)
    if let token { machine.received(token, requestedAt: environment.uptime()) }
    self.init(
      client, identity: identity, machine: machine, transport: transport, environment: environment,
      onRefreshToken: { _ in }, sharedTokens: sharedTokens)
  }

  private init(
    _ client: OAuth2Client, identity: String, machine: StateMachine, transport: any HTTPTransport,
    environment: LarderEnvironment, onRefreshToken: @escaping @Sendable (String) -> Void,
    sharedTokens: OAuth2SharedTokens? = nil
  ) {
    self.client = client
    self.identity = "oauth2:" + identity
    self.transport = transport
    self.environment = environment
    self.onRefreshToken = onRefreshToken
    self.sharedTokens = sharedTokens
    state = Locked(machine)
    fetch = SharedFetch(cancelled: .unreachable(.cancelled), cancelsWhenUnused: false, environment: environment)
  }

  /// Returns a valid token, and requests one if there is none.
  public func authorization() async throws(HTTPAuthenticationError) -> String? { "Bearer " + (try await accessToken()) }

  /// Returns a newer token; nil if the service rejects the newest one.
  public func authorization(after rejected: String?, challenge: String?) async throws(HTTPAuthenticationError)
    -> String?
  {
    if let rejected, rejected.hasPrefix("Bearer ") {
      state.withLock { $0.rejected(String(rejected.dropFirst(7))) }
    }
    let value = "Bearer " + (try await accessToken())
    return value == rejected ? nil : value
  }

  private func accessToken() async throws(HTTPAuthenticationError) -> String {
    let now = environment.uptime()
    switch state.withLock({ $0.next(now: now) }) {
    case .use(let token): return token
    case .fail(let failure): throw failure
    case .request: return try await fetch.value { [self] in await fetchToken() }
    }
  }

  /// Requests a token unless another request has received one meanwhile.
  private func fetchToken() async -> Result<String, HTTPAuthenticationError> {
    let now = environment.uptime()
    switch state.withLock({ $0.next(now: now) }) {
    case .use(let token): return .success(token)
    case .fail(let failure): return .failure(failure)
    case .request(let grant):
      guard let sharedTokens else { return await request(grant).map(\.accessToken) }
      return await request(sharing: sharedTokens)
    }
  }

  /// Requests a token while no other process does, unless one has received a token meanwhile.
  private func request(sharing sharedTokens: OAuth2SharedTokens) async -> Result<String, HTTPAuthenticationError> {
    let newer: OAuth2SharedTokens.Newer?
    do throws(HTTPAuthenticationError) { newer = try await sharedTokens.begin() } catch { return .failure(error) }
    let now = environment.uptime()
    let action = state.withLock { state in
      if let newer { state.received(newer, at: now) }
      return state.next(now: now)
    }
    var received: OAuth2Token?
    defer { sharedTokens.end(received) }
    switch action {
    case .use(let token): return .success(token)
    case .fail(let failure): return .failure(failure)
    case .request(let grant):
      let result = await request(grant)
      received = try? result.get()
      return result.map(\.accessToken)
    }
  }

  private func request(_ grant: OAuth2Grant) async -> Result<OAuth2Token, HTTPAuthenticationError> {
    let requestedAt = environment.uptime()
    do throws(HTTPAuthenticationError) {
      let form = grant.form(scope: client.scope) + client.parameters
      let node = try await OAuth2TokenEndpoint.response(
        to: client.request(to: client.tokenEndpoint, form), over: transport)
      let token = try OAuth2TokenEndpoint.token(node)
      state.withLock { $0.received(token, requestedAt: requestedAt) }
      if let refreshToken = token.refreshToken { onRefreshToken(refreshToken) }
      return .success(token)
    } catch {
      state.withLock { $0.failed(error) }
      return .failure(error)
    }
  }
}
