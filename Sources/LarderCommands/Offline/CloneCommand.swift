internal import OfflineOData

/// One `larder clone`.
enum CloneCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let given = try arguments.required(OperandSyntax.clonedService)
    let root = try RequestTarget.serviceRoot(given, in: arguments)
    let queries = try DefiningQueryOption.queries(arguments)
    guard !queries.isEmpty else {
      throw arguments.usage(
        "--query NAME=PATH is missing: nothing would be copied",
        hint: "For example --query 'products=Products'; 'larder metadata \(given)' shows what there is.")
    }
    _ = try OfflineAccess.pageSize(arguments)
    let (folder, made) = try CloneFolder.make(
      try arguments.required(OperandSyntax.cloneFolder), service: root, context)
    let report = DownloadReport(arguments, context)
    do {
      let access = try await OfflineAccess(folder, arguments, context, createsStore: true, fills: true)
      for query in queries { try await access.provider.add(query) }
      try await report.hear(access.provider) {
        do { try await access.provider.open() } catch {
          try? await access.provider.close()
          throw error
        }
      }
      try report.print()
      try await access.provider.close()
      return report.status
    } catch {
      guard report.hasBegun else {
        folder.remove(made)
        throw error
      }
      try report.print(endingWith: error)
      let failure = Task.isCancelled ? CommandFailure(.interrupted, "interrupted") : CommandFailure(error)
      throw keeping(failure, folder)
    }
  }

  /// An interrupt that says how to go on.
  static func interrupted(_ folder: CloneFolder) -> CommandFailure {
    keeping(CommandFailure(.interrupted, "interrupted"), folder)
  }

  private static func keeping(_ failure: CommandFailure, _ folder: CloneFolder) -> CommandFailure {
    let words = [failure.hint, "What has come is kept: 'larder \(folder.option)download' goes on."]
    return CommandFailure(failure.status, failure.message, hint: words.compactMap { $0 }.joined(separator: "\n"))
  }
}
