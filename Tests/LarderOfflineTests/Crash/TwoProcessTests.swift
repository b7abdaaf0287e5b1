import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: two processes", .timeLimit(.minutes(2)))
struct TwoProcessTests {
  private struct Row: Decodable, Hashable, Sendable {
    var id: Int
    var state: Int
    enum CodingKeys: String, CodingKey { case id = "ID", state = "State" }
  }

  @Test("what another process downloads reaches the live results here, each result of one state")
  func live() async throws {
    let rig = try await VersionedStore()
    let store = rig.store
    defer { rig.place.server.stop() }
    let first = rig.place.service.version
    let last = first + 5
    let process = try rig.place.process(downloads: 5)
    async let said = process.lines()
    for path in ["Rows?$orderby=ID", "Whole?$orderby=ID"] {
      var seen: [Int] = []
      for try await rows in try store.live([Row].self, path) {
        let state = try #require(rows.first?.state)
        #expect(rows == VersionedService.rows(state).map { Row(id: $0, state: state) })
        seen.append(state)
        if state == last { break }
      }
      print("states seen of \(path): \(seen)")
      #expect(seen == seen.sorted())
      #expect(Set(seen).count == seen.count)
    }
    #expect(await said.last == "closed")
    try await store.close()
  }

  @Test("a change of a process that ended before it reported the change is noticed all the same")
  func untold() async throws {
    let service = FaultyService()
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    let other = try await Database.open(
      store.file, key: try RigKey.fromEnvironment(), schema: ReplicaSchema.schema)
    var responses = try store.live([String: String].self, "Rows(1)?$select=Text").makeAsyncIterator()
    #expect(try await responses.next() != nil)
    // The change, and no word of it.
    try await other.write { (connection) throws(StorageError) in
      let name = try connection.first("SELECT 'e' || id || '_' || generation FROM larder_table WHERE name = 'Rows'") {
        (row) throws(StorageError) in try row.text(0)
      }
      try connection.run("UPDATE \(name ?? "") SET Text = 'untold'")
      try connection.logChange(nil)
    }
    #expect(try await responses.next()?["Text"] == "untold")
    try await other.close()
    try await store.close()
  }

  @Test("a process that opens the store does not disturb the media that another is fetching")
  func streams() async throws {
    let service = VersionedService()
    service.moves = false
    let gate = ScriptedServer.Gate()
    let piece = [UInt8](repeating: 7, count: 300_000)
    let server = try ScriptedServer { request in
      guard request.path.hasSuffix("Photos(1)/$value") else { return service.reply(to: request) }
      return .chunked(
        fields: [.contentType: "image/x"], pieces: [String(decoding: piece, as: UTF8.self), "end"], gate: gate)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/")
    let store = try OfflineCrashRig.provider(folder.path, root)
    try await store.add(OfflineODataDefiningQuery("photos", "Photos"))
    try await store.open()
    async let fetched: Void = store.downloadMedia("Photos(1)/$value")
    gate.release()
    let database = try #require(store.store?.replica.database)
    var came: Int64 = 0
    while came == 0 {
      came = try await database.read { (connection) throws(StorageError) in
        try connection.first("SELECT count(*) FROM larder_stream_chunk") { (row) throws(StorageError) in
          try row.int64(0)
        } ?? 0
      }
      await Task.yield()
    }
    let other = try OfflineCrashRig.provider(folder.path, root)
    try await other.open()
    gate.open()
    try await fetched
    #expect(try await store.readMedia("Photos(1)/$value").count == 300_003)
    try await other.close()
    try await store.close()
  }
}
