internal import LarderContent
internal import LarderHTTP
internal import LarderServer
internal import LarderService
internal import LarderStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Runs one `larder proxy`, from its arguments to its end.
struct ProxyCommand {
  private let upstream: Upstream
  /// The upstream server, the only one to which the proxy's own credentials are sent.
  private let upstreamRoot: ODataServiceRoot
  private let credentials: Credentials?
  private let allowsCrossSite: Bool
  private let server: HTTPServer.Options
  private let timeouts: HTTPTimeouts
  private let addsForwarded: Bool
  /// Whether several people share the proxy, who must not see each other's responses. A proxy on loopback belongs to
  /// one person, as a browser does.
  let isShared: Bool
  let credentialFields: CredentialFields
  private let hosts: Set<String>
  private let cacheFolder: String?
  private let key: StorageKey?
  private let diskLimit: Int
  private let memoryLimit: Int
  private let settings: ConnectionSettings
  private let asJSON: Bool
  private let isQuiet: Bool
  private let context: CommandContext

  /// How long exchanges may continue after the request to terminate.
  private static let grace = Duration.seconds(10)

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    self.context = context
    (upstream, upstreamRoot) = try ProxyCommand.upstream(arguments)
    credentials = try Credentials.find(arguments, context)
    allowsCrossSite = arguments.has(.allowCrossSite)
    server = try ProxyCommand.server(arguments)
    timeouts = try ProxyCommand.timeouts(arguments)
    addsForwarded = arguments.has(.forwarded)
    isShared = !server.isLoopback
    credentialFields = try ProxyCommand.credentialFields(arguments, isShared: isShared)
    hosts = Set(arguments.values(.servedName).map { $0.lowercased() })
    cacheFolder = arguments[.proxyCache].map(context.path)
    diskLimit = try ProxyCommand.bytes(.maximumSize, arguments) ?? 512 << 20
    memoryLimit = try ProxyCommand.bytes(.memory, arguments) ?? 64 << 20
    if cacheFolder == nil, arguments.has(.keyFile) { throw arguments.usage("--key-file needs --cache") }
    key = cacheFolder == nil ? nil : try KeyAccess.key(arguments, context)
    if cacheFolder == nil, arguments.has(.maximumSize) { throw arguments.usage("--max-size needs --cache") }
    var settings = try ServiceAccess.settings(arguments, context)
    settings.passesContent = true
    self.settings = settings
    asJSON = arguments.has(.json)
    isQuiet = arguments.has(.quiet)
  }

  /// The fields that separate the entries of different clients. In a cache for one person, such as a browser's,
  /// `Cookie` is not one: responses that depend on it say so by Vary, no-store or their own URL. In a cache for several
  /// clients, the fields that all clients use to identify themselves cannot be removed.
  private static func credentialFields(
    _ arguments: ParsedArguments, isShared: Bool
  ) throws -> CredentialFields {
    var fields = try CredentialHeader.fields(arguments)
    let identifying = ["Authorization", "Proxy-Authorization", "Cookie"].map { HTTPFieldName($0) }
    if isShared, let name = identifying.first(where: { fields.decision(for: $0) == false }) {
      // RFC 9111 §3.5, and one client would see what belongs to another.
      throw arguments.usage(
        "--no-credential-header \(name) would show responses of one client to others, and --host has several",
        hint: "Leave it out, or listen on a loopback address.")
    }
    let namesCookie = arguments.values(.credentialHeader).contains { HTTPFieldName($0) == .cookie }
    if !isShared, !arguments.has(.byCookie), !namesCookie { fields.remove(.cookie) }
    return fields
  }

  private static func upstream(_ arguments: ParsedArguments) throws -> (Upstream, ODataServiceRoot) {
    let text = try arguments.required(.upstream)
    // The text is not shown: it may contain a password, and messages are stored in journals.
    guard let url = URL(string: text) else { throw arguments.usage("--upstream is not a URL") }
    let upstream: Upstream
    do throws(HTTPServerError) { upstream = try Upstream(url) } catch {
      let reason = if case .invalidUpstream(let reason) = error { reason } else { error.description }
      throw arguments.usage("--upstream: \(reason)", hint: "Write it as http://host/path.")
    }
    return (upstream, try ODataServiceRoot(url))
  }

  private static func server(_ arguments: ParsedArguments) throws -> HTTPServer.Options {
    var options = HTTPServer.Options()
    options.port = 8080
    if let text = arguments[.port] {
      guard let port = Int(text), (0...65_535).contains(port) else {
        throw arguments.usage("--port must be a number from 0 to 65535, not '\(text)'")
      }
      options.port = port
    }
    if let host = arguments[.host] { options.host = host == "localhost" ? "127.0.0.1" : host }
    options.contentByteLimit = try bytes(.maximumBody, arguments) ?? 1 << 30
    if let text = arguments[.connectionLimit] {
      guard let count = Int(text), (1...1_000_000).contains(count) else {
        throw arguments.usage("--max-connections must be a number from 1 to 1000000, not '\(text)'")
      }
      options.connectionLimit = count
    }
    return options
  }

  private static func timeouts(_ arguments: ParsedArguments) throws -> HTTPTimeouts {
    guard let limit = try ServiceAccess.timeout(arguments, .upstreamTimeout) else { return HTTPTimeouts() }
    return HTTPTimeouts(connect: min(HTTPTimeouts().connect, limit), idle: limit)
  }

  private static func bytes(_ option: OptionSyntax, _ arguments: ParsedArguments) throws -> Int? {
    guard let text = arguments[option] else { return nil }
    guard let count = ByteCountArgument.parse(text) else {
      throw arguments.usage("\(option.name) must be a number of bytes such as 512M, not '\(text)'")
    }
    return count
  }

  // Runs the server.

  /// Serves until the task is cancelled.
  func run() async throws -> CommandStatus {
    FileDescriptors.raiseLimit()
    let transport = try await signedTransport()
    let warnings = LineLog(context.diagnostics, milliseconds: 1000, joinsRepeats: true)
    let warn: @Sendable (String) -> Void = { [context] in warnings.append(context.warning($0)) }
    let engine = HTTPCache(cache: try openCache(warn), transport: transport, options: engineOptions(warn))
    let log = ProxyLog(requestLines(warn), asJSON: asJSON)
    let server = try start(engine, log)
    do {
      try announce(server)
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    } catch {
      await ProxyCommand.stop(server, engine, log: log, warnings: warnings)
      throw error
    }
    await ProxyCommand.stop(server, engine, log: log, warnings: warnings)
    return .done
  }

  /// The transport, with the proxy's own credentials if it has some.
  private func signedTransport() async throws -> any HTTPTransport {
    let transport = try ServiceAccess.connect(settings, context)
    guard let credentials else { return transport }
    let authentication = try await credentials.authentication(
      root: upstreamRoot.url, transport: transport, isOffline: false, context)
    // A client's content can be read only once.
    return SigningTransport(
      transport: transport, authentication: authentication, root: upstreamRoot, repeatsStreams: false)
  }

  private func requestLines(_ warn: @escaping @Sendable (String) -> Void) -> LineLog {
    let asJSON = asJSON
    return LineLog(
      context.output, droppedText: { asJSON ? "{\"droppedLines\":\($0)}" : "(\($0) lines dropped)" },
      onFailure: { warn("lines of the log are dropped: \($0)") })
  }

  private func start(_ engine: HTTPCache, _ log: ProxyLog) throws -> HTTPServer {
    var options = CachingProxy.Options()
    options.timeouts = timeouts
    options.addsForwarded = addsForwarded
    options.allowsCrossSite = allowsCrossSite
    options.hosts = hosts
    var server = server
    if !isQuiet {
      options.onExchange = { log.write($0) }
      server.onRejection = { log.write(ProxyRecord($0)) }
    }
    let proxy = CachingProxy(engine, upstream: upstream, options: options)
    server.rejectionFields = proxy.rejectionFields
    do throws(HTTPServerError) {
      return try HTTPServer(server, atOnce: { proxy.respondAtOnce(to: $0) }) { await proxy.respond(to: $0) }
    } catch {
      throw ProxyCommand.failure(error)
    }
  }

  private static func failure(_ error: HTTPServerError) -> CommandFailure {
    switch error {
    case .invalidAddress, .invalidOption, .invalidUpstream: CommandFailure(.usage, error.description)
    default: CommandFailure(.network, error.description)
    }
  }

  private func announce(_ started: HTTPServer) throws {
    let host = server.host.contains(":") ? "[\(server.host)]" : server.host
    let url = "http://\(host):\(started.port)/"
    try context.output.line(asJSON ? #"{"listening":"\#(url)"}"# : "Listening on \(url)")
  }

  /// Ends in order: stops accepting requests, waits for the running ones, then closes the cache. The cancellation that
  /// began this does not affect it.
  private static func stop(_ server: HTTPServer, _ engine: HTTPCache, log: ProxyLog, warnings: LineLog) async {
    let end = Task {
      await server.stop(grace: grace)
      await engine.close()
      await log.flush()
      await warnings.flush()
    }
    await end.value
  }

  private func openCache(_ warn: @escaping @Sendable (String) -> Void) throws -> any Cache {
    let memory = MemoryCache(byteLimit: memoryLimit)
    guard let cacheFolder else { return memory }
    let disk = try FileCache(path: cacheFolder, byteLimit: diskLimit, encryptionKey: key) { warn($0.message) }
    return memoryLimit == 0 ? disk : TieredCache(memory: memory, disk: disk)
  }

  private func engineOptions(_ warn: @escaping @Sendable (String) -> Void) -> HTTPCacheOptions {
    var options = HTTPCacheOptions()
    options.isShared = isShared
    options.credentialFields = credentialFields
    options.onDiagnostic = { warn($0.message) }
    return options
  }
}
