internal import LarderHTTP
internal import LarderOData
internal import LarderOffline
internal import LarderService
internal import LarderStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The store of a clone, open for one command.
struct OfflineAccess: Sendable {
  let folder: CloneFolder
  let provider: OfflineODataProvider
  private let transport: any HTTPTransport
  private let authentication: (any Authentication)?
  private let parameters: OfflineODataParameters

  /// What every verb on a clone takes.
  static let options: [OptionSyntax] = [.keyFile] + StoreUserOption.all

  /// The store for verbs that need no network: whatever they ask of one fails.
  private init(offline folder: CloneFolder, _ arguments: ParsedArguments, _ context: CommandContext) throws {
    var parameters = OfflineODataParameters(
      createsStore: false, fillsOnOpening: false, storeEncryptionKey: try KeyAccess.key(arguments, context))
    try StoreUserOption.set(&parameters, arguments, context)
    try self.init(folder, NoNetwork(), nil, parameters)
  }

  /// The store for verbs that download. `fills`: opening runs the first download.
  init(
    _ folder: CloneFolder, _ arguments: ParsedArguments, _ context: CommandContext, createsStore: Bool, fills: Bool
  ) async throws {
    let access = try ServiceAccess(arguments, context)
    var parameters = OfflineODataParameters(
      createsStore: createsStore, fillsOnOpening: fills, pageSize: try Self.pageSize(arguments),
      storeEncryptionKey: try KeyAccess.key(arguments, context), conversation: access.options)
    parameters.customHeaders = access.options.fields
    try StoreUserOption.set(&parameters, arguments, context)
    let authentication = try await access.authentication(root: try folder.root, isOffline: false, context)
    try self.init(folder, access.transport, authentication, parameters)
  }

  private init(
    _ folder: CloneFolder, _ transport: any HTTPTransport, _ authentication: (any Authentication)?,
    _ parameters: OfflineODataParameters
  ) throws {
    var parameters = parameters
    folder.place(&parameters)
    provider = try OfflineODataProvider(
      serviceRoot: try folder.root, transport: transport, authentication: authentication, parameters: parameters)
    (self.folder, self.transport, self.authentication) = (folder, transport, authentication)
    self.parameters = parameters
  }

  /// The same store, whose opening runs the first download. Key and credentials are not read again: they may have come
  /// from standard input.
  func filling() throws -> OfflineAccess {
    var parameters = parameters
    parameters.fillsOnOpening = true
    return try OfflineAccess(folder, transport, authentication, parameters)
  }

  /// The store with a network. Nobody is asked to sign in, and the key is not read again: it may have come from standard input.
  func connected(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> OfflineAccess {
    let access = try ServiceAccess(arguments, context)
    var parameters = parameters
    parameters.conversation = access.options
    parameters.customHeaders = access.options.fields
    let authentication = try await access.authentication(root: try folder.root, isOffline: true, context)
    return try OfflineAccess(folder, access.transport, authentication, parameters)
  }

  /// A conversation with the service, signed in as the store is; how many requests go out at once.
  func conversation(_ change: (inout ConversationOptions) -> Void = { _ in }) throws -> (ODataConversation, Int) {
    guard let root = URL(string: folder.service) else { throw OfflineODataError(.internalFailure) }
    var options = parameters.conversation
    change(&options)
    let conversation = try ODataConversation(
      root: root, transport: transport, authentication: authentication, options: options)
    return (conversation, parameters.parallelQueries)
  }

  /// Opens the store; says to a user who has no copy how to take one.
  func open() async throws {
    do { try await provider.open() } catch let error as OfflineODataError
      where error.name == .resourceNotFound && parameters.currentUser != nil && !parameters.createsStore
    {
      throw CommandFailure(
        OfflineFailure.status(error), "this user has no copy here yet", hint: StoreUserOption.firstHint)
    }
  }

  /// A URL below the service's root as people write it: without root and query.
  func relative(_ url: String) -> String {
    let path = String(url.prefix { $0 != "?" })
    return provider.root.relative(path) ?? path
  }

  /// `--page-size`.
  static func pageSize(_ arguments: ParsedArguments) throws(UsageError) -> Int? {
    guard let text = arguments[.pageSize] else { return nil }
    guard let size = Int(text), (1...1_000_000).contains(size) else {
      throw arguments.usage("--page-size is a number from 1 to 1000000, not '\(text)'")
    }
    return size
  }

  /// Opens the store of the folder that a command works in, works with it, and closes it however that ends.
  static func withoutNetwork(
    _ arguments: ParsedArguments, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    let folder = try CloneFolder.filled(arguments, context)
    return try await with(try OfflineAccess(offline: folder, arguments, context), context, body)
  }

  /// Opens the store with a network, works with it, and closes it. Opening downloads nothing.
  static func with(
    _ arguments: ParsedArguments, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    let folder = try CloneFolder.filled(arguments, context)
    return try await with(
      try await OfflineAccess(folder, arguments, context, createsStore: false, fills: false), context, body)
  }

  /// Opens a store, works with it, and closes it however that ends.
  static func with(
    _ access: OfflineAccess, _ context: CommandContext, _ body: (OfflineAccess) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    try await access.open()
    let status: CommandStatus
    do { status = try await body(access) } catch {
      try? await access.provider.close()
      throw error
    }
    await context.closing { try await access.provider.close() }
    return status
  }
}

/// The defining queries that `--query` and `--streams` name.
enum DefiningQueryOption {
  static func queries(_ arguments: ParsedArguments) throws(UsageError) -> [OfflineODataDefiningQuery] {
    var queries: [OfflineODataDefiningQuery] = []
    for given in arguments.values(.definingQuery) {
      let (name, path) = try parts(given, arguments)
      guard !queries.contains(where: { $0.name == name }) else {
        throw arguments.usage("two queries are named '\(name)'", hint: "Give them names: --query NAME=PATH.")
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
    for name in arguments.values(.streamQuery) {
      guard let place = queries.firstIndex(where: { $0.name == name }) else {
        throw arguments.usage("--streams \(name): there is no query of that name")
      }
      queries[place].automaticallyRetrievesStreams = true
    }
    return queries
  }

  /// `NAME=PATH`; a path alone has the name of its set. A name has neither `?` nor `(`: an equals sign behind these is the
  /// path's own.
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
      "--query is PATH or NAME=PATH, not '\(given)'", hint: "For example --query 'products=Products?$top=100'.")
  }
}

/// Refuses every request: what works on a clone alone must not reach out.
private struct NoNetwork: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host() ?? "", reason: "this command works without a network")
  }
}

/// A store's failure, in words for the command line.
enum OfflineFailure {
  /// The first line is the message; lines that show the place in a URL are the hint.
  static func failure(_ error: OfflineODataError) -> CommandFailure {
    let lines = error.errorMessage.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let hint: String? =
      switch error.name {
      case .neverDownloaded:
        "'larder download' goes on with the clone; 'larder status' and 'larder log' tell how far it is."
      case .authenticationFailed: ServiceFailure.signIn
      case .otherUser: StoreUserOption.hint
      case .setAsideNeedsKey: StoreUserOption.keyHint
      case _ where error.isOfKey: KeyAccess.hint
      default: lines.count > 1 ? String(lines[1]) : nil
      }
    return CommandFailure(status(error), String(lines[0]), hint: hint)
  }

  static func status(_ error: OfflineODataError) -> CommandStatus {
    if error.isCancelled { return .interrupted }
    return switch error.category {
    case .preconditionFailed where error.isOfKey || error.name == .setAsideNeedsKey: .storage
    case .invalidInput: .usage
    case .preconditionFailed, .notFound, .notSupported: .negative
    case .communicationError: .network
    case .serverSideError: error.name == .requestRefused ? .negative : .network
    case .clientInternalError: .storage
    }
  }
}

extension OfflineODataError {
  /// Whether another key, or none, is what helps.
  fileprivate var isOfKey: Bool {
    switch name {
    case .wrongEncryptionKey, .encryptionKeyMissing, .storeNotEncrypted: true
    default: false
    }
  }
}
