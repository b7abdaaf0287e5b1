internal import OfflineOData

/// One `larder clone`.
enum CloneCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let given = try arguments.required(OperandSyntax.clonedService)
    guard !given.contains("?"), !given.contains("#") else {
      throw arguments.usage("SERVICE is the service's root, without a query", hint: "Give what to copy by --query.")
    }
    let target = try RequestTarget(given.hasSuffix("/") ? given : given + "/", in: arguments)
    let queries = try DefiningQueryOption.queries(arguments)
    guard !queries.isEmpty else {
      throw arguments.usage(
        "--query NAME=PATH is missing: nothing would be copied",
        hint: "For example --query 'products=Products'; 'larder metadata \(given)' shows what there is.")
    }
    _ = try OfflineAccess.pageSize(arguments)
    let (folder, made) = try CloneFolder.make(
      try arguments.required(OperandSyntax.cloneFolder), service: target.rootText, context)
    let report = DownloadReport(arguments, context)
    do {
      let access = try await OfflineAccess(folder, arguments, context, createsStore: true)
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
      let failure = Task.isCancelled ? CommandFailure(.interrupted, "interrupted") : CommandFailure(error)
      let words = [failure.hint, "What has come is kept: 'larder -C \(folder.shown) download' goes on."]
      throw CommandFailure(failure.status, failure.message, hint: words.compactMap { $0 }.joined(separator: "\n"))
    }
  }
}
