import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

/// The file of an offline store whose process was killed, looked at.
struct KilledStore {
  let replica: Replica

  /// `key`: nil takes that of the environment.
  init(_ path: String, key: StorageKey? = nil) async throws {
    replica = try await Replica.open(path: path, key: try key ?? RigKey.fromEnvironment(), readers: 1)
  }

  /// The states of the sets, each wholly that of one number: 0 for a set that was never read. Notes what is a mixture.
  func check(_ note: String) async throws -> [String: Int] {
    try await replica.database.checkIntegrity()
    let downloaded = Set(try await replica.queries().filter { $0.downloaded != nil }.map(\.name))
    var versions: [String: Int] = [:]
    for (query, set) in [("rows", "Rows"), ("whole", "Whole"), ("orders", "Orders"), ("photos", "Photos")] {
      let (ids, states) = try await rows(of: set)
      versions[set] = states.first ?? 0
      guard downloaded.contains(query) else {
        #expect(ids.isEmpty, "\(note): \(set) has rows and was never read to its end")
        continue
      }
      #expect(states.count == 1, "\(note): \(set) shows a mixture of \(states)")
      #expect(ids == KilledStore.ids(set, states.first ?? 0), "\(note): \(set) is not whole")
    }
    try await checkItems(note, versions["Orders"] ?? 0)
    try await checkPhotos(note)
    return versions
  }

  private static func ids(_ set: String, _ version: Int) -> [Int] {
    switch set {
    case "Orders": VersionedService.orders(version)
    case "Photos": VersionedService.photos(version)
    default: VersionedService.rows(version)
    }
  }

  private func rows(of set: String) async throws -> (ids: [Int], states: [Int]) {
    try await replica.read { (snapshot) throws(StorageError) in
      guard let table = snapshot.plan.table(set) else { return ([], []) }
      let name = snapshot.state.tables[table.number]
      let ids = try snapshot.connection.rows("SELECT ID FROM \(name) ORDER BY ID") { (row) throws(StorageError) in
        Int(try row.int64(0))
      }
      let states = try snapshot.connection.rows("SELECT DISTINCT State FROM \(name)") { (row) throws(StorageError) in
        Int(try row.int64(0))
      }
      return (ids, states)
    }
  }

  private func checkItems(_ note: String, _ version: Int) async throws {
    let rows = try await replica.read { (snapshot) throws(StorageError) -> [String] in
      guard let orders = snapshot.plan.table("Orders"), let items = snapshot.plan.table("Orders/Items") else {
        return []
      }
      let sql = """
        SELECT o.ID || ' ' || group_concat(i.No || '=' || i.State) FROM \(snapshot.state.tables[items.number]) i
        LEFT JOIN \(snapshot.state.tables[orders.number]) o ON i."@parent" = o."@id" GROUP BY o."@id" ORDER BY o.ID
        """
      return try snapshot.connection.rows(sql) { (row) throws(StorageError) in try row.text(0) }
    }
    let wanted = (version == 0 ? [] : VersionedService.orders(version)).compactMap { order -> String? in
      let items = VersionedService.items(order)
      return items.isEmpty ? nil : "\(order) " + items.map { "\($0)=\(version)" }.joined(separator: ",")
    }
    #expect(rows == wanted, "\(note): the items are not those of state \(version)")
  }

  /// Bytes are those of one state, whichever: they come behind the rows.
  private func checkPhotos(_ note: String) async throws {
    let streams = try await replica.read { (snapshot) throws(StorageError) -> [[UInt8]] in
      guard try snapshot.connection.hasTable("larder_stream", "larder_stream") else { return [] }
      let heads = try snapshot.connection.rows("SELECT generation, bytes FROM larder_stream") {
        (row) throws(StorageError) in
        try row.int64(0)
      }
      return try heads.map { (generation) throws(StorageError) in
        let sql = "SELECT bytes FROM larder_stream_chunk WHERE generation = ?1 ORDER BY number"
        return try snapshot.connection.rows(sql, .integer(generation)) { (row) throws(StorageError) in try row.bytes(0)
        }
        .flatMap(\.self)
      }
    }
    for bytes in streams {
      #expect(bytes == VersionedService.photo(Int(bytes.first ?? 0)), "\(note): bytes of a photo are not whole")
    }
  }

  /// What is in the file and belongs to nothing: staged pages, tables that are not read, bytes of no stream.
  func rubbish() async throws -> [String] {
    try await replica.database.read { (connection) throws(StorageError) in
      var rows: [String] = []
      for table in ["larder_litter", "larder_download", "larder_inline", "larder_stage"] {
        let count = try connection.first("SELECT count(*) FROM \(table)") { (row) throws(StorageError) in
          try row.int64(0)
        }
        if count != 0 { rows.append("\(count ?? 0) in \(table)") }
      }
      let strays = """
        SELECT name FROM sqlite_schema WHERE type = 'table' AND (name GLOB 'e[0-9]*_*' OR name GLOB 'l[0-9]*_*')
        AND name NOT IN (SELECT iif(kind = 1, 'l', 'e') || id || '_' || generation FROM larder_table)
        """
      rows += try connection.rows(strays) { (row) throws(StorageError) in try row.text(0) }
      if try connection.hasTable("larder_stream_chunk", "larder_stream_chunk") {
        let orphans = "generation NOT IN (SELECT generation FROM larder_stream)"
        rows += try connection.rows("SELECT generation FROM larder_stream_chunk WHERE \(orphans)") {
          (row) throws(StorageError) in "bytes \(try row.int64(0))"
        }
      }
      return rows
    }
  }

  func close() async throws { try await replica.close() }
}
