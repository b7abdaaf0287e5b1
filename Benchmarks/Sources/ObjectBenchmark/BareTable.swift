import CBenchSQLite

/// A table of keys and values, with prepared statements of SQLite's C interface: the baseline of the object store.
///
/// It uses WAL and `synchronous=FULL`, as the store does. A row consists of a number, a key and a value.
final class BareTable {
  private var database: OpaquePointer?
  private var upsert: OpaquePointer?
  private var select: OpaquePointer?
  private var begin: OpaquePointer?
  private var commit: OpaquePointer?

  init(path: String) throws {
    guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK else {
      throw BenchmarkError("cannot open \(path): \(message)")
    }
    try run("PRAGMA journal_mode = WAL")
    try run("PRAGMA synchronous = FULL")
    try run("CREATE TABLE object(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL) STRICT")
    upsert = try prepare(
      "INSERT INTO object(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value")
    select = try prepare("SELECT value FROM object WHERE key = ?")
    begin = try prepare("BEGIN IMMEDIATE")
    commit = try prepare("COMMIT")
  }

  deinit {
    for statement in [upsert, select, begin, commit] { sqlite3_finalize(statement) }
    sqlite3_close_v2(database)
  }

  /// Writes one value durably: the statement is its own transaction.
  func put(_ value: [UInt8], _ key: String) throws {
    defer { sqlite3_reset(upsert) }
    bind(upsert, 1, key)
    value.withUnsafeBytes { _ = sqlite3_bind_blob(upsert, 2, $0.baseAddress, Int32($0.count), transient) }
    guard sqlite3_step(upsert) == SQLITE_DONE else { throw BenchmarkError("put: \(message)") }
  }

  /// Runs several writes in one transaction.
  func batch(_ body: () throws -> Void) throws {
    try step(begin)
    try body()
    try step(commit)
  }

  /// A copy of the value's bytes, as a reader needs it.
  func get(_ key: String) throws -> [UInt8] {
    defer { sqlite3_reset(select) }
    bind(select, 1, key)
    guard sqlite3_step(select) == SQLITE_ROW, let bytes = sqlite3_column_blob(select, 0) else {
      throw BenchmarkError("no row for \(key)")
    }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(select, 0))))
  }

  private var message: String { String(cString: sqlite3_errmsg(database)) }

  private func bind(_ statement: OpaquePointer?, _ index: Int32, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), transient)
      }
    }
  }

  private func step(_ statement: OpaquePointer?) throws {
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchmarkError(message) }
  }

  private func run(_ sql: String) throws {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw BenchmarkError("\(sql): \(message)") }
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK
    else { throw BenchmarkError("cannot prepare \(sql): \(message)") }
    return statement
  }
}

private nonisolated(unsafe) let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The error that ends a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
