@_spi(Stores) internal import LarderCore
internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How a verb accesses a service, from its options: credentials, certificates, header fields, time limits.
struct ServiceAccess: Sendable {
  /// The options of every verb that uses the network.
  static let options: [OptionSyntax] = [
    .userFile, .header, .credentialHeader, .noCredentialHeader, .service, .timeout, .retry, .authorities, .certificate,
    .key,
  ]

  /// The options of a verb on a clone: those above without `--service`.
  static let storeOptions: [OptionSyntax] = options.filter { $0 != .service && $0 != .retry } + [.storeRetry]

  /// The transport of all requests.
  var transport: any HTTPTransport
  /// The client's credentials.
  let credentials: Credentials?
  /// Header fields for the request itself.
  let fields: HTTPFields
  /// The fields that identify the client.
  let credentialFields: CredentialFields
  /// The options for the conversation.
  var options: ODataConversationOptions

  /// Reads the options. Nothing is sent.
  ///
  /// - Parameter retry: how requests are repeated without `--retry`, and how long each wait may be.
  init(_ arguments: ParsedArguments, _ context: CommandContext, retry: HTTPRetryPolicy = .never) throws {
    credentialFields = try CredentialHeader.fields(arguments)
    fields = try HeaderOption.fields(arguments, context)
    credentials = try Credentials.find(arguments, context)
    var options = ODataConversationOptions(retry: retry)
    if let text = arguments[.retry] {
      guard let count = Int(text), (0...100).contains(count) else {
        throw arguments.usage("--retry must be a number from 0 to 100, not '\(text)'")
      }
      options.retry = retry == .never ? HTTPRetryPolicy() : retry
      options.retry.attemptLimit = count + 1
      options.retry.isBriefWithoutConnection = false
    }
    options.environment.repetitionSleep = { time in
      // A person who waits for more than a moment is told why.
      if time >= .seconds(3) {
        context.note("the service is overloaded or unavailable; the next attempt is in \(time.components.seconds) s")
      }
      try await context.pause(time)
    }
    options.timeouts = try Self.timeouts(arguments)
    options.fields = HTTPFields(fields.filter { !HeaderOption.isRequestSpecific($0.name) })
    self.options = options
    transport = try Self.connect(try Self.settings(arguments, context), context)
  }

  /// Creates the transport for the settings.
  static func connect(_ settings: ConnectionSettings, _ context: CommandContext) throws -> any HTTPTransport {
    do { return try context.connect(settings) } catch let error as HTTPTransportError {
      // Nothing has been requested yet: the problem is in a certificate's file.
      throw CommandFailure(.storage, error.description, hint: "See --cacert, --cert and --key.")
    }
  }

  /// Reads content with a function that receives the deadline of `--timeout`, and leaves the rest of that time to the
  /// request.
  mutating func reading<Content>(
    _ read: (_ deadline: ContinuousClock.Instant?) async throws -> Content
  ) async throws -> Content {
    let deadline = options.timeouts.total.map { ContinuousClock.now + $0 }
    let content = try await read(deadline)
    if let deadline { options.timeouts.total = max(.milliseconds(1), deadline - .now) }
    return content
  }

  /// Creates a conversation with the service at a root. Nothing is sent except for a sign-in on another device.
  func conversation(root: URL, _ context: CommandContext) async throws -> ODataConversation {
    try ODataConversation(
      root: root, transport: transport, authentication: try await authentication(root: root, isOffline: false, context),
      options: options)
  }

  /// The authentication of the conversation; nil if there are no credentials.
  func authentication(
    root: URL, isOffline: Bool, _ context: CommandContext
  ) async throws -> (any HTTPAuthentication)? {
    guard let credentials else { return nil }
    if let limit = options.timeouts.total {
      return try await credentials.authentication(
        root: root, transport: transport, isOffline: isOffline, wait: limit, context)
    }
    return try await credentials.authentication(root: root, transport: transport, isOffline: isOffline, context)
  }

  private static func timeouts(_ arguments: ParsedArguments) throws(UsageError) -> HTTPTimeouts {
    guard let limit = try timeout(arguments, .timeout) else { return HTTPTimeouts() }
    let defaults = HTTPTimeouts()
    return HTTPTimeouts(connect: min(defaults.connect, limit), idle: max(defaults.idle, limit), total: limit)
  }

  /// The value of an option in seconds, as a duration.
  static func timeout(_ arguments: ParsedArguments, _ option: OptionSyntax) throws(UsageError) -> Duration? {
    guard let text = arguments[option] else { return nil }
    guard let seconds = Double(text), seconds >= 0.001, seconds <= 86_400 else {
      throw arguments.usage("\(option.name) must be a number of seconds from 0.001 to 86400, not '\(text)'")
    }
    return .seconds(seconds)
  }

  /// Certificates and keys, from options and the environment.
  static func settings(_ arguments: ParsedArguments, _ context: CommandContext) throws -> ConnectionSettings {
    let key = arguments[.key]
    if key != nil, arguments[.certificate] == nil { throw arguments.usage("--key needs --cert") }
    for file in [arguments[.authorities], arguments[.certificate], key] {
      if let file { _ = try InputFile.read(context.path(file), limit: InputFile.settingsLimit) }
    }
    for file in [arguments[.certificate], key] { if let file { context.warnIfOthersCanRead(file) } }
    return ConnectionSettings(
      authorities: arguments[.authorities].map(context.path), certificate: arguments[.certificate].map(context.path),
      key: key.map(context.path), passphrase: context.environment["LARDER_CERT_PASSPHRASE"])
  }
}

/// `--header 'Name: value'` and `--header @FILE`.
enum HeaderOption {
  static func fields(_ arguments: ParsedArguments, _ context: CommandContext) throws -> HTTPFields {
    var fields = HTTPFields()
    let credentials = try CredentialHeader.fields(arguments)
    for given in arguments.values(.header) {
      if given.hasPrefix("@") {
        let file = String(given.dropFirst())
        let text = ByteText.text(of: try context.read(file, limit: InputFile.settingsLimit))
        for line in text.split(whereSeparator: \.isNewline) where !line.allSatisfy(\.isWhitespace) {
          try append(String(line), to: &fields, shown: "a line of \(file)", arguments)
        }
      } else {
        let name = HTTPFieldName(String(given.prefix { $0 != ":" }))
        guard !credentials.contains(name) else {
          throw arguments.usage(
            "\(name) is a secret, and other users of this machine can read arguments",
            hint: "Pass credentials with --user-file FILE, and other header fields with --header @FILE.")
        }
        try append(given, to: &fields, shown: "'\(given)'", arguments)
      }
    }
    return fields
  }

  private static func append(
    _ line: String, to fields: inout HTTPFields, shown: String, _ arguments: ParsedArguments
  ) throws(UsageError) {
    guard let colon = line.firstIndex(of: ":") else {
      throw arguments.usage("\(shown) is not a header field", hint: "Write it as 'Name: value'.")
    }
    let value = line[line.index(after: colon)...]
    let trimmed = value.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
    let field = HTTPField(name: HTTPFieldName(String(line[..<colon])), value: String(trimmed))
    guard field.isValid else { throw arguments.usage("\(shown) is not a valid header field") }
    fields.append(field.name, field.value)
  }

  /// True for fields that describe one message's content or condition, and make no sense on the requests around it.
  static func isRequestSpecific(_ name: HTTPFieldName) -> Bool {
    let name = name.canonicalName
    return ["accept", "prefer", "slug", "x-csrf-token"].contains(name) || name.hasPrefix("content-")
      || name.hasPrefix("if-")
  }
}

/// `--credential-header NAME` and `--no-credential-header NAME`.
enum CredentialHeader {
  /// The fields of the built-in list, plus those that the options add, minus those that they remove.
  static func fields(_ arguments: ParsedArguments) throws(UsageError) -> CredentialFields {
    var fields = CredentialFields()
    for name in try names(.credentialHeader, arguments) { fields.insert(name) }
    for name in try names(.noCredentialHeader, arguments) { fields.remove(name) }
    return fields
  }

  private static func names(
    _ option: OptionSyntax, _ arguments: ParsedArguments
  ) throws(UsageError) -> [HTTPFieldName] {
    var names: [HTTPFieldName] = []
    for text in arguments.values(option) {
      let name = HTTPFieldName(text)
      guard name.isValid else {
        throw arguments.usage("\(option.name) must be the name of a header field, not '\(text)'")
      }
      names.append(name)
    }
    return names
  }
}

extension OptionSyntax {
  static let credentialHeader = OptionSyntax(
    "--credential-header", valueName: "NAME", .text, isRepeatable: true,
    "the field NAME is a credential: responses to different values are cached separately")
  static let noCredentialHeader = OptionSyntax(
    "--no-credential-header", valueName: "NAME", .text, isRepeatable: true,
    "the field NAME is not a credential")
  static let userFile = OptionSyntax(
    "--user-file", valueName: "FILE", .file,
    "sign in with the credentials in FILE: user:password, bearer TOKEN, or OAuth as JSON")
  static let header = OptionSyntax(
    "--header", short: "-H", valueName: "FIELD", .text, isRepeatable: true,
    "send the header field 'Name: value'; @FILE sends the lines of FILE")
  static let service = OptionSyntax(
    "--service", valueName: "ROOT", .text, "the service's root; URL may then be relative to it")
  static let timeout = OptionSyntax("--timeout", valueName: "SECONDS", .text, "fail after SECONDS")
  static let retry = OptionSyntax(
    "--retry", valueName: "N", .text, "repeat requests that may be repeated up to N times (default 0)")
  static let storeRetry = OptionSyntax(
    "--retry", valueName: "N", .text,
    "repeat requests up to N times while the service is overloaded or unavailable (default 7), waiting at most 5 minutes each time and 15 minutes in all; 0 fails at once"
  )
  static let authorities = OptionSyntax(
    "--cacert", valueName: "FILE", .file, "also trust the certificate authorities in FILE (PEM)")
  static let certificate = OptionSyntax(
    "--cert", valueName: "FILE", .file, "send the client certificate in FILE (PEM or .p12)")
  static let key = OptionSyntax("--key", valueName: "FILE", .file, "the key of the client certificate, in FILE (PEM)")
}
