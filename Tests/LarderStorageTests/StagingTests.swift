import Foundation
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@Suite("Databases: large staged writes", .timeLimit(.minutes(5)))
struct StagingTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  private func open() async throws -> Database {
    try await Database.openForTest(
      path, schema: TestSchema.first, options: DatabaseOptions(synchronous: .normal, stagedLogPages: 64))
  }

  /// Some eight pages in each transaction.
  private func stage(_ count: Int, _ database: Database) async throws {
    let data = [UInt8](repeating: 7, count: 30_000)
    for number in 0..<count {
      try await database.stage { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(name, data) VALUES(?, ?)", .text("\(number)"), .blob(data))
      }
    }
  }

  private func count(_ database: Database) async throws -> Int64? {
    try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT count(*) FROM item WHERE length(data) = 30000") { (row) throws(StorageError) in
        try row.int64(0)
      }
    }
  }

  private var logBytes: Int {
    get throws {
      try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? -1
    }
  }

  @Test("The log is moved into the file during staging, and restarts")
  func moves() async throws {
    let database = try await open()
    try await stage(400, database)
    #expect(try await count(database) == 400)
    // 3,200 pages in all; of them the log never has more than twice its number and what one transaction adds.
    #expect(try logBytes < 4 * 64 * 4200)
    try await database.checkIntegrity()
    try await database.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    let again = try await open()
    #expect(try await count(again) == 400)
    try await again.close()
  }

  @Test("Another writer gets a turn between the slices of one that stages continuously")
  func turns() async throws {
    let (staging, other) = (try await open(), try await open())
    let slices = Mutex(0)
    let isDone = Mutex(false)
    async let staged: Void = {
      while !isDone.withLock({ $0 }) {
        try await staging.stage { (connection) throws(StorageError) in
          let begin = ContinuousClock.now
          try connection.run("INSERT INTO item(name) VALUES(?)", .text("slice \(slices.withLock { $0 })"))
          while ContinuousClock.now - begin < .milliseconds(15) {}
        }
        slices.withLock { $0 += 1 }
      }
    }()
    for number in 0..<40 {
      try await other.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO item(name) VALUES(?)", .text("other \(number)"))
      }
    }
    isDone.withLock { $0 = true }
    try await staged
    // Who found a gap by chance alone would wait for a hundred slices each time.
    #expect(slices.withLock { $0 } < 40 * 10)
    try await other.close()
    try await staging.close()
  }

  @Test("A long read keeps its state and the log; later the log restarts")
  func reader() async throws {
    let database = try await open()
    try await stage(50, database)
    let session = try await database.readSession { (connection) throws(StorageError) in
      try connection.first("SELECT count(*) FROM item") { (row) throws(StorageError) in try row.int64(0) }
    }
    try await stage(200, database)
    let seen = try await session.next { (connection, _) throws(StorageError) in
      try connection.first("SELECT count(*) FROM item") { (row) throws(StorageError) in try row.int64(0) }
    }
    #expect(seen == 50)
    let grown = try logBytes
    #expect(grown > 1200 * 4096)
    await session.end()
    // Two rounds until it begins at its beginning, then within what it has.
    try await stage(40, database)
    let size = try logBytes
    try await stage(100, database)
    #expect(try logBytes == size)
    #expect(try await count(database) == 390)
    try await database.checkIntegrity()
    try await database.close()
  }

  @Test("A long log after staging is moved into the file, and truncated by the next durable write")
  func settles() async throws {
    let database = try await Database.openForTest(
      path, schema: TestSchema.first, options: DatabaseOptions(stagedLogPages: 1 << 20))
    try await stage(200, database)
    let long = try logBytes
    #expect(long > 5 << 20)
    let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    #expect(before < 1 << 20)
    try await database.settleLog()
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 > 5 << 20)
    try await database.insert("durable")
    #expect(try logBytes <= 4 << 20)
    #expect(try await count(database) == 200)
    try await database.close()
  }
}
