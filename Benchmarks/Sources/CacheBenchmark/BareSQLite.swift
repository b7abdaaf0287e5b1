import CBenchSQLite

/// A point read with a prepared statement of SQLite's C interface: the baseline of the technical cache.
final class BareSQLite {
  private var database: OpaquePointer?
  private var statement: OpaquePointer?
  private let url: String
  private var scope: [UInt8] = []
  private var variant: [UInt8] = []

  /// Opens the cache's file while the store uses it, and prepares a read of the row of `url` by its complete key.
  init(path: String, url: String) throws {
    self.url = url
    guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
      throw BenchmarkError("cannot open \(path): \(String(cString: sqlite3_errmsg(database)))")
    }
    sqlite3_busy_timeout(database, 5000)
    let row = try prepare("SELECT scope, variant FROM entry WHERE url = ?")
    defer { sqlite3_finalize(row) }
    sqlite3_bind_text(row, 1, url, -1, transient)
    guard sqlite3_step(row) == SQLITE_ROW else { throw BenchmarkError("no row for \(url)") }
    scope = blob(row, 0)
    variant = blob(row, 1)
    statement = try prepare("SELECT payload FROM entry WHERE url = ? AND scope = ? AND variant = ?")
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close_v2(database)
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK
    else { throw BenchmarkError("cannot prepare: \(String(cString: sqlite3_errmsg(database)))") }
    return statement
  }

  /// A copy of the row's payload, as a reader needs it.
  func read() throws -> [UInt8] {
    defer { sqlite3_reset(statement) }
    sqlite3_bind_text(statement, 1, url, -1, transient)
    scope.withUnsafeBytes { _ = sqlite3_bind_blob(statement, 2, $0.baseAddress, Int32($0.count), transient) }
    variant.withUnsafeBytes { _ = sqlite3_bind_blob(statement, 3, $0.baseAddress, Int32($0.count), transient) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw BenchmarkError("no row for \(url)") }
    return blob(statement, 0)
  }
}

private func blob(_ statement: OpaquePointer?, _ column: Int32) -> [UInt8] {
  let count = Int(sqlite3_column_bytes(statement, column))
  guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
  return Array(UnsafeRawBufferPointer(start: bytes, count: count))
}

private nonisolated(unsafe) let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The error that ends a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
