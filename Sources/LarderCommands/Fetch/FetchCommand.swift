internal import LarderContent
@_spi(Stores) internal import LarderCore
internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Runs one `larder fetch`: reads the arguments, delivers the content, and renews the cache.
struct FetchCommand: Sendable {
  private let arguments: ParsedArguments
  private let context: CommandContext
  private let target: RequestTarget
  private var access: ServiceAccess
  private let folder: ContentFolder
  private let limit: Int
  private var query: ContentQuery<Data>

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    self.arguments = arguments
    self.context = context
    target = try RequestTarget(try arguments.required(FetchQuery.url), in: arguments)
    query = try FetchQuery.read(arguments, target)
    folder = try ContentFolder(arguments, context)
    limit = try FetchQuery.limit(arguments)
    if arguments.has(.fetchJSON), ResponseOutput.includesHead(arguments) {
      throw arguments.usage("--json already shows status and fields; omit --include")
    }
    if arguments.has(.wait), query.policy == .cacheOnly {
      throw arguments.usage("--wait cannot be used offline: no request is sent")
    }
    access = try ServiceAccess(arguments, context)
  }

  /// Fetches and delivers the content.
  mutating func run() async throws -> CommandStatus {
    if let file = arguments[.fetchData] {
      let context = context
      query.body = try await access.reading { try await RequestContent.open(file, context, until: $0).body }
    }
    let isOffline = query.policy == .cacheOnly
    let cache = try folder.open(limit: limit, isOffline: isOffline, context)
    let diagnostics = StoreDiagnostics(context)
    let manager = ContentManager(
      cache: cache, transport: try await transport(isOffline: isOffline),
      options: diagnostics.options(access.credentialFields))
    do {
      try await fetch(manager, diagnostics)
      await manager.close()
      return .done
    } catch {
      await manager.close()
      throw error
    }
  }

  private func transport(isOffline: Bool) async throws -> any HTTPTransport {
    guard let authentication = try await access.authentication(root: target.origin, isOffline: isOffline, context)
    else {
      return access.transport
    }
    return SigningTransport(
      transport: access.transport, authentication: authentication, root: try ODataServiceRoot(target.origin))
  }

  private func fetch(_ manager: ContentManager, _ diagnostics: StoreDiagnostics) async throws {
    var query = query
    for field in access.fields { query.fields.append(field.name, field.value) }
    query.timeouts = access.options.timeouts
    let start = ContinuousClock.now
    let cachedResponse: CachedResponse
    do throws(ContentError) {
      cachedResponse = try await manager.stream(query, takesIntermediate: !arguments.has(.wait))
    } catch {
      if case .notCached = error.category, let damage = diagnostics.unreadable { throw damage }
      throw await withHint(error, query, manager)
    }
    do {
      try await deliver(cachedResponse, since: start)
    } catch let error as HTTPTransportError {
      // Cached content was found damaged when it was read after its check.
      if case .other = error, cachedResponse.origin != .network, let damage = diagnostics.unreadable { throw damage }
      throw error
    }
    // The reader of the output should not wait for the revalidation.
    context.output.close()
    if let revalidation = cachedResponse.revalidation { try await revalidate(revalidation) }
  }

  /// Writes the content, or the report about it.
  private func deliver(_ cachedResponse: CachedResponse, since start: ContinuousClock.Instant) async throws {
    let showsReport = arguments.has(.fetchJSON)
    var bytes = 0
    if showsReport, !ResponseOutput.writesFile(arguments) {
      for try await chunk in cachedResponse.response.body { bytes += chunk.count }
    } else {
      bytes = try await ResponseOutput(arguments, context, includesHead: arguments.has(.head) && !showsReport).print(
        status: cachedResponse.response.status, fields: cachedResponse.response.fields,
        body: cachedResponse.response.body)
    }
    let report = FetchReport(cachedResponse, bytes: bytes, elapsed: ContinuousClock.now - start)
    if showsReport {
      try report.write(to: context.output)
    } else if context.diagnostics.isTerminal {
      context.note(report.line)
    }
  }

  /// Waits for the server's response, which replaces the printed content in the cache.
  private func revalidate(_ revalidation: HTTPRevalidation) async throws {
    do {
      let cachedResponse = try await revalidation.response()
      let status = cachedResponse.response.status
      for try await _ in cachedResponse.response.body {}
      guard (200...299).contains(status) else {
        return context.warn("the cached content was not renewed: the server responded with status \(status)")
      }
      if context.diagnostics.isTerminal {
        context.note(cachedResponse.origin == .validated ? "renewed: not modified" : "renewed: new content")
      }
    } catch {
      if Task.isCancelled || error as? HTTPTransportError == .cancelled { throw CancellationError() }
      context.warn("the cached content was not renewed: \(error)")
    }
  }

  /// The failure, with a hint if the content is in the cache.
  private func withHint(
    _ error: ContentError, _ query: ContentQuery<Data>, _ manager: ContentManager
  ) async -> CommandFailure {
    let failure = CommandFailure(error)
    guard error.isNetworkError, query.method == .get || query.method == .head else { return failure }
    var query = query
    query.policy = .cacheOnly
    guard let storedResponse = try? await manager.stream(query) else { return failure }
    storedResponse.response.body.cancel()
    let ageText = storedResponse.age.map { ", \(FetchReport.ageText($0)) old" } ?? ""
    return CommandFailure(
      failure.status, failure.message, hint: "The cache has content of this URL\(ageText): --offline prints it.")
  }
}

/// Creates the query from the options.
enum FetchQuery {
  static let url = OperandSyntax("URL", count: .one, value: .text, summary: "the resource to read")

  static func read(
    _ arguments: ParsedArguments, _ target: RequestTarget
  ) throws -> ContentQuery<Data> {
    guard let url = URL(string: target.url) else { throw arguments.usage("'\(target.url)' is not a URL") }
    var query = ContentQuery<Data>(url)
    query.policy = try policy(arguments)
    query.method = try method(arguments)
    query.ttl = try time(.ttl, arguments)
    query.softTTL = try time(.softTTL, arguments)
    if let soft = query.softTTL, let ttl = query.ttl, soft > ttl {
      throw arguments.usage("--soft-ttl is longer than --ttl")
    }
    let isRead = query.method == .get || query.method == .head
    guard isRead || query.policy == .standard else {
      throw arguments.usage("\(query.method) is always sent to the server: it does not accept a policy")
    }
    if !isRead, let given = [OptionSyntax.ttl, .softTTL, .wait].first(where: { arguments.has($0) }) {
      throw arguments.usage("\(query.method) is always sent to the server: it does not accept \(given.name)")
    }
    try addType(ofData: &query, arguments)
    return query
  }

  static func limit(_ arguments: ParsedArguments) throws(UsageError) -> Int {
    guard let text = arguments[.maximumSize] else { return 512 << 20 }
    guard let limit = ByteCountArgument.parse(text) else {
      throw arguments.usage("--max-size must be a number of bytes such as 512M, not '\(text)'")
    }
    return limit
  }

  private static func policy(_ arguments: ParsedArguments) throws(UsageError) -> ContentPolicy {
    let given = [OptionSyntax.offline, .refresh, .policy].filter { arguments.has($0) }
    guard given.count < 2 else { throw arguments.usage("\(given[0].name) and \(given[1].name) cannot be combined") }
    if arguments.has(.offline) { return .cacheOnly }
    if arguments.has(.refresh) { return .reload }
    return ContentPolicy.words.first { $0.word == arguments[.policy] }?.policy ?? .standard
  }

  private static func method(_ arguments: ParsedArguments) throws(UsageError) -> HTTPMethod {
    let named = arguments[.fetchMethod]
    if arguments.has(.head) {
      guard named == nil || named == "HEAD" else { throw arguments.usage("--head and --method cannot be combined") }
      return .head
    }
    return named.map { HTTPMethod(rawValue: $0) } ?? .get
  }

  private static func time(_ option: OptionSyntax, _ arguments: ParsedArguments) throws(UsageError) -> Duration? {
    guard let text = arguments[option] else { return nil }
    guard let time = TimeSpan.parse(text) else {
      throw arguments.usage("\(option.name) must be a duration such as 90, 15m, 12h or 7d, not '\(text)'")
    }
    return time
  }

  private static func addType(
    ofData query: inout ContentQuery<Data>, _ arguments: ParsedArguments
  ) throws(UsageError) {
    guard arguments.has(.fetchData) else {
      if arguments.has(.fetchType) { throw arguments.usage("--content-type needs --data FILE") }
      return
    }
    guard ["POST", "PUT", "PATCH"].contains(query.method.rawValue) else {
      throw arguments.usage(
        "\(query.method) does not accept --data", hint: "Specify the method, such as --method POST.")
    }
    let type = arguments[.fetchType] ?? "application/octet-stream"
    guard HTTPField(name: .contentType, value: type).isValid else {
      throw arguments.usage("--content-type contains characters that are not allowed in a header field")
    }
    query.fields[.contentType] = type
  }
}

/// Warns about failures of the cache, and remembers the first read failure.
private final class StoreDiagnostics: Sendable {
  private let context: CommandContext
  private let firstUnreadable = Locked<CacheError?>(nil)

  init(_ context: CommandContext) { self.context = context }

  /// Why cached content could not be read; nil if all of it could.
  var unreadable: CacheError? { firstUnreadable.withLock { $0 } }

  func options(_ credentialFields: CredentialFields) -> HTTPCacheOptions {
    var options = HTTPCacheOptions()
    // Content that has been written to the output cannot be withdrawn.
    options.checkedByteLimit = .max
    options.credentialFields = credentialFields
    options.onDiagnostic = { diagnostic in
      switch (ContentDiagnostic(rawValue: diagnostic.name), diagnostic.error) {
      case (.cacheReadFailed, let error as CacheError), (.entryDamaged, let error as CacheError):
        self.firstUnreadable.withLock { $0 = $0 ?? error }
      default: break
      }
      self.context.warn(diagnostic.message)
    }
    return options
  }
}
