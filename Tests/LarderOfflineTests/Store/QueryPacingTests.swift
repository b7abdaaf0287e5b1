import Foundation
@_spi(Stores) import LarderCore
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: the thread that runs a query", .timeLimit(.minutes(3)))
struct QueryPacingTests {
  private static let short = "Rows(7)?$select=ID"

  private func pace(_ query: String, _ store: OfflineODataProvider) throws -> QueryPacing? {
    let store = try store.openStore()
    let text = try store.relative(query)
    return store.prepared.withLock { $0.pace(text) }
  }

  @Test("what took long of late is long, until it was short again for a while")
  func pace() {
    let pace = QueryPacing()
    #expect(pace.isShort == nil)
    pace.note(.microseconds(900))
    #expect(pace.isShort == true)
    pace.note(.milliseconds(30))
    #expect(pace.isShort == false)
    var shorts = 0
    while pace.isShort == false, shorts < 10 {
      pace.note(.microseconds(200))
      shorts += 1
    }
    #expect(shorts == 5)
    pace.note(.seconds(100_000_000))
    #expect(pace.isShort == false)
  }

  @Test("results are equal and of the last download: short and long ones, many at once, by the main actor")
  func responses() async throws {
    let rows = ScriptedRows(20_000)
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["rows": "Rows"])
    // The number of rows is chosen such that no machine writes them in the time that the calling thread may be blocked.
    let long = try await store.readJSON("Rows?$select=ID,Text").bytes
    #expect(try pace("Rows?$select=ID,Text", store)?.isShort == false)
    #expect(try await store.readJSON("Rows?$select=ID,Text").bytes == long)
    #expect(try await store.readCount("Rows") == 20_000)
    let first = try await store.readJSON(Self.short).bytes
    #expect(try pace(Self.short, store) != nil)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          number % 16 == 0
            ? try await store.readJSON("Rows?$select=ID,Text").bytes == long
            : try await store.readJSON(Self.short).bytes == first
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
    #expect(try await Self.queryInMain(store) == [first, long])
    rows.change { $0.put(7, "new") }
    try await store.download()
    #expect(try await store.text("Rows(7)/Text/$value") == "new")
    try await store.close()
    await #expect(throws: OfflineODataError.self) { try await store.readJSON(Self.short) }
  }

  @MainActor
  private static func queryInMain(_ store: OfflineODataProvider) async throws -> [[UInt8]] {
    [try await store.readJSON(short).bytes, try await store.readJSON("Rows?$select=ID,Text").bytes]
  }

  @Test("tables and a model that another process has changed are not read again on the calling thread")
  func changedByAnother() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop)
    let other = try await Replica.open(path: rig.replica.database.path, key: try RigKey.fromEnvironment())
    func isKnown() throws -> Bool {
      try other.readHere(within: .seconds(60)) { (snapshot) throws(StorageError) in
        snapshot.state.tables.count == snapshot.plan.tables.count
      } ?? false
    }
    #expect(try isKnown())
    _ = try await rig.replica.adopt(metadata: Array(ReplicaModels.shop.replacing("Orders", with: "Sales").utf8))
    #expect(try !isKnown())
    #expect(try await other.read { (snapshot) throws(StorageError) in snapshot.plan.table("Sales") != nil })
    #expect(try isKnown())
    try await other.close()
    try await rig.replica.close()
  }

  @Test("a query that contains the current time is planned again each time, and its cost is remembered")
  func timestamps() async throws {
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let store = try await StoreRig(server.url("/s/").absoluteString).open(["rows": "Rows"])
    let query = "Rows/$count?$filter=now() gt 2020-01-01T00:00:00Z"
    #expect(try await store.text(query) == "3")
    let first = try pace(query, store)
    #expect(first != nil)
    #expect(try await store.text(query) == "3")
    #expect(try pace(query, store) === first)
    try await store.close()
  }

  @Test("a query of the store's own sets, whose rows are computed from the whole queue, blocks no calling thread")
  func ownSets() async throws {
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let store = try await StoreRig(server.url("/s/").absoluteString).open(["rows": "Rows"])
    let open = try store.openStore()
    func isResultHere(_ query: String) async throws -> Bool {
      let here = Self.thread()
      return try await open.executeQuery(query, OfflineODataResultOptions()) { _, _ in Self.thread() } == here
    }
    for query in ["RequestQueue", "ErrorArchive/$count"] {
      for _ in 0..<10 { #expect(try await !isResultHere(query), "\(query)") }
    }
    // A busy machine may take long for any one of these.
    var isHere = false
    for _ in 0..<1000 where !isHere { isHere = try await isResultHere("Rows") }
    #expect(isHere)
    try await store.close()
  }

  private static func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
}
