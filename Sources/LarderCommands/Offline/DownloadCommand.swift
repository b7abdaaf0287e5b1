internal import LarderOffline

/// Runs one `larder download`.
enum DownloadCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let added = try DefiningQueryOption.queries(arguments)
    if arguments.has(.rawValues), added.isEmpty {
      throw arguments.usage(
        "--raw-values concerns the queries that --query adds, and there is none",
        hint: "Replace a query that does not keep such values: --remove NAME --query NAME=PATH --raw-values.")
    }
    let folder = try CloneFolder.existing(arguments, context)
    let report = DownloadReport(arguments, context)
    let provider = try await open(folder, arguments, context)
    do {
      try await report.follow(provider) {
        try await change(provider, adding: added, removing: arguments.values(.removeQuery), arguments)
        let names = try await self.names(provider, arguments, added)
        guard try await !hasNoQueries(provider, afterRemoval: arguments.has(.removeQuery), folder, context) else {
          return
        }
        try await provider.download(names, whole: arguments.has(.wholeDownload))
      }
      try report.print()
    } catch {
      try? await provider.close()
      try report.print(endingWith: error)
      if Task.isCancelled, report.hasBegun { throw CloneCommand.interruptedFailure(folder) }
      throw report.failure(error, in: folder)
    }
    await context.warnIfClosingFails { try await provider.close() }
    return report.status
  }

  /// Opens the clone's store as it is, so that queries can be changed before the download. For a user who names queries,
  /// a missing store is created.
  private static func open(
    _ folder: CloneFolder, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> OfflineODataProvider {
    let createsStore = try arguments.has(.definingQuery) && StoreUserOption.user(arguments, context) != nil
    let access = try await OfflineAccess(folder, arguments, context, createsStore: createsStore)
    try await access.open()
    return access.provider
  }

  /// Whether there is nothing to download because the last query has just been removed. Throws if there was none
  /// before.
  private static func hasNoQueries(
    _ provider: OfflineODataProvider, afterRemoval hasRemoved: Bool, _ folder: CloneFolder, _ context: CommandContext
  ) async throws -> Bool {
    do { try await checkQueries(provider, folder) } catch let failure as CommandFailure where hasRemoved {
      context.warn(failure.message)
      failure.hint.map(context.note)
      return true
    }
    return false
  }

  /// Throws if a clone has no defining query: a download would do nothing and report success.
  static func checkQueries(_ provider: OfflineODataProvider, _ folder: CloneFolder) async throws {
    guard try await provider.definingQueries().isEmpty else { return }
    throw CommandFailure(
      .negative, "the clone has no defining query, so there is nothing to download",
      hint: "'larder \(folder.option)download --query NAME=PATH' adds one.")
  }

  /// Changes the queries. A query that already exists with the same text was added by an interrupted download, which is
  /// resumed.
  private static func change(
    _ provider: OfflineODataProvider, adding added: [OfflineODataDefiningQuery], removing removed: [String],
    _ arguments: ParsedArguments
  ) async throws {
    let existing = try await provider.definingQueries().map(\.definingQuery)
    let existingNames = Set(existing.map(\.name))
    for name in removed where !existingNames.contains(name) { throw unknownQuery(name, existingNames) }
    let missing = added.filter { removed.contains($0.name) || !existing.contains($0) }
    for query in missing where existingNames.contains(query.name) && !removed.contains(query.name) {
      throw arguments.usage(
        "the defining query '\(query.name)' already exists", hint: "Use --remove \(query.name) to replace it.")
    }
    for name in removed { try await provider.removeDefiningQuery(name) }
    for query in missing { try await provider.add(query) }
  }

  /// The names of the queries to download; nil for all.
  private static func names(
    _ provider: OfflineODataProvider, _ arguments: ParsedArguments, _ added: [OfflineODataDefiningQuery]
  ) async throws -> [String]? {
    let given = arguments.values(OperandSyntax.queryNames)
    let existingNames = Set(try await provider.definingQueries().map(\.definingQuery.name))
    for name in given where !existingNames.contains(name) { throw unknownQuery(name, existingNames) }
    if given.isEmpty { return nil }
    return given + added.map(\.name).filter { !given.contains($0) }
  }

  private static func unknownQuery(_ name: String, _ existingNames: Set<String>) -> CommandFailure {
    CommandFailure(
      .negative, "the clone has no defining query '\(name)'",
      hint: Suggestion.hint(for: name, among: existingNames.sorted())
        ?? (existingNames.isEmpty
          ? nil : "It has \(existingNames.sorted().joined(separator: ", ")): 'larder status' shows details."))
  }
}
