import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@Suite("Databases", .timeLimit(.minutes(5)))
struct DatabaseTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  @Test("Data is read as written, also after closing and opening")
  func writesAndReads() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.insert("one")
    try await database.insert("two")
    #expect(try await database.names() == ["one", "two"])
    try await database.close()
    let again = try await Database.openForTest(path, schema: TestSchema.first)
    #expect(try await again.names() == ["one", "two"])
    try await again.close()
  }

  @Test(
    "Values of each storage class are read as they were written",
    arguments: [
      (SQLValue.null, "null"), (.integer(.min), "integer"), (.integer(.max), "integer"), (.integer(0), "integer"),
      (.real(-0.1), "real"), (.text(""), "text"), (.text("Grüße, 世界 🌍"), "text"), (.blob([]), "blob"),
      (.blob([0, 255, 0]), "blob"), (.blob([UInt8](repeating: 7, count: 1_000_000)), "blob"),
    ])
  func values(_ value: SQLValue, kind: String) async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let stored = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT ?, typeof(?)", value, value) { (row) throws(StorageError) -> (SQLValue, String) in
        let type = try row.text(1)
        switch type {
        case "null": return (.null, type)
        case "integer": return (.integer(try row.int64(0)), type)
        case "text": return (.text(try row.text(0)), type)
        case "blob": return (.blob(try row.bytes(0)), type)
        default: return (value, type)
        }
      }
    }
    #expect(stored?.0 == value)
    #expect(stored?.1 == kind)
    try await database.close()
  }

  @Test("A transaction that throws is rolled back, and the next one works")
  func rollsBack() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let error = await storageError {
      try await database.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(name) VALUES('lost')")
        try connection.run("INSERT INTO item(id, name) VALUES('text', 'x')")
      }
    }
    #expect(error?.category == .constraint || error?.category == .unexpectedValue)
    #expect(error?.sql?.contains("VALUES('text'") == true)
    #expect(error?.path == path)
    try await database.insert("kept")
    #expect(try await database.names() == ["kept"])
    try await database.close()
  }

  @Test("A failed savepoint does not affect the transaction")
  func savepoints() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(name) VALUES('before')")
      do throws(StorageError) {
        try connection.savepoint { (connection) throws(StorageError) in
          try connection.run("INSERT INTO item(name) VALUES('inside')")
          try connection.run("INSERT INTO nowhere VALUES(1)")
        }
      } catch { #expect(error.category == .misuse) }
      try connection.run("INSERT INTO item(name) VALUES('after')")
    }
    #expect(try await database.names() == ["before", "after"])
    try await database.close()
  }

  @Test("A read sees one state from beginning to end, despite a writer")
  func readsAreSnapshots() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.insert("first")
    let entered = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchSemaphore(value: 0)
    async let counts = database.read { (connection) throws(StorageError) -> [Int64] in
      func count() throws(StorageError) -> Int64 {
        try connection.first("SELECT count(*) FROM item") { (row) throws(StorageError) in try row.int64(0) } ?? -1
      }
      let before = try count()
      entered.continuation.finish()
      gate.wait()
      return [before, try count()]
    }
    for await _ in entered.stream {}
    try await database.insert("second")
    gate.signal()
    #expect(try await counts == [1, 1])
    #expect(try await database.names().count == 2)
    try await database.close()
  }

  @Test("Many tasks read and write concurrently: nothing is lost and nothing waits forever")
  func concurrency() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first, options: .init(synchronous: .normal))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<60 {
        group.addTask {
          try await database.insert("item \(index)")
          _ = try await database.names()
        }
      }
      try await group.waitForAll()
    }
    #expect(Set(try await database.names()).count == 60)
    try await database.close()
  }

  @Test("A closed database throws an error with its name")
  func closed() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.close()
    try await database.close()
    #expect(await storageError { try await database.insert("x") }?.category == .closed)
    #expect(await storageError { _ = try await database.names() }?.category == .closed)
  }

  @Test("Closing moves the log into the file")
  func checkpointOnClose() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.insert("x", data: [UInt8](repeating: 1, count: 50_000))
    try await database.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    #expect(size > 50_000)
  }

  @Test("A nested statement with the same text gets a handle of its own")
  func nestedStatements() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    for name in ["a", "b", "c"] { try await database.insert(name) }
    let pairs = try await database.read { (connection) throws(StorageError) -> Int in
      var pairs = 0
      try connection.forEachRow("SELECT name FROM item") { (_) throws(StorageError) in
        try connection.forEachRow("SELECT name FROM item") { (_) throws(StorageError) in
          pairs += 1
          return true
        }
        return true
      }
      return pairs
    }
    #expect(pairs == 9)
    try await database.close()
  }

  @Test(
    "Invalid statements are rejected with their text",
    arguments: [
      "SELECT", "SELECT 1; SELECT 2", "", "   ", "SELECT ?", "INSERT INTO item VALUES(1)", "SELECT * FROM nowhere",
    ])
  func misuse(_ sql: String) async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let error = await storageError {
      try await database.write { (connection) throws(StorageError) in try connection.run(sql) }
    }
    #expect(error?.category == .misuse)
    #expect(error?.sql == sql)
    try await database.close()
  }

  @Test("A column of another storage class is an error, not a conversion")
  func unexpectedValues() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    for sql in ["SELECT 'text'", "SELECT NULL", "SELECT 1.5", "SELECT x'00'"] {
      let error = await storageError {
        _ = try await database.read { (connection) throws(StorageError) in
          try connection.first(sql) { (row) throws(StorageError) in try row.int64(0) }
        }
      }
      #expect(error?.category == .unexpectedValue, "\(sql)")
    }
    try await database.close()
  }

  @Test("Readers cannot write")
  func readersAreReadOnly() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let error = await storageError {
      try await database.read { (connection) throws(StorageError) in try connection.run("DELETE FROM item") }
    }
    #expect(error?.category == .readOnly)
    try await database.close()
  }

  @Test("A full file throws full and keeps its content")
  func full() async throws {
    var options = DatabaseOptions()
    options.maximumPageCount = 20
    let database = try await Database.openForTest(path, schema: TestSchema.first, options: options)
    try await database.insert("small")
    let error = await storageError {
      try await database.insert("large", data: [UInt8](repeating: 1, count: 200_000))
    }
    #expect(error?.category == .full)
    #expect(try await database.names() == ["small"])
    try await database.insert("small too")
    try await database.close()
  }

  @Test("An error contains codes and the file, never a value")
  func errorsHideValues() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let error = await storageError {
      try await database.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(id) VALUES(?)", .text("secret"))
      }
    }
    #expect(error?.description.contains("secret") == false)
    #expect(error?.sql == "INSERT INTO item(id) VALUES(?)")
    #expect((error?.code ?? 0) != 0)
    try await database.close()
  }
}
