import LarderStorage
import LarderTestSupport
import Testing

/// Adds the lengths of texts; fails on a blob.
private final class Lengths: SQLAggregateState {
  private var sum: Int64 = 0

  func add(_ arguments: borrowing SQLArguments) throws(SQLFunctionError) {
    guard arguments.storageClass(0) != .blob else { throw SQLFunctionError("a blob has no length here") }
    sum += Int64(arguments.utf8(0).count)
  }

  func finish(_ result: borrowing SQLResult) { result.integer(sum) }
}

private final class CachedText {
  let text: String
  init(_ text: String) { self.text = text }
}

@Suite("SQL functions", .timeLimit(.minutes(1)))
struct SQLFunctionTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let extensions = SQLExtensions(
    functions: [
      SQLFunction("twice", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
        switch arguments.storageClass(0) {
        case .null: break
        case .integer:
          let (product, overflow) = arguments.int64(0).multipliedReportingOverflow(by: 2)
          if overflow { throw SQLFunctionError("twice \(arguments.int64(0)) is out of range") }
          result.integer(product)
        case .real: result.real(arguments.real(0) * 2)
        case .text: result.text(arguments.text(0) + arguments.text(0))
        case .blob: result.blob(Array(arguments.bytes(0)) + Array(arguments.bytes(0)))
        }
      },
      SQLFunction("arguments", argumentCount: -1) { (arguments, result) throws(SQLFunctionError) in
        result.integer(Int64(arguments.count))
      },
      SQLFunction("kept", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
        let cached = try arguments.cached(0) { () throws(SQLFunctionError) in CachedText(arguments.text(0) + "!") }
        result.text(cached.text)
      },
      SQLFunction("private_one", argumentCount: 0, traits: [.deterministic]) { (_, result) throws(SQLFunctionError) in
        result.integer(1)
      },
      SQLFunction("same", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
        result.argument(arguments, 0)
      },
    ],
    aggregates: [SQLAggregate("lengths", argumentCount: 1) { Lengths() }],
    collations: [
      // Shorter texts first, then by bytes from behind.
      SQLCollation("backwards") { (left, right) in
        if left.count != right.count { return left.count - right.count }
        for index in left.indices.reversed() where left[index] != right[index] {
          return Int(left[index]) - Int(right[index])
        }
        return 0
      },
      // Dots say nothing.
      SQLCollation("undotted") { (left, right) in
        let (one, other) = (left.filter { $0 != 0x2E }, right.filter { $0 != 0x2E })
        return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
      },
    ])

  private func open() async throws -> Database {
    try await Database.openForTest(
      folder.file("test.db"), schema: TestSchema.first,
      options: DatabaseOptions(extensions: SQLFunctionTests.extensions))
  }

  private func response(_ sql: String, _ database: Database) async throws -> SQLValue? {
    try await database.read { (connection) throws(StorageError) in
      try connection.first(sql) { (row) throws(StorageError) in row.value(0) }
    }
  }

  @Test(
    "Arguments and results of each storage class",
    arguments: [
      ("twice(21)", SQLValue.integer(42)), ("twice(1.5)", .real(3)), ("twice('ä')", .text("ää")),
      ("twice('')", .text("")),
      ("twice(x'00ff')", .blob([0, 255, 0, 255])), ("twice(x'')", .blob([])), ("twice(NULL)", .null),
      ("arguments()", .integer(0)), ("arguments(1,2,3)", .integer(3)), ("same('x')", .text("x")),
      ("same(2.5)", .real(2.5)),
    ])
  func classes(_ sql: String, _ expected: SQLValue) async throws {
    let database = try await open()
    #expect(try await response("SELECT \(sql)", database) == expected)
    let written = try await database.write { (connection) throws(StorageError) in
      try connection.first("SELECT \(sql)") { (row) throws(StorageError) in row.value(0) }
    }
    #expect(written == expected, "the writer knows it too")
    try await database.close()
  }

  @Test("An error in a function fails the statement with its message, and the next statement works")
  func failure() async throws {
    let database = try await open()
    let error = await storageError { _ = try await response("SELECT twice(9223372036854775807)", database) }
    #expect(error?.category == .unexpectedValue)
    #expect(error?.message == "twice 9223372036854775807 is out of range")
    let aggregate = await storageError {
      _ = try await response(
        "SELECT lengths(v) FROM (SELECT 'a' v UNION ALL SELECT x'00' UNION ALL SELECT 'b')", database)
    }
    #expect(aggregate?.message == "a blob has no length here")
    #expect(try await response("SELECT twice(2)", database) == .integer(4))
    try await database.close()
  }

  @Test("An aggregate has a state for each group, and a result for no rows")
  func aggregates() async throws {
    let database = try await open()
    try await database.write { (connection) throws(StorageError) in
      for name in ["a", "bb", "a", "ccc", "bb"] { try connection.run("INSERT INTO item(name) VALUES(?)", .text(name)) }
    }
    let groups = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT lengths(name) FROM item GROUP BY name ORDER BY name") { (row) throws(StorageError) in
        row.integer(0)
      }
    }
    #expect(groups == [2, 4, 3])
    #expect(try await response("SELECT lengths(name) FROM item WHERE 0", database) == .integer(0))
    try await database.close()
  }

  @Test("A collation orders, compares and is used by an index")
  func collation() async throws {
    let database = try await open()
    try await database.write { (connection) throws(StorageError) in
      try connection.run("CREATE TABLE word(w TEXT COLLATE backwards)")
      try connection.run("CREATE INDEX words ON word(w)")
      try connection.run("CREATE INDEX doubles ON word(twice(w))")
      for word in ["ab", "ba", "", "c", "aaa", "bb"] { try connection.run("INSERT INTO word VALUES(?)", .text(word)) }
    }
    let words = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT w FROM word ORDER BY w") { (row) throws(StorageError) in try row.text(0) }
    }
    #expect(words == ["", "c", "ba", "ab", "bb", "aaa"])
    let between = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT w FROM word INDEXED BY words WHERE w > 'ba' AND w <= 'bb' ORDER BY w") {
        (row) throws(StorageError) in try row.text(0)
      }
    }
    #expect(between == ["ab", "bb"])
    try await database.close()
  }

  @Test("Text of different lengths that a collation treats as equal is matched in joins, too")
  func equalInJoins() async throws {
    let database = try await open()
    let values = try await database.write { (connection) throws(StorageError) in
      try connection.run("CREATE TABLE one(a TEXT PRIMARY KEY)")
      try connection.run("CREATE TABLE other(id INTEGER PRIMARY KEY, w TEXT COLLATE undotted)")
      for name in ["x", "y", "z"] { try connection.run("INSERT INTO one VALUES(?)", .text(name)) }
      for word in ["ab", "a.b.", "c", "a.b"] { try connection.run("INSERT INTO other(w) VALUES(?)", .text(word)) }
      return try connection.rows("SELECT a, w FROM one, other WHERE w = ? ORDER BY a, id", .text("ab.")) {
        (row) throws(StorageError) in try row.text(0) + row.text(1)
      }
    }
    #expect(values == ["xab", "xa.b.", "xa.b", "yab", "ya.b.", "ya.b", "zab", "za.b.", "za.b"])
    try await database.close()
  }

  @Test("A function that is not innocuous is rejected in a view of the file")
  func directOnly() async throws {
    let database = try await open()
    try await database.write { (connection) throws(StorageError) in
      try connection.run("CREATE VIEW fine AS SELECT twice(1) one")
      try connection.run("CREATE VIEW foul AS SELECT private_one() one")
    }
    #expect(try await response("SELECT one FROM fine", database) == .integer(2))
    #expect(await storageError { _ = try await response("SELECT one FROM foul", database) } != nil)
    #expect(try await response("SELECT private_one()", database) == .integer(1))
    try await database.close()
  }

  @Test("An object cached for an argument belongs to that argument")
  func kept() async throws {
    let database = try await open()
    let values = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT kept(column1) || kept('k') FROM (VALUES('a'),('b'),('c'))") {
        (row) throws(StorageError) in try row.text(0)
      }
    }
    #expect(values == ["a!k!", "b!k!", "c!k!"])
    try await database.close()
  }
}
