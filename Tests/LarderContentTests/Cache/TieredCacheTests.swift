import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent

@Suite("Two caches as one", .timeLimit(.minutes(5)))
struct TieredCacheTests {
  private let memory = MemoryCache()
  private let disk = RestlessCache()
  private var cache: TieredCache { tiered }
  private let tiered: TieredCache

  init() { tiered = TieredCache(memory: memory, disk: disk, promotionByteLimit: 1000) }

  @Test("a read brings a small entry into the first, a large one stays in the second")
  func promotion() async throws {
    try await disk.store(sampleEntry(1, count: 1000), forKey: "small")
    try await disk.store(sampleEntry(2, count: 1001), forKey: "large")
    let source = CacheEntry(metadata: sampleMetadata(3), length: 10) { (range) in Array(sampleBytes(10)[range]) }
    try await memory.store(source, forKey: "third")
    #expect(try await cache.entry(forKey: "small")?.metadata == sampleMetadata(1))
    #expect(try await cache.entry(forKey: "large")?.metadata == sampleMetadata(2))
    #expect(memory.keys == ["small", "third"])
    #expect(try await cache.entry(forKey: "small")?.tier == .memory)
  }

  @Test("an entry reports where it came from")
  func tier() async throws {
    let below = MemoryCache()
    let cache = TieredCache(memory: MemoryCache(), disk: DiskLike(below))
    try await cache.store(sampleEntry(1), forKey: "a")
    #expect(try await cache.entry(forKey: "a")?.tier == .memory)
    try await below.store(sampleEntry(2), forKey: "b")
    #expect(try await cache.entry(forKey: "b")?.tier == .disk)
    #expect(try await cache.entry(forKey: "b")?.tier == .memory)
  }

  /// Entries that say they come from a disk.
  private struct DiskLike: Cache {
    let inner: MemoryCache
    init(_ inner: MemoryCache) { self.inner = inner }
    func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
      try await inner.entry(forKey: key)?.moved(to: .disk)
    }
    func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
      try await inner.store(entry, forKey: key)
    }
    func removeEntry(forKey key: String) async throws(CacheError) { try await inner.removeEntry(forKey: key) }
    func removeAll() async throws(CacheError) { try await inner.removeAll() }
  }

  @Test("a writer's small content is in both after the commit, large content in the second")
  func writer() async throws {
    for (key, size) in [("small", 1000), ("large", 1001)] {
      let writer = try await cache.makeWriter()
      try await writer.append(sampleBytes(size))
      _ = try await writer.commit(sampleMetadata(1), forKey: key)
      #expect(try await disk.entry(forKey: key)?.allBytes() == sampleBytes(size))
    }
    #expect(memory.keys == ["small"])
  }

  @Test("a large entry that replaces a small one takes it out of the first")
  func outgrown() async throws {
    try await cache.store(sampleEntry(1), forKey: "a")
    #expect(memory.keys == ["a"])
    try await cache.store(sampleEntry(2, count: 2000), forKey: "a")
    #expect(memory.keys.isEmpty)
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(2))
  }

  @Test(
    "while the second cannot be changed, the first works alone, and nothing outdated is returned",
    arguments: [CacheError.full(path: "/d"), .readOnly(path: "/d")])
  func failingDisk(failure: CacheError) async throws {
    try await cache.store(sampleEntry(1), forKey: "kept")
    for key in ["replaced", "removed", "written"] { try await cache.store(sampleEntry(1), forKey: key) }
    disk.fail(failure)
    #expect(await cacheError { try await cache.store(sampleEntry(2), forKey: "replaced") } == failure)
    #expect(await cacheError { try await cache.removeEntry(forKey: "removed") } == failure)
    let writer = try await cache.makeWriter()
    try await writer.append([1, 2, 3])
    #expect(await cacheError { _ = try await writer.commit(sampleMetadata(2), forKey: "written") } == failure)
    #expect(try await cache.entry(forKey: "kept")?.metadata == sampleMetadata(1))
    #expect(try await cache.entry(forKey: "replaced")?.metadata == sampleMetadata(2))
    #expect(try await cache.entry(forKey: "removed") == nil)
    #expect(try await cache.entry(forKey: "written")?.allBytes() == [1, 2, 3])
    // The first has forgotten; the second's old entries are not used.
    try await memory.removeAll()
    #expect(try await cache.entry(forKey: "kept")?.metadata == sampleMetadata(1))
    for key in ["replaced", "removed", "written"] { #expect(try await cache.entry(forKey: key) == nil) }
    disk.fail(nil)
    try await cache.store(sampleEntry(3), forKey: "replaced")
    try await memory.removeAll()
    #expect(try await cache.entry(forKey: "replaced")?.metadata == sampleMetadata(3))
    #expect(try await cache.entry(forKey: "removed") == nil)
    try await cache.removeAll()
    try await disk.store(sampleEntry(4), forKey: "removed")
    #expect(try await cache.entry(forKey: "removed")?.metadata == sampleMetadata(4))
  }

  @Test("removing all where the second cannot forgets all the same")
  func failingRemoveAll() async throws {
    try await cache.store(sampleEntry(1), forKey: "a")
    disk.fail(.readOnly(path: "/d"))
    #expect(await cacheError { try await cache.removeAll() } == .readOnly(path: "/d"))
    #expect(try await cache.entry(forKey: "a") == nil)
    disk.fail(nil)
    #expect(try await cache.entry(forKey: "a") == nil)
    try await cache.removeAll()
    try await cache.store(sampleEntry(2), forKey: "a")
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(2))
  }

  @Test("an update that fails changes nothing, unless it says that the entry must not be used unvalidated")
  func failingUpdate() async throws {
    try await cache.store(sampleEntry(1), forKey: "a")
    let seen = try #require(try await cache.entry(forKey: "a"))
    disk.fail(.full(path: "/d"))
    #expect(await cacheError { try await cache.update(seen, to: sampleMetadata(2), forKey: "a") } == .full(path: "/d"))
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
    var invalidated = sampleMetadata(1)
    invalidated.isInvalidated = true
    #expect(await cacheError { try await cache.update(seen, to: invalidated, forKey: "a") } == .full(path: "/d"))
    #expect(try await cache.entry(forKey: "a")?.metadata == invalidated)
    try await memory.removeAll()
    #expect(try await cache.entry(forKey: "a") == nil)
  }

  @Test("past ten thousand keys that could not be changed, the second is not used at all")
  func manyFailures() {
    let suspectKeys = SuspectKeys()
    #expect(!suspectKeys.contains("0"))
    for number in 0..<10_000 { suspectKeys.add("\(number)") }
    #expect(suspectKeys.contains("9999") && !suspectKeys.contains("other"))
    suspectKeys.remove("9999")
    #expect(!suspectKeys.contains("9999"))
    suspectKeys.add("a")
    suspectKeys.add("b")
    #expect(suspectKeys.contains("other"))
    suspectKeys.remove("other")
    #expect(suspectKeys.contains("other"))
    suspectKeys.clear()
    #expect(!suspectKeys.contains("a"))
  }

  @Test("a read that begins after a change never sees what was there before", arguments: 0..<6)
  func freshness(round: Int) async throws {
    let seed = PrintedSeed(for: "reads beside changes, round \(round)").seed &+ UInt64(round)
    // A first cache that is small, so that it forgets and promotes all the time.
    let memory = RestlessCache(MemoryCache(byteLimit: 2500, entryByteLimit: 1000), seed: seed)
    let cache = TieredCache(memory: memory, disk: RestlessCache(seed: seed &+ 1))
    let order = Order()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<6 {
        group.addTask {
          var generator = PrintedSeed(seed: seed &+ 100 &+ UInt64(reader))
          while !order.isOver.load(ordering: .acquiring) {
            let key = Int.random(in: 0..<4, using: &generator)
            let least = order.done.withLock { $0[key] }
            if let entry = try await cache.entry(forKey: "\(key)") {
              let version = Int(entry.metadata.requestMilliseconds - sampleMetadata(0).requestMilliseconds)
              #expect(version >= least, "key \(key): \(version) after \(least)")
            }
            await Task.yield()
          }
        }
      }
      group.addTask {
        defer { order.isOver.store(true, ordering: .releasing) }
        try await withThrowingTaskGroup(of: Void.self) { changes in
          // One task a key, so that the order of its changes is known.
          for key in 0..<4 {
            changes.addTask {
              var generator = PrintedSeed(seed: seed &+ 200 &+ UInt64(key))
              for version in 1...150 {
                try await TieredCacheTests.change(cache, key: "\(key)", version: version, &generator)
                order.done.withLock { $0[key] = version }
              }
            }
          }
          try await changes.waitForAll()
        }
      }
      try await group.waitForAll()
    }
  }

  /// How far the changes are.
  private final class Order: Sendable {
    let done = Mutex([Int](repeating: 0, count: 4))
    let isOver = Atomic(false)
  }

  /// Any change after which nothing older than the version may be seen.
  private static func change(
    _ cache: TieredCache, key: String, version: Int, _ generator: inout PrintedSeed
  ) async throws {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4: try await cache.store(sampleEntry(version, count: version % 3 == 0 ? 2000 : 50), forKey: key)
    case 4..<6:
      let writer = try await cache.makeWriter()
      try await writer.append(sampleBytes(version))
      _ = try await writer.commit(sampleMetadata(version), forKey: key)
    case 6..<8:
      if let seen = try await cache.entry(forKey: key) {
        try await cache.update(seen, to: sampleMetadata(version), forKey: key)
      }
    case 8: try await cache.removeEntry(forKey: key)
    default: try await cache.removeAll()
    }
  }

  @Test("whatever many tasks did at once, the first ends up with what the second has", arguments: 0..<6)
  func coherence(round: Int) async throws {
    let seed = PrintedSeed(for: "coherence, round \(round)").seed &+ UInt64(round)
    let memory = MemoryCache()
    let disk = RestlessCache(seed: seed)
    let cache = TieredCache(memory: memory, disk: disk)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          var generator = PrintedSeed(seed: seed &+ UInt64(task))
          for step in 0..<60 {
            let key = "\(Int.random(in: 0..<3, using: &generator))"
            let version = task * 1000 + step
            if step % 2 == 0 {
              _ = try await cache.entry(forKey: key)
            } else {
              try await TieredCacheTests.change(cache, key: key, version: version, &generator)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for key in memory.keys {
      let above = try #require(try await memory.entry(forKey: key))
      let below = try #require(try await disk.entry(forKey: key), "key \(key)")
      #expect(above.isSame(as: below), "key \(key)")
    }
  }

  @Test("a second whose folder is removed has what is stored afterwards, small and large")
  func removedFolder() async throws {
    let folder = try TemporaryFolder()
    let disk = try FileCache(path: folder.file("cache"))
    let cache = TieredCache(memory: MemoryCache(), disk: disk)
    try await cache.store(sampleEntry(1), forKey: "old")
    try FileManager.default.removeItem(atPath: folder.file("cache"))
    try await cache.store(sampleEntry(2), forKey: "small")
    let writer = try await cache.makeWriter()
    try await writer.append(sampleBytes(300_000, seed: 3))
    _ = try await writer.commit(sampleMetadata(3), forKey: "large")
    await disk.close()
    let again = try FileCache(path: folder.file("cache"))
    #expect(try await again.entry(forKey: "small")?.allBytes() == sampleBytes(100, seed: 2))
    #expect(try await again.entry(forKey: "large")?.allBytes() == sampleBytes(300_000, seed: 3))
    #expect(try await again.entry(forKey: "old") == nil)
    await again.close()
  }
}
