import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderContent

/// What the documentation of `Cache`, `CacheWriter` and `CacheEntry` says, sentence by sentence, for every cache.
@Suite("Every cache conforms to the protocol", .timeLimit(.minutes(5)))
struct CacheConformanceTests {
  private static let sizes = [0, 1, 4096, 65_535, 65_536, 65_537, 300_000, 1_200_001]

  @Test("nothing is under a key that was never stored", arguments: ProvidedCache.allCases)
  func absent(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    #expect(try await rig.cache.entry(forKey: "a") == nil)
    try await rig.cache.removeEntry(forKey: "a")
    try await rig.cache.removeAll()
    #expect(try await rig.cache.entry(forKey: "a") == nil)
  }

  @Test("an entry is returned whole, with its own metadata", arguments: ProvidedCache.allCases, sizes)
  func storing(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    let bytes = sampleBytes(size)
    try await rig.cache.store(CacheEntry(metadata: sampleMetadata(1), bytes: bytes), forKey: "a")
    for _ in 0..<2 {
      let entry = try #require(try await rig.cache.entry(forKey: "a"))
      #expect(entry.metadata == sampleMetadata(1))
      #expect(entry.length == size)
      #expect(try await entry.allBytes() == bytes)
      #expect(try await Array(entry.getData()) == bytes)
    }
  }

  @Test("what is at hand is what would be found, with its content in memory", arguments: ProvidedCache.allCases, sizes)
  func inMemory(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    #expect(rig.cache.entryInMemory(forKey: "a") == nil)
    for index in 1...2 {
      let bytes = sampleBytes(size + index)
      try await rig.cache.store(CacheEntry(metadata: sampleMetadata(index), bytes: bytes), forKey: "a")
      let entry = rig.cache.entryInMemory(forKey: "a")
      if kind == .memory { #expect(entry != nil) }
      if let entry {
        #expect(entry.metadata == sampleMetadata(index))
        #expect(entry.bytesInMemory == bytes)
        #expect(try await rig.cache.entry(forKey: "a")?.isSame(as: entry) == true)
      }
    }
    try await rig.cache.removeEntry(forKey: "a")
    #expect(rig.cache.entryInMemory(forKey: "a") == nil)
  }

  @Test("an entry whose content is read in pieces is kept like any other", arguments: ProvidedCache.allCases, sizes)
  func storingSource(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    let bytes = sampleBytes(size)
    let entry = CacheEntry(metadata: sampleMetadata(1), length: size) { (range) in Array(bytes[range]) }
    try await rig.cache.store(entry, forKey: "a")
    let stored = try #require(try await rig.cache.entry(forKey: "a"))
    #expect(stored.metadata == sampleMetadata(1))
    #expect(try await stored.allBytes() == bytes)
  }

  @Test("a source that fails is not stored, and leaves what was there", arguments: ProvidedCache.allCases)
  func failingSource(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    try await rig.cache.store(sampleEntry(1), forKey: "a")
    for size in [10, 100_000] {
      let broken = CacheEntry(metadata: sampleMetadata(2), length: size) { (_) throws(CacheError) in throw .gone }
      #expect(await cacheError { try await rig.cache.store(broken, forKey: "b") } == .gone)
      #expect(try await rig.cache.entry(forKey: "b") == nil)
      #expect(await cacheError { try await rig.cache.store(broken, forKey: "a") } == .gone)
      // Of two caches the second is not trusted where a change of it failed: then nothing is there.
      if let left = try await rig.cache.entry(forKey: "a") {
        #expect(left.metadata == sampleMetadata(1))
      } else {
        #expect("\(kind)".hasPrefix("tiered"))
      }
    }
  }

  @Test("parts of the content are read, what lies outside is left out", arguments: ProvidedCache.allCases, sizes)
  func reading(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    let bytes = sampleBytes(size)
    try await rig.cache.store(CacheEntry(metadata: sampleMetadata(1), bytes: bytes), forKey: "a")
    let entry = try #require(try await rig.cache.entry(forKey: "a"))
    var generator = PrintedSeed(seed: UInt64(size))
    for _ in 0..<20 {
      let start = Int.random(in: 0...size + 10, using: &generator)
      let end = Int.random(in: start...size + 70_000, using: &generator)
      let expected = Array(bytes[min(start, size)..<min(end, size)])
      #expect(try await entry.read(start..<end) == expected)
    }
  }

  @Test("metadata of every kind is returned unchanged", arguments: ProvidedCache.allCases)
  func metadata(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    var parts = sampleMetadata(1)
    parts.content = .parts([0..<10, 20..<30], length: 100)
    parts.isInvalidated = true
    var unknown = parts
    unknown.content = .parts([5..<7], length: nil)
    let index = CacheMetadata(
      url: "http://example.com/", status: 200, requestTime: -5, responseTime: .max,
      variants: [
        CacheVariant(
          key: "k", names: ["accept", "x"], selecting: ["accept": "text/*"], etag: "W/\"é\"", date: 3),
        CacheVariant(key: "l", names: ["*"], selecting: [:], etag: nil, date: .min),
      ])
    let record = CacheMetadata(
      url: "", status: 0, requestTime: 0, responseTime: 0, groups: [CacheGroup(name: "ä", generation: "")])
    for (number, metadata) in [parts, unknown, index, record].enumerated() {
      try await rig.cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: "\(number)")
    }
    for (number, metadata) in [parts, unknown, index, record].enumerated() {
      #expect(try await rig.cache.entry(forKey: "\(number)")?.metadata == metadata)
    }
  }

  @Test("A second entry replaces the first, for any sizes", arguments: ProvidedCache.allCases)
  func replacing(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    for (number, size) in [10, 200_000, 0, 70_000, 90_000, 5].enumerated() {
      try await rig.cache.store(sampleEntry(number, count: size), forKey: "a")
      let entry = try #require(try await rig.cache.entry(forKey: "a"))
      #expect(entry.metadata == sampleMetadata(number))
      #expect(try await entry.allBytes() == sampleBytes(size, seed: number))
    }
  }

  @Test("keys are distinguished, however long and unusual", arguments: ProvidedCache.allCases)
  func keys(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    let long = "http://example.com/" + String(repeating: "x", count: 9000)
    let keys = [
      "", "a", "A", "a ", "a/b", "../a", "a\0", "a\0b", "äöü", "\u{1F600}", "'; DROP TABLE entry; --", "%", "a%2Fb",
      "http://example.com/ #00ff", long, long + "y", ".", "..", "-", "con", "a\nb",
    ]
    for (number, key) in keys.enumerated() { try await rig.cache.store(sampleEntry(number), forKey: key) }
    for (number, key) in keys.enumerated() {
      #expect(try await rig.cache.entry(forKey: key)?.metadata == sampleMetadata(number), "\(key)")
    }
    for (number, key) in keys.enumerated() where number % 2 == 0 { try await rig.cache.removeEntry(forKey: key) }
    for (number, key) in keys.enumerated() {
      let expected = number % 2 == 0 ? nil : sampleMetadata(number)
      #expect(try await rig.cache.entry(forKey: key)?.metadata == expected, "\(key)")
    }
  }

  @Test("removing forgets one entry, removing all forgets all", arguments: ProvidedCache.allCases)
  func removing(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    for number in 0..<6 { try await rig.cache.store(sampleEntry(number, count: number * 40_000), forKey: "\(number)") }
    try await rig.cache.removeEntry(forKey: "2")
    try await rig.cache.removeEntry(forKey: "5")
    for number in 0..<6 {
      let expected = number == 2 || number == 5 ? nil : sampleMetadata(number)
      #expect(try await rig.cache.entry(forKey: "\(number)")?.metadata == expected)
    }
    try await rig.cache.removeAll()
    for number in 0..<6 { #expect(try await rig.cache.entry(forKey: "\(number)") == nil) }
    try await rig.cache.store(sampleEntry(9), forKey: "2")
    #expect(try await rig.cache.entry(forKey: "2")?.allBytes() == sampleBytes(100, seed: 9))
  }

  @Test("content stays readable while its entry is held", arguments: ProvidedCache.allCases, [100, 400_000])
  func heldOpen(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    func enter(_ number: Int) async throws -> CacheEntry {
      try await rig.cache.store(sampleEntry(number, count: size), forKey: "a")
      return try #require(try await rig.cache.entry(forKey: "a"))
    }
    let replaced = try await enter(1)
    let removed = try await enter(2)
    try await rig.cache.removeEntry(forKey: "a")
    let swept = try await enter(3)
    try await rig.cache.removeAll()
    for (number, entry) in [replaced, removed, swept].enumerated() {
      #expect(try await entry.allBytes() == sampleBytes(size, seed: number + 1))
    }
  }

  @Test("an update replaces the metadata and leaves the content", arguments: ProvidedCache.allCases, [0, 100, 400_000])
  func updating(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    try await rig.cache.store(sampleEntry(1, count: size), forKey: "a")
    let seen = try #require(try await rig.cache.entry(forKey: "a"))
    try await rig.cache.update(seen, to: sampleMetadata(2), forKey: "a")
    let entry = try #require(try await rig.cache.entry(forKey: "a"))
    #expect(entry.metadata == sampleMetadata(2))
    #expect(try await entry.allBytes() == sampleBytes(size, seed: 1))
    #expect(try await seen.allBytes() == sampleBytes(size, seed: 1))
    // What an update was made of can be updated again without being read again.
    try await rig.cache.update(seen.with(sampleMetadata(2)), to: sampleMetadata(3), forKey: "a")
    #expect(try await rig.cache.entry(forKey: "a")?.metadata == sampleMetadata(3))
  }

  @Test("an update of what is not there any more does nothing", arguments: ProvidedCache.allCases, [100, 400_000])
  func updatingOther(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    try await rig.cache.store(sampleEntry(1, count: size), forKey: "a")
    let seen = try #require(try await rig.cache.entry(forKey: "a"))
    try await rig.cache.store(sampleEntry(2, count: size), forKey: "a")
    try await rig.cache.update(seen, to: sampleMetadata(3), forKey: "a")
    let entry = try #require(try await rig.cache.entry(forKey: "a"))
    #expect(entry.metadata == sampleMetadata(2))
    #expect(try await entry.allBytes() == sampleBytes(size, seed: 2))
    try await rig.cache.removeEntry(forKey: "a")
    try await rig.cache.update(seen, to: sampleMetadata(3), forKey: "a")
    #expect(try await rig.cache.entry(forKey: "a") == nil)
  }

  @Test(
    "nothing of a writer is visible before its commit; all of it is after", arguments: ProvidedCache.allCases, sizes)
  func writing(kind: ProvidedCache, size: Int) async throws {
    let rig = try await kind.make()
    try await rig.cache.store(sampleEntry(1), forKey: "a")
    let writer = try await rig.cache.makeWriter()
    let bytes = sampleBytes(size, seed: 2)
    var done = 0
    while done < size {
      let next = min(size, done + 47_777)
      try await writer.append(Array(bytes[done..<next]))
      #expect(try await writer.read(done..<next) == Array(bytes[done..<next]))
      done = next
      #expect(try await writer.read(0..<done / 2) == Array(bytes[..<(done / 2)]))
    }
    #expect(try await rig.cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
    let committed = try await writer.commit(sampleMetadata(2), forKey: "a")
    for entry in [committed, try #require(try await rig.cache.entry(forKey: "a"))] {
      #expect(entry.metadata == sampleMetadata(2))
      #expect(entry.length == size)
      #expect(try await entry.allBytes() == bytes)
    }
    #expect(try await writer.read(0..<size) == bytes)
  }

  @Test("after the commit a writer takes nothing more, and nothing changes", arguments: ProvidedCache.allCases)
  func writerAfterCommit(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    for size in [10, 100_000] {
      let writer = try await rig.cache.makeWriter()
      try await writer.append(sampleBytes(size))
      _ = try await writer.commit(sampleMetadata(1), forKey: "a")
      #expect(await cacheError { try await writer.append([1]) } != nil)
      #expect(await cacheError { _ = try await writer.commit(sampleMetadata(2), forKey: "a") } != nil)
      #expect(try await rig.cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
    }
  }

  @Test("a writer that is dropped leaves nothing", arguments: ProvidedCache.allCases)
  func droppedWriter(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    for size in [10, 400_000] {
      let writer = try await rig.cache.makeWriter()
      try await writer.append(sampleBytes(size))
    }
    #expect(try await rig.cache.entry(forKey: "a") == nil)
    try await rig.cache.store(sampleEntry(1), forKey: "a")
    #expect(try await rig.cache.entry(forKey: "a")?.metadata == sampleMetadata(1))
  }

  @Test("readers of a writer meet what was appended, while more comes", arguments: ProvidedCache.allCases)
  func readersOfWriter(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    let writer = try await rig.cache.makeWriter()
    let bytes = sampleBytes(600_000)
    let (lengths, announce) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await length in lengths {
          let part = length / 3..<length
          let read = try await writer.read(part)
          #expect(read == Array(bytes[part]))
        }
      }
      for start in stride(from: 0, to: bytes.count, by: 9973) {
        let end = min(bytes.count, start + 9973)
        try await writer.append(Array(bytes[start..<end]))
        announce.yield(end)
      }
      let entry = try await writer.commit(sampleMetadata(1), forKey: "a")
      announce.finish()
      try await group.waitForAll()
      #expect(try await entry.allBytes() == bytes)
    }
  }

  @Test("of many tasks at once each sees whole entries alone", arguments: ProvidedCache.allCases)
  func concurrency(kind: ProvidedCache) async throws {
    let rig = try await kind.make()
    let seed = PrintedSeed(for: "concurrency of \(kind)").seed
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          var generator = PrintedSeed(seed: seed &+ UInt64(task))
          for _ in 0..<40 { try await CacheConformanceTests.step(rig.cache, &generator) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func step(_ cache: any Cache, _ generator: inout PrintedSeed) async throws {
    let key = "key \(Int.random(in: 0..<4, using: &generator))"
    // The number says the content: its seed, and by it its length.
    let number = Int.random(in: 1...50, using: &generator)
    func size(_ number: Int) -> Int { number % 5 == 0 ? 66_000 + number * 1000 : number * 10 }
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<5: try await cache.store(sampleEntry(number, count: size(number)), forKey: key)
    case 5..<8:
      let writer = try await cache.makeWriter()
      try await writer.append(sampleBytes(size(number), seed: number))
      _ = try await writer.commit(sampleMetadata(number), forKey: key)
    case 8: try await cache.removeEntry(forKey: key)
    case 9 where number < 10: try await cache.removeAll()
    default:
      guard let entry = try await cache.entry(forKey: key) else { return }
      let stored = Int(entry.metadata.requestMilliseconds - sampleMetadata(0).requestMilliseconds)
      #expect(entry.metadata == sampleMetadata(stored))
      #expect(try await entry.allBytes() == sampleBytes(size(stored), seed: stored))
    }
  }
}
