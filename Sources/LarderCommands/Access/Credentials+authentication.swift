internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Credentials {
  /// Creates the authentication for a conversation.
  ///
  /// - Parameters:
  ///   - root: the service. A token endpoint with the same origin sees the client certificate; any other does not.
  ///   - isOffline: whether nothing will be sent, so that no sign-in is started.
  ///   - wait: how long to wait for another process that refreshes the token in the same file.
  func authentication(
    root: URL, transport: any HTTPTransport, isOffline: Bool, wait: Duration = .seconds(120), _ context: CommandContext
  ) async throws -> any HTTPAuthentication {
    switch self {
    case .basic(let user, let password): try BasicAuthentication(user: user, password: password)
    case .bearer(let token, let user): BearerAuthentication(token: token, identity: user)
    case .oauth(let file):
      try await file.authentication(root: root, transport: transport, isOffline: isOffline, wait: wait, context)
    }
  }
}

extension OAuthFile {
  fileprivate func authentication(
    root: URL, transport: any HTTPTransport, isOffline: Bool, wait: Duration, _ context: CommandContext
  ) async throws -> any HTTPAuthentication {
    let proof: OAuth2Client.Proof =
      switch (clientSecret, clientAuthentication) {
      case (nil, _): .none
      case (let secret?, .basic): .basic(secret: secret)
      case (let secret?, .post): .body(secret: secret)
      }
    var client = try OAuth2Client(tokenEndpoint: tokenURL, id: clientID, proof: proof, scope: scope)
    client.certificateAudience = .origin(root)
    if grant == .clientCredentials { return OAuth2Authentication(clientCredentials: client, transport: transport) }
    let shared = SharedUserFile(self, limit: wait, context)
    var token: OAuth2Token?
    if grant == .deviceCode, refreshToken == nil, !isOffline {
      let received = try await signIn(client, transport, context)
      shared?.save(received)
      token = received
    }
    let refreshToken = token.map(\.refreshToken) ?? refreshToken
    if let shared {
      return OAuth2Authentication(
        sharing: shared.tokens, refreshToken: refreshToken, token: token, identity: identity(context), client: client,
        transport: transport)
    }
    if let token {
      return OAuth2Authentication(token: token, identity: identity(context), client: client, transport: transport)
    }
    return OAuth2Authentication(
      refreshToken: refreshToken ?? "", identity: identity(context), client: client, transport: transport)
  }

  /// Asks the user to confirm the sign-in on another device, and waits for that.
  private func signIn(
    _ client: OAuth2Client, _ transport: any HTTPTransport, _ context: CommandContext
  ) async throws -> OAuth2Token {
    guard let deviceURL else { throw Credentials.failure(file, "'deviceURL' is missing") }
    let flow = try OAuth2DeviceFlow(client: client, deviceEndpoint: deviceURL, transport: transport)
    let prompt = try await flow.start()
    let address = TerminalText.line(prompt.verificationURIComplete ?? prompt.verificationURI)
    context.note("To sign in, open \(address) and enter the code \(TerminalText.line(prompt.userCode))")
    return try await flow.token(for: prompt)
  }
}
