internal import LarderOffline

/// Runs one `larder upload`, and the first half of `larder sync`.
enum UploadCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let options = try options(arguments)
    if arguments.has(.plan) { return try await plan(options, arguments, context) }
    return try await OfflineAccess.with(arguments, context) { access in
      let report = UploadReport(context)
      do {
        try await report.run(access.provider, options)
      } catch {
        if arguments.has(.json) { try await json(report, access.provider, endingWith: error, context) }
        throw await interruptedFailure(error, report: report, access, options)
      }
      if arguments.has(.json) {
        try await json(report, access.provider, endingWith: nil, context)
      } else {
        try await report.print(access.provider, in: access.folder)
      }
      return report.status
    }
  }

  /// The upload options from the command line.
  static func options(_ arguments: ParsedArguments) throws(UsageError) -> OfflineODataUploadOptions {
    var options = OfflineODataUploadOptions()
    let categories = arguments.values(.sentCategory)
    if !categories.isEmpty { options.categories = Set(categories) }
    options.changesPerBatch = try arguments.number(.batchSize, 0...10_000) ?? options.changesPerBatch
    options.lanes = try arguments.number(.lanes, 1...16) ?? options.lanes
    options.splitsTransactions = arguments.has(.splitTransactions)
    options.conflictPolicy =
      switch arguments[.conflicts] {
      case "client"?: .clientWins
      case "server"?: .serverWins
      case "merge"?: .mergeDisjoint
      default: .archive
      }
    return options
  }

  /// The failure of an upload that ended early, with a hint how to continue.
  static func interruptedFailure(
    _ error: any Error, report: UploadReport, _ access: OfflineAccess, _ options: OfflineODataUploadOptions
  ) async -> CommandFailure {
    let failure = Task.isCancelled ? CommandFailure(.interrupted, "interrupted") : CommandFailure(error)
    if (error as? OfflineODataError)?.name == .unsupportedByService, !options.splitsTransactions {
      return CommandFailure(
        failure.status, failure.message,
        hint:
          "--split-transactions sends the changes of a transaction one by one: some may be accepted and others rejected."
      )
    }
    guard failure.status == .network || failure.status == .interrupted else { return failure }
    let sent = report.numbers.sent
    // Runs in a task of its own, because a cancelled task cannot read from the store.
    let pendingCount = await Task { (try? await access.provider.pendingUploadCount()) ?? 0 }.value
    guard pendingCount > 0 else { return failure }
    let progress =
      (sent > 0 ? "\(Counted.text(sent, "change")) sent; " : "")
      + "\(Counted.text(pendingCount, "change")) still pending: 'larder \(access.folder.option)upload' sends them."
    let hint = [failure.hint, progress].compactMap(\.self).joined(separator: "\n")
    return CommandFailure(failure.status, failure.message, hint: hint)
  }

  private static func json(
    _ report: UploadReport, _ provider: OfflineODataProvider, endingWith error: (any Error)?, _ context: CommandContext
  ) async throws {
    var json = JSONOutput(context.output)
    report.write(to: &json, endingWith: error)
    try json.endLine()
  }

  // MARK: --plan

  /// Prints the requests that would be sent, without contacting the service.
  private static func plan(
    _ options: OfflineODataUploadOptions, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> CommandStatus {
    try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let requests = try await access.provider.plan(options)
      if arguments.has(.json) {
        var json = JSONOutput(context.output)
        json.beginArray()
        for request in requests { try write(request, to: &json) }
        json.endArray()
        try json.endLine()
        return .done
      }
      for (number, request) in requests.enumerated() {
        if number > 0 { try context.output.line("") }
        try context.output.write(text(request, context.output.style))
      }
      if requests.isEmpty, context.diagnostics.isTerminal { context.note("There are no pending changes to send.") }
      return .done
    }
  }

  private static func write(_ request: OfflineODataPlannedRequest, to json: inout JSONOutput) throws {
    json.beginObject()
    json.member("id", request.requestID)
    json.member("transaction", request.transactionID)
    json.member("method", request.method)
    json.member("url", request.url)
    json.name("headers")
    json.beginObject()
    for field in request.fields { json.member(field.name.rawName, field.value) }
    json.endObject()
    json.member("body", request.body)
    try json.member("dependencies", request.dependencies, always: true) { (json, id) throws(OutputError) in
      json.integer(id)
    }
    json.member("isUncertain", request.isUncertain)
    json.endObject()
    try json.drain()
  }

  private static func text(_ request: OfflineODataPlannedRequest, _ style: TextStyle) -> String {
    var notes: [String] = []
    if request.isUncertain { notes.append("uncertain: the response was lost; the outcome is looked up first") }
    if request.transactionID != request.requestID { notes.append("transaction \(request.transactionID)") }
    if !request.dependencies.isEmpty {
      notes.append("waits for " + request.dependencies.map { "\($0)" }.joined(separator: ", "))
    }
    let line = TerminalText.line("\(request.requestID)  \(request.method) \(request.url)")
    var text = style.bold(line) + (notes.isEmpty ? "" : "  (\(notes.joined(separator: "; ")))") + "\n"
    for field in request.fields { text += TerminalText.line("  \(field.name.rawName): \(field.value)") + "\n" }
    if let body = request.body, !body.isEmpty {
      text += body.split(whereSeparator: \.isNewline).map { "  " + String($0) + "\n" }.joined()
    }
    return text
  }
}

extension ParsedArguments {
  /// The value of an option as a number; nil if the option is not given.
  func number(_ option: OptionSyntax, _ range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = self[option] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw usage("\(option.name) must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return number
  }
}
