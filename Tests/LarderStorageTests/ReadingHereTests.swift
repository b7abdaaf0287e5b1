import LarderStorage
import LarderTestSupport
import Testing

@Suite("Databases: reading on the caller's thread", .timeLimit(.minutes(5)))
struct ReadingHereTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  /// Numbers from 1 to a number, counted by SQLite.
  private static let count =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT count(*) FROM n"

  /// Blocks, as a caller that reads by itself does.
  private func countHere(
    to number: Int64, within limit: Duration, _ database: Database
  ) throws(StorageError) -> Int64? {
    try database.readHere(within: limit) { (connection) throws(StorageError) in
      try connection.first(Self.count, .integer(number)) { (row) throws(StorageError) in try row.int64(0) }
    } ?? nil
  }

  private func namesHere(_ database: Database) throws(StorageError) -> [String]? {
    try database.readHere(within: .seconds(60)) { (connection) throws(StorageError) in
      try connection.rows("SELECT name FROM item ORDER BY id") { (row) throws(StorageError) in try row.text(0) }
    }
  }

  @Test("A short read sees the last commit; without an open reader it returns nil")
  func reads() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    #expect(try namesHere(database) == nil)
    #expect(try await database.names() == [])
    for number in 0..<3 {
      try await database.insert("\(number)")
      #expect(try namesHere(database) == (0...number).map { "\($0)" })
    }
    try await database.close()
    #expect(throws: StorageError.self) { try namesHere(database) }
  }

  @Test("A long read is interrupted, even if its body ignores the error, and the reader is usable again")
  func cuts() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.insert("a")
    _ = try await database.names()
    #expect(try countHere(to: 1_000_000_000, within: .milliseconds(5), database) == nil)
    let swallowed: String?? = try database.readHere(within: .milliseconds(5)) { (connection) throws(StorageError) in
      try? connection.first(Self.count, .integer(1_000_000_000)) { (row) throws(StorageError) in "there" }
    }
    #expect(swallowed == .none)
    #expect(try countHere(to: 10_000, within: .seconds(60), database) == 10_000)
    #expect(try namesHere(database) == ["a"])
    // The limit was that of one run.
    #expect(try await database.names() == ["a"])
    try await database.insert("b")
    #expect(try namesHere(database) == ["a", "b"])
    try await database.close()
  }

  @Test("An error of the body is thrown, and the transaction ends")
  func throwing() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    _ = try await database.names()
    #expect(throws: StorageError.self) {
      try database.readHere(within: .seconds(60)) { (connection) throws(StorageError) in
        try connection.run("SELECT nothing FROM nowhere")
      }
    }
    try await database.insert("a")
    #expect(try namesHere(database) == ["a"])
    try await database.close()
  }
}
