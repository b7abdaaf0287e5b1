import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderStorage

@Suite("Encryption: processes that are killed or stopped at any time", .timeLimit(.minutes(5)), .serialized)
struct EncryptedCrashTests {
  let rig: EncryptionRig
  private let keys: [StorageKey]
  private static let marker = "Markierung-7f3a91c2e4d05b68"

  init() throws {
    rig = try EncryptionRig()
    keys = [
      try StorageKey(bytes: [UInt8](repeating: 1, count: 32)), try StorageKey(bytes: [UInt8](repeating: 2, count: 32)),
    ]
  }

  private func process(_ arguments: String...) throws -> CrashRigProcess {
    try CrashRigProcess(arguments, program: "LarderStorageRig")
  }

  @Test("A killed writer has lost no reported commit, and the file is intact")
  func writing() async throws {
    var random = PrintedSeed(for: "killed writers")
    var said: Int64 = 0
    for _ in 0..<20 {
      let writer = try process("write", rig.path)
      let lines = Int.random(in: 1..<60, using: &random)
      let last = Mutex<(count: Int, number: Int64)>((0, said))
      await writer.forEachLine { line in
        last.withLock { last in
          last.count += 1
          last.number = Int64(line) ?? last.number
          return last.count == lines
        }
      }
      said = last.withLock { $0.number }
      let database = try await rig.open(keys[0])
      let (count, finding) = try await database.read { (connection) throws(StorageError) in
        (
          try connection.first("SELECT count(*) FROM item") { (row) throws(StorageError) in try row.int64(0) } ?? 0,
          try connection.first("PRAGMA integrity_check") { (row) throws(StorageError) in try row.text(0) }
        )
      }
      #expect(finding == "ok")
      #expect(count == said || count == said + 1)
      said = count
      try await database.close()
    }
    #expect(said > 20)
  }

  @Test(
    "A writer with a file size limit leaves a file that opens, with all reported commits",
    arguments: [1, 3, 8, 40, 200, 400])
  func limited(kibibytes: Int) async throws {
    let writer = try CrashRigProcess(["write", rig.path], program: "LarderStorageRig", fileLimit: kibibytes)
    let said = await writer.lines().last.flatMap { Int64($0) } ?? 0
    let database = try await rig.open(keys[0])
    let count = try await database.names().count
    #expect(Int64(count) == said || Int64(count) == said + 1, "\(count) rows, \(said) said")
    try await database.checkIntegrity()
    try await database.insert("again")
    #expect(try await database.names().last == "again")
    try await database.close()
  }

  @Test("Killing a process during rekeying leaves the old or the new key, and all rows")
  func rekeying() async throws {
    let database = try await rig.open(keys[0])
    for row in 0..<60 { try await database.insert("row \(row)", data: [UInt8](repeating: 3, count: 4000)) }
    try await database.close()
    var random = PrintedSeed(for: "killed rekeyings")
    var opened: Set<Int> = []
    for _ in 0..<25 {
      let rekeying = try process("rekey", rig.path)
      let lines = Int.random(in: 1..<4, using: &random)
      let wait = Int.random(in: 0..<4000, using: &random)
      let count = Mutex(0)
      await rekeying.forEachLine { _ in
        let isEnd = count.withLock { count in
          count += 1
          return count == lines
        }
        // Somewhere inside the next one.
        if isEnd { usleep(UInt32(wait)) }
        return isEnd
      }
      var fits = 0
      for (index, key) in keys.enumerated() {
        do {
          let database = try await rig.open(key)
          #expect(try await database.names().count == 60)
          try await database.checkIntegrity()
          try await database.close()
          fits += 1
          opened.insert(index)
        } catch { #expect(error.category == .wrongKey, "\(error)") }
      }
      #expect(fits == 1)
      #expect(!FileManager.default.fileExists(atPath: rig.path + "-rekey"))
    }
    #expect(opened.count == 2)
  }

  @Test("Several processes create one file and write to it")
  func manyProcesses() async throws {
    for round in 0..<3 {
      let path = rig.folder.file("many-\(round).db")
      let writers = try (0..<4).map { try process("insert", path, "p\($0)") }
      for writer in writers { #expect(await writer.lines() == ["done"]) }
      let database = try await Database.open(path, key: keys[0], schema: TestSchema.first)
      #expect(try await database.names().count == 80)
      try await database.checkIntegrity()
      try await database.close()
    }
  }

  #if os(Linux)
    @Test("No plaintext marker is in the open files of a busy process, or in its files after a kill")
    func markers() async throws {
      let churning = try process("churn", rig.path)
      let search = await MarkerSearch.search(
        for: [Self.marker, "CREATE TABLE", "SQLite format 3"], in: rig.folder.path, of: churning, untilLine: 8)
      #expect(search.matches == [])
      #expect(search.names.contains("secret.db") && search.names.contains("secret.db-wal"))
      // Those of sorters and statements have no name any more.
      #expect(search.names.contains { $0.hasPrefix("etilqs_") })
      print("searched \(search.looks) times, \(search.bytes >> 20) MiB")
    }
  #endif
}
