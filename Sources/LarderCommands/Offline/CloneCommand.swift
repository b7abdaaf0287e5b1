internal import LarderOffline

/// Runs one `larder clone`.
enum CloneCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let given = try arguments.required(OperandSyntax.clonedService)
    let root = try RequestTarget.serviceRoot(given, in: arguments, hint: "Specify what to copy with --query.")
    let choice = try CloneChoice(arguments)
    _ = try (OfflineAccess.pageSize(arguments), OfflineAccess.linkRequestLimit(arguments))
    let name = try arguments[.cloneFolder] ?? CloneName.folder(of: root, arguments)
    if case .interactive = choice, !CloneChoice.isInteractive(context) {
      let folder = CloneFolder(path: context.path(name), displayName: name, service: root)
      let access = try await OfflineAccess(folder, arguments, context, createsStore: false)
      throw try await CloneChoice.choiceError(access, arguments)
    }
    let clone = try StagedClone.begin(name, of: root, context)
    if arguments[.cloneFolder] == nil { context.note("Cloning into '\(TerminalText.line(name))'.") }
    let report = DownloadReport(arguments, context)
    var failure: (any Error)?
    do { try await fill(clone, with: choice, report: report, arguments, context) } catch { failure = error }
    let isInterrupted = failure != nil && Task.isCancelled
    guard report.hasCompleted, !isInterrupted else { throw try end(unpublished: clone, failure, report) }
    guard clone.hasStore else {
      clone.discard()
      throw CommandFailure(
        .storage, "\(clone.folder.path) was removed during the clone", hint: "No data was kept. Clone again.")
    }
    do { try clone.publish(context) } catch {
      clone.keep()
      throw adding(clone.resumeHint, to: CommandFailure(error))
    }
    let error = failure ?? report.error
    try report.print(endingWith: error)
    if let error { throw adding(resumeHint(clone.folder), to: report.failure(error, in: clone.folder)) }
    let missing = report.leftOut + report.leftOutLinks
    guard !missing.isEmpty || !report.missingLinks.isEmpty else { return .done }
    let hint =
      missing.isEmpty
      ? "'larder \(clone.folder.option)download --whole --follow-links N' requests these links for each row."
      : "'larder \(clone.folder.option)download --query PATH' tries one again."
    throw CommandFailure(
      .negative, "left out: \((missing + report.missingLinks).joined(separator: ", "))", hint: hint)
  }

  // MARK: Downloading

  private static func fill(
    _ clone: StagedClone, with choice: CloneChoice, report: DownloadReport, _ arguments: ParsedArguments,
    _ context: CommandContext
  ) async throws {
    let access = try await OfflineAccess(clone.folder, arguments, context, createsStore: true)
    let queries = try await choice.queries(access, report: report, arguments, context)
    do { try await download(queries, access, report: report, context) } catch {
      // A failed query of --query stays in the clone, and 'larder download' tries it again.
      if case .queries = choice { throw error }
      guard !Task.isCancelled, !report.errors.isEmpty else { throw error }
      try await CloneCompletion(access: access, queries: queries, report: report, context: context).run()
      guard report.hasCompleted else {
        throw report.errors.values.first { $0.name == .authenticationFailed } ?? error
      }
    }
  }

  private static func download(
    _ queries: [OfflineODataDefiningQuery], _ access: OfflineAccess, report: DownloadReport, _ context: CommandContext
  ) async throws {
    let provider = access.provider
    for query in queries { try await provider.add(query) }
    try await access.open()
    try await runAndClose(provider, context) {
      // An interrupted clone may have had other queries.
      let names = Set(queries.map(\.name))
      for name in try await provider.definingQueries().map(\.definingQuery.name) where !names.contains(name) {
        try await provider.removeDefiningQuery(name)
      }
      try await report.follow(provider) { try await provider.download() }
    }
  }

  /// Runs the work on a store and closes the store in any case.
  static func runAndClose(
    _ provider: OfflineODataProvider, _ context: CommandContext, _ work: () async throws -> Void
  ) async throws {
    do { try await work() } catch {
      try? await provider.close()
      throw error
    }
    await context.warnIfClosingFails { try await provider.close() }
  }

  // MARK: Failures

  /// Ends a clone that cannot be published: keeps the downloaded part beside the target, or nothing if there is none, and
  /// prints the report. Returns the error with which the command ends.
  private static func end(
    unpublished clone: StagedClone, _ failure: (any Error)?, _ report: DownloadReport
  ) throws -> any Error {
    let error = failure ?? OfflineODataError(.cancelled)
    let reported = Task.isCancelled ? interruption : report.failure(error)
    let isKept = clone.isResumed || report.hasBegun
    if isKept { clone.keep() } else { clone.discard() }
    if isKept || !Task.isCancelled { try report.print(endingWith: error) }
    return isKept ? adding(clone.resumeHint, to: reported) : reported
  }

  /// The failure for an interrupted download into a clone, with the command to resume it.
  static func interruptedFailure(_ folder: CloneFolder) -> CommandFailure {
    adding(resumeHint(folder), to: interruption)
  }

  private static let interruption = CommandFailure(.interrupted, "interrupted")

  private static func resumeHint(_ folder: CloneFolder) -> String {
    "The downloaded data is kept: 'larder \(folder.option)download' resumes the download."
  }

  private static func adding(_ hint: String, to failure: CommandFailure) -> CommandFailure {
    let hint = [failure.hint, hint].compactMap(\.self).joined(separator: "\n")
    return CommandFailure(failure.status, failure.message, hint: hint)
  }
}
