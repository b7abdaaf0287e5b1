import Foundation
import LarderContent
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

/// Two clocks that a test sets.
final class EvictionClock: Sendable {
  private let times = Mutex((wall: Int64(2_000_000_000_000_000_000), steady: Int64(5_000_000_000)))

  var environment: LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.now = { Date(timeIntervalSince1970: Double(self.times.withLock { $0.wall }) / 1e9) }
    environment.uptime = { .nanoseconds(self.times.withLock { $0.steady }) }
    return environment
  }

  /// Time passes.
  func advance(seconds: Int64) {
    times.withLock { times in
      times.wall += seconds * 1_000_000_000
      times.steady += seconds * 1_000_000_000
    }
  }

  /// The wall clock is set.
  func jump(seconds: Int64) { times.withLock { $0.wall += seconds * 1_000_000_000 } }
}

@Suite("Eviction and the size of the folder", .timeLimit(.minutes(5)))
struct FileEvictionTests {
  @Test("is never exceeded, whatever is stored")
  func limit() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(limit: 400_000)
    var random = PrintedSeed(for: "limit")
    for number in 0..<400 {
      let length = number % 20 == 0 ? Int(random.next() % 390_000) : Int(random.next() % 20_000)
      let key = "k\(random.next() % 100)"
      try await cache.store(FileCacheRig.entry(length, seed: UInt64(number)), forKey: key)
      #expect(try cache.usedBytes <= 400_000)
      #expect(try await cache.whole(key)?.bytes == FileCacheRig.bytes(length, seed: UInt64(number)))
    }
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    #expect(try cache.count == rig.entryFiles.count)
    #expect(try cache.count > 10)
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("is made by the entries that were not used for longest, exactly where there are few")
  func exactOrder() async throws {
    let rig = try FileCacheRig()
    let clock = EvictionClock()
    let cache = try rig.open(limit: 100_000, environment: clock.environment)
    // Nine entries of somewhat more than 10,000 bytes.
    for number in 0..<9 {
      clock.advance(seconds: 100)
      try await cache.store(FileCacheRig.entry(10_000), forKey: "k\(number)")
    }
    for number in [0, 2, 4] {
      clock.advance(seconds: 100)
      _ = try await cache.entry(forKey: "k\(number)")
    }
    clock.advance(seconds: 100)
    let order = [1, 3, 5, 6, 7, 8, 0, 2, 4]
    for (step, gone) in order.enumerated() {
      clock.advance(seconds: 100)
      try await cache.store(FileCacheRig.entry(10_000), forKey: "n\(step)")
      for (place, number) in order.enumerated() where place <= step {
        #expect(try rig.holds(cache, "k\(number)") == false, "\(number) after \(gone)")
      }
      #expect(try cache.count == 9)
      for number in order[(step + 1)...] { #expect(try rig.holds(cache, "k\(number)")) }
    }
  }

  @Test("hot entries stay while thousands pass, by samples and without an index")
  func hotEntries() async throws {
    let rig = try FileCacheRig()
    let clock = EvictionClock()
    var random = PrintedSeed(for: "hot entries")
    let chance = Mutex(PrintedSeed(seed: random.next()))
    // The names of the files, thus their shelves, and the hand's first place: all that chance decides here.
    var environment = clock.environment
    environment.random = { chance.withLock { $0.next() } }
    let cache = try rig.open(limit: 1_600_000, environment: environment)
    for number in 0..<60 { try await cache.store(FileCacheRig.entry(600), forKey: "hot\(number)") }
    var most = 0
    for number in 0..<4500 {
      clock.advance(seconds: 2)
      try await cache.store(FileCacheRig.entry(Int(random.next() % 1000)), forKey: "cold\(number)")
      if number % 3 == 0 { _ = try await cache.entry(forKey: "hot\(number / 3 % 60)") }
      if number % 500 == 0 { most = max(most, try cache.count) }
    }
    // More than one sample holds.
    #expect(most > 1400)
    var storedCount = 0
    for number in 0..<60 where try rig.holds(cache, "hot\(number)") { storedCount += 1 }
    #expect(storedCount >= 58)
    // Of the others the late ones are there, the early ones gone.
    var late = 0
    var early = 0
    for number in 4100..<4500 where try rig.holds(cache, "cold\(number)") { late += 1 }
    for number in 0..<2000 where try rig.holds(cache, "cold\(number)") { early += 1 }
    print(
      "hot entries kept: \(storedCount) of 60, late \(late) of 400, early \(early) of 2000; "
        + "\(try cache.count) entries in \(try cache.usedBytes) bytes")
    #expect(late >= 390)
    #expect(early <= 40)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
  }

  @Test("is made with few looks for each entry that goes, also where a shelf has thousands")
  func largeShelf() async throws {
    let rig = try FileCacheRig()
    try await rig.open().close()
    let shelf = rig.path + "/larder.entries/5a"
    try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
    // What is in them does not matter for eviction.
    let bytes = Data(repeating: 1, count: 100)
    for number in 0..<3000 {
      let digits = String(number, radix: 16)
      try bytes.write(to: URL(filePath: shelf + "/" + String(repeating: "0", count: 30 - digits.count) + digits))
    }
    try Data().write(to: URL(filePath: rig.path + "/larder.temporary/dead.lock"))
    let looks = Atomic(0)
    let cache = try rig.open(limit: 250_000) { step in
      if step == .status { looks.add(1, ordering: .relaxed) }
      return nil
    }
    await cache.drained()
    #expect(try cache.count == 3000)
    let before = looks.load(ordering: .relaxed)
    try await cache.store(FileCacheRig.entry(10), forKey: "k")
    let gone = 3001 - (try cache.count)
    let each = (looks.load(ordering: .relaxed) - before) / gone
    print("\(gone) entries gone, \(each) looks for each")
    #expect(gone >= 500 && gone < 600)
    #expect(each < 30)
    #expect(try rig.holds(cache, "k"))
    #expect(try cache.usedBytes == rig.bytesOnDisk)
  }

  @Test(
    "is made in order also while the wall clock jumps",
    arguments: [
      [315_360_000, -315_360_000], [-315_360_000, 315_360_000], [-3600, 7200], [2_000_000_000, -2_000_000_000],
    ])
  func jumps(jumps: [Int64]) async throws {
    let rig = try FileCacheRig()
    let clock = EvictionClock()
    var cache = try rig.open(limit: 200_000, environment: clock.environment)
    for number in 0..<15 { try await cache.store(FileCacheRig.entry(10_000), forKey: "k\(number)") }
    try await cache.store(FileCacheRig.entry(10_000), forKey: "hot")
    for (step, jump) in (jumps + jumps).enumerated() {
      clock.jump(seconds: jump)
      if step % 2 == 1 {
        // Also for one that is opened under the wrong clock.
        await cache.close()
        cache = try rig.open(limit: 200_000, environment: clock.environment)
        await cache.drained()
      }
      for number in 0..<30 {
        clock.advance(seconds: 20)
        _ = try await cache.entry(forKey: "hot")
        try await cache.store(FileCacheRig.entry(10_000), forKey: "s\(step)n\(number)")
        #expect(try cache.count >= min(16 + step, 18), "step \(step), \(number)")
        #expect(try cache.usedBytes <= 200_000)
        #expect(try rig.holds(cache, "hot"), "step \(step), \(number)")
        if number > 0 { #expect(try rig.holds(cache, "s\(step)n\(number - 1)"), "step \(step), \(number)") }
      }
      #expect(try !rig.holds(cache, "k0"))
    }
  }

  @Test("files with times that no clock can have are the first to go")
  func absurdTimes() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(limit: 100_000)
    try await cache.store(FileCacheRig.entry(10_000), forKey: "future")
    try await cache.store(FileCacheRig.entry(10_000), forKey: "past")
    for (file, year) in zip(rig.entryFiles, [Double(9_000_000_000), -1000]) {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: year)], ofItemAtPath: rig.path + "/" + file)
    }
    for number in 0..<8 { try await cache.store(FileCacheRig.entry(10_000), forKey: "k\(number)") }
    #expect(try rig.holds(cache, "future") != rig.holds(cache, "past"))
    try await cache.store(FileCacheRig.entry(10_000), forKey: "k8")
    #expect(try !rig.holds(cache, "future") && !rig.holds(cache, "past"))
    for number in 0..<9 { #expect(try rig.holds(cache, "k\(number)")) }
  }

  @Test("is shared by two caches on one folder")
  func twoCaches() async throws {
    let rig = try FileCacheRig()
    let first = try rig.open(limit: 300_000)
    let second = try rig.open(limit: 300_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, cache) in [("a", first), ("b", second)] {
        group.addTask { @concurrent in
          for number in 0..<150 {
            let length = number % 30 == 0 ? 140_000 : 5000
            try await cache.store(FileCacheRig.entry(length, seed: UInt64(number)), forKey: "\(name)\(number % 40)")
            _ = try await cache.whole("a\(number * 7 % 40)")
            if number % 10 == 0 { try await cache.removeEntry(forKey: "b\(number % 40)") }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try first.usedBytes <= 300_000)
    #expect(try first.usedBytes == rig.bytesOnDisk)
    #expect(try second.usedBytes == rig.bytesOnDisk)
    #expect(try first.count == rig.entryFiles.count)
    try await first.store(FileCacheRig.entry(77), forKey: "seen by both")
    #expect(try await second.whole("seen by both")?.bytes == FileCacheRig.bytes(77))
    await first.close()
    #expect(try await second.whole("seen by both")?.bytes == FileCacheRig.bytes(77))
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("is counted again if the numbers are wrong: files that were deleted by hand")
  func wrongNumbers() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(limit: 200_000)
    for number in 0..<15 { try await cache.store(FileCacheRig.entry(10_000), forKey: "k\(number)") }
    for file in rig.entryFiles { try FileManager.default.removeItem(atPath: rig.path + "/" + file) }
    #expect(try cache.usedBytes > 100_000)
    for number in 0..<15 { try await cache.store(FileCacheRig.entry(10_000), forKey: "n\(number)") }
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    for number in 5..<15 { #expect(try rig.holds(cache, "n\(number)")) }
  }
}

@Suite("Files left by ended processes", .timeLimit(.minutes(5)))
struct FileSweepTests {
  @Test("is cleared up when the folder is opened; what a living one has begun is not")
  func sweep() async throws {
    let rig = try FileCacheRig()
    let living = try rig.open()
    // It clears up too: not what is put there from here on.
    await living.drained()
    try await living.store(FileCacheRig.entry(200_000), forKey: "k")
    let writer = try await living.makeWriter()
    try await writer.append(FileCacheRig.bytes(300_000))
    let files = FileManager.default
    let dead = rig.path + "/larder.temporary/00112233445566aa"
    try files.createDirectory(atPath: dead + "/deep/deeper", withIntermediateDirectories: true)
    for name in ["0000000000000001", "0000000000000002", "deep/x", "deep/deeper/y"] {
      try Data([1]).write(to: URL(filePath: dead + "/" + name))
    }
    try Data().write(to: URL(filePath: dead + ".lock"))
    // One without a lock, one with a lock alone.
    try files.createDirectory(atPath: rig.path + "/larder.temporary/ffff", withIntermediateDirectories: true)
    try Data().write(to: URL(filePath: rig.path + "/larder.temporary/eeee.lock"))
    // Contents whose entry was never written, or has another by now.
    let blob = try #require(rig.blobFiles.first)
    try rig.put([1, 2, 3], at: String(blob.dropLast(4)) + "0000")
    try files.createDirectory(atPath: rig.path + "/larder.entries/07", withIntermediateDirectories: true)
    let orphan = String(repeating: "0", count: 30) + "." + String(repeating: "a", count: 32)
    try rig.put([1, 2, 3], at: "larder.entries/07/" + orphan)
    try files.createDirectory(atPath: rig.path + "/larder.removed/old/older", withIntermediateDirectories: true)
    try rig.put([1], at: "larder.removed/old/older/file")

    let cache = try rig.open()
    await cache.drained()
    #expect(rig.files(below: "larder.removed").isEmpty)
    #expect(try files.contentsOfDirectory(atPath: rig.path + "/larder.removed").isEmpty)
    // Two caches live: each has a folder and a lock.
    #expect(try files.contentsOfDirectory(atPath: rig.path + "/larder.temporary").count == 4)
    #expect(rig.blobFiles == [blob])
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    #expect(try cache.count == 1)
    _ = try await writer.commit(FileCacheRig.metadata(), forKey: "late")
    #expect(try await cache.whole("late")?.bytes == FileCacheRig.bytes(300_000))
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("is counted rightly where files are deleted by hand at the same time")
  func deletedMeanwhile() async throws {
    let rig = try FileCacheRig()
    var cache = try rig.open()
    for number in 0..<20 { try await cache.store(FileCacheRig.entry(10_000 * number), forKey: "k\(number)") }
    await cache.close()
    try Data().write(to: URL(filePath: rig.path + "/larder.temporary/dead.lock"))
    let lists = Atomic(0)
    cache = try rig.open { step in
      if step == .list { lists.add(1, ordering: .relaxed) }
      // The first list is of what dead processes left, the others of shelves: what they name is gone when it is looked at.
      if step == .status, lists.load(ordering: .relaxed) > 1 {
        for file in rig.files().keys { try? FileManager.default.removeItem(atPath: rig.path + "/" + file) }
      }
      return nil
    }
    await cache.drained()
    #expect(rig.files().isEmpty)
    #expect(try cache.usedBytes == 0)
    #expect(try cache.count == 0)
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("does not keep a cache from being closed")
  func closing() async throws {
    let rig = try FileCacheRig()
    for round in 0..<20 {
      let cache = try rig.open()
      try await cache.store(FileCacheRig.entry(10), forKey: "k\(round)")
      await cache.close()
    }
    #expect(rig.files(below: "larder.temporary").isEmpty)
    #expect(rig.entryFiles.count == 20)
  }
}
