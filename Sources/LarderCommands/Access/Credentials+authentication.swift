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
  func authentication(
    root: URL, transport: any HTTPTransport, isOffline: Bool, _ context: CommandContext
  ) async throws -> any HTTPAuthentication {
    switch self {
    case .basic(let user, let password): try BasicAuthentication(user: user, password: password)
    case .bearer(let token, let user): BearerAuthentication(token: token, identity: user)
    case .oauth(let file):
      try await file.authentication(root: root, transport: transport, isOffline: isOffline, context)
    }
  }
}

extension OAuthFile {
  fileprivate func authentication(
    root: URL, transport: any HTTPTransport, isOffline: Bool, _ context: CommandContext
  ) async throws -> any HTTPAuthentication {
    let proof: OAuth2Client.Proof =
      switch (clientSecret, clientAuthentication) {
      case (nil, _): .none
      case (let secret?, .basic): .basic(secret: secret)
      case (let secret?, .post): .body(secret: secret)
      }
    var client = try OAuth2Client(tokenEndpoint: tokenURL, id: clientID, proof: proof, scope: scope)
    client.certificateAudience = .origin(root)
    let save: @Sendable (String) -> Void = { self.save(refreshToken: $0, context) }
    switch grant {
    case .clientCredentials: return OAuth2Authentication(clientCredentials: client, transport: transport)
    case .deviceCode where refreshToken == nil && !isOffline:
      let token = try await signIn(client, transport, context)
      if let refreshToken = token.refreshToken { save(refreshToken) }
      return OAuth2Authentication(
        token: token, identity: identity(context), client: client, transport: transport, onRefreshToken: save)
    case .refreshToken, .deviceCode:
      return OAuth2Authentication(
        refreshToken: refreshToken ?? "", identity: identity(context), client: client, transport: transport,
        onRefreshToken: save)
    }
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

  /// Saves a new refresh token to the file: a server may replace it with each use, which makes the old one invalid.
  private func save(refreshToken: String, _ context: CommandContext) {
    guard file != "-", refreshToken != self.refreshToken else { return }
    do throws(FileError) {
      var output = try OutputFile.create(context.path(file), isPrivate: true)
      try output.write(replacing(refreshToken: refreshToken))
      try output.finish()
    } catch {
      context.warn("the new refresh token could not be saved: \(error)")
    }
  }
}
