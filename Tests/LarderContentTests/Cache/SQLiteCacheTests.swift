import Foundation
import LarderHTTP
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderContent
@testable import LarderCrashRig

@Suite("The cache in a SQLite file", .timeLimit(.minutes(5)))
struct SQLiteCacheTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("cache") }

  init() throws { folder = try TemporaryFolder() }

  private func open(limit: Int = 64 << 20, entryLimit: Int? = nil, pages: Int? = nil) async throws -> SQLiteCache {
    try await SQLiteCache(
      path: path, byteLimit: limit, entryByteLimit: entryLimit, maximumPageCount: pages,
      encryptionKey: try RigKey.fromEnvironment())
  }

  /// A dictionary with an order of use, written down as simply as can be.
  private struct Model {
    let limit: Int
    /// The one used last first.
    var entries: [(key: String, entry: CacheEntry)] = []

    static func cost(_ key: String, _ entry: CacheEntry) -> Int {
      Int(StoredRow.cost(key: key, metadata: entry.metadata.encoded().count, size: entry.length))
    }
    var total: Int { entries.reduce(0) { $0 + Model.cost($1.key, $1.entry) } }

    mutating func use(_ key: String) -> CacheEntry? {
      guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
      entries.insert(entries.remove(at: place), at: 0)
      return entries[0].entry
    }

    mutating func store(_ entry: CacheEntry, _ key: String) -> Bool {
      guard entry.length <= limit, Model.cost(key, entry) <= limit else { return false }
      entries.removeAll { $0.key == key }
      entries.insert((key, entry), at: 0)
      while total > limit { entries.removeLast() }
      return true
    }
  }

  @Test(
    "it does what a dictionary with an order of use does, closed and opened in between", arguments: [60_000, 400_000])
  func model(limit: Int) async throws {
    var generator = PrintedSeed(for: "the SQLite cache's model")
    var cache = try await open(limit: limit)
    var model = Model(limit: limit)
    for number in 0..<900 {
      let key = "key \(Int.random(in: 0..<25, using: &generator))"
      switch Int.random(in: 0..<200, using: &generator) {
      case 0..<70:
        let most = number % 7 == 0 ? limit + 5000 : 9000
        let entry = sampleEntry(number, count: Int.random(in: 0...most, using: &generator))
        let isTaken = await cacheError { try await cache.store(entry, forKey: key) } == nil
        #expect(isTaken == model.store(entry, key))
      case 70..<150:
        let (found, expected) = (try await cache.entry(forKey: key), model.use(key))
        #expect(found?.metadata == expected?.metadata)
        #expect(try await found?.allBytes() == expected?.allBytes())
      case 150..<170:
        if let seen = model.entries.randomElement(using: &generator) {
          try await cache.update(seen.entry, to: sampleMetadata(number), forKey: seen.key)
          _ = model.store(seen.entry.with(sampleMetadata(number)), seen.key)
        }
      case 170..<190:
        try await cache.removeEntry(forKey: key)
        model.entries.removeAll { $0.key == key }
      case 190..<196:
        try await cache.close()
        cache = try await open(limit: limit)
      default:
        try await cache.removeAll()
        model.entries = []
      }
      try #require(try cache.usedBytes == model.total, "after \(number) steps")
      try #require(try cache.count == model.entries.count)
    }
    try await checkIntegrity(cache)
    try await cache.close()
  }

  /// Nothing is left over, and the sum is right.
  private func checkIntegrity(_ cache: SQLiteCache) async throws {
    try await settle(cache)
    try await cache.store.database.checkIntegrity()
    #expect(try cache.store.number("SELECT coalesce(sum(cost), 0) FROM entry") == cache.usedBytes)
    #expect(
      try cache.store.number("SELECT count(*) FROM body")
        == cache.store.number("SELECT count(*) FROM entry WHERE body <> 0"))
    #expect(
      try cache.store.number("SELECT coalesce(sum(length(bytes)), 0) FROM chunk")
        == cache.store.number("SELECT coalesce(sum(size), 0) FROM entry WHERE body <> 0"))
  }

  /// Waits until what is deleted in the background is gone.
  private func settle(_ cache: SQLiteCache) async throws {
    for _ in 0..<10_000 {
      // Each change waits for the turns that were asked for before it.
      try await cache.store.change { (_, _) in }
      if cache.store.holds.isIdle { return }
    }
    Issue.record("the background never ends")
  }

  // MARK: Keeping

  @Test("what was stored is there after closing and opening, and calls between throw closed")
  func reopening() async throws {
    let cache = try await open()
    try await cache.store(sampleEntry(1), forKey: "small")
    try await cache.store(sampleEntry(2, count: 200_000), forKey: "large")
    let held = try #require(try await cache.entry(forKey: "large"))
    try await cache.close()
    #expect(await cacheError { _ = try await cache.entry(forKey: "small") } == .closed)
    #expect(await cacheError { try await cache.store(sampleEntry(1), forKey: "a") } == .closed)
    #expect(await cacheError { try await cache.store(sampleEntry(1, count: 100_000), forKey: "a") } == .closed)
    #expect(await cacheError { try await cache.removeAll() } == .closed)
    #expect(await cacheError { _ = try await held.allBytes() } == .closed)
    try await cache.close()
    let again = try await open()
    #expect(try await again.entry(forKey: "small")?.allBytes() == sampleBytes(100, seed: 1))
    #expect(try await again.entry(forKey: "large")?.allBytes() == sampleBytes(200_000, seed: 2))
    #expect(try await again.entry(forKey: "small")?.tier == .disk)
    #expect(try await again.entry(forKey: "large")?.tier == .disk)
    try await again.close()
  }

  @Test("uses that were only noted are known after closing and opening")
  func usesAreKept() async throws {
    let cache = try await open(limit: 8000)
    for key in ["a", "b", "c"] { try await cache.store(sampleEntry(1, count: 2000), forKey: key) }
    _ = try await cache.entry(forKey: "a")
    try await cache.close()
    let again = try await open(limit: 8000)
    try await again.store(sampleEntry(2, count: 2000), forKey: "d")
    #expect(try await again.entry(forKey: "b") == nil)
    #expect(try await again.entry(forKey: "a") != nil)
    try await again.close()
  }

  @Test("many uses are written in the background, some at a time")
  func manyUses() {
    let uses = RecentUses(after: 5)
    for row in 1..<Int64(RecentUses.limit) { #expect(!uses.note(row)) }
    #expect(uses.note(Int64(RecentUses.limit)))
    #expect(!uses.note(0))
    #expect(uses.removeSlice().count == RecentUses.slice)
    #expect(uses.continuesFlushing())
    while uses.continuesFlushing() { _ = uses.removeSlice() }
    #expect(uses.next(after: 0) == 5 + Int64(RecentUses.limit) + 2)
    #expect(uses.next(after: 1 << 40) == (1 << 40) + 1)
  }

  @Test("content past the limits is refused, by the cache and by its writer, and changes nothing")
  func tooLarge() async throws {
    let cache = try await open(limit: 200_000, entryLimit: 100_000)
    try await cache.store(sampleEntry(1, count: 100_000), forKey: "a")
    #expect(
      await cacheError { try await cache.store(sampleEntry(2, count: 100_001), forKey: "a") }
        == .tooLarge(limit: 100_000))
    let writer = try await cache.makeWriter()
    try await writer.append(sampleBytes(100_000))
    #expect(await cacheError { try await writer.append([1]) } == .tooLarge(limit: 100_000))
    #expect(try await writer.read(0..<100_000) == sampleBytes(100_000))
    #expect(
      await cacheError { _ = try await writer.commit(sampleMetadata(2), forKey: "a") } == .tooLarge(limit: 100_000))
    var metadata = sampleMetadata(3)
    metadata.fields["X"] = String(repeating: "x", count: 200_000)
    let long = CacheEntry(metadata: metadata, bytes: [1])
    #expect(await cacheError { try await cache.store(long, forKey: "b") } == .tooLarge(limit: 200_000))
    let seen = try #require(try await cache.entry(forKey: "a"))
    #expect(await cacheError { try await cache.update(seen, to: metadata, forKey: "a") } == .tooLarge(limit: 200_000))
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
    try await checkIntegrity(cache)
    try await cache.close()
  }

  @Test("A full file is reported; complete entries stay, and freed space is used")
  func full() async throws {
    let cache = try await open(pages: 300)
    var stored = 0
    var failure: CacheError?
    while failure == nil, stored < 1000 {
      failure = await cacheError { try await cache.store(sampleEntry(stored, count: 20_000), forKey: "\(stored)") }
      if failure == nil { stored += 1 }
    }
    #expect(failure == .full(path: path) && stored > 10)
    let writer = try await cache.makeWriter()
    try await writer.append(sampleBytes(100_000))
    #expect(await cacheError { try await writer.append(sampleBytes(300_000)) } == .full(path: path))
    #expect(try await writer.read(0..<100_000) == sampleBytes(100_000))
    #expect(await cacheError { _ = try await writer.commit(sampleMetadata(), forKey: "0") } == .full(path: path))
    for number in 0..<stored {
      #expect(try await cache.entry(forKey: "\(number)")?.allBytes() == sampleBytes(20_000, seed: number))
    }
    try await cache.removeEntry(forKey: "1")
    try await cache.store(sampleEntry(9999, count: 15_000), forKey: "new")
    #expect(try await cache.entry(forKey: "new")?.metadata == sampleMetadata(9999))
    try await cache.close()
  }

  @Test("stores asked for at once are all kept, and one that fails takes no other along")
  func sharedTransactions() async throws {
    let cache = try await open(limit: 100_000_000, pages: 300)
    let failed = await withTaskGroup(of: (Int, CacheError?).self) { group in
      for number in 0..<200 {
        group.addTask {
          // Every tenth is larger than what is left of the file.
          let count = number % 10 == 0 ? 60_000 : 2000
          let entry = sampleEntry(number, count: count)
          return (number, await cacheError { try await cache.store(entry, forKey: "\(number)") })
        }
      }
      return await group.reduce(into: [Int: CacheError]()) { $0[$1.0] = $1.1 }
    }
    // The file holds 1.2 MB: about half of it all.
    #expect(!failed.isEmpty && failed.count < 200)
    for number in 0..<200 {
      let entry = try await cache.entry(forKey: "\(number)")
      if failed[number] == nil { #expect(entry?.metadata == sampleMetadata(number)) } else { #expect(entry == nil) }
    }
    try await checkIntegrity(cache)
    try await cache.close()
  }

  // MARK: Bodies

  @Test("content that was replaced, removed or never committed leaves the file, once nobody holds it")
  func nothingLeft() async throws {
    let cache = try await open()
    do {
      try await cache.store(sampleEntry(1, count: 3_000_000), forKey: "a")
      let held = try #require(try await cache.entry(forKey: "a"))
      try await cache.store(sampleEntry(2, count: 300_000), forKey: "a")
      try await cache.removeEntry(forKey: "a")
      #expect(try await held.allBytes() == sampleBytes(3_000_000, seed: 1))
      let writer = try await cache.makeWriter()
      try await writer.append(sampleBytes(700_000))
      let other = try await cache.makeWriter()
      try await other.append(sampleBytes(10))
    }
    try await settle(cache)
    for table in ["entry", "body", "chunk"] { #expect(try cache.store.number("SELECT count(*) FROM \(table)") == 0) }
    try await cache.close()
  }

  @Test("what a killed process had begun is cleared up by the next one that is alone")
  func leftovers() async throws {
    let cache = try await open()
    try await cache.store(sampleEntry(1, count: 200_000), forKey: "a")
    _ = try await cache.store.stage([sampleBytes(65_536), sampleBytes(65_536)], first: 0, of: nil)
    try await cache.close()
    let again = try await open()
    try await checkIntegrity(again)
    #expect(try await again.entry(forKey: "a")?.allBytes() == sampleBytes(200_000, seed: 1))
    try await again.close()
  }

  @Test("beside others only what was not touched for an hour is cleared up, and its writer finds it gone")
  func leftoversBeside() async throws {
    let cache = try await open()
    let (young, old) = (try await cache.makeWriter(), try await cache.makeWriter())
    for writer in [young, old] { try await writer.append(sampleBytes(300_000)) }
    try await cache.store.change { (connection, _) throws(StorageError) in
      try connection.run("UPDATE body SET touched = touched - 3601 WHERE id = 2")
    }
    let other = try await open()
    #expect(await cacheError { _ = try await old.commit(sampleMetadata(1), forKey: "old") } == .gone)
    _ = try await young.commit(sampleMetadata(2), forKey: "young")
    #expect(try await other.entry(forKey: "young")?.allBytes() == sampleBytes(300_000))
    #expect(try await other.entry(forKey: "old") == nil)
    try await other.close()
    try await cache.close()
  }

  // MARK: Two on one file

  @Test("two that have one file open see what the other does")
  func two() async throws {
    let (first, second) = (try await open(), try await open())
    try await first.store(sampleEntry(1), forKey: "a")
    #expect(try await second.entry(forKey: "a")?.metadata == sampleMetadata(1))
    let seen = try #require(try await second.entry(forKey: "a"))
    try await first.store(sampleEntry(2), forKey: "a")
    try await second.update(seen, to: sampleMetadata(3), forKey: "a")
    #expect(try await second.entry(forKey: "a")?.metadata == sampleMetadata(2))
    try await second.removeEntry(forKey: "a")
    #expect(try await first.entry(forKey: "a") == nil)
    try await first.close()
    try await second.store(sampleEntry(4), forKey: "a")
    #expect(try await second.entry(forKey: "a")?.metadata == sampleMetadata(4))
    try await second.close()
  }

  @Test("content that another one has removed is gone for who held it")
  func goneElsewhere() async throws {
    let (first, second) = (try await open(), try await open())
    try await first.store(sampleEntry(1, count: 200_000), forKey: "a")
    let held = try #require(try await first.entry(forKey: "a"))
    try await second.removeEntry(forKey: "a")
    try await settle(second)
    #expect(await cacheError { _ = try await held.allBytes() } == .gone)
    try await first.close()
    try await second.close()
  }

  @Test("two that store at once lose nothing", arguments: 0..<2)
  func twoAtOnce(round: Int) async throws {
    let (first, second) = (try await open(), try await open())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, cache) in [first, second, first, second].enumerated() {
        group.addTask {
          for step in 0..<30 {
            let id = number * 1000 + step
            try await cache.store(sampleEntry(id, count: step % 10 == 0 ? 150_000 : 500), forKey: "\(id)")
          }
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<4 {
      for step in 0..<30 {
        #expect(
          try await first.entry(forKey: "\(number * 1000 + step)")?.metadata == sampleMetadata(number * 1000 + step))
      }
    }
    try await settle(second)
    try await checkIntegrity(first)
    try await first.close()
    try await second.close()
  }

  @Test(
    "a file that is removed while it is open is made again by the next change; contents that are held stay readable",
    arguments: [true, false])
  func removedFile(withFolder: Bool) async throws {
    let path = folder.file("own/cache")
    let cache = try await SQLiteCache(path: path, byteLimit: 64 << 20, encryptionKey: try RigKey.fromEnvironment())
    try await cache.store(sampleEntry(1, count: 200_000), forKey: "old")
    let held = try #require(try await cache.entry(forKey: "old"))
    let files = FileManager.default
    if withFolder {
      try files.removeItem(atPath: folder.file("own"))
    } else {
      for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: path + suffix) }
    }
    for (key, number, count) in [("small", 2, 100), ("large", 3, 200_000)] {
      try await cache.store(sampleEntry(number, count: count), forKey: key)
      #expect(try await cache.entry(forKey: key)?.allBytes() == sampleBytes(count, seed: number))
    }
    let writer = try await cache.makeWriter()
    try await writer.append(sampleBytes(300_000, seed: 4))
    _ = try await writer.commit(sampleMetadata(4), forKey: "written")
    #expect(try await held.allBytes() == sampleBytes(200_000, seed: 1))
    #expect(try await cache.entry(forKey: "old") == nil)
    // Another process finds what was stored afterwards, also while this one has it open.
    let other = try await SQLiteCache(path: path, byteLimit: 64 << 20, encryptionKey: try RigKey.fromEnvironment())
    #expect(try await other.entry(forKey: "small")?.allBytes() == sampleBytes(100, seed: 2))
    #expect(try await other.entry(forKey: "written")?.allBytes() == sampleBytes(300_000, seed: 4))
    try await other.close()
    try await cache.close()
    #expect(await cacheError { try await cache.store(sampleEntry(5), forKey: "small") } == .closed)
    let again = try await SQLiteCache(path: path, byteLimit: 64 << 20, encryptionKey: try RigKey.fromEnvironment())
    #expect(try again.count == 3)
    try await again.close()
  }
}
