import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("A SQLite cache with a key", .timeLimit(.minutes(2)))
struct SQLiteEncryptionTests {
  private let folder: TemporaryFolder
  private let key: StorageKey
  private var path: String { folder.file("cache") }

  init() throws {
    folder = try TemporaryFolder()
    key = try StorageKey(bytes: (0..<32).map { $0 })
  }

  /// What opening says; nil where it opens.
  private func refusal(_ key: StorageKey?) async -> CacheError? {
    await cacheError { try await SQLiteCache(path: path, encryptionKey: key).close() }
  }

  private func fill(_ key: StorageKey?) async throws {
    let cache = try await SQLiteCache(path: path, encryptionKey: key)
    try await cache.store(sampleEntry(1), forKey: "small")
    try await cache.store(sampleEntry(2, count: 200_000), forKey: "large")
    try await cache.close()
  }

  private func isWhole(_ key: StorageKey?) async throws -> Bool {
    let cache = try await SQLiteCache(path: path, encryptionKey: key)
    let small = try await cache.entry(forKey: "small")?.allBytes()
    let large = try await cache.entry(forKey: "large")?.allBytes()
    #expect(cache.replacedDamage == nil)
    try await cache.close()
    return small == sampleBytes(100, seed: 1) && large == sampleBytes(200_000, seed: 2)
  }

  @Test("another key, none, or one for a plain file are told apart, with a cure, and the file stays")
  func wrongKeys() async throws {
    try await fill(key)
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(await refusal(nil) == .encrypted(path: path))
    #expect(await refusal(try StorageKey(passphrase: "wrong".utf8)) == .wrongKey(path: path))
    #expect(await refusal(try StorageKey(bytes: [UInt8](repeating: 1, count: 32))) == .wrongKey(path: path))
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    #expect(try await isWhole(key))
    try FileManager.default.removeItem(atPath: path)
    try await fill(nil)
    let plain = try Data(contentsOf: URL(filePath: path))
    #expect(await refusal(key) == .notEncrypted(path: path))
    #expect(try Data(contentsOf: URL(filePath: path)) == plain)
    #expect(try await isWhole(nil))
    for error in [CacheError.wrongKey(path: "/x"), .encrypted(path: "/x"), .notEncrypted(path: "/x")] {
      #expect(error.description.contains("/x is") && error.description.split(separator: ".").count > 1)
    }
  }

  @Test("a passphrase opens it again")
  func passphrase() async throws {
    try await fill(try StorageKey(passphrase: "correct horse".utf8))
    #expect(try await isWhole(try StorageKey(passphrase: "correct horse".utf8)))
    #expect(await refusal(key) == .wrongKey(path: path))
  }

  @Test("its key is changed, taken away and given, and the entries stay")
  func changeEncryptionKey() async throws {
    let other = try StorageKey(passphrase: "another".utf8)
    try await fill(nil)
    for (old, new) in [(nil, key), (key, other), (other, nil)] as [(StorageKey?, StorageKey?)] {
      try await SQLiteCache.changeEncryptionKey(path: path, from: old, to: new)
      #expect(try await isWhole(new))
      #expect(await refusal(old) != nil)
    }
    #expect(
      await cacheError { try await SQLiteCache.changeEncryptionKey(path: path, from: key, to: other) }
        == .notEncrypted(path: path))
    try await SQLiteCache.changeEncryptionKey(path: path, from: nil, to: key)
    #expect(
      await cacheError { try await SQLiteCache.changeEncryptionKey(path: path, from: other, to: nil) }
        == .wrongKey(path: path))
    #expect(
      await cacheError { try await SQLiteCache.changeEncryptionKey(path: path, from: nil, to: other) }
        == .encrypted(path: path))
    #expect(try await isWhole(key))
  }

  @Test("the key of an open cache is not changed")
  func refusedChange() async throws {
    try await fill(key)
    let cache = try await SQLiteCache(path: path, encryptionKey: key)
    guard
      case .failed? = await cacheError({ try await SQLiteCache.changeEncryptionKey(path: path, from: key, to: nil) })
    else {
      Issue.record("the key of an open cache was changed")
      return
    }
    #expect(try await cache.entry(forKey: "small") != nil)
    try await cache.close()
  }

  private struct ServerVersion: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE theirs(a)") }
  }

  /// A closed file of another program, or of a later version of this one.
  private func fillForeign(_ key: StorageKey?, isLater: Bool = false) async throws {
    let schema =
      isLater
      ? Schema(
        applicationID: SQLiteCacheSchema.applicationID, steps: SQLiteCacheSchema.schema.steps + [ServerVersion()])
      : Schema(applicationID: 77, steps: [ServerVersion()])
    try await Database.open(path, key: key, schema: schema).close()
  }

  @Test(
    "the key of a file of something else, or of a later version, is neither changed nor taken away nor given",
    arguments: [false, true], [false, true])
  func foreignKey(isEncrypted: Bool, isLater: Bool) async throws {
    let old = isEncrypted ? key : nil
    try await fillForeign(old, isLater: isLater)
    let before = try Data(contentsOf: URL(filePath: path))
    for new in [try StorageKey(bytes: [UInt8](repeating: 1, count: 32)), nil] where new != nil || isEncrypted {
      #expect(
        await cacheError { try await SQLiteCache.changeEncryptionKey(path: path, from: old, to: new) }
          == .foreign(path: path))
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }

  @Test("A damaged page is reported, and an empty file with the same key replaces the damaged one")
  func damage() async throws {
    try await fill(key)
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[4096 + 50] ^= 1
    try bytes.write(to: URL(filePath: path))
    let again = try await SQLiteCache(path: path, encryptionKey: key)
    #expect(again.replacedDamage != nil)
    #expect(try await again.entry(forKey: "small") == nil)
    try await again.store(sampleEntry(1), forKey: "small")
    try await again.close()
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    #expect(await refusal(nil) == .encrypted(path: path))
  }

  @Test(
    "A damaged file that may be foreign is kept beside the new one",
    arguments: [true, false])
  func damagedOwner(isEncrypted: Bool) async throws {
    let key = isEncrypted ? self.key : nil
    try await fillForeign(key)
    var bytes = try Data(contentsOf: URL(filePath: path))
    if isEncrypted {
      bytes[2000] ^= 1
    } else {
      // A program that gives its files no number (SQLite file format §1.3), and the page of its tables damaged.
      bytes.replaceSubrange(68..<72, with: [0, 0, 0, 0])
      bytes.replaceSubrange(100..<108, with: [UInt8](repeating: 0xFF, count: 8))
    }
    try bytes.write(to: URL(filePath: path))
    let cache = try await SQLiteCache(path: path, encryptionKey: key)
    #expect(cache.replacedDamage != nil)
    try await cache.close()
    #expect(try Data(contentsOf: URL(filePath: path + ".damaged")) == bytes)
  }
}
