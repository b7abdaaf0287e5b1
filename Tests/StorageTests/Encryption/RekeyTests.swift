import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Encryption: other keys", .timeLimit(.minutes(5)))
struct RekeyTests {
  let rig: EncryptionRig
  private let other: StorageKey

  init() throws {
    rig = try EncryptionRig()
    other = try StorageKey(bytes: [UInt8](repeating: 9, count: 32))
  }

  private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: rig.folder.path).sorted()) ?? [] }

  @Test("the new key opens the file and the old one does not; nothing else is left")
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

  @Test("a plain file becomes an encrypted one and plain again, with its rows, versions and log mode")
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

  @Test("what a crash left in the log comes along")
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

  @Test("a file that is open elsewhere is inUse, and stays as it is")
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

  @Test("wrong keys and wrong kinds are refused by name, and nothing changes")
  func refusals() async throws {
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

  @Test("a damaged page is not given a new key")
  func damage() async throws {
    try await rig.fill(30)
    var bytes = rig.bytes
    bytes[3 * 4096 + 100] ^= 1
    try rig.write(bytes, to: rig.path)
    let error = await storageError { try await Database.rekey(rig.path, from: rig.key, to: other) }
    #expect(error?.category == .corrupt)
    #expect(rig.bytes == bytes)
    #expect(files == ["secret.db"])
  }

  @Test("what a crash left of a rekeying is removed when the file is opened")
  func leftovers() async throws {
    try await rig.fill(3)
    try rig.write(Array("half a copy".utf8), to: rig.path + "-rekey")
    #expect(try await rig.wholeRows().count == 3)
    #expect(files == ["secret.db"])
  }

  @Test("through a symbolic link the file itself is rekeyed, and its rights stay")
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
