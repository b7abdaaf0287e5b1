import CLarderSQLite

/// A query on one connection that can pause between rows and continue later. It ends with its last row, or when it is
/// released.
package final class RowCursor {
  private let statement: PreparedStatement
  /// Kept open until the cursor is released.
  private let connection: Connection
  /// True once there are no more rows.
  package private(set) var isAtEnd = false

  init(_ statement: PreparedStatement, _ values: [SQLValue]) throws(StorageError) {
    self.statement = statement
    connection = statement.connection
    try statement.begin(values)
  }

  // Finalized while the connection is open: a connection with an unfinished statement would stay half open.
  deinit { statement.finalize() }

  /// Passes the following rows to `body` until it returns false, which it may do for a row that it has used.
  package func forEachRow(_ body: (borrowing Row) throws(StorageError) -> Bool) throws(StorageError) {
    while !isAtEnd {
      let code = unsafe sqlite3_step(statement.handle)
      switch code {
      case SQLITE_ROW:
        let row = unsafe Row(statement.handle, sql: statement.sql, file: statement.file)
        guard try body(row) else { return }
      case SQLITE_DONE: finish()
      default:
        let error = connection.error(code, sql: statement.sql)
        finish()
        throw error
      }
    }
  }

  private func finish() {
    isAtEnd = true
    statement.end()
  }
}
