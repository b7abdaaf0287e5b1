import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderContent
@testable import LarderCrashRig

@Suite("A SQLite cache with a damaged or foreign file", .timeLimit(.minutes(5)))
struct SQLiteDamageTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("cache") }

  init() throws { folder = try TemporaryFolder() }

  private func open() async throws -> SQLiteCache {
    try await SQLiteCache(path: path, limit: 64 << 20, key: try RigKey.fromEnvironment())
  }

  /// A file with a small and a large entry.
  private func filled() async throws -> SQLiteCache {
    let cache = try await open()
    try await cache.store(sampleEntry(1), forKey: "small")
    try await cache.store(sampleEntry(2, count: 200_000), forKey: "large")
    return cache
  }

  @Test(
    "A damaged entry is reported once and removed",
    arguments: [
      "UPDATE entry SET content = zeroblob(100) WHERE key = 'small'",
      "UPDATE entry SET content = x'', size = 0 WHERE key = 'small'",
      "UPDATE entry SET metadata = zeroblob(50) WHERE key = 'small'",
      "UPDATE entry SET size = 99 WHERE key = 'small'",
      "UPDATE entry SET checksum = checksum + 1 WHERE key = 'small'",
      "UPDATE entry SET body = 1 WHERE key = 'small'",
      "UPDATE entry SET key = 'small' WHERE key = 'large' OR key = 'small' AND 0",
    ])
  func damagedRow(sql: String) async throws {
    let cache = try await filled()
    if sql.contains("'large'") { try await cache.removeEntry(forKey: "small") }
    try await cache.store.change { (connection, _) throws(StorageError) in try connection.run(sql) }
    guard case .corrupt(path, _)? = await cacheError({ _ = try await cache.entry(forKey: "small") }) else {
      Issue.record("no damage was met")
      return
    }
    // The removal waits its turn behind nothing.
    try await cache.store.change { (_, _) in }
    #expect(try await cache.entry(forKey: "small") == nil)
    try await cache.store(sampleEntry(3), forKey: "small")
    #expect(try await cache.entry(forKey: "small")?.metadata == sampleMetadata(3))
    try await cache.close()
  }

  @Test(
    "Damaged content is never returned",
    arguments: [
      "UPDATE chunk SET bytes = zeroblob(65536) WHERE id = (SELECT max(id) - 1 FROM chunk)",
      "UPDATE chunk SET bytes = substr(bytes, 1, 100) WHERE id = (SELECT max(id) - 1 FROM chunk)",
      "UPDATE chunk SET checksum = 0 WHERE id = (SELECT max(id) FROM chunk)",
      "UPDATE chunk SET bytes = (SELECT bytes FROM chunk ORDER BY id LIMIT 1) WHERE id = (SELECT max(id) - 1 FROM chunk)",
    ])
  func damagedChunk(sql: String) async throws {
    let cache = try await filled()
    try await cache.store.change { (connection, _) throws(StorageError) in try connection.run(sql) }
    let entry = try #require(try await cache.entry(forKey: "large"))
    #expect(try await entry.read(0..<65_536) == Array(sampleBytes(200_000, seed: 2)[..<65_536]))
    guard case .corrupt(path, _)? = await cacheError({ _ = try await entry.allBytes() }) else {
      Issue.record("no damage was met")
      return
    }
    try await cache.store.change { (_, _) in }
    #expect(try await cache.entry(forKey: "large") == nil)
    #expect(try await cache.entry(forKey: "small") != nil)
    try await cache.close()
  }

  @Test("A row without content is reported and removed")
  func missingBody() async throws {
    let cache = try await filled()
    try await cache.store.change { (connection, _) throws(StorageError) in try connection.run("DELETE FROM body") }
    guard case .corrupt? = await cacheError({ _ = try await cache.entry(forKey: "large") }) else {
      Issue.record("no damage was met")
      return
    }
    try await cache.store.change { (_, _) in }
    #expect(try await cache.entry(forKey: "large") == nil)
    try await cache.close()
  }

  @Test(
    "any byte of the file that is changed leads to the right entry, a miss, an error or a new file", arguments: 0..<24)
  func changedBytes(round: Int) async throws {
    var generator = PrintedSeed(for: "changed bytes, round \(round)")
    for _ in 0..<round { _ = generator.next() }
    try await filled().close()
    var data = try Data(contentsOf: URL(filePath: path))
    for _ in 0..<30 {
      let place = Int.random(in: 100..<data.count, using: &generator)
      data[place] = UInt8.random(in: 0...255, using: &generator)
    }
    try data.write(to: URL(filePath: path))
    let cache = try await open()
    for (key, number, size) in [("small", 1, 100), ("large", 2, 200_000)] {
      do {
        guard let entry = try await cache.entry(forKey: key) else { continue }
        #expect(entry.metadata == sampleMetadata(number))
        #expect(try await entry.allBytes() == sampleBytes(size, seed: number))
      } catch {
        guard case .corrupt = error as? CacheError else { throw error }
      }
    }
    // Whatever it met, the next opening has a cache that works.
    try? await cache.close()
    let again = try await open()
    try await again.store(sampleEntry(5), forKey: "small")
    #expect(try await again.entry(forKey: "small")?.metadata == sampleMetadata(5))
    try await again.close()
  }

  @Test("A damaged file is replaced, and the reason is reported")
  func replaced() async throws {
    try await filled().close()
    var data = try Data(contentsOf: URL(filePath: path))
    data.replaceSubrange(4096..<data.count, with: Data(repeating: 0x5a, count: data.count - 4096))
    try data.write(to: URL(filePath: path))
    let diagnostics = DiagnosticLog()
    let cache = try await SQLiteCache(path: path, limit: 64 << 20, key: try RigKey.fromEnvironment()) {
      diagnostics.add($0)
    }
    #expect(cache.replacedDamage != nil)
    let replacement = try #require(diagnostics.first("cacheReplaced"))
    #expect(replacement.level == .error && replacement.fields["path"] == path)
    #expect(replacement.fields["reason"] == cache.replacedDamage)
    #expect(try await cache.entry(forKey: "small") == nil)
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    try await cache.close()
    #expect(try await open().replacedDamage == nil)
  }

  @Test("A file truncated to any length opens", arguments: [1, 50, 99, 100, 4095, 4096, 10_000, 65_536])
  func cut(length: Int) async throws {
    try await filled().close()
    let data = try Data(contentsOf: URL(filePath: path))
    try data.prefix(length).write(to: URL(filePath: path))
    do {
      let cache = try await open()
      try await cache.store(sampleEntry(1), forKey: "a")
      #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
      try await cache.close()
    } catch let error as CacheError {
      // Too short to tell whose it is.
      #expect(error == .foreign(path: path) && length < (RigKey.isUsed ? 100 : 16))
    }
  }

  @Test("a header that might be another's is kept under another name")
  func damagedHeader() async throws {
    try await filled().close()
    var data = try Data(contentsOf: URL(filePath: path))
    data.replaceSubrange(0..<100, with: Data(repeating: 7, count: 100))
    try data.write(to: URL(filePath: path))
    let cache = try await open()
    #expect(cache.replacedDamage != nil)
    #expect(try Data(contentsOf: URL(filePath: path + ".damaged")) == data)
    try await cache.close()
  }

  @Test("A damaged file that another cache has open is reported, not replaced")
  func damagedWhileOpen() async throws {
    let cache = try await filled()
    let wal = FileManager.default.fileExists(atPath: path + "-wal")
    #expect(wal)
    let other = try FileHandle(forWritingTo: URL(filePath: path))
    try await cache.store.database.checkpoint()
    try other.write(contentsOf: Data(repeating: 7, count: 100))
    try other.close()
    guard case .corrupt(path, _)? = await cacheError({ _ = try await open() }) else {
      Issue.record("it was opened")
      return
    }
    try? await cache.close()
  }

  @Test("another's file is refused and left as it is")
  func foreign() async throws {
    let text = Data("this is a letter, not a database, and nobody may touch it".utf8)
    try text.write(to: URL(filePath: path))
    #expect(await cacheError { _ = try await open() } == .foreign(path: path))
    #expect(try Data(contentsOf: URL(filePath: path)) == text)
    try FileManager.default.removeItem(atPath: path)
    let schema = Schema(applicationID: 77, steps: [OneTable()])
    try await Database.open(path, key: try RigKey.fromEnvironment(), schema: schema).close()
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(await cacheError { _ = try await open() } == .foreign(path: path))
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  private struct OneTable: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE theirs(a)") }
  }

  @Test("a file of a later version is refused and left as it is")
  func laterVersion() async throws {
    try await filled().close()
    let steps: [any SchemaStep] = SQLiteCacheSchema.schema.steps + [OneTable()]
    try await Database.open(
      path, key: try RigKey.fromEnvironment(),
      schema: Schema(applicationID: SQLiteCacheSchema.applicationID, steps: steps)
    ).close()
    #expect(await cacheError { _ = try await open() } == .foreign(path: path))
  }

  @Test("A missing folder is created; a path that cannot be a file is rejected")
  func places() async throws {
    let cache = try await SQLiteCache(path: folder.file("a/b/c"), key: try RigKey.fromEnvironment())
    try await cache.store(sampleEntry(1), forKey: "a")
    try await cache.close()
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("a/b/c"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(await cacheError { _ = try await open() } == .foreign(path: path))
    #expect(await cacheError { _ = try await SQLiteCache(path: "/proc/none/cache") } != nil)
    #expect(await cacheError { _ = try await SQLiteCache(path: "/proc/cache") } != nil)
  }

  @Test("a link in the place of the lock is not followed")
  func plantedLock() async throws {
    let victim = try folder.write(Array("victim".utf8), to: "victim")
    try FileManager.default.createSymbolicLink(atPath: path + ".lock", withDestinationPath: victim)
    #expect(await cacheError { _ = try await open() } != nil)
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")
  }

  @Test("damage that was met is looked for at the next opening, however large the file")
  func marked() async throws {
    let cache = try await filled()
    _ = cache.store.failure(.damaged(path, "met"))
    #expect(try Data(contentsOf: URL(filePath: path + ".lock")).count == 1)
    try await cache.close()
    try await open().close()
    #expect(try Data(contentsOf: URL(filePath: path + ".lock")).isEmpty)
  }
}
