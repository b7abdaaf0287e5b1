internal import LarderHTTP
internal import LarderOData
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The client's credentials, from a file or the environment, never from an argument.
enum Credentials: Sendable, Hashable {
  /// User name and password.
  case basic(user: String, password: String)
  /// A token, and its user if known.
  case bearer(token: String, user: String?)
  /// An application's access to a token endpoint.
  case oauth(OAuthFile)

  /// Returns the credentials of `--user-file`, else those of the environment, else nil.
  static func find(_ arguments: ParsedArguments, _ context: CommandContext) throws -> Credentials? {
    guard let file = arguments[.userFile] else { return try fromEnvironment(context.environment, arguments) }
    let bytes = try context.read(file, limit: InputFile.settingsLimit)
    context.warnIfOthersCanRead(file)
    return try read(bytes, file: file)
  }

  private static func fromEnvironment(
    _ environment: [String: String], _ arguments: ParsedArguments
  ) throws(UsageError) -> Credentials? {
    let user = environment["LARDER_USER"].flatMap { $0.isEmpty ? nil : $0 }
    if let token = environment["LARDER_TOKEN"], !token.isEmpty { return .bearer(token: token, user: user) }
    switch (user, environment["LARDER_PASSWORD"]) {
    case (let user?, let password?): return .basic(user: user, password: password)
    case (_?, nil): throw arguments.usage("LARDER_USER is set, but neither LARDER_PASSWORD nor LARDER_TOKEN")
    case (nil, _?): throw arguments.usage("LARDER_PASSWORD is set, but LARDER_USER is not")
    case (nil, nil): return nil
    }
  }

  /// Reads a file: `user:password`, `bearer TOKEN`, or JSON.
  static func read(_ bytes: [UInt8], file: String) throws(CommandFailure) -> Credentials {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure(file, "it is not UTF-8 text") }
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
    guard let line = lines.first else { throw failure(file, "it is empty") }
    if line.drop(while: \.isWhitespace).hasPrefix("{") { return .oauth(try OAuthFile(bytes, file: file)) }
    guard lines.count == 1 else { throw failure(file, "it has more than one line") }
    let words = line.split(separator: " ")
    if words.count == 2, words[0].lowercased() == "bearer" { return .bearer(token: String(words[1]), user: nil) }
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
      throw failure(file, "it contains neither user:password nor bearer TOKEN nor JSON")
    }
    return .basic(user: String(line[..<colon]), password: String(line[line.index(after: colon)...]))
  }

  static func failure(_ file: String, _ reason: String) -> CommandFailure {
    CommandFailure(
      .storage, "the user file \(file) cannot be used: \(reason)", hint: "'larder get --help' describes its formats.")
  }
}

/// The JSON form of a user file: access with OAuth 2.0.
struct OAuthFile: Sendable, Hashable {
  /// The grant with which tokens are requested (RFC 6749 §4.4, §6; RFC 8628).
  enum Grant: String, CaseIterable {
    case clientCredentials = "client_credentials"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"
  }

  /// How the secret is sent to the token endpoint, by the names of RFC 7591 §2.
  enum ClientAuthentication: String, CaseIterable {
    /// In the field `Authorization`.
    case basic = "client_secret_basic"
    /// In the form.
    case post = "client_secret_post"
  }

  let file: String
  let grant: Grant
  let tokenURL: URL
  let deviceURL: URL?
  let clientID: String
  let clientSecret: String?
  let clientAuthentication: ClientAuthentication
  let scope: String?
  private(set) var refreshToken: String?
  let user: String?
  /// The file's members, in which new tokens are inserted.
  private var members: [JSONNode.Member]

  /// The members that ``replacing(_:refreshToken:unixTime:)`` writes.
  private static let tokenNames = ["refreshToken", "accessToken", "accessTokenExpires"]
  private static let memberNames =
    ["grant", "tokenURL", "deviceURL", "clientID", "clientSecret", "clientAuthentication", "scope", "user"] + tokenNames

  init(_ bytes: [UInt8], file: String) throws(CommandFailure) {
    let node: JSONNode
    do throws(JSONError) { node = try JSONNode(bytes) } catch { throw Credentials.failure(file, "\(error)") }
    members = node.members ?? []
    for member in members {
      guard Self.memberNames.contains(member.name) else {
        let hint = Suggestion.hint(for: member.name, among: Self.memberNames).map { ". " + $0 } ?? ""
        throw Credentials.failure(file, "it has an unknown member '\(member.name)'\(hint)")
      }
      guard member.value.string != nil else { throw Credentials.failure(file, "'\(member.name)' is not a string") }
    }
    func url(_ name: String) throws(CommandFailure) -> URL? {
      guard let text = node[name]?.string else { return nil }
      guard let url = URL(string: text), url.host() != nil else {
        throw Credentials.failure(file, "'\(name)' is not a URL")
      }
      return url
    }
    guard let tokenURL = try url("tokenURL") else { throw Credentials.failure(file, "'tokenURL' is missing") }
    guard let clientID = node["clientID"]?.string else { throw Credentials.failure(file, "'clientID' is missing") }
    let grantName =
      node["grant"]?.string ?? (node["refreshToken"] == nil ? Grant.clientCredentials : .refreshToken).rawValue
    guard let grant = Grant(rawValue: grantName) else {
      let grantNames = Grant.allCases.map(\.rawValue).joined(separator: ", ")
      throw Credentials.failure(file, "'grant' must be one of \(grantNames), not '\(grantName)'")
    }
    let authenticationName = node["clientAuthentication"]?.string ?? ClientAuthentication.basic.rawValue
    guard let clientAuthentication = ClientAuthentication(rawValue: authenticationName) else {
      let names = ClientAuthentication.allCases.map(\.rawValue).joined(separator: ", ")
      throw Credentials.failure(file, "'clientAuthentication' must be one of \(names), not '\(authenticationName)'")
    }
    if node["clientAuthentication"] != nil, node["clientSecret"] == nil {
      throw Credentials.failure(file, "'clientAuthentication' is how the secret is sent, but 'clientSecret' is missing")
    }
    self.file = file
    self.grant = grant
    self.clientAuthentication = clientAuthentication
    self.tokenURL = tokenURL
    self.clientID = clientID
    deviceURL = try url("deviceURL")
    clientSecret = node["clientSecret"]?.string
    scope = node["scope"]?.string
    refreshToken = node["refreshToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    user = node["user"]?.string
    if grant == .refreshToken, refreshToken == nil { throw Credentials.failure(file, "'refreshToken' is missing") }
    if grant == .clientCredentials, clientSecret == nil { throw Credentials.failure(file, "'clientSecret' is missing") }
    if grant == .deviceCode, deviceURL == nil { throw Credentials.failure(file, "'deviceURL' is missing") }
    // A file belongs to one user; standard input may contain anyone's credentials.
    if grant != .clientCredentials, file == "-", user == nil {
      throw Credentials.failure("-", "'user' is missing; it is required if the user file is standard input")
    }
  }

  /// The identity of the credentials' owner: the user if the file names one; else the client, with the file's path if
  /// the grant belongs to a user.
  func identity(_ context: CommandContext) -> String {
    if let user { return user }
    let client = "\(grant.rawValue) \(clientID) \(tokenURL.absoluteString)"
    if grant == .clientCredentials { return client }
    let path = URL(fileURLWithPath: context.path(file)).standardizedFileURL.path(percentEncoded: false)
    return "\(client) \(path)"
  }

  /// Whether tokens of another file are tokens of this one: both name the same client, scope and endpoint.
  func isSameGrant(as other: OAuthFile) -> Bool {
    (tokenURL, clientID, scope, user) == (other.tokenURL, other.clientID, other.scope, other.user)
  }

  /// The access token that was saved with the refresh token, if it is valid at a time.
  func savedToken(unixTime: Int64) -> OAuth2Token? {
    func text(_ name: String) -> String? { members.first { $0.name == name }?.value.string }
    guard let accessToken = text("accessToken"), !accessToken.isEmpty else { return nil }
    guard let expires = text("accessTokenExpires") else { return OAuth2Token(accessToken: accessToken) }
    guard let end = Int64(expires), end > unixTime else { return nil }
    return OAuth2Token(accessToken: accessToken, lifetime: .seconds(end - unixTime))
  }

  /// The file with new tokens, received at a time.
  func replacing(_ token: OAuth2Token, refreshToken: String, unixTime: Int64) -> OAuthFile {
    var file = self
    file.refreshToken = refreshToken
    file.members.removeAll { Self.tokenNames.contains($0.name) }
    file.members.append(JSONNode.Member("refreshToken", .string(refreshToken)))
    file.members.append(JSONNode.Member("accessToken", .string(token.accessToken)))
    if let lifetime = token.lifetime {
      let end = unixTime + lifetime.components.seconds
      file.members.append(JSONNode.Member("accessTokenExpires", .string(String(end))))
    }
    return file
  }

  /// The file's content.
  var encoded: [UInt8] {
    var writer = JSONWriter()
    writer.node(.object(members))
    return PayloadPrinter.json(writer.bytes) ?? writer.bytes
  }
}
