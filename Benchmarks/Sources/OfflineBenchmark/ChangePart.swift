import CBenchSQLite
import Foundation
import LarderOData
import LarderOffline

/// Changes one by one, each durable when its call returns, compared with bare inserts of as many rows, committed one by
/// one with the same durability. Then the upload of the changes in batches.
struct ChangePart {
  let count: Int
  private static let changesPerBatch = 250

  /// Measures on disk and, if `/dev/shm` exists, in memory. Returns true if all limits are met.
  func run(_ folder: String) async throws -> Bool {
    var folders = [("on disk", folder)]
    if FileManager.default.isWritableFile(atPath: "/dev/shm") { folders.append(("in memory", "/dev/shm")) }
    var missed: [String] = []
    for (place, folder) in folders {
      let work = folder + "/changes-\(ProcessInfo.processInfo.processIdentifier)"
      try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: work) }
      for (name, value, limit) in try await ratios(work, place) {
        let isMet = value <= limit
        if !isMet { missed.append(name) }
        print("\(name): \(two(value))  (limit: at most \(two(limit)))\(isMet ? "" : "  MISSED")")
      }
    }
    print(missed.isEmpty ? "all limits of changes are met" : "missed: \(missed.joined(separator: "; "))")
    return missed.isEmpty
  }

  private func ratios(_ work: String, _ place: String) async throws -> [(String, Double, Double)] {
    var (creationRatios, updateRatios): ([Double], [Double]) = ([], [])
    var (requests, listed) = (0.0, 0.0)
    for round in 1...3 {
      let folder = "\(work)/\(round)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let bare = try inserts(folder + "/bare.db")
      let store = try OrderService.provider(folder)
      try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
      try await store.open()
      var keys: [String] = []
      let creating = try await seconds { try await create(store, &keys) }
      let updating = try await seconds { try await update(store, keys) }
      creationRatios.append(creating / bare)
      updateRatios.append(updating / bare)
      print(
        "  \(place), round \(round): \(count) bare inserts \(two(bare)) s, creations \(two(creating)) s, "
          + "updates \(two(updating)) s")
      guard round == 3 else {
        try await store.close()
        continue
      }
      listed = try await listing(store, place)
      var report = OfflineODataUploadReport()
      let uploading = try await seconds {
        report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: ChangePart.changesPerBatch))
      }
      guard report.sent == 2 * count, report.failed + report.pending == 0 else { throw BenchmarkError("\(report)") }
      let implied = (2 * count + ChangePart.changesPerBatch - 1) / ChangePart.changesPerBatch
      requests = Double(report.requests) / Double(implied)
      print("  \(place): upload of \(2 * count) changes \(two(uploading)) s in \(report.requests) requests")
      try await store.close()
    }
    return [
      ("creations \(place): time relative to bare inserts (median)", median(creationRatios), 10),
      ("updates \(place): time relative to bare inserts (median)", median(updateRatios), 10),
      ("requests of an upload \(place), relative to changes / batch size", requests, 1.3),
      ("reading the queue \(place) with dependent requests: time relative to reading it without", listed, 3),
    ]
  }

  /// How much longer reading the queue takes if each request is expanded with those that depend on it.
  private func listing(_ store: OfflineODataProvider, _ place: String) async throws -> Double {
    var times: [Double] = []
    for query in ["RequestQueue", "RequestQueue?$expand=DependentRequests"] {
      var bytes = 0
      times.append(try await seconds { bytes = try await store.readJSON(query).bytes.count })
      print("  \(place): \(query) of \(2 * count) requests \(two(times.last ?? 0)) s, \(bytes) bytes")
    }
    return times[1] / times[0]
  }

  private func seconds(_ body: () async throws -> Void) async throws -> Double {
    let begin = ContinuousClock.now
    try await body()
    return inSeconds(begin.duration(to: .now))
  }

  private func create(_ store: OfflineODataProvider, _ keys: inout [String]) async throws {
    for number in 0..<count {
      let order = ODataEntity(properties: [
        ODataProperty("Name", .string("order \(number)")), ODataProperty("Total", .decimal(12)),
        ODataProperty("Note", .string("a note")), ODataProperty("Count", .int32(Int32(number))),
      ])
      let created = try await store.create(order, in: "Orders")
      guard case .int64(let key)? = created?["ID"] else { throw BenchmarkError("an order has no key") }
      keys.append("Orders(\(key))")
    }
  }

  private func update(_ store: OfflineODataProvider, _ keys: [String]) async throws {
    let change = ODataEntity(properties: [ODataProperty("Name", .string("changed"))])
    for key in keys { try await store.update(key, to: change) }
  }

  private func inserts(_ path: String) throws -> Double {
    let file = try BareSQLite(path: path)
    try file.run("PRAGMA synchronous=FULL")
    try file.run(
      "CREATE TABLE orders(id INTEGER PRIMARY KEY, name TEXT, total TEXT, at TEXT, note TEXT, count INTEGER)")
    let insert = try file.prepare("INSERT INTO orders(name, total, note, count) VALUES(?1, '12', 'a note', ?2)")
    defer { sqlite3_finalize(insert) }
    let begin = ContinuousClock.now
    for number in 0..<count {
      let name = "order \(number)"
      let code = name.withCString { text in
        sqlite3_bind_text(insert, 1, text, -1, nil)
        sqlite3_bind_int64(insert, 2, Int64(number))
        return sqlite3_step(insert)
      }
      guard code == SQLITE_DONE else { throw BenchmarkError("an insert failed") }
      sqlite3_reset(insert)
    }
    return inSeconds(begin.duration(to: .now))
  }
}
