internal import LarderOData
internal import LarderOffline

/// Runs `larder errors`: lists, shows, compares, requeues or discards rejected changes.
enum ErrorsCommand {
  @Sendable static func list(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let rows = try await ArchiveSets.errors(access.provider)
      if arguments.has(.json) {
        var json = JSONOutput(context.output)
        json.node(.array(rows))
        try json.endLine()
      } else {
        try context.output.write(ErrorsText.table(rows, style: context.output.style))
        if rows.isEmpty, context.diagnostics.isTerminal { context.note("The error archive is empty.") }
      }
      return .done
    }
  }

  @Sendable static func show(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let id = try number(try arguments.required(OperandSyntax.requestID), arguments)
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let row = try await ArchiveSets.error(id, access.provider)
      if arguments.has(.json) {
        var json = JSONOutput(context.output)
        json.node(row)
        try json.endLine()
      } else {
        try context.output.write(ErrorsText.details(row, style: context.output.style))
      }
      return .done
    }
  }

  @Sendable static func diff(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let id = try number(try arguments.required(OperandSyntax.requestID), arguments)
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      // A pending change may be in conflict too, if a download has noticed it.
      guard let conflict = try await conflict(id, access.provider) else {
        let row = try await ArchiveSets.error(id, access.provider)
        throw CommandFailure(
          .negative, "request \(id) is not a conflict: \(ErrorsText.reason(row))",
          hint: "'larder \(access.folder.option)errors show \(id)' shows the request and the response.")
      }
      let diff = ConflictDiff(conflict)
      if arguments.has(.json) {
        var json = JSONOutput(context.output)
        try diff.write(to: &json)
        try json.endLine()
      } else {
        try context.output.write(diff.text(style: context.output.style, all: arguments.has(.allProperties)))
      }
      return .done
    }
  }

  private static func conflict(
    _ id: Int64, _ provider: OfflineODataProvider
  ) async throws -> OfflineODataConflict? {
    do { return try await provider.conflict(id) } catch {
      guard error.name == .entityNotFound else { throw error }
      return nil
    }
  }

  @Sendable static func retry(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let repair = try repair(arguments)
    return try await forEachRequest(
      arguments, context, json: "pending", outcome: "queued again for 'larder upload'", acceptsPendingConflicts: true
    ) { provider, id in
      guard let id else { return try await provider.retryAll() }
      guard let repair else { return try await provider.retry(id) }
      return try await provider.retry(id, as: repair)
    }
  }

  /// The repair of a rejected creation; nil to send it unchanged.
  private static func repair(_ arguments: ParsedArguments) throws(UsageError) -> OfflineODataRepair? {
    guard arguments.has(.asUpdate) || arguments[.newKey] != nil else { return nil }
    guard !(arguments.has(.asUpdate) && arguments[.newKey] != nil) else {
      throw arguments.usage("--as-update and --key cannot be combined")
    }
    guard arguments.values(OperandSyntax.requestIDs).count == 1 else {
      throw arguments.usage("--as-update and --key accept only one ID", hint: "'larder errors list' shows the IDs.")
    }
    return arguments[.newKey].map { .key($0) } ?? .update
  }

  @Sendable static func discard(
    _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> CommandStatus {
    try await forEachRequest(
      arguments, context, json: "discarded", outcome: "discarded", acceptsPendingConflicts: false
    ) { provider, id in
      if let id { try await provider.discard(id) } else { try await provider.discardAll() }
    }
  }

  private static func forEachRequest(
    _ arguments: ParsedArguments, _ context: CommandContext, json name: String, outcome: String,
    acceptsPendingConflicts: Bool, _ work: (OfflineODataProvider, Int64?) async throws -> Int
  ) async throws -> CommandStatus {
    let given = arguments.values(OperandSyntax.requestIDs)
    guard given.isEmpty == arguments.has(.allRequests) else {
      throw arguments.usage(
        given.isEmpty ? "ID or --all is missing" : "ID and --all cannot be combined",
        hint: "'larder errors list' shows the IDs.")
    }
    let ids = try given.map { try number($0, arguments) }
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      var count = 0
      for id in ids {
        let isRejected = try await ArchiveSets.errors(access.provider).contains { $0["RequestID"]?.text == "\(id)" }
        // The work on an earlier change may have included this one.
        if count > 0, !isRejected { continue }
        // A pending change can be in conflict too, if a download noticed it.
        let isDetectedConflict = acceptsPendingConflicts ? try await conflict(id, access.provider) != nil : false
        if !isDetectedConflict { _ = try await ArchiveSets.error(id, access.provider) }
        count += try await work(access.provider, id)
      }
      if ids.isEmpty { count = try await work(access.provider, nil) }
      if arguments.has(.json) {
        var json = JSONOutput(context.output)
        json.beginObject()
        json.member(name, count)
        json.endObject()
        try json.endLine()
      } else {
        try context.output.line("\(Counted.text(count, "change")) \(outcome)")
      }
      return .done
    }
  }

  private static func number(_ text: String, _ arguments: ParsedArguments) throws(UsageError) -> Int64 {
    guard let number = Int64(text), number > 0 else {
      throw arguments.usage("ID must be a positive number, not '\(text)'", hint: "'larder errors list' shows the IDs.")
    }
    return number
  }
}
