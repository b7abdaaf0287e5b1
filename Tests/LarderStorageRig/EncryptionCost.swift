import Foundation
import LarderStorage

/// What encryption costs: the same work on a plain file and on an encrypted one, in turn, in one process.
///
/// `swift run -c release LarderStorageRig measure FOLDER`. The least of five rounds each; ratios are what counts.
enum EncryptionCost {
  static func run(in folder: String) async throws {
    var best: [String: [Double]] = [:]
    for round in 0..<5 {
      for kind in 0..<2 {
        let key = kind == 0 ? nil : try StorageRig.key(1)
        let path = "\(folder)/measured-\(round)-\(kind).db"
        let measured = [
          "bulk load": try await load(path, key), "small transactions": try await transactions(path, key),
          "look-ups, 80 KiB of pages": try await lookUps(path, key), "scan": try await scan(path, key),
        ]
        for (name, time) in measured {
          var times = best[name] ?? [.infinity, .infinity]
          times[kind] = min(times[kind], time)
          best[name] = times
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      }
    }
    for (name, times) in best.sorted(by: { $0.key < $1.key }) {
      let ratio = times[1] / times[0]
      print(
        name, "plain \(rounded(times[0] * 1000)) ms, encrypted \(rounded(times[1] * 1000)) ms, ratio \(rounded(ratio))")
    }
  }

  private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

  /// The processor's time, of all threads: other programs change it little.
  private static func timed(_ body: () async throws -> Void) async rethrows -> Double {
    let before = used()
    try await body()
    return used() - before
  }

  private static func used() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static let rows: Int64 = 200_000

  private static func load(_ path: String, _ key: StorageKey?) async throws -> Double {
    let options = DatabaseOptions(synchronous: .normal, writerCacheKibibytes: 16 << 10)
    return try await timed {
      let database = try await Database.open(path, key: key, schema: RigSchema.schema, options: options)
      try await database.write { (connection) throws(StorageError) in
        for row in 0..<rows {
          try connection.run(
            "INSERT INTO item(id, name, data, size) VALUES(?, ?, ?, ?)", .integer(row),
            .text("A name of some length, number \(row)"), .blob([UInt8](repeating: UInt8(row & 255), count: 300)),
            .real(Double(row) / 3))
        }
      }
      try await database.close()
    }
  }

  private static func transactions(_ path: String, _ key: StorageKey?) async throws -> Double {
    let options = DatabaseOptions(synchronous: .normal)
    let database = try await Database.open(path, key: key, schema: RigSchema.schema, options: options)
    let time = try await timed {
      var random = SystemRandomNumberGenerator()
      for _ in 0..<2000 {
        let row = Int64.random(in: 0..<rows, using: &random)
        let others = (0..<4).map { _ in Int64.random(in: 0..<rows, using: &random) }
        try await database.write { (connection) throws(StorageError) in
          try connection.run("UPDATE item SET size = size + 1, name = ? WHERE id = ?", .text("changed"), .integer(row))
        }
        try await database.read { (connection) throws(StorageError) in
          for other in others {
            _ = try connection.first("SELECT name FROM item WHERE id = ?", .integer(other)) {
              (row) throws(StorageError) in try row.text(0)
            }
          }
        }
      }
    }
    try await database.close()
    return time
  }

  private static func lookUps(_ path: String, _ key: StorageKey?) async throws -> Double {
    let options = DatabaseOptions(readers: 1, cacheKibibytes: 80)
    let database = try await Database.open(path, key: key, schema: RigSchema.schema, options: options)
    let time = try await timed {
      try await database.read { (connection) throws(StorageError) in
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
          let row = Int64.random(in: 0..<rows, using: &random)
          _ = try connection.first("SELECT name FROM item WHERE id = ?", .integer(row)) { (row) throws(StorageError) in
            try row.text(0)
          }
        }
      }
    }
    try await database.close()
    return time
  }

  private static func scan(_ path: String, _ key: StorageKey?) async throws -> Double {
    let database = try await Database.open(path, key: key, schema: RigSchema.schema)
    let time = try await timed {
      try await database.read { (connection) throws(StorageError) in
        for _ in 0..<3 {
          _ = try connection.first("SELECT sum(size), sum(length(name)), max(data) FROM item") {
            (row) throws(StorageError) in
            row.real(0)
          }
        }
      }
    }
    try await database.close()
    return time
  }
}
