internal import LarderHTTP
internal import LarderOData
internal import LarderOffline
internal import LarderService

/// The content of a clone: the given queries, the complete service, or what the user chooses at the terminal.
enum CloneChoice: Sendable {
  case queries([OfflineODataDefiningQuery])
  case all
  case interactive

  /// Reads the options. Contradictory options are rejected before the user is asked to choose.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    switch (arguments.has(.definingQuery), arguments.has(.wholeService)) {
    case (true, true): throw arguments.usage("--all and --query cannot be combined")
    case (true, false): self = .queries(try DefiningQueryOption.queries(arguments))
    case (false, true): self = .all
    case (false, false): self = .interactive
    }
  }

  /// Whether a user can choose at a terminal.
  static func isInteractive(_ context: CommandContext) -> Bool {
    context.input.isTerminal && context.diagnostics.isTerminal
  }

  /// The defining queries. The service's metadata is requested unless the queries are given.
  func queries(
    _ access: OfflineAccess, report: DownloadReport, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> [OfflineODataDefiningQuery] {
    if case .queries(let queries) = self { return queries }
    let service = try await Self.service(access)
    var names = service.sources.map(\.name)
    if case .interactive = self {
      let list = SetList(service.sources, await SetList.counts(service.sources, access))
      names = try await list.chooseSets(access.folder.service, context)
    }
    for (name, links) in service.linksWithoutURL(of: names) { report.leaveOut(withoutURL: links, of: name) }
    return try DefiningQueryOption.addingStreams(to: service.queries(for: names), arguments)
  }

  /// The sets and singletons of a service; throws if it has none.
  private static func service(_ access: OfflineAccess) async throws -> ServiceQueries {
    let service = ServiceQueries(try await access.conversation().0.metadata())
    guard !service.sources.isEmpty else {
      throw CommandFailure(.negative, "the service has neither entity sets nor singletons, so there is nothing to copy")
    }
    return service
  }

  /// The error if neither `--query` nor `--all` is given, with a list of the service's sets.
  static func choiceError(_ access: OfflineAccess, _ arguments: ParsedArguments) async throws -> UsageError {
    let sources = try await service(access).sources
    let lines = sources.map { "  " + TerminalText.line($0.name) + ($0.isSet ? "" : "  (one entity)") }
    return arguments.usage(
      "specify what to copy",
      hint: "Use --all, or --query SET for each of these sets ('SET?$top=100' for a part of it):\n"
        + lines.joined(separator: "\n"))
  }
}
