import Foundation
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent
@testable import LarderCrashRig

@Suite("Changes of a shared cache by others are visible despite the memory cache", .timeLimit(.minutes(5)))
struct SharedFolderTests {
  /// Two caches over one folder, each with a memory of its own.
  private struct Pair {
    let folder: TemporaryFolder
    let mine: TieredCache
    let other: TieredCache

    init() throws {
      folder = try TemporaryFolder()
      mine = try Self.open(folder)
      other = try Self.open(folder)
    }

    static func open(_ folder: TemporaryFolder) throws -> TieredCache {
      TieredCache(
        memory: MemoryCache(),
        disk: try FileCache(path: folder.file("cache"), encryptionKey: try RigKey.fromEnvironment()))
    }
  }

  private static func entry(_ text: String) -> CacheEntry {
    CacheEntry(
      metadata: CacheMetadata(url: "u", status: 200, requestTime: 1, responseTime: 1), bytes: Array(text.utf8))
  }

  private static func text(_ entry: CacheEntry?) async throws -> String? {
    guard let entry else { return nil }
    return String(decoding: try await entry.read(0..<entry.length), as: UTF8.self)
  }

  @Test("a replaced entry is the new one for both, and at hand again afterwards")
  func replaced() async throws {
    let pair = try Pair()
    try await pair.mine.store(Self.entry("one"), forKey: "k")
    #expect(try await Self.text(pair.mine.entryInMemory(forKey: "k")) == "one")
    #expect(try await Self.text(pair.other.entry(forKey: "k")) == "one")
    #expect(try await Self.text(pair.other.entryInMemory(forKey: "k")) == "one")
    let writer = try await pair.mine.makeWriter()
    try await writer.append(Array("two".utf8))
    _ = try await writer.commit(Self.entry("").metadata, forKey: "k")
    #expect(try await Self.text(pair.mine.entryInMemory(forKey: "k")) == "two")
    #expect(pair.other.entryInMemory(forKey: "k") == nil)
    #expect(try await Self.text(pair.other.entry(forKey: "k")) == "two")
    #expect(try await Self.text(pair.other.entryInMemory(forKey: "k")) == "two")
    try await pair.other.store(Self.entry("three"), forKey: "k")
    #expect(try await Self.text(pair.mine.entry(forKey: "k")) == "three")
  }

  @Test("a removed entry, and all of them, are gone for both")
  func removed() async throws {
    let pair = try Pair()
    for key in ["a", "b"] {
      try await pair.mine.store(Self.entry(key), forKey: key)
      #expect(try await Self.text(pair.other.entry(forKey: key)) == key)
    }
    try await pair.mine.removeEntry(forKey: "a")
    #expect(try await pair.other.entry(forKey: "a") == nil)
    #expect(try await Self.text(pair.other.entry(forKey: "b")) == "b")
    try await pair.mine.removeAll()
    #expect(pair.other.entryInMemory(forKey: "b") == nil)
    #expect(try await pair.other.entry(forKey: "b") == nil)
  }

  @Test("An entry that one marks as outdated is validated by the other")
  func invalidated() async throws {
    let pair = try Pair()
    try await pair.mine.store(Self.entry("one"), forKey: "k")
    _ = try await pair.other.entry(forKey: "k")
    let seen = try #require(try await pair.mine.entry(forKey: "k"))
    try await pair.mine.update(seen, to: seen.metadata.invalidated, forKey: "k")
    #expect(try await pair.other.entry(forKey: "k")?.rules.isInvalidated == true)
    #expect(try await pair.mine.entry(forKey: "k")?.rules.isInvalidated == true)
  }

  @Test(
    "content that only memory holds at hand stays there when others change something else")
  func largeContent() async throws {
    let pair = try Pair()
    let large = String(repeating: "x", count: 200_000)
    try await pair.mine.store(Self.entry(large), forKey: "k")
    try await pair.other.removeAll()
    #expect(try await pair.mine.entry(forKey: "k") == nil)
    try await pair.mine.store(Self.entry(large), forKey: "k")
    // A change of all parts that leaves the entry.
    for key in 0..<3000 { try await pair.other.removeEntry(forKey: "\(key)") }
    #expect(pair.mine.entryInMemory(forKey: "k") == nil)
    #expect(try await pair.mine.entry(forKey: "k")?.bytesInMemory?.count == 200_000)
    #expect(pair.mine.entryInMemory(forKey: "k")?.length == 200_000)
  }

  @Test("what others store leaves most of memory at hand")
  func otherKeys() async throws {
    let pair = try Pair()
    for key in 0..<200 { try await pair.mine.store(Self.entry("\(key)"), forKey: "mine \(key)") }
    for key in 0..<20 { try await pair.other.store(Self.entry("\(key)"), forKey: "other \(key)") }
    let left = (0..<200).count { pair.mine.entryInMemory(forKey: "mine \($0)") != nil }
    print("\(left) of 200 entries are at hand after 20 others were stored")
    // About 45 of 200 share their part with a later entry.
    #expect(left > 120)
    for key in 0..<200 { #expect(try await Self.text(pair.mine.entry(forKey: "mine \(key)")) == "\(key)") }
    #expect((0..<200).allSatisfy { pair.mine.entryInMemory(forKey: "mine \($0)") != nil })
  }

  @Test("Cleared and deleted folders are detected", arguments: [true, false])
  func clearedFolder(isCleared: Bool) async throws {
    let pair = try Pair()
    try await pair.mine.store(Self.entry("one"), forKey: "k")
    let path = pair.folder.file("cache")
    if isCleared {
      try FileCache.clear(path: path)
      #expect(pair.mine.entryInMemory(forKey: "k") == nil)
    } else {
      try FileManager.default.removeItem(atPath: path)
      // Within a second.
      while pair.mine.entryInMemory(forKey: "k") != nil { await Task.yield() }
    }
    #expect(try await pair.mine.entry(forKey: "k") == nil)
  }

  @Test("a writer that was killed in the midst of a change leaves nothing in memory that others trust")
  func killed() async throws {
    let pair = try Pair()
    try await pair.mine.store(Self.entry("one"), forKey: "k")
    let counter = try SharedCounter(pair.folder.file("cache/larder.changes"))
    counter.beginChange(of: 0..<SharedCounter.partCount)
    #expect(pair.mine.entryInMemory(forKey: "k") == nil)
    // It is read from the disk each time, until the next change says that the other one has ended.
    #expect(try await Self.text(pair.mine.entry(forKey: "k")) == "one")
    #expect(pair.mine.entryInMemory(forKey: "k") == nil)
    try await pair.other.store(Self.entry("x"), forKey: "x")
    #expect(try await Self.text(pair.mine.entry(forKey: "k")) == "one")
    #expect(try await Self.text(pair.mine.entryInMemory(forKey: "k")) == "one")
  }

  @Test("what a second process has stored by the time it is killed, this one does not hide")
  func secondProcess() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("shared")
    let key = try RigKey.fromEnvironment()
    let cache = TieredCache(
      memory: MemoryCache(byteLimit: 1 << 30),
      disk: try FileCache(path: path + "/files", byteLimit: 1 << 30, encryptionKey: key),
      promotionByteLimit: 1 << 20)
    for number in 0..<CacheRig.count {
      try await cache.store(
        CacheEntry(metadata: CacheRig.metadata(number, 0), bytes: CacheRig.content(number, 0)),
        forKey: CacheRig.key(number))
    }
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
      path: "LarderCrashRig")
    process.arguments = ["content", "files", path, String(1 << 30), "1"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let identifier = process.processIdentifier
    let output = pipe.fileHandleForReading
    let heard: Data = await withCheckedContinuation { done in
      Thread.detachNewThread {
        var heard = Data()
        while true {
          let chunk = output.availableData
          if chunk.isEmpty { break }
          heard.append(chunk)
          if heard.count(where: { $0 == 0x0A }) >= 1500 { _ = kill(identifier, SIGKILL) }
        }
        done.resume(returning: heard)
      }
    }
    process.waitUntilExit()
    let fresh = try FileCache(path: path + "/files", byteLimit: 1 << 30, encryptionKey: key)
    var stale: [Int] = []
    var acknowledged = 0
    for line in String(decoding: heard, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    {
      let words = line.split(separator: " ")
      guard words.count == 3, let round = Int(words[1]), let number = Int(words[2]) else { continue }
      acknowledged += 1
      let mine = try #require(try await cache.entry(forKey: CacheRig.key(number)))
      let theirs = try #require(try await fresh.entry(forKey: CacheRig.key(number)))
      let seen = try await CacheRig.round(of: mine, number) ?? -1
      if seen < round || !mine.isSame(as: theirs) { stale.append(number) }
    }
    print("\(acknowledged) entries were replaced by the other process")
    #expect(acknowledged >= 1000)
    #expect(stale == [])
  }
}
