import Foundation
import LarderStorage

/// What tests of encrypted files do in another process, which they stop and kill at any time. Says on a line of its own
/// what has been done.
@main
struct StorageRig {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { throw Misuse() }
    let path = arguments[2]
    switch arguments[1] {
    case "write": try await write(path)
    case "insert": try await insert(path, by: arguments.count > 3 ? arguments[3] : "")
    case "churn": try await churn(path)
    case "rekey": try await rekey(path)
    case "measure": try await EncryptionCost.run(in: path)
    default: throw Misuse()
    }
  }

  struct Misuse: Error {}

  private static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }

  static func key(_ number: UInt8) throws(StorageError) -> StorageKey {
    try StorageKey(bytes: [UInt8](repeating: number, count: 32))
  }

  /// Commits rows for ever, each with its number; says each when it is durable.
  private static func write(_ path: String) async throws {
    let database = try await Database.open(path, key: try key(1), schema: RigSchema.schema)
    let last = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT coalesce(max(id), 0) FROM item") { (row) throws(StorageError) in try row.int64(0) }
    }
    var number = (last ?? 0) + 1
    while true {
      try await database.write { [number] (connection) throws(StorageError) in
        try connection.run(
          "INSERT INTO item(id, name, data) VALUES(?, ?, zeroblob(?))", .integer(number), .text("row \(number)"),
          .integer(number % 7 * 900))
        try connection.run("UPDATE item SET name = name || '.' WHERE id = ?", .integer(number / 2))
      }
      say("\(number)")
      number += 1
      if number % 40 == 0 { try await database.checkpoint() }
    }
  }

  /// Opens a file that others open at the same time, and inserts.
  private static func insert(_ path: String, by name: String) async throws {
    let database = try await Database.open(path, key: try key(1), schema: RigSchema.schema)
    for number in 0..<20 {
      try await database.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(name) VALUES(?)", .text("\(name)-\(number)"))
      }
    }
    try await database.close()
    say("done")
  }

  /// Does everything that makes SQLite write, with a text that is easily found, for ever.
  private static func churn(_ path: String) async throws {
    let options = DatabaseOptions(cacheKibibytes: 100)
    let database = try await Database.open(path, key: try key(1), schema: RigSchema.schema, options: options)
    var round: Int64 = 0
    while true {
      try await database.write { [round] (connection) throws(StorageError) in
        for number in 0..<600 {
          try connection.run(
            "INSERT INTO item(name, data) VALUES(?, ?)", .text("\(RigSchema.marker)\(number * 7919 % 1009)"),
            .blob(Array(String(repeating: RigSchema.marker, count: 1 + number % 60).utf8)))
        }
        try connection.run("UPDATE item SET name = name || '\(RigSchema.marker)' WHERE id % 3 = ?", .integer(round % 3))
        // Fails in the middle, and is undone from the statement's own journal.
        try? connection.run("UPDATE item SET id = id % 1000 + 1, name = '\(RigSchema.marker)'")
        try? connection.savepoint { (connection) throws(StorageError) in
          try connection.run("UPDATE item SET data = zeroblob(3000)")
          try connection.run("SELECT nothing FROM nowhere")
        }
      }
      // A sort that does not fit into memory.
      _ = try await database.read { (connection) throws(StorageError) in
        try connection.rows("SELECT name, data FROM item ORDER BY data DESC, name") { (_) throws(StorageError) in true }
      }
      try await database.write { (connection) throws(StorageError) in
        try connection.run("CREATE TEMP TABLE kept AS SELECT * FROM item")
        try connection.run("DROP TABLE temp.kept")
        try connection.run("DELETE FROM item WHERE id % 2 = 0")
      }
      if round % 4 == 3 { try await database.checkpoint() }
      round += 1
      say("\(round)")
    }
  }

  /// Changes the key to and fro for ever; says the number of the key that holds.
  private static func rekey(_ path: String) async throws {
    var number: UInt8 = 1
    do {
      try await Database.open(path, key: try key(1), schema: RigSchema.schema).close()
    } catch { number = 2 }
    while true {
      let next: UInt8 = 3 - number
      try await Database.rekey(path, from: try key(number), to: try key(next))
      number = next
      say("\(number)")
      let database = try await Database.open(path, key: try key(number), schema: RigSchema.schema)
      try await database.write { (connection) throws(StorageError) in
        try connection.run("UPDATE item SET name = name || '.' WHERE id = 1")
      }
      try await database.close()
    }
  }
}

/// The rig's table; the test's own is the same.
enum RigSchema: Sendable {
  /// Nothing else in a file has these bytes.
  static let marker = "Markierung-7f3a91c2e4d05b68"
  static let schema = Schema(applicationID: 0x54_45_53_54, steps: [Step()])

  struct Step: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, data BLOB, size REAL) STRICT")
    }
  }
}
