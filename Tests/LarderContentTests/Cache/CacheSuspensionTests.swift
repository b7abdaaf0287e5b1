import Foundation
import LarderContent
import LarderHTTP
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

@Suite("A suspended cache", .timeLimit(.minutes(5)))
struct CacheSuspensionTests {
  enum Kind: String, CaseIterable, Sendable {
    case files, tieredFiles

    var isTiered: Bool { self == .tieredFiles }

    func open(_ folder: TemporaryFolder, _ key: StorageKey? = nil) async throws -> any Cache {
      let disk = try FileCache(path: folder.file("cache"), encryptionKey: key)
      return isTiered ? TieredCache(memory: MemoryCache(), disk: disk) : disk
    }
  }

  private static let metadata = CacheMetadata(url: "u", status: 200, requestTime: 1, responseTime: 1)
  private static let large = [UInt8](repeating: 7, count: 300_000)

  private static func entry(_ text: String) -> CacheEntry { CacheEntry(metadata: metadata, bytes: Array(text.utf8)) }

  private static func text(_ cache: any Cache) async throws -> String? {
    guard let entry = try await cache.entry(forKey: "k") else { return nil }
    return String(decoding: try await entry.read(0..<entry.length), as: UTF8.self)
  }

  @Test(
    "holds no lock, rejects every call by name, and works again when it is resumed", arguments: Kind.allCases,
    [false, true])
  func life(kind: Kind, isEncrypted: Bool) async throws {
    let folder = try TemporaryFolder()
    let cache = try await kind.open(folder, isEncrypted ? try RigKey.make() : nil)
    let entry = Self.entry("one")
    try await cache.store(entry, forKey: "k")
    try await cache.store(CacheEntry(metadata: Self.metadata, bytes: Self.large), forKey: "large")
    let openEntry = try #require(try await cache.entry(forKey: "large"))
    let writer = try await cache.makeWriter()
    try await writer.append(Self.large)
    #if os(Linux)
      #expect(try !heldLocks(below: folder.path).isEmpty)
    #endif
    try await cache.suspend()
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await cache.entry(forKey: "k") },
      { try await cache.store(entry, forKey: "k") },
      { try await cache.removeEntry(forKey: "k") },
      { try await cache.removeAll() },
      { try await cache.update(entry, to: Self.metadata, forKey: "k") },
      { _ = try await cache.makeWriter() },
    ]
    for call in calls { await #expect(throws: CacheError.suspended) { try await call() } }
    #expect(cache.entryInMemory(forKey: "k") == nil)
    // What has begun ends: a tiered writer continues in memory alone, and its entry is not stored on the disk.
    if !kind.isTiered {
      await #expect(throws: CacheError.suspended) { try await writer.append(Self.large) }
      await #expect(throws: CacheError.self) { _ = try await writer.commit(Self.metadata, forKey: "late") }
    }
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    try await cache.resume()
    #expect(try await Self.text(cache) == "one")
    #expect(try await cache.entry(forKey: "late") == nil)
    // An entry from before reads on; a new one reads.
    #expect(try await openEntry.read(0..<Self.large.count) == Self.large)
    #expect(try await cache.entry(forKey: "large")?.read(0..<Self.large.count) == Self.large)
    // A session of its own: what another cache clears up at its opening is not this one's.
    let second = try await cache.makeWriter()
    try await second.append(Self.large)
    let other = try await kind.open(folder, isEncrypted ? try RigKey.make() : nil)
    #expect(try await Self.text(other) == "one")
    _ = try await second.commit(Self.metadata, forKey: "second")
    #expect(try await other.entry(forKey: "second")?.read(0..<Self.large.count) == Self.large)
  }

  @Test("does not return from memory what another process has changed meanwhile", arguments: Kind.allCases)
  func changedElsewhere(kind: Kind) async throws {
    let folder = try TemporaryFolder()
    let mine = try await kind.open(folder)
    try await mine.store(Self.entry("one"), forKey: "k")
    #expect(try await Self.text(mine) == "one")
    try await mine.suspend()
    let other = try await kind.open(folder)
    try await other.store(Self.entry("two"), forKey: "k")
    try await other.suspend()
    try await mine.resume()
    #expect(mine.entryInMemory(forKey: "k") == nil)
    #expect(try await Self.text(mine) == "two")
    // At hand again afterwards.
    #expect((mine.entryInMemory(forKey: "k") != nil) == kind.isTiered)
    try await mine.suspend()
    // Emptied and made anew: nothing is left, and nothing of before is used.
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
    try await mine.resume()
    #expect(try await Self.text(mine) == nil)
    try await mine.store(Self.entry("three"), forKey: "k")
    #expect(try await Self.text(mine) == "three")
  }

  @Test("stays suspended where it has another key by now")
  func otherKey() async throws {
    let folder = try TemporaryFolder()
    let cache = try FileCache(path: folder.file("cache"))
    try await cache.suspend()
    try FileCache.clear(path: folder.file("cache"))
    try await FileCache(path: folder.file("cache"), encryptionKey: try RigKey.make()).close()
    await #expect(throws: CacheError.encrypted(path: folder.file("cache"))) { try await cache.resume() }
    await #expect(throws: CacheError.suspended) { try await cache.removeAll() }
  }

  @Test("is closed while it is suspended, and stays closed")
  func closed() async throws {
    let folder = try TemporaryFolder()
    let cache = try FileCache(path: folder.file("files"))
    for _ in 0..<2 { try await cache.suspend() }
    for _ in 0..<2 { await cache.close() }
    try await cache.suspend()
    try await cache.resume()
    await #expect(throws: CacheError.closed) { _ = try await cache.entry(forKey: "k") }
    await #expect(throws: CacheError.closed) { try await cache.removeAll() }
    await #expect(throws: CacheError.closed) { _ = try await cache.makeWriter() }
  }

  /// A cache that notes whether it is suspended, and fails to suspend and to resume if configured to.
  private final class NotingCache: Cache {
    private struct State {
      var isSuspended = false
      var failure: CacheError?
    }

    private let inner = MemoryCache()
    private let state = Mutex(State())

    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    func fail(_ failure: CacheError?) { state.withLock { $0.failure = failure } }

    func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { try await inner.entry(forKey: key) }
    func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
      try await inner.store(entry, forKey: key)
    }
    func removeEntry(forKey key: String) async throws(CacheError) { try await inner.removeEntry(forKey: key) }
    func removeAll() async throws(CacheError) { try await inner.removeAll() }

    func suspend() async throws(CacheError) {
      state.withLock { $0.isSuspended = true }
      if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func resume() async throws(CacheError) {
      if let failure = state.withLock({ $0.failure }) { throw failure }
      state.withLock { $0.isSuspended = false }
    }
  }

  @Test("of two caches as one each is suspended though the other fails, and none is resumed alone")
  func oneOfTwoFails() async throws {
    let (memory, disk) = (NotingCache(), NotingCache())
    let cache = TieredCache(memory: memory, disk: disk)
    let failure = CacheError.full(path: "/disk")
    disk.fail(failure)
    memory.fail(.full(path: "/memory"))
    await #expect(throws: failure) { try await cache.suspend() }
    #expect(disk.isSuspended && memory.isSuspended)
    memory.fail(nil)
    await #expect(throws: failure) { try await cache.resume() }
    #expect(disk.isSuspended && memory.isSuspended)
    await #expect(throws: CacheError.suspended) { _ = try await cache.entry(forKey: "k") }
    disk.fail(nil)
    try await cache.resume()
    #expect(!disk.isSuspended && !memory.isSuspended)
    try await cache.store(Self.entry("one"), forKey: "k")
    #expect(try await Self.text(cache) == "one")
  }

  @Test(
    "suspended and resumed in any order beside changes: each is applied or rejected by name", arguments: Kind.allCases)
  func mixture(kind: Kind) async throws {
    let folder = try TemporaryFolder()
    let cache = try await kind.open(folder)
    let storedKeys = await withTaskGroup(of: String?.self) { group in
      for number in 0..<200 {
        group.addTask { @concurrent in
          do throws(CacheError) {
            switch number % 10 {
            case 0: try await cache.suspend()
            case 5: try await cache.resume()
            default:
              try await cache.store(Self.entry("\(number)"), forKey: "\(number)")
              return "\(number)"
            }
          } catch { #expect(error == .suspended) }
          return nil
        }
      }
      var storedKeys: [String] = []
      for await key in group { if let key { storedKeys.append(key) } }
      return storedKeys
    }
    try await cache.resume()
    for key in storedKeys { #expect(try await cache.entry(forKey: key) != nil, "\(key)") }
  }
}
