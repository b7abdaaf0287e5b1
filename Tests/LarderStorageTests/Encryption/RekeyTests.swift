import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Encryption: changing keys", .timeLimit(.minutes(5)))
struct RekeyTests {
  let rig: EncryptionRig
  private let other: StorageKey

  init() throws {
    rig = try EncryptionRig()
    other = try StorageKey(bytes: [UInt8](repeating: 9, count: 32))
  }

  private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: rig.folder.path).sorted()) ?? [] }

  @Test("The new key opens the file and the old one does not; no other file is left")
  func rekeys() async throws {
    try await rig.fill(40)
    let (rows, before) = (try await rig.wholeRows(), rig.bytes)
    try await Database.rekey(rig.path, from: rig.key, to: other)
    #expect(files == ["secret.db"])
    #expect(await storageError { _ = try await rig.open() }?.category == .wrongKey)
    #expect(try await rig.wholeRows(other) == rows)
    // A new salt: no page is as it was.
    for start in stride(from: 0, to: before.count, by: 4096) {
      #expect(rig.bytes[start..<(start + 4096)] != before[start..<(start + 4096)])
    }
    let passphrase = try StorageKey(passphrase: "from bytes to words".utf8)
    try await Database.rekey(rig.path, from: other, to: passphrase)
    #expect(try await rig.wholeRows(passphrase) == rows)
  }

  @Test("A plain file is encrypted and decrypted again, with its rows, versions and log mode")
  func plainAndBack() async throws {
    let plain = try await Database.open(rig.path, schema: TestSchema.first)
    for row in 0..<40 { try await plain.insert("row \(row)", data: [UInt8](repeating: UInt8(row), count: 500)) }
    try await plain.close()
    try await Database.rekey(rig.path, from: nil, to: rig.key)
    #expect(files == ["secret.db"])
    #expect(!String(decoding: rig.bytes, as: Unicode.ASCII.self).contains("row 1"))
    let rows = try await rig.wholeRows()
    #expect(rows == (0..<40).map { "row \($0) 500 \($0)" })
    try await Database.rekey(rig.path, from: rig.key, to: nil)
    #expect(files == ["secret.db"])
    #expect(try DatabaseFile(rig.path).content() == .database(applicationID: TestSchema.id))
    let again = try await Database.open(rig.path, schema: TestSchema.first)
    try await again.checkIntegrity()
    try await again.insert("after")
    #expect(try await again.names() == (0..<40).map { "row \($0)" } + ["after"])
    try await again.close()
    try await Database.rekey(rig.path, from: nil, to: other)
    #expect(try await rig.wholeRows(other).count == 41)
  }

  @Test("A log left by a crash is moved with the file")
  func withLog() async throws {
    try await rig.fill(3)
    let copy = rig.folder.file("copy.db")
    let connection = try rig.connection()
    try connection.plainly("INSERT INTO item(name) VALUES('in the log')")
    try rig.write(rig.bytes, to: copy)
    try rig.write(rig.contents(rig.path + "-wal"), to: copy + "-wal")
    try connection.close()
    try await Database.rekey(copy, from: rig.key, to: other)
    let database = try await Database.open(copy, key: other, schema: TestSchema.first)
    #expect(try await database.names().last == "in the log")
    try await database.close()
  }

  @Test("A file that is open elsewhere is inUse and is not changed")
  func inUse() async throws {
    let database = try await rig.open()
    try await database.insert("held")
    let options = DatabaseOptions(busyTimeoutMilliseconds: 50)
    let error = await storageError { try await Database.rekey(rig.path, from: rig.key, to: other, options: options) }
    #expect(error?.category == .inUse)
    try await database.insert("still")
    try await database.close()
    #expect(files == ["secret.db"])
    #expect(try await rig.wholeRows().count == 2)
  }

  @Test("Wrong keys and wrong kinds of files are rejected with their error, and nothing changes")
  func rejections() async throws {
    try await rig.fill(3)
    let before = rig.bytes
    let wrong = try StorageKey(bytes: [UInt8](repeating: 3, count: 32))
    #expect(await storageError { try await Database.rekey(rig.path, from: wrong, to: other) }?.category == .wrongKey)
    #expect(await storageError { try await Database.rekey(rig.path, from: nil, to: other) }?.category == .encrypted)
    let missing = rig.folder.file("missing.db")
    #expect(await storageError { try await Database.rekey(missing, from: wrong, to: other) }?.category == .cannotOpen)
    #expect(await storageError { try await Database.rekey(missing, from: nil, to: other) }?.category == .cannotOpen)
    #expect(!FileManager.default.fileExists(atPath: missing))
    #expect(rig.bytes == before)
    let plain = rig.folder.file("plain.db")
    let database = try await Database.open(plain, schema: TestSchema.first)
    try await database.close()
    #expect(await storageError { try await Database.rekey(plain, from: wrong, to: nil) }?.category == .notEncrypted)
    #expect(await storageError { try await Database.rekey(plain, from: nil, to: nil) }?.category == .misuse)
  }

  @Test(
    "A damaged or zeroed page makes rekeying fail", arguments: [true, false])
  func damage(isWiped: Bool) async throws {
    try await rig.fill(30)
    var bytes = rig.bytes
    if isWiped {
      bytes.replaceSubrange((3 * 4096)..<(4 * 4096), with: [UInt8](repeating: 0, count: 4096))
    } else {
      bytes[3 * 4096 + 100] ^= 1
    }
    try rig.write(bytes, to: rig.path)
    for new in [other, nil] {
      let error = await storageError { try await Database.rekey(rig.path, from: rig.key, to: new) }
      #expect(error?.category == .corrupt)
      #expect(rig.bytes == bytes)
      #expect(files == ["secret.db"])
    }
  }

  @Test("A file whose rows were inserted and deleted has no page that was never written")
  func freedPages() async throws {
    let database = try await rig.open()
    var random = PrintedSeed(for: "freed pages")
    for round in 0..<30 {
      let size = Int.random(in: 1...60_000, using: &random)
      let keeps = Int.random(in: 0...3, using: &random)
      try await database.write { (connection) throws(StorageError) in
        for _ in 0..<10 {
          try connection.run(
            "INSERT INTO item(name, data) VALUES(?, zeroblob(?))", .text("r\(round)"), .integer(Int64(size)))
        }
        try connection.run("DELETE FROM item WHERE id % 4 > ?", .integer(Int64(keeps)))
      }
    }
    try await database.close()
    try await Database.rekey(rig.path, from: rig.key, to: other)
    try await Database.rekey(rig.path, from: other, to: nil)
    let plain = try await Database.open(rig.path, schema: TestSchema.first)
    try await plain.checkIntegrity()
    try await plain.close()
  }

  @Test("The key of another application's or a later version's file is not changed", arguments: [true, false])
  func foreign(isEncrypted: Bool) async throws {
    let key = isEncrypted ? rig.key : nil
    let database = try await Database.open(rig.path, key: key, schema: TestSchema.first)
    try await database.close()
    let before = rig.bytes
    let cases = [(Schema(applicationID: 77, steps: []), StorageError.Category.foreignFile)]
    let later = [(Schema(applicationID: TestSchema.id, steps: []), StorageError.Category.newerSchema)]
    for (schema, category) in cases + later {
      let error = await storageError { try await Database.rekey(rig.path, from: key, to: other, schema: schema) }
      #expect(error?.category == category)
      #expect(rig.bytes == before)
      #expect(files == ["secret.db"])
    }
    try await Database.rekey(rig.path, from: key, to: other, schema: TestSchema.first)
    #expect(try await rig.wholeRows(other) == [])
  }

  @Test("If the folder cannot be flushed, the error states which key opens the file", arguments: [0, 1, 2])
  func unsyncedFolder(kind: Int) async throws {
    let old = kind == 0 ? nil : rig.key
    let new = kind == 1 ? nil : other
    try await Database.open(rig.path, key: old, schema: TestSchema.first).close()
    let rekeying = Rekeying(
      path: rig.path, old: old, new: new, schema: TestSchema.first, options: .init(), syncFolder: { _ in false })
    let error = await storageError { try rekeying.run() }
    #expect(error?.category == .inputOutput)
    #expect(error?.message.contains(new == nil ? "opens without a key" : "opens with the new key") == true)
    #expect(error?.message.contains("Keep the old key") == true)
    #expect(files == ["secret.db"])
    let category: StorageError.Category = new == nil ? .notEncrypted : old == nil ? .encrypted : .wrongKey
    let rejected = await storageError { _ = try await Database.open(rig.path, key: old, schema: TestSchema.first) }
    #expect(rejected?.category == category)
    try await Database.open(rig.path, key: new, schema: TestSchema.first).close()
  }

  @Test("A file that was just encrypted opens, even if it is still registered as plain")
  func betweenRenameAndEnd() async throws {
    try await rig.fill(3)
    let known = try CipherRegistry.add(rig.path, .plain)
    #expect(try await rig.wholeRows().count == 3)
    withExtendedLifetime(known) {}
  }

  @Test("A link in the copy's place is removed, and nothing is written through it")
  func danglingLink() async throws {
    try await rig.fill(3)
    let elsewhere = rig.folder.file("elsewhere")
    for new in [other, nil] {
      try FileManager.default.createSymbolicLink(atPath: rig.path + "-rekey", withDestinationPath: elsewhere)
      try await Database.rekey(rig.path, from: new == nil ? other : rig.key, to: new)
      #expect(files == ["secret.db"])
    }
    try FileManager.default.createSymbolicLink(atPath: rig.path + "-rekey", withDestinationPath: elsewhere)
    let database = try await Database.open(rig.path, schema: TestSchema.first)
    try await database.close()
    #expect(files == ["secret.db"])
  }

  @Test("Files left by an interrupted rekeying are removed when the file is opened")
  func leftovers() async throws {
    try await rig.fill(3)
    try rig.write(Array("half a copy".utf8), to: rig.path + "-rekey")
    #expect(try await rig.wholeRows().count == 3)
    #expect(files == ["secret.db"])
  }

  @Test("Through a symbolic link the target is rekeyed and keeps its permissions")
  func links() async throws {
    try await rig.fill(3)
    let link = rig.folder.file("link.db")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: rig.path)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: rig.path)
    try await Database.rekey(link, from: rig.key, to: other)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == rig.path)
    let rights = try FileManager.default.attributesOfItem(atPath: rig.path)[.posixPermissions] as? Int
    #expect(rights == 0o640)
    #expect(try await rig.wholeRows(other).count == 3)
  }
}
