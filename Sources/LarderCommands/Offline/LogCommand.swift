internal import LarderOData
internal import LarderOffline

/// Runs one `larder log`: prints the store's own entity set `EventLog`, the newest event first.
enum LogCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let limit = arguments[.logLimit] ?? "20"
    guard let count = Int(limit), count > 0 else {
      throw arguments.usage("--limit must be a positive number, not '\(limit)'")
    }
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let result = try await access.provider.readJSON(
        "EventLog?$orderby=EventID%20desc&$top=\(count)", options: OfflineODataResultOptions(version: .v401))
      let rows = try JSONNode(result.bytes)["value"]?.items ?? []
      if arguments.has(.json) {
        try json(rows, context)
      } else {
        for row in rows { try context.output.line(line(row, context.output.style)) }
        if rows.isEmpty, context.diagnostics.isTerminal { context.note("There are no operations.") }
      }
      return .done
    }
  }

  /// The properties of an event and their names in JSON.
  private static let members = [
    ("EventID", "id"), ("Time", "time"), ("EventType", "type"), ("DefiningQuery", "query"), ("Strategy", "strategy"),
    ("Rows", "rows"), ("Bytes", "bytes"), ("Pages", "pages"), ("Milliseconds", "milliseconds"),
    ("Details", "details"), ("ErrorCode", "errorCode"),
  ]

  private static func json(_ rows: [JSONNode], _ context: CommandContext) throws {
    var json = JSONOutput(context.output)
    json.beginArray()
    for row in rows {
      json.beginObject()
      for (property, name) in members {
        switch row[property] {
        case .number(let text)?:
          json.name(name)
          json.raw(text)
        case .string(let text)?: json.member(name, text)
        default: break
        }
      }
      json.endObject()
      try json.drain()
    }
    json.endArray()
    try json.endLine()
  }

  private static func line(_ row: JSONNode, _ style: TextStyle) -> String {
    func text(_ name: String) -> String { TerminalText.line(row[name]?.text ?? "") }
    var parts = [text("Time"), style.bold(text("EventType"))]
    parts += ["DefiningQuery", "Strategy"].map(text).filter { !$0.isEmpty }
    let figures = [("Rows", "rows"), ("Bytes", "bytes"), ("Milliseconds", "ms")].compactMap { name, unit in
      row[name]?.text.map { "\($0) \(unit)" }
    }
    if !figures.isEmpty { parts.append(figures.joined(separator: ", ")) }
    if let code = row["ErrorCode"]?.text { parts.append(style.red("error \(code)")) }
    // The lines after the first show a place in a URL.
    let details = row["Details"]?.string?.prefix { !$0.isNewline } ?? ""
    if !details.isEmpty { parts.append(TerminalText.line(String(details))) }
    return parts.joined(separator: "  ")
  }
}
