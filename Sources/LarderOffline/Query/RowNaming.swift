import LarderOData
import LarderStorage

/// Runs a query again in a form that names the row and the expression that fail.
struct RowNaming: Sendable {
  let writer: QueryWriter
  let url: ODataBoundURL

  /// The plan whose statements report the rows and expressions of failed calls.
  func plan() throws -> ReadPlan {
    var naming = writer
    naming.options.namesRows = true
    return try naming.plan(url)
  }

  /// The error for a failed call.
  func error(_ call: FailedCall, _ connection: Connection) -> OfflineODataError {
    let rows = call.rows.map { row in
      (row.variable.isEmpty ? "" : row.variable + " = ") + path(row.row, connection)
    }
    let place = rows.isEmpty ? "" : " for " + rows.joined(separator: ", ")
    return OfflineODataError(.invalidQuery, "\(call.expression)\(place): \(call.reason)")
  }

  private func path(_ row: RowReference, _ connection: Connection) -> String {
    let rowName = "\(row.table)#\(row.row)"
    // Rows of the store's own sets are not in a table of the file.
    guard let table = writer.plan.table(row.table), writer.sources.tables.isEmpty,
      writer.state.tables.indices.contains(table.number)
    else { return rowName }
    let rows = LocalRows(ReplicaSnapshot(connection: connection, state: writer.state, plan: writer.plan))
    guard let cells = try? rows.effective(row), let path = try? rows.path(of: row, cells) else { return rowName }
    return path
  }
}
