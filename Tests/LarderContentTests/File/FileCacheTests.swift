import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCrashRig

@Suite("Entries in files", .timeLimit(.minutes(5)))
struct FileCacheTests {
  /// Around the limits between one file and two, and between blocks.
  static let lengths = [0, 1, 1000, 20_000, 65_536, 100_000, 131_071, 131_072, 131_073, 196_608, 262_145, 1_000_000]

  @Test("are returned whole, also from a cache that is opened later", arguments: lengths)
  func roundTrip(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let bytes = FileCacheRig.bytes(length)
    try await cache.store(CacheEntry(metadata: FileCacheRig.metadata(), bytes: bytes), forKey: "k")
    let entry = try #require(try await cache.whole("k"))
    #expect(entry.bytes == bytes)
    #expect(entry.metadata == FileCacheRig.metadata())
    #expect(try await cache.entry(forKey: "k")?.tier == .disk)
    #expect(try await cache.entry(forKey: "other") == nil)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    #expect(try cache.count == 1)
    await cache.close()
    let later = try rig.open()
    #expect(try await later.whole("k")?.bytes == bytes)
    #expect(try later.usedBytes == rig.bytesOnDisk)
  }

  @Test("are read in any pieces", arguments: [1000, 65_536, 300_000])
  func pieces(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let bytes = FileCacheRig.bytes(length)
    try await cache.store(CacheEntry(metadata: FileCacheRig.metadata(), bytes: bytes), forKey: "k")
    let entry = try #require(try await cache.entry(forKey: "k"))
    var random = PrintedSeed(for: "pieces")
    for _ in 0..<300 {
      let start = Int(random.next() % UInt64(length + 1))
      let end = start + Int(random.next() % UInt64(length + 1 - start))
      #expect(try await entry.read(start..<end) == Array(bytes[start..<end]))
    }
    var all: [UInt8] = []
    for start in stride(from: 0, to: length, by: 10_000) { all += try await entry.read(start..<start + 10_000) }
    #expect(all == bytes)
    #expect(try await entry.read(length..<length + 5).isEmpty)
  }

  @Test("replace one another, and what was replaced stays readable for who holds it")
  func replacing() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    for (seed, length) in [(1, 200_000), (2, 10), (3, 300_000), (4, 250_000), (5, 20)].map({ (UInt64($0.0), $0.1) }) {
      let before = try await cache.entry(forKey: "k")
      let old = try await before?.read(0..<before!.length)
      try await cache.store(FileCacheRig.entry(length, seed: seed), forKey: "k")
      #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(length, seed: seed))
      #expect(try await before?.read(0..<before!.length) == old)
      #expect(try cache.usedBytes == rig.bytesOnDisk)
      #expect(try cache.count == 1)
      #expect(rig.blobFiles.count == (length > 131_072 ? 1 : 0))
    }
  }

  @Test("are removed, one and all, and stay readable for who holds them")
  func removing() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    for number in 0..<20 { try await cache.store(FileCacheRig.entry(20_000 * number), forKey: "k\(number)") }
    let openEntry = try #require(try await cache.entry(forKey: "k19"))
    try await cache.removeEntry(forKey: "k3")
    try await cache.removeEntry(forKey: "never")
    #expect(try await cache.entry(forKey: "k3") == nil)
    #expect(try cache.count == 19)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    try await cache.removeAll()
    #expect(try cache.count == 0)
    #expect(try cache.usedBytes == 0)
    #expect(try await cache.entry(forKey: "k4") == nil)
    #expect(try await openEntry.read(0..<openEntry.length) == FileCacheRig.bytes(380_000))
    await cache.drained()
    #expect(rig.files(below: "larder.removed").isEmpty)
    try await cache.store(FileCacheRig.entry(5), forKey: "k4")
    #expect(try await cache.whole("k4")?.bytes == FileCacheRig.bytes(5))
    #expect(try cache.count == 1)
  }

  @Test("get other metadata while their content stays", arguments: [100, 200_000])
  func updating(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let seen = try #require(try await cache.entry(forKey: "k"))
    let blobs = rig.blobFiles
    try await cache.update(seen, to: FileCacheRig.metadata("https://example.com/a", "new"), forKey: "k")
    let entry = try #require(try await cache.whole("k"))
    #expect(entry.metadata == FileCacheRig.metadata("https://example.com/a", "new"))
    #expect(entry.bytes == FileCacheRig.bytes(length))
    #expect(rig.blobFiles == blobs)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    // What was seen is not there any more: nothing happens.
    try await cache.update(seen, to: FileCacheRig.metadata("https://example.com/a", "late"), forKey: "k")
    #expect(try await cache.whole("k")?.metadata == entry.metadata)
    try await cache.removeEntry(forKey: "k")
    try await cache.update(seen, to: FileCacheRig.metadata(), forKey: "k")
    #expect(try await cache.entry(forKey: "k") == nil)
    #expect(try cache.usedBytes == 0)
  }

  @Test("that are larger than the limit are rejected, others stay")
  func tooLarge() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(limit: 100_000)
    try await cache.store(FileCacheRig.entry(50), forKey: "small")
    await #expect(throws: CacheError.tooLarge(limit: 100_000)) {
      try await cache.store(FileCacheRig.entry(100_001), forKey: "k")
    }
    await #expect(throws: CacheError.tooLarge(limit: 100_000)) {
      try await cache.store(FileCacheRig.entry(99_999), forKey: "k")
    }
    let writer = try await cache.makeWriter()
    try await writer.append(FileCacheRig.bytes(90_000))
    await #expect(throws: CacheError.tooLarge(limit: 100_000)) { try await writer.append(FileCacheRig.bytes(20_000)) }
    #expect(try await writer.read(0..<90_000) == FileCacheRig.bytes(90_000))
    await #expect(throws: CacheError.tooLarge(limit: 100_000)) {
      _ = try await writer.commit(FileCacheRig.metadata(), forKey: "k")
    }
    let small = try #require(try await cache.entry(forKey: "small"))
    await #expect(throws: CacheError.tooLarge(limit: 100_000)) {
      let note = String(repeating: "n", count: 100_000)
      try await cache.update(small, to: FileCacheRig.metadata("https://example.com/a", note), forKey: "small")
    }
    #expect(try await cache.whole("small")?.bytes == FileCacheRig.bytes(50))
    #expect(try await cache.whole("small")?.metadata == small.metadata)
    #expect(try await cache.entry(forKey: "k") == nil)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    let key = String(repeating: "k", count: 17_000_000)
    await #expect(throws: CacheError.tooLarge(limit: 16_777_216)) {
      try await rig.open().store(FileCacheRig.entry(1), forKey: key)
    }
  }

  @Test("have files and folders that only their owner can read")
  func permissions() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    for length in [50, 300_000] { try await cache.store(FileCacheRig.entry(length), forKey: "\(length)") }
    let names = FileManager.default.enumerator(atPath: rig.path)?.compactMap { $0 as? String } ?? []
    #expect(names.count > 5)
    for name in names + [""] {
      let attributes = try FileManager.default.attributesOfItem(atPath: rig.path + "/" + name)
      let mode = try #require(attributes[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(name) has the permissions \(String(mode, radix: 8))")
    }
  }

  @Test("are not opened through a link in the place of the state file")
  func plantedState() async throws {
    let rig = try FileCacheRig()
    try await rig.open().close()
    try rig.folder.write(Array("a file of another program".utf8), to: "victim")
    try FileManager.default.removeItem(atPath: rig.path + "/larder.state")
    try FileManager.default.createSymbolicLink(
      atPath: rig.path + "/larder.state", withDestinationPath: rig.folder.file("victim"))
    #expect(throws: CacheError.self) { _ = try rig.open() }
    #expect(try String(contentsOfFile: rig.folder.file("victim"), encoding: .utf8) == "a file of another program")
  }

  @Test("of a closed cache stay readable where they are held; every call throws closed")
  func closing() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    let openEntry = try #require(try await cache.entry(forKey: "k"))
    let writer = try await cache.makeWriter()
    try await writer.append(FileCacheRig.bytes(100_000))
    await cache.close()
    await cache.close()
    await #expect(throws: CacheError.closed) { try await cache.entry(forKey: "k") }
    await #expect(throws: CacheError.closed) { try await cache.store(FileCacheRig.entry(1), forKey: "k") }
    await #expect(throws: CacheError.closed) { try await cache.removeAll() }
    await #expect(throws: CacheError.closed) { try await cache.removeEntry(forKey: "k") }
    await #expect(throws: CacheError.closed) { try await cache.update(openEntry, to: openEntry.metadata, forKey: "k") }
    await #expect(throws: CacheError.closed) { _ = try await cache.makeWriter() }
    await #expect(throws: CacheError.closed) { try await writer.append([1]) }
    #expect(throws: CacheError.closed) { try cache.usedBytes }
    #expect(throws: CacheError.closed) { try cache.count }
    #expect(try await openEntry.read(0..<200_000) == FileCacheRig.bytes(200_000))
    #expect(try await writer.read(0..<100_000) == FileCacheRig.bytes(100_000))
    #expect(rig.files(below: "larder.temporary").isEmpty)
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("need a path that can be a folder's", arguments: ["", "file", "file/below", "a\0b", "link"])
  func paths(name: String) throws {
    let folder = try TemporaryFolder()
    try folder.write([1], to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "/nowhere/at/all")
    let path = name.isEmpty ? "" : folder.path + "/" + name
    let failure = #expect(throws: CacheError.self) {
      try FileCache(path: path, encryptionKey: try RigKey.fromEnvironment())
    }
    guard case .failed(path, _)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(failure?.description.contains("The path is not a folder") == true)
  }

  @Test("lie in a folder that is made with those above it, or behind a link")
  func deepPaths() async throws {
    let folder = try TemporaryFolder()
    let cache = try FileCache(path: folder.file("a/b/c/d/"), encryptionKey: try RigKey.fromEnvironment())
    try await cache.store(FileCacheRig.entry(10), forKey: "k")
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("a/b/c/d"))
    let other = try FileCache(path: folder.file("link"), encryptionKey: try RigKey.fromEnvironment())
    #expect(try await other.whole("k")?.bytes == FileCacheRig.bytes(10))
  }
}

@Suite("Writing content into files", .timeLimit(.minutes(5)))
struct FileCacheWriterTests {
  @Test("is readable while it comes, whatever the pieces, and then is the entry", arguments: [1, 777, 65_536, 200_000])
  func appending(piece: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let bytes = FileCacheRig.bytes(piece == 1 ? 133_000 : 500_000)
    let writer = try await cache.makeWriter()
    for start in stride(from: 0, to: bytes.count, by: piece) {
      let end = min(start + piece, bytes.count)
      try await writer.append(Array(bytes[start..<end]))
      if piece > 1 || start % 9973 == 0 {
        #expect(try await writer.read(start..<end) == Array(bytes[start..<end]))
        #expect(try await writer.read(start / 2..<end) == Array(bytes[start / 2..<end]))
      }
    }
    try await writer.append([])
    #expect(try await cache.entry(forKey: "k") == nil)
    #expect(try cache.usedBytes == 0)
    let entry = try await writer.commit(FileCacheRig.metadata(), forKey: "k")
    #expect(entry.tier == .disk)
    #expect(try await entry.read(0..<entry.length) == bytes)
    #expect(try await cache.whole("k")?.bytes == bytes)
    // Those who read from it may not be done yet.
    #expect(try await writer.read(0..<bytes.count) == bytes)
    #expect(rig.files(below: "larder.temporary").count == 1)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    await #expect(throws: CacheError.self) { try await writer.append([1]) }
    await #expect(throws: CacheError.self) { _ = try await writer.commit(FileCacheRig.metadata(), forKey: "k") }
  }

  @Test("that is dropped leaves nothing", arguments: [10, 300_000])
  func dropping(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    do {
      let writer = try await cache.makeWriter()
      try await writer.append(FileCacheRig.bytes(length))
    }
    // The lock of this cache's own folder is left.
    #expect(rig.files(below: "larder.temporary").count == 1)
    #expect(rig.files().isEmpty)
    #expect(try cache.usedBytes == 0)
  }

  @Test("of no bytes at all is an entry too")
  func empty() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let entry = try await cache.makeWriter().commit(FileCacheRig.metadata(), forKey: "k")
    #expect(entry.length == 0)
    #expect(try await cache.whole("k")?.bytes == [])
  }

  @Test("with synchronization is the same")
  func synchronized() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(synchronizes: true)
    try await cache.store(FileCacheRig.entry(10), forKey: "small")
    try await cache.store(FileCacheRig.entry(100_000), forKey: "large")
    #expect(try await cache.whole("small")?.bytes == FileCacheRig.bytes(10))
    #expect(try await cache.whole("large")?.bytes == FileCacheRig.bytes(100_000))
  }

  @Test("may be many at once")
  func concurrent() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask { @concurrent in
          let length = number % 10 == 0 ? 150_000 : number * 7
          try await cache.store(FileCacheRig.entry(length, seed: UInt64(number)), forKey: "k\(number % 50)")
          _ = try await cache.whole("k\((number * 7) % 50)")
        }
      }
      try await group.waitForAll()
    }
    #expect(try cache.count == 50)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    for number in 0..<50 {
      let entry = try #require(try await cache.whole("k\(number)")).bytes
      let candidates = (0..<4).map { number + 50 * $0 }
      #expect(
        candidates.contains { entry == FileCacheRig.bytes($0 % 10 == 0 ? 150_000 : $0 * 7, seed: UInt64($0)) })
    }
  }
}
