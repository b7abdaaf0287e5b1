import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("The store's file", .timeLimit(.minutes(1)))
struct ReplicaFileTests {
  static func model(_ properties: String, key: String = "ID", more: String = "") -> String {
    ReplicaRig.v4(
      """
      <EntityType Name="A"><Key><PropertyRef Name="\(key)"/></Key>\(properties)</EntityType>\(more)
      """, container: "<EntitySet Name=\"As\" EntityType=\"N.A\"/>")
  }

  static let id = "<Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"

  @Test("a table without downloaded rows is empty; once created, it has a view with its name")
  func lazyTables() async throws {
    let rig = try await ReplicaRig(metadata: Self.model(Self.id), makesTables: false)
    #expect(try await rig.rows("SELECT count(*), max(ID) FROM {As} AS t WHERE t.ID > 1") == ["0|-"])
    try await rig.makeTables()
    try await rig.run("INSERT INTO {As}(\"@id\", ID) VALUES(7, 70)")
    #expect(try await rig.rows("SELECT \"@id\", ID FROM {As}") == ["7|70"])
    #expect(try await rig.rows("SELECT * FROM \"As\"") == ["70"])
  }

  @Test(
    "an entity set named like an internal table of SQLite has a view with another name",
    arguments: ["sqlite_sequence", "SQLITE_x", "sqlite_"])
  func reserved(name: String) async throws {
    let metadata = ReplicaRig.v4(
      "<EntityType Name=\"A\"><Key><PropertyRef Name=\"ID\"/></Key>\(Self.id)</EntityType>",
      container: "<EntitySet Name=\"\(name)\" EntityType=\"N.A\"/>")
    let rig = try await ReplicaRig(metadata: metadata)
    try await rig.run("INSERT INTO {\(name)}(\"@id\", ID) VALUES(7, 70)")
    #expect(try await rig.rows("SELECT * FROM \"0~\(name)\"") == ["70"])
  }

  @Test(
    "properties are added, removed and change their type: rows stay, and queries with incomplete rows are downloaded again"
  )
  func migration() async throws {
    let text = "<Property Name=\"T\" Type=\"Edm.String\"/><Property Name=\"N\" Type=\"Edm.Int16\"/>"
    let rig = try await ReplicaRig(metadata: Self.model(Self.id + text))
    let query = try await rig.replica.addQuery("q", url: "As", streams: false)
    try await rig.run("INSERT INTO {As}(\"@id\", ID, T, N) VALUES(1, 10, 'x', 5)")
    try await rig.run("INSERT INTO larder_membership(query, name, bit) VALUES(\(query.id), 'As', 0)")
    try await rig.run("UPDATE larder_query SET delta_link = 'd'")
    // The storage is the same: nothing to do.
    let wider = "<Property Name=\"T\" Type=\"Edm.String\"/><Property Name=\"N\" Type=\"Edm.Int64\"/>"
    let same = try await rig.replica.adopt(metadata: Array(Self.model(Self.id + wider).utf8))
    #expect(same == ReplicaMigration())
    #expect(try await rig.rows("SELECT delta_link FROM larder_query") == ["d"])
    // A property is removed: nothing is missing.
    let fewer = try await rig.replica.adopt(
      metadata: Array(Self.model(Self.id + "<Property Name=\"N\" Type=\"Edm.Int64\"/>").utf8))
    #expect(fewer == ReplicaMigration(changed: ["As"]))
    // One property is added, and one has another type.
    let other = "<Property Name=\"N\" Type=\"Edm.Decimal\"/><Property Name=\"T\" Type=\"Edm.Int32\"/>"
    let more = try await rig.replica.adopt(metadata: Array(Self.model(Self.id + other).utf8))
    #expect(more == ReplicaMigration(changed: ["As"], queries: ["q"]))
    #expect(try await rig.rows("SELECT \"@id\", ID, N, typeof(N), T FROM {As}") == ["1|10|5|text|-"])
    #expect(try await rig.rows("SELECT * FROM \"As\"") == ["10|5|-"])
    #expect(try await rig.rows("SELECT delta_link FROM larder_query") == ["-"])
  }

  @Test("another key: rows that have it stay; types are renumbered; a removed set is deleted with its rows")
  func identity() async throws {
    let text = "<Property Name=\"T\" Type=\"Edm.String\"/>"
    let rig = try await ReplicaRig(
      metadata: Self.model(Self.id + text, more: "<EntityType Name=\"C\" BaseType=\"N.A\"/>"))
    try await rig.run("INSERT INTO {As}(\"@id\", \"@type\", ID, T) VALUES(1, 1, 10, 'x'), (2, 0, 11, 'x')")
    let types = "<EntityType Name=\"B\" BaseType=\"N.A\"/><EntityType Name=\"C\" BaseType=\"N.A\"/>"
    _ = try await rig.replica.adopt(metadata: Array(Self.model(Self.id + text, key: "T", more: types).utf8))
    #expect(try await rig.rows("SELECT \"@id\", \"@type\", T FROM {As}") == ["1|2|x"])
    let gone = try await rig.replica.adopt(
      metadata: Array(ReplicaRig.v4("<EntityType Name=\"A\"/>", container: "").utf8))
    #expect(gone.removed == ["As"])
    try await rig.replica.sweep()
    #expect(try await rig.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'e%' OR name = 'As'") == [])
  }

  @Test("changes are reported with their tables; a truncated log reports that all tables may have changed")
  func changes() async throws {
    let rig = try await ReplicaRig(metadata: Self.model(Self.id))
    let begin = try await rig.replica.lastChange()
    let mark = rig.replica.changes.mark
    try await rig.replica.write { (snapshot) throws(StorageError) in try snapshot.connection.logChange([0]) }
    await rig.replica.changes.wait(after: mark)
    let changed = try await rig.replica.changes(since: begin)
    #expect(changed == ReplicaChanges(last: begin + 1, tables: [0]))
    #expect(try await rig.replica.changes(since: begin + 1).tables == [])
    try await rig.replica.write { (snapshot) throws(StorageError) in
      for _ in 0..<1001 { try snapshot.connection.logChange([0]) }
    }
    #expect(try await rig.replica.changes(since: begin).tables == nil)
  }

  @Test("a change by another process wakes waiting tasks")
  func otherProcess() async throws {
    let rig = try await ReplicaRig(metadata: Self.model(Self.id))
    let other = try await Replica.open(path: rig.folder.file("store.db"), key: try RigKey.fromEnvironment())
    let mark = rig.replica.changes.mark
    try await other.write { (snapshot) throws(StorageError) in try snapshot.connection.logChange([0]) }
    await rig.replica.changes.wait(after: mark)
    #expect(rig.replica.changes.mark != mark)
    #expect(other.plan.tables.map(\.name) == ["As"])
    try await other.close()
  }

  @Test("settings, events and defining queries are stored; the event log is limited")
  func settings() async throws {
    let rig = try await ReplicaRig(metadata: Self.model(Self.id))
    try await rig.replica.set("a", to: .text("b"))
    #expect(try await rig.replica.setting("a") == .text("b"))
    try await rig.replica.set("a", to: nil)
    #expect(try await rig.replica.setting("a") == nil)
    for number in 1...5 { try await rig.replica.addEvent("\(number)", at: Double(number), limit: 3) }
    #expect(try await rig.replica.events().map(\.text) == ["3", "4", "5"])
    let query = try await rig.replica.addQuery("q", url: "As", streams: true)
    #expect(try await rig.replica.queries() == [query])
    try await rig.replica.removeQuery("q")
    #expect(try await rig.replica.queries() == [])
  }
}
