@_spi(Stores) internal import LarderHTTP
internal import LarderOData
internal import LarderOffline
internal import LarderService
internal import LarderStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The store of a clone, opened for one command.
struct OfflineAccess: Sendable {
  let folder: CloneFolder
  let provider: OfflineODataProvider
  private let transport: any HTTPTransport
  private let authentication: (any HTTPAuthentication)?
  private let parameters: OfflineODataParameters

  /// The options of every verb on a clone.
  static let options: [OptionSyntax] = [.keyFile] + StoreUserOption.all

  /// Opens the store for verbs that need no network: every network request fails.
  private init(offline folder: CloneFolder, _ arguments: ParsedArguments, _ context: CommandContext) throws {
    var parameters = OfflineODataParameters(
      createsStore: false, downloadsOnOpening: false, encryptionKey: try KeyAccess.key(arguments, context))
    try StoreUserOption.set(&parameters, arguments, context)
    try self.init(folder, transport: NoNetwork(), authentication: nil, parameters: parameters)
  }

  /// Opens the store for verbs that download. Opening itself downloads nothing.
  init(
    _ folder: CloneFolder, _ arguments: ParsedArguments, _ context: CommandContext, createsStore: Bool
  ) async throws {
    let access = try ServiceAccess(arguments, context, retry: .background)
    var parameters = OfflineODataParameters(
      createsStore: createsStore, downloadsOnOpening: false, pageSize: try Self.pageSize(arguments),
      encryptionKey: try KeyAccess.key(arguments, context), conversation: access.options,
      linkRequestLimit: try Self.linkRequestLimit(arguments))
    parameters.customHeaders = access.options.fields
    parameters.onDiagnostic = { [context] diagnostic in
      guard diagnostic.name == OfflineDiagnostic.changesUnfitting.rawValue else { return }
      context.warn("\(diagnostic.message) 'larder errors list' shows the reasons")
    }
    try StoreUserOption.set(&parameters, arguments, context)
    let authentication = try await access.authentication(root: try folder.root, isOffline: false, context)
    try self.init(folder, transport: access.transport, authentication: authentication, parameters: parameters)
  }

  private init(
    _ folder: CloneFolder, transport: any HTTPTransport, authentication: (any HTTPAuthentication)?,
    parameters: OfflineODataParameters
  ) throws {
    var parameters = parameters
    folder.setLocation(&parameters)
    provider = try OfflineODataProvider(
      serviceRoot: try folder.root, transport: transport, authentication: authentication, parameters: parameters)
    (self.folder, self.transport, self.authentication) = (folder, transport, authentication)
    self.parameters = parameters
  }

  /// Returns access to this store with a network. The user is not asked to sign in, and the key is not read again,
  /// because it may come from standard input.
  func connected(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> OfflineAccess {
    let access = try ServiceAccess(arguments, context, retry: .background)
    var parameters = parameters
    parameters.conversation = access.options
    parameters.customHeaders = access.options.fields
    parameters.onDiagnostic = { [context] diagnostic in
      guard diagnostic.name == OfflineDiagnostic.changesUnfitting.rawValue else { return }
      context.warn("\(diagnostic.message) 'larder errors list' shows the reasons")
    }
    let authentication = try await access.authentication(root: try folder.root, isOffline: true, context)
    return try OfflineAccess(
      folder, transport: access.transport, authentication: authentication, parameters: parameters)
  }

  /// A conversation with the service, with the store's credentials, and the number of concurrent requests.
  func conversation(_ change: (inout ODataConversationOptions) -> Void = { _ in }) throws -> (ODataConversation, Int) {
    guard let root = URL(string: folder.service) else { throw OfflineODataError(.internalFailure) }
    var options = parameters.conversation
    change(&options)
    let conversation = try ODataConversation(
      root: root, transport: transport, authentication: authentication, options: options)
    return (conversation, parameters.parallelQueries)
  }

  /// Opens the store. If the user has no copy, the error says how to create one.
  func open() async throws {
    do { try await provider.open() } catch let error as OfflineODataError
      where error.name == .resourceNotFound && parameters.currentUser != nil && !parameters.createsStore
    {
      throw CommandFailure(
        OfflineFailure.status(error), "this user has no copy in this clone yet", hint: StoreUserOption.firstHint)
    }
  }

  /// A URL below the service's root in short form: without root and query.
  func relative(_ url: String) -> String {
    let path = String(url.prefix { $0 != "?" })
    return provider.root.relative(path) ?? path
  }

  /// The value of `--page-size`.
  static func pageSize(_ arguments: ParsedArguments) throws(UsageError) -> Int? {
    guard let text = arguments[.pageSize] else { return nil }
    guard let size = Int(text), (1...1_000_000).contains(size) else {
      throw arguments.usage("--page-size must be a number from 1 to 1000000, not '\(text)'")
    }
    return size
  }

  /// The value of `--follow-links`.
  static func linkRequestLimit(_ arguments: ParsedArguments) throws(UsageError) -> Int {
    guard let text = arguments[.followLinks] else { return 0 }
    guard let limit = Int(text), (1...1_000_000).contains(limit) else {
      throw arguments.usage("--follow-links must be a number from 1 to 1000000, not '\(text)'")
    }
    return limit
  }

  /// Opens the store in the command's folder without a network, runs `body`, and closes the store in any case.
  static func withoutNetwork(
    _ arguments: ParsedArguments, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    let folder = try CloneFolder.existing(arguments, context)
    return try await with(try OfflineAccess(offline: folder, arguments, context), context, body)
  }

  /// Opens the store with a network, runs `body`, and closes it. Opening downloads nothing.
  static func with(
    _ arguments: ParsedArguments, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    let folder = try CloneFolder.existing(arguments, context)
    return try await with(
      try await OfflineAccess(folder, arguments, context, createsStore: false), context, body)
  }

  /// Opens a store, runs `body`, and closes the store in any case.
  static func with(
    _ access: OfflineAccess, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    try await access.open()
    let status: CommandStatus
    do { status = try await body(access) } catch {
      try? await access.provider.close()
      throw error
    }
    await context.warnIfClosingFails { try await access.provider.close() }
    return status
  }
}

/// Reads the defining queries that `--query` and `--streams` name.
enum DefiningQueryOption {
  static func queries(_ arguments: ParsedArguments) throws(UsageError) -> [OfflineODataDefiningQuery] {
    var queries: [OfflineODataDefiningQuery] = []
    for given in arguments.values(.definingQuery) {
      let (name, path) = try parts(given, arguments)
      guard !queries.contains(where: { $0.name == name }) else {
        throw arguments.usage("two queries are named '\(name)'", hint: "Give them different names: --query NAME=PATH.")
      }
      queries.append(OfflineODataDefiningQuery(name, path))
    }
    return try addingStreams(to: queries, arguments)
  }

  /// The queries, with streams for those that `--streams` names.
  static func addingStreams(
    to queries: [OfflineODataDefiningQuery], _ arguments: ParsedArguments
  ) throws(UsageError) -> [OfflineODataDefiningQuery] {
    var queries = queries
    if arguments.has(.rawValues) {
      for index in queries.indices { queries[index].keepsRawValues = true }
    }
    for name in arguments.values(.streamQuery) {
      guard let index = queries.firstIndex(where: { $0.name == name }) else {
        throw arguments.usage("--streams \(name): there is no query with this name")
      }
      queries[index].automaticallyRetrievesStreams = true
    }
    return queries
  }

  /// Splits `NAME=PATH`; a path alone is named after its set. A name contains neither `?` nor `(`: an equals sign after
  /// one of them belongs to the path.
  private static func parts(
    _ given: String, _ arguments: ParsedArguments
  ) throws(UsageError) -> (name: String, path: String) {
    let before = given.prefix { !"=?(".contains($0) }
    if before.endIndex < given.endIndex, given[before.endIndex] == "=" {
      let path = given[given.index(after: before.endIndex)...]
      guard !before.isEmpty, !path.isEmpty else { throw malformed(given, arguments) }
      return (String(before), String(path))
    }
    let set = before.prefix { $0 != "/" }
    guard !set.isEmpty, let name = PercentEncoding.decode(String(set)) else { throw malformed(given, arguments) }
    return (name, given)
  }

  private static func malformed(_ given: String, _ arguments: ParsedArguments) -> UsageError {
    arguments.usage(
      "--query must be PATH or NAME=PATH, not '\(given)'", hint: "For example --query 'products=Products?$top=100'.")
  }
}

/// Rejects every request: work on a clone alone must not use the network.
private struct NoNetwork: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host() ?? "", reason: "this command works without a network")
  }
}

/// Describes a store's failure for the command line.
enum OfflineFailure {
  /// Uses the first line as the message, and the lines that show the place in a URL as the hint.
  static func failure(_ error: OfflineODataError) -> CommandFailure {
    let lines = error.errorMessage.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let hint: String? =
      switch error.name {
      case .neverDownloaded:
        "'larder download' resumes the download; 'larder status' and 'larder log' show its progress."
      case .authenticationFailed: ServiceFailure.signIn
      case .otherUser: StoreUserOption.hint
      case .setAsideNeedsKey: StoreUserOption.keyHint
      case _ where error.isKeyError: KeyAccess.hint
      default: lines.count > 1 ? String(lines[1]) : nil
      }
    return CommandFailure(status(error), String(lines[0]), hint: hint)
  }

  static func status(_ error: OfflineODataError) -> CommandStatus {
    if error.isCancelled { return .interrupted }
    return switch error.category {
    case .preconditionFailed where error.isKeyError || error.name == .setAsideNeedsKey: .storage
    case .invalidInput: .usage
    case .preconditionFailed, .notFound, .notSupported: .negative
    case .communicationError: .network
    case .serverSideError: error.name == .requestRejected ? .negative : .network
    case .clientInternalError: .storage
    }
  }
}

extension OfflineODataError {
  /// Whether another key, or no key, would help.
  fileprivate var isKeyError: Bool {
    switch name {
    case .wrongEncryptionKey, .encryptionKeyMissing, .storeNotEncrypted: true
    default: false
    }
  }
}
