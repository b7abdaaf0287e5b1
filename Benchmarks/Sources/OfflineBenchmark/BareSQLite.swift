import CBenchSQLite
import Foundation

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// SQLite, called directly through its C interface.
final class BareSQLite {
  let connection: OpaquePointer

  /// Opens a file. Registers the collations of the store's columns, so that tables can be created with them. They compare
  /// bytes, so `ORDER BY` such a column gives another order than in the store.
  ///
  /// - Parameter isGuest: whether a store has the file open. Opening then changes nothing.
  init(path: String, isGuest: Bool = false) throws {
    var opened: OpaquePointer?
    let flags = isGuest ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw BenchmarkError("cannot open \(path)")
    }
    connection = opened
    guard !isGuest else { return }
    for name in ["larder_decimal", "larder_moment", "larder_duration"] {
      sqlite3_create_collation_v2(opened, name, SQLITE_UTF8, nil, compareBytes, nil)
    }
    try run("PRAGMA journal_mode=WAL")
  }

  deinit { sqlite3_close_v2(connection) }

  var message: String { String(cString: sqlite3_errmsg(connection)) }

  func run(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw BenchmarkError("\(sql): \(message)") }
  }

  func prepare(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw BenchmarkError("\(sql): \(message)")
    }
    return statement
  }

  /// The rows of a query as texts.
  func texts(_ sql: String) throws -> [[String]] {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    var rows: [[String]] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        })
    }
    return rows
  }
}

private func compareBytes(
  _: UnsafeMutableRawPointer?, _ count: Int32, _ bytes: UnsafeRawPointer?, _ otherCount: Int32,
  _ other: UnsafeRawPointer?
) -> Int32 {
  guard let bytes, let other else { return count - otherCount }
  let order = memcmp(bytes, other, Int(min(count, otherCount)))
  return order != 0 ? order : count - otherCount
}

/// The table of a store's file that contains the rows.
struct RowTable {
  let name: String
  let definition: String
  let indexes: [String]
  let columns: [String]

  /// The table that has the given columns and the most rows.
  static func find(in file: BareSQLite, with wanted: [String]) throws -> RowTable {
    var best: (RowTable, Int)?
    for row in try file.texts("SELECT name, sql FROM sqlite_master WHERE type = 'table'") where row[1].contains("(") {
      let quoted = quote(row[0])
      let columns = try file.texts("SELECT name FROM pragma_table_info('\(row[0])')").map { $0[0] }
      guard Set(wanted).isSubset(of: columns) else { continue }
      let count = Int(try file.texts("SELECT count(*) FROM \(quoted)")[0][0]) ?? 0
      if let best, best.1 >= count { continue }
      let indexes = try file.texts(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '\(row[0])' AND sql IS NOT NULL")
      best = (RowTable(name: row[0], definition: row[1], indexes: indexes.map { $0[0] }, columns: columns), count)
    }
    guard let best else { throw BenchmarkError("the store has no table with the columns \(wanted)") }
    return best.0
  }

  static func quote(_ name: String) -> String { "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
