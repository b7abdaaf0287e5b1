import Foundation
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent

@Suite("Spooled content for a cache without its own writer", .timeLimit(.minutes(5)))
struct SpoolTests {
  /// A cache of three functions, which has the defaults for the rest.
  final class Shelf: Cache {
    let entries = Mutex<[String: CacheEntry]>([:])
    let rejection: CacheError?

    init(rejection: CacheError? = nil) { self.rejection = rejection }

    func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { entries.withLock { $0[key] } }
    func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
      if let rejection { throw rejection }
      entries.withLock { $0[key] = entry }
    }
    func removeEntry(forKey key: String) async throws(CacheError) { entries.withLock { $0[key] = nil } }
    func removeAll() async throws(CacheError) { entries.withLock { $0 = [:] } }
  }

  @Test("content is read while it comes, and committed as it is", arguments: [0, 1, 1000, 262_144, 262_145, 700_001])
  func roundTrip(count: Int) async throws {
    let shelf = Shelf()
    let writer = try await shelf.makeWriter()
    let bytes = sampleBytes(count)
    var done = 0
    while done < count {
      let next = min(count, done + 50_021)
      try await writer.append(Array(bytes[done..<next]))
      done = next
      #expect(try await writer.read(0..<done) == Array(bytes[..<done]))
      #expect(try await writer.read(done / 2..<done) == Array(bytes[done / 2..<done]))
    }
    #expect(shelf.entries.withLock { $0.isEmpty })
    let entry = try await writer.commit(sampleMetadata(1), forKey: "a")
    #expect(try await entry.allBytes() == bytes)
    let stored = try #require(try await shelf.entry(forKey: "a"))
    #expect(try await stored.allBytes() == bytes)
    #expect(stored.metadata == sampleMetadata(1))
    #expect(stored.length == count)
    #expect(try await writer.read(0..<count) == bytes)
  }

  @Test("after the commit nothing more is taken")
  func afterCommit() async throws {
    let writer = try await Shelf().makeWriter()
    try await writer.append([1])
    _ = try await writer.commit(sampleMetadata(), forKey: "a")
    #expect(await cacheError { try await writer.append([2]) } == .notSupported("using a writer after its commit"))
    #expect(
      await cacheError { _ = try await writer.commit(sampleMetadata(), forKey: "a") }
        == .notSupported("using a writer after its commit"))
  }

  @Test("A cache that rejects the entry throws at the commit; the content stays readable")
  func rejected() async throws {
    let writer = try await Shelf(rejection: .tooLarge(limit: 3)).makeWriter()
    try await writer.append([1, 2, 3, 4])
    #expect(
      await cacheError { _ = try await writer.commit(sampleMetadata(), forKey: "a") } == .tooLarge(limit: 3))
    #expect(try await writer.read(1..<3) == [2, 3])
  }

  @Test("A full disk is reported; earlier content is readable, but never committed")
  func fullDisk() async throws {
    let shelf = Shelf()
    let spool = Spool(memoryLimit: 10) { () throws(CacheError) in try SpoolFile(opening: "/dev/full") }
    let writer = SpoolWriter(for: shelf, spool: spool)
    try await writer.append([1, 2, 3])
    try await writer.append([4, 5])
    #expect(await cacheError { try await writer.append(sampleBytes(70_000)) } == .full(path: "/dev/full"))
    #expect(try await writer.read(0..<5) == [1, 2, 3, 4, 5])
    #expect(await cacheError { try await writer.append([6]) } == .full(path: "/dev/full"))
    #expect(
      await cacheError { _ = try await writer.commit(sampleMetadata(), forKey: "a") } == .full(path: "/dev/full"))
    #expect(shelf.entries.withLock { $0.isEmpty })
  }

  @Test("A missing folder is reported with its path")
  func noFolder() async throws {
    let spool = Spool(memoryLimit: 0) { () throws(CacheError) in try SpoolFile(folder: "/nowhere/at/all") }
    #expect(
      await cacheError { try spool.append([1]) }
        == .failed(path: "/nowhere/at/all", reason: "No such file or directory"))
  }

  @Test("the errors of the system have cases of their own")
  func codes() {
    #expect(CacheError(errno: ENOSPC, path: "/x") == .full(path: "/x"))
    #expect(CacheError(errno: EDQUOT, path: "/x") == .full(path: "/x"))
    #expect(CacheError(errno: EROFS, path: "/x") == .readOnly(path: "/x"))
    for code in [EACCES, EPERM] {
      #expect(CacheError(errno: code, path: "/x") == .readOnly(path: "/x"))
      // What may not be read is not what may not be written.
      guard case .failed("/x", let reason) = CacheError(errno: code, path: "/x", isReading: true) else {
        Issue.record("\(code)")
        continue
      }
      #expect(reason.contains("cannot be read"))
      #expect(reason.contains("locked") == (code == EPERM))
    }
  }

  @Test("a temporary file has no name, and is closed with its last user")
  func nothingLeft() async throws {
    let folder = try TemporaryFolder()
    let spool = Spool(memoryLimit: 10) { [path = folder.path] () throws(CacheError) in try SpoolFile(folder: path) }
    try spool.append(sampleBytes(100_000))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    weak var seen: SpoolFile?
    do {
      let file = try SpoolFile(folder: folder.path)
      let bytes = sampleBytes(3 * SpoolFile.chunkLength)
      try file.write(bytes[SpoolFile.chunkLength...], at: SpoolFile.chunkLength)
      try file.write(bytes[..<SpoolFile.chunkLength], at: 0)
      for part in [0..<3, 65_530..<65_540, 0..<bytes.count, 65_536..<131_072, 131_071..<196_608] {
        #expect(try file.read(part) == Array(bytes[part]))
      }
      seen = file
    }
    #expect(seen == nil)
  }

  @Test("readers meet every byte that was announced, while others come")
  func readersBeside() async throws {
    let bytes = sampleBytes(1_000_000)
    let spool = Spool(memoryLimit: 100_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<4 {
        group.addTask {
          var generator = PrintedSeed(seed: UInt64(reader))
          var length = 0
          while length < bytes.count {
            length = spool.length
            let start = length == 0 ? 0 : Int.random(in: 0..<length, using: &generator)
            let part = start..<min(length, start + 5000)
            let read = try spool.read(part)
            #expect(read == Array(bytes[part]))
            await Task.yield()
          }
        }
      }
      group.addTask {
        for start in stride(from: 0, to: bytes.count, by: 10_007) {
          try spool.append(Array(bytes[start..<min(bytes.count, start + 10_007)]))
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("an update changes the metadata of the entry that was seen, and of no other")
  func update() async throws {
    let shelf = Shelf()
    let seen = sampleEntry(1)
    try await shelf.store(seen, forKey: "a")
    try await shelf.update(seen, to: sampleMetadata(2), forKey: "a")
    #expect(try await shelf.entry(forKey: "a")?.metadata == sampleMetadata(2))
    #expect(try await shelf.entry(forKey: "a")?.allBytes() == sampleBytes(100, seed: 1))
    // The entry under the key has been changed since it was seen.
    try await shelf.update(seen, to: sampleMetadata(3), forKey: "a")
    #expect(try await shelf.entry(forKey: "a")?.metadata == sampleMetadata(2))
    // Another content with the same metadata.
    let twin = CacheEntry(metadata: sampleMetadata(2), bytes: sampleBytes(100, seed: 9))
    try await shelf.update(twin, to: sampleMetadata(3), forKey: "a")
    #expect(try await shelf.entry(forKey: "a")?.metadata == sampleMetadata(2))
    try await shelf.update(seen, to: sampleMetadata(3), forKey: "b")
    #expect(try await shelf.entry(forKey: "b") == nil)
  }

  @Test("a byte that the disk has changed in a temporary file is an error, never other content", arguments: 0..<6)
  func changedByte(place: Int) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write([], to: "spool")
    let spool = Spool(memoryLimit: 10) { () throws(CacheError) in try SpoolFile(opening: path) }
    let bytes = sampleBytes(200_000)
    try spool.append(bytes)
    var stored = try Data(contentsOf: URL(filePath: path))
    // The first byte, the last, and some between: of content and of marks.
    stored[place * (stored.count - 1) / 5] ^= 1
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.write(contentsOf: stored)
    try file.close()
    guard case .corrupt? = await cacheError({ _ = try spool.read(0..<200_000) }) else {
      Issue.record("it was read")
      return
    }
  }

  @Test(
    "content that a folder's cache reads back before it is complete is checked too", arguments: [true, false],
    [0, 70_000, 131_071])
  func byteChangedBeforeReading(isEncrypted: Bool, place: Int) async throws {
    let folder = try TemporaryFolder()
    let cache = try FileCache(
      path: folder.file("cache"),
      encryptionKey: isEncrypted ? try StorageKey(bytes: [UInt8](repeating: 7, count: 32)) : nil)
    let writer = try await cache.makeWriter()
    let bytes = sampleBytes(200_000)
    for start in stride(from: 0, to: bytes.count, by: 10_000) {
      try await writer.append(Array(bytes[start..<start + 10_000]))
    }
    #expect(try await writer.read(0..<200_000) == bytes)
    let below = folder.file("cache/larder.temporary")
    let name = try #require(try FileManager.default.subpathsOfDirectory(atPath: below).first { $0.contains("/") })
    var stored = try Data(contentsOf: URL(filePath: below + "/" + name))
    stored[place] ^= 1
    let file = try FileHandle(forWritingTo: URL(filePath: below + "/" + name))
    try file.write(contentsOf: stored)
    try file.close()
    for range in [0..<200_000, place..<place + 1] {
      guard case .corrupt? = await cacheError({ _ = try await writer.read(range) }) else {
        Issue.record("\(range) was read")
        continue
      }
    }
    // Other blocks are as they were.
    let other = place < 65_536 ? 65_536..<131_072 : 0..<65_536
    #expect(try await writer.read(other) == Array(bytes[other]))
    await cache.close()
  }
}
