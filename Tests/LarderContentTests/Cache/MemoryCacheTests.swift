import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

@Suite("The cache in memory", .timeLimit(.minutes(5)))
struct MemoryCacheTests {
  /// A dictionary with an order of use, written down as simply as can be.
  struct Model {
    let limit: Int
    let entryLimit: Int
    /// The one used last first.
    var entries: [(key: String, entry: CacheEntry, cost: Int)] = []
    var total: Int { entries.reduce(0) { $0 + $1.cost } }

    mutating func use(_ key: String) -> CacheEntry? {
      guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
      entries.insert(entries.remove(at: place), at: 0)
      return entries[0].entry
    }

    mutating func store(_ entry: CacheEntry, _ key: String) -> Bool {
      let cost = MemoryCache.cost(entry.length, entry.metadata, key)
      guard entry.length <= entryLimit, cost <= limit else { return false }
      entries.removeAll { $0.key == key }
      entries.insert((key, entry, cost), at: 0)
      while total > limit { entries.removeLast() }
      return true
    }

    mutating func update(_ seen: CacheEntry, _ metadata: CacheMetadata, _ key: String) {
      guard let present = entries.first(where: { $0.key == key }), present.entry.isSame(as: seen) else { return }
      _ = store(present.entry.with(metadata), key)
    }
  }

  @Test(
    "it does what a dictionary with an order of use does", arguments: [(20_000, 6000), (5000, 5000), (100_000, 9000)])
  func model(limit: Int, entryLimit: Int) async throws {
    var generator = PrintedSeed(for: "the memory cache's model")
    let cache = MemoryCache(byteLimit: limit, entryByteLimit: entryLimit)
    var model = Model(limit: limit, entryLimit: entryLimit)
    for number in 0..<4000 {
      let key = "key \(Int.random(in: 0..<30, using: &generator))"
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<40:
        let entry = sampleEntry(number, count: Int.random(in: 0...7000, using: &generator))
        let isTaken = await cacheError { try await cache.store(entry, forKey: key) } == nil
        #expect(isTaken == model.store(entry, key))
      case 40..<80:
        let (stored, expected) = (try await cache.entry(forKey: key), model.use(key))
        #expect(stored?.metadata == expected?.metadata)
      case 80..<90:
        if let seen = model.entries.randomElement(using: &generator)?.entry {
          try await cache.update(seen, to: sampleMetadata(number), forKey: key)
          model.update(seen, sampleMetadata(number), key)
        }
      case 90..<99:
        try await cache.removeEntry(forKey: key)
        model.entries.removeAll { $0.key == key }
      default:
        try await cache.removeAll()
        model.entries = []
      }
      try #require(cache.keys == model.entries.map(\.key), "after \(number) steps")
      try #require(cache.usedBytes == model.total)
      #expect(cache.count == model.entries.count && cache.usedBytes <= limit)
    }
  }

  @Test("content larger than the limit of one entry is rejected, by the cache and by its writer")
  func tooLarge() async throws {
    let cache = MemoryCache(byteLimit: 10_000, entryByteLimit: 1000)
    try await cache.store(sampleEntry(1, count: 1000), forKey: "a")
    #expect(
      await cacheError { try await cache.store(sampleEntry(2, count: 1001), forKey: "a") } == .tooLarge(limit: 1000))
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
    let writer = try await cache.makeWriter()
    try await writer.append(sampleBytes(1000))
    #expect(await cacheError { try await writer.append([1]) } == .tooLarge(limit: 1000))
    #expect(try await writer.read(0..<1000) == sampleBytes(1000))
    #expect(
      await cacheError { _ = try await writer.commit(sampleMetadata(3), forKey: "a") } == .tooLarge(limit: 1000))
    #expect(try await cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
  }

  @Test("metadata count too")
  func metadataCount() async throws {
    let cache = MemoryCache(byteLimit: 4000, entryByteLimit: 4000)
    var metadata = sampleMetadata(1)
    metadata.fields["X-Long"] = String(repeating: "x", count: 5000)
    let entry = CacheEntry(metadata: metadata, bytes: [])
    #expect(await cacheError { try await cache.store(entry, forKey: "a") } == .tooLarge(limit: 4000))
    try await cache.store(sampleEntry(1), forKey: "a")
    let seen = try #require(try await cache.entry(forKey: "a"))
    #expect(await cacheError { try await cache.update(seen, to: metadata, forKey: "a") } == .tooLarge(limit: 4000))
    #expect(try await cache.entry(forKey: "a") === seen)
  }

  @Test("limits of nothing, or less, keep nothing")
  func nothing() async throws {
    for limit in [0, -1, .min] {
      let cache = MemoryCache(byteLimit: limit, entryByteLimit: limit)
      #expect(await cacheError { try await cache.store(sampleEntry(1, count: 0), forKey: "a") } == .tooLarge(limit: 0))
    }
  }

  @Test("entries report that they come from memory, wherever they came from before")
  func tier() async throws {
    let cache = MemoryCache()
    try await cache.store(CacheEntry(metadata: sampleMetadata(), bytes: [1], tier: .disk), forKey: "a")
    try await cache.store(CacheEntry(metadata: sampleMetadata(), length: 1) { (_) in [1] }, forKey: "b")
    for key in ["a", "b"] {
      let entry = try #require(try await cache.entry(forKey: key))
      #expect(entry.tier == .memory && entry.bytesInMemory == [1])
    }
  }

  @Test("no cache keeps nothing, and its writer says so at the first byte")
  func noCache() async throws {
    let cache = NoCache()
    try await cache.store(sampleEntry(1), forKey: "a")
    try await cache.update(sampleEntry(1), to: sampleMetadata(2), forKey: "a")
    #expect(try await cache.entry(forKey: "a") == nil)
    let writer = try await cache.makeWriter()
    #expect(await cacheError { try await writer.append([1]) } == .tooLarge(limit: 0))
    let empty = try await cache.makeWriter().commit(sampleMetadata(1), forKey: "a")
    #expect(empty.length == 0)
    try await cache.removeEntry(forKey: "a")
    try await cache.removeAll()
  }
}
