internal import LarderOffline

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Runs one `larder status`.
enum StatusCommand {
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    if let unfinished = CloneFolder.unfinished(context) {
      try unfinished.print(context, asJSON: arguments.has(.json))
      return .done
    }
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let queries = try await access.provider.definingQueries()
      let pending = try await pending(access.provider)
      if arguments.has(.json) {
        try json(access.folder, queries: queries, pending: pending, context)
      } else {
        try context.output.write(text(access.folder, queries, context.output.style))
        if let pending { try context.output.write("\n" + pending.text(style: context.output.style)) }
      }
      return .done
    }
  }

  /// Returns nil if the store's sets cannot be read, because the service has its own sets with these names.
  private static func pending(_ provider: OfflineODataProvider) async throws -> PendingChanges? {
    do { return try await PendingChanges(provider) } catch let error as OfflineODataError
      where error.category == .invalidInput || error.name == .neverDownloaded
    { return nil }
  }

  private static func json(
    _ folder: CloneFolder, queries: [OfflineODataDefiningQueryStatus], pending: PendingChanges?,
    _ context: CommandContext
  ) throws {
    var json = JSONOutput(context.output)
    json.beginObject()
    json.member("service", folder.service)
    json.member("bytes", folder.size)
    try json.member("queries", queries, always: true) { (json, status) throws(OutputError) in
      json.beginObject()
      json.member("name", status.definingQuery.name)
      json.member("query", status.definingQuery.query)
      json.member("streams", status.definingQuery.automaticallyRetrievesStreams)
      if status.definingQuery.keepsRawValues { json.member("rawValues", true) }
      json.member("rows", status.rows)
      json.member("lastDownload", status.lastDownload.map { $0.formatted(.iso8601) })
      json.member("lastStrategy", status.lastStrategy?.rawValue)
      json.member("hasDeltaLink", status.hasDeltaLink)
      json.member("hasPendingDownload", status.hasPendingDownload)
      if !status.contradictedLinks.isEmpty {
        json.name("contradictedLinks")
        json.beginObject()
        for (path, count) in status.contradictedLinks.sorted(by: { $0.key < $1.key }) { json.member(path, count) }
        json.endObject()
      }
      json.endObject()
    }
    try pending?.write(to: &json)
    json.endObject()
    try json.endLine()
  }

  private static func text(
    _ folder: CloneFolder, _ queries: [OfflineODataDefiningQueryStatus], _ style: TextStyle
  ) -> String {
    let headings = ["name", "rows", "last download", "method", "state", "query"]
    let rows = queries.map { status in
      [
        TerminalText.line(status.definingQuery.name), "\(status.rows)",
        status.lastDownload.map { $0.formatted(.iso8601) } ?? "-", status.lastStrategy?.rawValue ?? "-",
        status.hasPendingDownload ? "incomplete" : "complete", TerminalText.line(status.definingQuery.query),
      ]
    }
    let widths = headings.indices.map { column in Columns.width(([headings] + rows).map { $0[column] }) }
    func line(_ cells: [String]) -> String {
      let padded = cells.enumerated().map { column, cell in
        column == 1 ? Columns.padLeft(cell, widths[column]) : column == 5 ? cell : Columns.pad(cell, widths[column])
      }
      return padded.joined(separator: "  ") + "\n"
    }
    let head = "service  \(TerminalText.line(folder.service))\nstore    \(folder.size) bytes\n"
    return head + "\n" + style.bold(line(headings)) + rows.map(line).joined() + contradictions(queries)
  }

  /// The links from the service that contradict its own columns, one on each line; preceded by an empty line.
  private static func contradictions(_ queries: [OfflineODataDefiningQueryStatus]) -> String {
    let lines = queries.flatMap { status in
      status.contradictedLinks.sorted { $0.key < $1.key }.map { path, count in
        "\(TerminalText.line(status.definingQuery.name)): the service returned \(count) \(count == 1 ? "link" : "links") of "
          + "\(TerminalText.line(path)) that the referential constraint contradicts; the constraint applies\n"
      }
    }
    return lines.isEmpty ? "" : "\n" + lines.joined()
  }
}
