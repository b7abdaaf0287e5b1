internal import LarderOffline

/// Runs one `larder undo`.
enum UndoCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let paths = arguments.values(OperandSyntax.undonePaths)
    guard paths.isEmpty == arguments.has(.allChanges) else {
      throw arguments.usage(
        paths.isEmpty ? "PATH or --all is missing" : "PATH and --all cannot be combined",
        hint: "'larder status' shows which entities have changes.")
    }
    var connected: OfflineAccess?
    let status = try await OfflineAccess.withoutNetwork(arguments, context) { access in
      guard try await PendingChanges(access.provider).uncertain == 0 else {
        connected = try await access.connected(arguments, context)
        return .done
      }
      return try await undo(paths, in: access, arguments, context)
    }
    // An uncertain change must be looked up at the service.
    guard let connected else { return status }
    return try await OfflineAccess.with(connected, context) { access in
      try await undo(paths, in: access, arguments, context)
    }
  }

  private static func undo(
    _ paths: [String], in access: OfflineAccess, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> CommandStatus {
    let provider = access.provider
    let count =
      paths.isEmpty
      ? try await provider.undoAllPendingChanges() : try await provider.undoPendingChanges(of: paths)
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginObject()
      json.member("undone", count)
      json.member("pending", try await provider.pendingUploadCount())
      json.endObject()
      try json.endLine()
    } else {
      try context.output.line("\(Counted.text(count, "change")) undone")
    }
    if paths.isEmpty, try await provider.hasPendingChanges() {
      context.warn(
        "changes with an unknown outcome remain: 'larder errors list' shows them, 'larder errors discard' removes them"
      )
    }
    return .done
  }
}
