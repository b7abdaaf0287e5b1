import LarderStorage
import LarderTestSupport

@testable import LarderCrashRig
@testable import LarderOffline

private struct NoTables: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("CREATE TABLE value(n INTEGER PRIMARY KEY, d TEXT COLLATE larder_decimal, r REAL, t TEXT)")
  }
}

/// A database with the store's functions, for one test.
struct SQLRig {
  let folder: TemporaryFolder
  let database: Database

  init() async throws {
    folder = try TemporaryFolder()
    database = try await Database.open(
      folder.file("values.db"), key: try RigKey.fromEnvironment(),
      schema: Schema(applicationID: 0x76_61_6C_75, steps: [NoTables()]),
      options: DatabaseOptions(extensions: ReplicaSQL.extensions))
  }

  /// The value of an expression.
  func value(_ sql: String, _ values: [SQLValue] = []) async throws -> SQLValue {
    try await database.read { (connection) throws(StorageError) in
      var result = SQLValue.null
      try connection.forEachRow("SELECT " + sql, values) { (row) throws(StorageError) in
        result = row.value(0)
        return false
      }
      return result
    }
  }

  /// The error of an expression; nil if there is none.
  func failure(_ sql: String) async -> String? {
    do {
      _ = try await value(sql)
      return nil
    } catch { return (error as? StorageError)?.message }
  }
}
