import Foundation
import KeyCost
import LarderOData
import LarderOffline

/// The cost of encryption for an offline store: the same download, queries and changes with and without a key.
struct EncryptedPart {
  let python: String
  let folder: String
  let rows: Int
  private static let rounds = 5

  /// Returns true if all limits are met.
  func run() async throws -> Bool {
    let work = folder + "/encrypted-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: work) }
    let server = try RowServer(python: python, folder: folder + "/rows", rows: rows)
    defer { server.stop() }
    var cost = KeyCost()
    try await cost.compare("offline store of \(rows) rows", works, rounds: EncryptedPart.rounds) { round, isKeyed in
      let place = "\(work)/\(round)-\(isKeyed)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: place) }
      return try await measure(root: server.root, folder: place, isKeyed)
    }
    return cost.end()
  }

  private let works = [
    KeyCost.Work("the first download", limit: 1.25),
    KeyCost.Work("a query that scans all rows, after opening the store again", limit: 1.45),
    KeyCost.Work("1,000 changes on the disk, with three reads by key and a short query each", limit: 1.25),
  ]

  init(python: String, folder: String, rows: Int) {
    (self.python, self.folder, self.rows) = (python, folder, rows)
  }

  private func measure(root: String, folder: String, _ isKeyed: Bool) async throws -> [Double] {
    let key = isKeyed ? try StorageKey(bytes: (0..<32).map { $0 &* 7 }) : nil
    let store = try Rows.provider(root: root, folder: folder, key: key)
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    let load = try await KeyCost.seconds {
      try await store.open()
      // Includes the checkpoint that the last connection writes.
      try await store.close()
    }
    // The page cache of SQLite is empty now, the one of the operating system is not.
    try await store.open()
    let scan = try await KeyCost.seconds(of: 3) { for _ in 0..<3 { try await self.scan(store) } }
    let mixed = try await KeyCost.seconds {
      for turn in 0..<1000 { try await change(turn, store) }
    }
    let count = try await store.readJSON("Rows/$count").bytes
    guard String(decoding: count, as: UTF8.self) == "\(rows)" else {
      throw BenchmarkError("the store does not have \(rows) rows")
    }
    try await store.close()
    return [load, scan, mixed]
  }

  private func scan(_ store: OfflineODataProvider) async throws {
    let query = "Rows?$filter=Category%20eq%20'drills'%20and%20Weight%20gt%20500&$orderby=Stock%20desc,ID&$top=20"
    guard try await !store.readJSON(query).bytes.isEmpty else { throw BenchmarkError("the query returned nothing") }
  }

  /// Reads and changes pseudorandom rows, the same in every run.
  private func change(_ turn: Int, _ store: OfflineODataProvider) async throws {
    for step in 0..<3 {
      let number = (turn * 7919 + step * 104_729) % rows + 1
      guard try await !store.readJSON("Rows(\(number))").bytes.isEmpty else { throw BenchmarkError("no row \(number)") }
    }
    let short = "Rows?$filter=City%20eq%20'Bern'%20and%20Stock%20ge%20\(turn)&$orderby=Stock&$top=20"
    _ = try await store.readJSON(short)
    try await store.update(
      "Rows(\(turn * 611_953 % rows + 1))",
      to: ODataEntity(properties: [ODataProperty("Stock", .int32(Int32(turn)))]))
  }
}
