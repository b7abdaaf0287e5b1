internal import LarderHTTP
internal import LarderOData
internal import LarderOffline

/// Runs one `larder query`.
enum QueryCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let query = try arguments.required(OperandSyntax.queryURL)
    let format = arguments[.resultFormat] ?? (context.output.isTerminal ? "table" : "json")
    if format != "json", arguments.has(.resultVersion) {
      throw arguments.usage("--odata-version needs --format json")
    }
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let isLocal = arguments.has(.localRows)
      if arguments.has(.explain) {
        try explain(try await access.provider.explain(query, localRowsOnly: isLocal), context)
        return .done
      }
      if try await access.provider.namesMedia(query, localRowsOnly: isLocal) {
        try await copy(try await access.provider.streamMedia(query), context)
      } else if format == "json", !context.output.isTerminal {
        // Streamed at the reader's pace, whatever the size of the result.
        for try await piece in try await access.provider.streamJSON(query, options: options(arguments)) {
          try context.output.write(piece)
        }
      } else {
        let result = try await access.provider.readJSON(query, options: options(arguments))
        let names = try await access.provider.columnNames(query, localRowsOnly: isLocal)
        try print(result, format, names: names, context)
      }
      return .done
    }
  }

  private static func options(_ arguments: ParsedArguments) -> OfflineODataResultOptions {
    let version: ODataVersion? =
      switch arguments[.resultVersion] {
      case "2.0"?: .v2
      case "4.0"?: .v4
      case "4.01"?: .v401
      default: nil
      }
    return OfflineODataResultOptions(version: version, localRowsOnly: arguments.has(.localRows))
  }

  /// Writes the bytes of media unchanged; never to a terminal that they would disturb.
  private static func copy(_ media: OfflineODataMedia, _ context: CommandContext) async throws {
    guard context.output.isTerminal else {
      for try await piece in media.body { try context.output.write(piece) }
      return
    }
    let bytes = try await media.body.collect()
    guard TerminalText.isShowable(bytes) else {
      throw CommandFailure(
        .usage, "the content is binary (\(bytes.count) bytes) and cannot be shown on a terminal",
        hint: "Redirect it to a file (> FILE) or a pipe.")
    }
    try context.output.write(bytes)
  }

  private static func print(
    _ result: OfflineODataResult, _ format: String, names: [String], _ context: CommandContext
  ) throws {
    let isJSON = result.contentType.contains("json") && !result.bytes.isEmpty
    guard isJSON, format != "json" else {
      let bytes = isJSON ? PayloadPrinter.indented(result.bytes, contentType: result.contentType) : result.bytes
      try context.output.write(bytes)
      if bytes.last != 0x0A, context.output.isTerminal { try context.output.write("\n") }
      return
    }
    let rows = PrintedRows(try JSONNode(result.bytes), names: names)
    if format == "csv" {
      try context.output.write(PrintedTable.csv(rows))
    } else {
      try context.output.write(PrintedTable.text(rows, style: context.output.style))
    }
    if rows.rows.isEmpty, context.diagnostics.isTerminal { context.note("There are no rows.") }
    if let count = rows.count { context.note("\(count) in total") }
  }

  private static func explain(_ explanation: OfflineODataExplanation, _ context: CommandContext) throws {
    let style = context.output.style
    if explanation.isOfLocalRowsOnly { try context.output.line("local rows only: entities that were created here\n") }
    for (number, statement) in explanation.statements.enumerated() {
      if number > 0 { try context.output.line("") }
      let title = statement.path.isEmpty ? "the query" : "$expand " + statement.path.joined(separator: "/")
      try context.output.line(style.bold(TerminalText.line(title) + (statement.isCount ? ", counted" : "")))
      try context.output.line(statement.sql)
      for (number, value) in statement.parameters.enumerated() {
        try context.output.line("  ?\(number + 1) = \(TerminalText.line(value ?? "from the outer row"))")
      }
      for step in statement.plan { try context.output.line("  " + TerminalText.line(step)) }
    }
  }
}
