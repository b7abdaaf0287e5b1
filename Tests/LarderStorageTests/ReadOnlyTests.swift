import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@Suite("Read-only files", .timeLimit(.minutes(2)))
struct ReadOnlyTests {
  private let reading = DatabaseOptions(allowsReadOnly: true)

  private func sealed(_ name: String = "a b?c#d%20.db") async throws -> (SealedFolder, String)? {
    guard let folder = try SealedFolder() else {
      print("nothing may be sealed here")
      return nil
    }
    let database = try await Database.openForTest(folder.file(name), schema: TestSchema.first)
    for index in 0..<3 { try await database.insert("row \(index)") }
    try await database.close()
    try #require(folder.seal())
    return (folder, folder.file(name))
  }

  @Test("A closed file is read if requested; writing throws readOnly")
  func reads() async throws {
    guard let (folder, path) = try await sealed() else { return }
    let rejected = await storageError { _ = try await Database.openForTest(path, schema: TestSchema.first) }
    #expect([.readOnly, .cannotOpen].contains(rejected?.category))
    let database = try await Database.openForTest(path, schema: TestSchema.first, options: reading)
    #expect(database.isReadOnly)
    #expect(try await database.names() == ["row 0", "row 1", "row 2"])
    try await database.checkIntegrity()
    let session = try await database.readSession { (connection) throws(StorageError) in
      try connection.cursor("SELECT name FROM item")
    }
    let first = try await session.next { (_, cursor) throws(StorageError) in
      var name: String?
      try cursor.forEachRow { (row) throws(StorageError) in
        name = try row.text(0)
        return false
      }
      return name
    }
    #expect(first == "row 0")
    await session.end()
    #expect(await storageError { try await database.insert("more") }?.category == .readOnly)
    #expect(try await database.names().count == 3)
    try await database.close()
    #expect(database.isReadOnly)
    #expect(folder.unseal())
  }

  @Test(
    "A path is used unchanged", arguments: ["a b?c#d%20.db", "combined ?\u{301} #\u{308}.db"], ["", "/"])
  func paths(name: String, before: String) async throws {
    guard let (folder, path) = try await sealed(name) else { return }
    let database = try await Database.openForTest(before + path, schema: TestSchema.first, options: reading)
    #expect(try await database.names().count == 3)
    try await database.close()
    #expect(folder.unseal())
  }

  @Test("A file that needs a migration, another application's file, and a missing file have different errors")
  func rejects() async throws {
    guard let (folder, path) = try await sealed("old.db") else { return }
    func category(_ path: String, _ schema: Schema) async -> StorageError.Category? {
      await storageError { _ = try await Database.openForTest(path, schema: schema, options: reading) }?.category
    }
    #expect(await category(path, TestSchema.second) == .readOnly)
    #expect(await category(path, TestSchema.other) == .foreignFile)
    #expect(await category(folder.file("none.db"), TestSchema.first) == .cannotOpen)
    #expect(folder.unseal())
    let database = try await Database.openForTest(path, schema: TestSchema.second, options: reading)
    #expect(!database.isReadOnly)
    try await database.close()
  }

  @Test("A file opened as immutable that another process changes throws an error, and can be opened again")
  func changed() async throws {
    guard let (folder, path) = try await sealed("c.db") else { return }
    let database = try await Database.openForTest(path, schema: TestSchema.first, options: reading)
    #expect(try await database.names().count == 3)
    func countHere() throws -> Int64? {
      try database.readHere(within: .seconds(60)) { (connection) throws(StorageError) in
        try connection.integers("SELECT count(*) FROM item").first
      } ?? nil
    }
    #expect(try countHere() == 3)
    let session = try await database.readSession { (connection) throws(StorageError) in
      try connection.integers("SELECT count(*) FROM item")
    }
    try #require(folder.unseal())
    let writer = try await Database.openForTest(path, schema: TestSchema.first)
    for index in 0..<200 { try await writer.insert("new \(index)", data: [UInt8](repeating: 7, count: 900)) }
    try await writer.close()
    #expect(await storageError { _ = try await database.names() }?.category == .changed)
    #expect(try countHere() == nil)
    let going = await storageError {
      try await session.next { (connection, _) throws(StorageError) in
        try connection.run("SELECT name FROM item")
      }
    }
    #expect(going?.category == .changed)
    try await database.close()
    try #require(folder.seal())
    let again = try await Database.openForTest(path, schema: TestSchema.first, options: reading)
    #expect(try await again.names().count == 203)
    try await again.close()
  }
}
