import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderStorage

@Suite("Storage: renaming a closed file", .timeLimit(.minutes(2)))
struct MovingTests {
  private let rig: EncryptionRig
  private var target: String { rig.folder.file("aside.db") }

  init() throws { rig = try EncryptionRig() }

  private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: rig.folder.path).sorted()) ?? [] }

  /// A file with a row, whose log has one more where a crash left it.
  private func fill(_ key: StorageKey?, hasLog: Bool) async throws {
    let first = rig.folder.file("first.db")
    let database = try await Database.open(first, key: key, schema: TestSchema.first)
    try await database.insert("in the file")
    try await database.checkpoint()
    if hasLog { try await database.insert("in the log") }
    try FileManager.default.copyItem(atPath: first, toPath: rig.path)
    if hasLog { try FileManager.default.copyItem(atPath: first + "-wal", toPath: rig.path + "-wal") }
    try await database.close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: first + suffix) }
  }

  private func names(_ path: String, _ key: StorageKey?) async throws -> [String] {
    let database = try await Database.open(path, key: key, schema: TestSchema.first)
    try await database.checkIntegrity()
    let names = try await database.names()
    try await database.close()
    return names
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let isEncrypted: Bool
    let hasLog: Bool
    var testDescription: String { "\(isEncrypted ? "encrypted" : "plain")\(hasLog ? ", with a log" : "")" }
  }

  static let cases = [true, false].flatMap { first in [true, false].map { Case(isEncrypted: first, hasLog: $0) } }

  @Test(
    "After each step of a move the file is intact under one of the names, at the end under the new one",
    arguments: cases)
  func steps(_ which: Case) async throws {
    let key = which.isEncrypted ? rig.key : nil
    try await fill(key, hasLog: which.hasLog)
    let rows = which.hasLog ? ["in the file", "in the log"] : ["in the file"]
    // What an earlier move left that went no further.
    try Data([1, 2, 3]).write(to: URL(filePath: target + "-wal"))
    let copies = Mutex<[(DatabaseFile.MoveStep, TemporaryFolder)]>([])
    let folder = rig.folder
    try DatabaseFile(rig.path).move(to: target) { step in
      guard let copy = try? TemporaryFolder() else { return }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
        try? FileManager.default.copyItem(atPath: folder.file(name), toPath: copy.file(name))
      }
      copies.withLock { $0.append((step, copy)) }
    }
    let seen = copies.withLock { $0 }
    #expect(seen.map(\.0) == DatabaseFile.MoveStep.allCases)
    for (step, copy) in seen {
      let (old, new) = (copy.file("secret.db"), copy.file("aside.db"))
      let isOld = step == .logNamed
      #expect(try DatabaseFile(isOld ? new : old).content() == .absent, "\(step)")
      #expect(try await names(isOld ? old : new, key) == rows, "\(step)")
      // Where the file was, another begins anew.
      guard !isOld else { continue }
      #expect(try await names(old, key) == [], "\(step)")
      #expect(try await names(new, key) == rows, "\(step)")
    }
    #expect(files == (which.hasLog ? ["aside.db", "aside.db-wal"] : ["aside.db"]))
    try DatabaseFile(target).move(to: rig.path)
    #expect(try await names(rig.path, key) == rows)
    #expect(files == ["secret.db"])
  }

  @Test("A file that is open is not moved, nor one whose new name exists", arguments: [true, false])
  func rejected(isEncrypted: Bool) async throws {
    let key = isEncrypted ? rig.key : nil
    try await fill(key, hasLog: false)
    let database = try await Database.open(rig.path, key: key, schema: TestSchema.first)
    #expect(await storageError { try DatabaseFile(rig.path).move(to: target) }?.category == .inUse)
    try await database.insert("still")
    try await database.close()
    try Data(repeating: 7, count: 4096).write(to: URL(filePath: target))
    #expect(await storageError { try DatabaseFile(rig.path).move(to: target) }?.category == .cannotOpen)
    #expect(try Data(contentsOf: URL(filePath: target)) == Data(repeating: 7, count: 4096))
    #expect(try await names(rig.path, key) == ["in the file", "still"])
    let missing = rig.folder.file("missing.db")
    #expect(await storageError { try DatabaseFile(missing).move(to: rig.folder.file("x.db")) }?.category == .cannotOpen)
  }

  @Test("Checking a key changes nothing")
  func keys() async throws {
    try await fill(rig.key, hasLog: true)
    let before = files
    let other = try StorageKey(bytes: [UInt8](repeating: 9, count: 32))
    try DatabaseFile(rig.path).check(rig.key)
    #expect(await storageError { try DatabaseFile(rig.path).check(other) }?.category == .wrongKey)
    #expect(await storageError { try DatabaseFile(rig.path).check(nil) }?.category == .encrypted)
    #expect(files == before)
  }

  // MARK: Locks

  @Test("A lock is shared or exclusive, and returns the content of its file")
  func locks() async throws {
    let path = rig.folder.file("lock")
    #expect(await storageError { _ = try FileLock(path, isShared: true, makes: false) }?.category == .cannotOpen)
    let alone = try FileLock(path)
    try alone.write(Array("somebody".utf8))
    try alone.write(Array("me".utf8))
    #expect(await storageError { _ = try FileLock(path, isShared: true) }?.category == .inUse)
    alone.release()
    #expect(alone.content(9) == [])
    let shared = try [FileLock(path, isShared: true), FileLock(path, isShared: true, makes: false)]
    #expect(shared.map { $0.content(9) } == [Array("me".utf8), Array("me".utf8)])
    #expect(await storageError { _ = try FileLock(path) }?.category == .inUse)
    // Its file removed: the next one has another, and the old lock does not count.
    try FileManager.default.removeItem(atPath: path)
    let next = try FileLock(path)
    #expect(next.content(9) == [])
    for lock in shared { lock.release() }
    next.release()
  }
}
