import Foundation
import LarderStorage
import LarderTestSupport
import Testing

/// A schema of one table, for tests.
struct OneTable: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, data BLOB, size REAL) STRICT")
  }
}

/// Its second version.
struct OneMoreColumn: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("ALTER TABLE item ADD COLUMN note TEXT DEFAULT 'none'")
  }
}

struct FailingStep: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("CREATE TABLE half(id INTEGER)")
    try connection.run("CREATE TABLE item(id INTEGER)")
  }
}

enum TestSchema {
  static let id: Int32 = 0x54_45_53_54
  static let first = Schema(applicationID: id, steps: [OneTable()])
  static let second = Schema(applicationID: id, steps: [OneTable(), OneMoreColumn()])
  static let other = Schema(applicationID: 99, steps: [OneTable()])
  static let failing = Schema(applicationID: id, steps: [OneTable(), FailingStep()])
}

/// What a closure throws.
func storageError(_ body: () async throws -> Void) async -> StorageError? {
  do {
    try await body()
    return nil
  } catch { return error as? StorageError }
}

extension Database {
  func insert(_ name: String, data: [UInt8]? = nil) async throws(StorageError) {
    try await write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(name, data) VALUES(?, ?)", .text(name), .blob(data))
    }
  }

  func names() async throws(StorageError) -> [String] {
    try await read { (connection) throws(StorageError) in
      try connection.rows("SELECT name FROM item ORDER BY id") { (row) throws(StorageError) in try row.text(0) }
    }
  }
}

extension Database {
  /// Opens a test's database: with a key where the environment's `LARDER_TEST_KEY` is set, which runs a suite on encrypted
  /// files.
  static func openForTest(
    _ path: String, schema: Schema, options: DatabaseOptions = .init()
  ) async throws(StorageError) -> Database {
    try await Database.open(path, key: try TestKey.fromEnvironment(), schema: schema, options: options)
  }
}

enum TestKey {
  static var isUsed: Bool { ProcessInfo.processInfo.environment["LARDER_TEST_KEY"] != nil }

  static func fromEnvironment() throws(StorageError) -> StorageKey? {
    isUsed ? try StorageKey(bytes: (0..<32).map { $0 * 7 }) : nil
  }
}
