import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

/// Keys, files and looks at them, for the tests of encryption.
struct EncryptionRig {
  let folder: TemporaryFolder
  var path: String { folder.file("secret.db") }
  let key: StorageKey

  init() throws {
    folder = try TemporaryFolder()
    key = try StorageKey(bytes: (0..<32).map { UInt8($0) ^ 0x5A })
  }

  func open(_ key: StorageKey? = nil, options: DatabaseOptions = .init()) async throws(StorageError) -> Database {
    try await Database.open(path, key: key ?? self.key, schema: TestSchema.first, options: options)
  }

  /// A closed file with rows; `size` is that of each row's data.
  func fill(_ rows: Int, size: Int = 500) async throws {
    let database = try await open()
    try await database.write { (connection) throws(StorageError) in
      for row in 0..<rows {
        try connection.run(
          "INSERT INTO item(name, data) VALUES(?, ?)", .text("row \(row)"),
          .blob([UInt8](repeating: UInt8(row & 255), count: size)))
      }
    }
    try await database.close()
  }

  var bytes: [UInt8] { contents(path) }

  func contents(_ path: String) -> [UInt8] { (try? Data(contentsOf: URL(filePath: path))).map(Array.init) ?? [] }

  /// Writes a file over, in place.
  func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

  /// All rows, after the engine's own full check; opened and closed for it.
  func wholeRows(_ key: StorageKey? = nil) async throws -> [String] {
    let database = try await open(key)
    do {
      let rows = try await database.read { (connection) throws(StorageError) -> [String] in
        let finding = try connection.first("PRAGMA integrity_check") { (row) throws(StorageError) in try row.text(0) }
        guard finding == "ok" else { return ["integrity_check: \(finding ?? "nothing")"] }
        return try connection.rows("SELECT name, coalesce(length(data), 0), coalesce(data, x'') FROM item ORDER BY id")
        { (row) throws(StorageError) in
          let data = try row.bytes(2)
          return try
            "\(row.text(0)) \(row.int64(1)) \(data.allSatisfy { $0 == data.first } ? "\(data.first ?? 0)" : "mixed")"
        }
      }
      try await database.close()
      return rows
    } catch {
      try? await database.close()
      throw error
    }
  }
}

extension EncryptionRig {
  /// A bare connection, for what is not done in transactions; makes the file where it is missing.
  func connection(_ path: String? = nil, key: StorageKey? = nil) throws -> Connection {
    let path = path ?? self.path
    let keys = try EncryptedFile(path: path).unlock(key ?? self.key)
    let cipher = try CipherRegistry.add(path, .encrypted(keys))
    return try Connection(path, access: .readWriteCreate, options: DatabaseOptions(), cipher: cipher)
  }
}

extension Connection {
  /// Runs statements and returns the first column of the last one's rows.
  @discardableResult
  func plainly(_ statements: String...) throws -> [String] {
    var last: [String] = []
    for statement in statements {
      last = try rows(statement) { (row) throws(StorageError) in
        row.storageClass(0) == .integer ? "\(try row.int64(0))" : (try row.textOrNil(0) ?? "")
      }
    }
    return last
  }
}
