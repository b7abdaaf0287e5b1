import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Encryption: databases", .timeLimit(.minutes(5)))
struct EncryptedDatabaseTests {
  let rig: EncryptionRig

  init() throws { rig = try EncryptionRig() }

  @Test("Data is read with the key, and the file reveals nothing without it")
  func writesAndReads() async throws {
    try await rig.fill(50)
    let rows = try await rig.wholeRows()
    #expect(rows == (0..<50).map { "row \($0) 500 \($0)" })
    let bytes = rig.bytes
    #expect(bytes.count % 4096 == 0 && !bytes.isEmpty)
    let text = String(decoding: bytes, as: Unicode.ASCII.self)
    for word in ["SQLite", "row ", "item", "CREATE"] { #expect(!text.contains(word)) }
    #expect(try DatabaseFile(rig.path).content() == .encrypted)
  }

  @Test("A wrong key throws wrongKey at once, also a passphrase instead of a key, and nothing changes")
  func wrongKey() async throws {
    try await rig.fill(3)
    let before = rig.bytes
    let wrong = [
      try StorageKey(bytes: [UInt8](repeating: 1, count: 32)), try StorageKey(passphrase: "wrong".utf8),
      try StorageKey(passphrase: (0..<32).map { UInt8($0) ^ 0x5A }),
    ]
    for key in wrong {
      #expect(await storageError { _ = try await rig.open(key) }?.category == .wrongKey)
    }
    let bare = await storageError { _ = try await Database.open(rig.path, schema: TestSchema.first) }
    #expect(bare?.category == .encrypted)
    #expect(rig.bytes == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.folder.path) == ["secret.db"])
    #expect(try await rig.wholeRows().count == 3)
  }

  @Test("A passphrase opens its file; another passphrase, and its bytes as a key, do not")
  func passphrase() async throws {
    let right = try StorageKey(passphrase: "correct horse battery staple".utf8)
    let database = try await rig.open(right)
    try await database.insert("kept")
    try await database.close()
    #expect(try await rig.wholeRows(right) == ["kept 0 0"])
    for key in [try StorageKey(passphrase: "correct horse battery stapl".utf8), rig.key] {
      #expect(await storageError { _ = try await rig.open(key) }?.category == .wrongKey)
    }
    // The parameters lie beside the salt.
    guard case .header(let header) = EncryptedHeader.read(rig.bytes) else { return #expect(Bool(false), "no header") }
    #expect(header.cost == .standard)
  }

  @Test("Closing a file closes its readers: none is opened again without the key")
  func closedReaders() async throws {
    try await rig.fill(3)
    let database = try await rig.open()
    #expect(try await database.names().count == 3)
    try await database.close()
    let category = await storageError { _ = try database.readers.lendConnection() }?.category
    #expect(category == .closed)
  }

  @Test("A plain file opened with a key throws notEncrypted and is not changed")
  func plain() async throws {
    let database = try await Database.open(rig.path, schema: TestSchema.first)
    try await database.insert("open")
    try await database.close()
    let before = rig.bytes
    #expect(await storageError { _ = try await rig.open() }?.category == .notEncrypted)
    #expect(rig.bytes == before)
  }

  @Test(
    "Other files are rejected with and without a key",
    arguments: [("not a database. ", 100, StorageError.Category.notADatabase), ("garbage ", 1024, .corrupt)])
  func otherFiles(_ text: String, _ times: Int, _ category: StorageError.Category) async throws {
    let bytes = Array(String(repeating: text, count: times).utf8)
    try rig.write(bytes, to: rig.path)
    #expect(await storageError { _ = try await rig.open() }?.category == category)
    #expect(rig.bytes == bytes)
  }

  @Test("An empty file, or one of zeros, becomes an encrypted file")
  func emptyFiles() async throws {
    for count in [0, 1, 4096] {
      try rig.write([UInt8](repeating: 0, count: count), to: rig.path)
      let database = try await rig.open()
      try await database.insert("new")
      try await database.close()
      #expect(try await rig.wholeRows() == ["new 0 0"])
      try FileManager.default.removeItem(atPath: rig.path)
    }
  }

  @Test("Two files with one key have no page, salt or content in common")
  func salts() async throws {
    try await rig.fill(20)
    let first = rig.bytes
    try FileManager.default.removeItem(atPath: rig.path)
    try await rig.fill(20)
    let second = rig.bytes
    #expect(first.count == second.count)
    #expect(first[..<16] != second[..<16])
    for start in stride(from: 0, to: first.count, by: 4096) {
      #expect(first[start..<(start + 4096)] != second[start..<(start + 4096)])
    }
  }

  @Test("An empty file opened concurrently becomes one encrypted file")
  func atOnce() async throws {
    for round in 0..<5 {
      let path = rig.folder.file("many-\(round).db")
      let key = rig.key
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<6 {
          group.addTask {
            let database = try await Database.open(path, key: key, schema: TestSchema.first)
            try await database.insert("by \(index)")
            try await database.close()
          }
        }
        try await group.waitForAll()
      }
      let database = try await Database.open(path, key: key, schema: TestSchema.first)
      #expect(Set(try await database.names()) == Set((0..<6).map { "by \($0)" }))
      try await database.close()
    }
  }

  @Test("A foreign journal beside the file is not rolled back")
  func foreignJournal() async throws {
    try await rig.fill(3)
    try rig.write(
      [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + [UInt8](repeating: 1, count: 5000),
      to: rig.path + "-journal")
    #expect(try await rig.wholeRows().count == 3)
  }

  @Test("Settings that would write plain text or destroy the file are rejected with their name")
  func rejections() throws {
    let connection = try rig.connection()
    for statement in [
      "PRAGMA page_size = 8192", "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = off",
      "PRAGMA main.journal_mode = 'memory'", "ATTACH '\(rig.folder.file("plain.db"))' AS plain",
    ] {
      #expect(throws: StorageError.self, "\(statement)") { try connection.plainly(statement) }
    }
    #expect(try connection.plainly("PRAGMA page_size", "PRAGMA journal_mode", "PRAGMA journal_mode = WAL") == ["wal"])
    #expect(try connection.plainly("PRAGMA mmap_size = 1000000") != ["1000000"])
    try connection.plainly("CREATE TABLE t(a)", "INSERT INTO t VALUES(1)", "VACUUM")
    #expect(try connection.plainly("PRAGMA page_size") == ["4096"])
    #expect(try connection.plainly("PRAGMA integrity_check") == ["ok"])
    try connection.close()
    #expect(!FileManager.default.fileExists(atPath: rig.folder.file("plain.db")))
  }

  @Test("Pages read ahead are never used in another transaction")
  func readAhead() throws {
    let writer = try rig.connection()
    try writer.plainly(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b BLOB)",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO t SELECT i, 0, zeroblob(900) FROM n
      """, "PRAGMA wal_checkpoint(TRUNCATE)")
    let reader = try rig.connection()
    try reader.plainly("PRAGMA cache_size = 5")
    for round in 0..<6 {
      #expect(try reader.plainly("SELECT min(a), max(b) FROM t") == ["\(round)"])
      #expect(try reader.plainly("SELECT sum(a) FROM t") == ["\(round * 3000)"])
      // One end of a scan that stops in its midst, so that what was read ahead is left there.
      #expect(try reader.plainly("SELECT a FROM t LIMIT 60").last == "\(round)")
      try writer.plainly("UPDATE t SET a = a + 1", "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    #expect(try reader.plainly("PRAGMA integrity_check") == ["ok"])
    try reader.close()
    try writer.close()
  }

  @Test("VACUUM, ATTACH, savepoints, large sorts and temporary tables work as in plain files")
  func engine() throws {
    let connection = try rig.connection()
    let count = 20_000
    try connection.plainly(
      "PRAGMA cache_size = 20", "PRAGMA secure_delete = ON",
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB)",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO t SELECT i, printf('%08d', (i * 7919) % 100003), zeroblob(i % 300) FROM n
      """)
    let sorted = try connection.plainly("SELECT a FROM t ORDER BY a DESC, length(b)")
    #expect(sorted == sorted.sorted(by: >) && sorted.count == count)
    try connection.plainly("CREATE INDEX by_a ON t(a)", "CREATE TEMP TABLE kept AS SELECT * FROM t")
    #expect(try connection.plainly("SELECT count(*) FROM temp.kept JOIN t USING(id)") == ["\(count)"])
    // A statement that fails in the middle undoes itself from its own journal; a savepoint from its.
    try connection.plainly(
      "CREATE UNIQUE INDEX one ON t(id, a)", "BEGIN", "SAVEPOINT s", "UPDATE t SET b = zeroblob(400)")
    #expect(throws: StorageError.self) { try connection.plainly("UPDATE t SET id = 20000 - (id % 19999)") }
    try connection.plainly("ROLLBACK TO s", "DELETE FROM t WHERE id % 2 = 0", "COMMIT")
    let sum = stride(from: 1, through: count, by: 2).reduce(0) { $0 + $1 % 300 }
    #expect(try connection.plainly("SELECT sum(length(b)) FROM t") == ["\(sum)"])
    try connection.plainly("VACUUM")
    #expect(try connection.plainly("PRAGMA integrity_check") == ["ok"])

    let other = rig.folder.file("other.db")
    let keys = try EncryptedFile(path: other).unlock(rig.key)
    let registration = try CipherRegistry.add(other, .encrypted(keys))
    try connection.plainly(
      "ATTACH '\(other)' AS other", "CREATE TABLE other.u AS SELECT id, a FROM t", "DETACH other")
    withExtendedLifetime(registration) {}
    try connection.close()
    let second = try rig.connection(other)
    #expect(try second.plainly("PRAGMA integrity_check") == ["ok"])
    #expect(try second.plainly("SELECT count(*) FROM u") == ["\(count / 2)"])
    try second.close()
    let again = try rig.connection()
    #expect(try again.plainly("PRAGMA integrity_check") == ["ok"])
    try again.close()
  }
}
