import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCrashRig

/// Where no disk can be mounted the same tests run with system calls that fail as those of such a disk do.
@Suite("Disks that are full, read-only or missing", .serialized, .timeLimit(.minutes(5)))
struct RealDiskTests {
  @Test("a full disk fails with its name; what was complete is whole, and room makes it work again")
  func full() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let disk = try SmallDisk(bytes: 2 << 20)
    if disk == nil { print("no disk can be mounted here: system calls fail instead") }
    let path = disk.map { $0.path + "/cache" } ?? rig.path
    let cache = try FileCache(
      path: path, byteLimit: 1 << 30, faults: disk == nil ? plan.faults : nil,
      encryptionKey: try RigKey.fromEnvironment())
    var stored: [String: Int] = [:]
    var rejected = 0
    for number in 0..<60 {
      let length = number % 3 == 0 ? 200_000 : 10_000
      if number == 20 { plan.fail(.write, after: 2, ENOSPC, lasting: true) }
      do throws(CacheError) {
        try await cache.store(FileCacheRig.entry(length, seed: UInt64(number)), forKey: "k\(number)")
        stored["k\(number)"] = number
      } catch {
        #expect(error == .full(path: path))
        rejected += 1
      }
      for (key, seed) in stored {
        let length = seed % 3 == 0 ? 200_000 : 10_000
        #expect(try await cache.whole(key)?.bytes == FileCacheRig.bytes(length, seed: UInt64(seed)))
      }
    }
    #expect(rejected > 5 && stored.count > 5)
    #expect(try cache.count == stored.count)
    _ = plan.end()
    for number in 0..<12 { try await cache.removeEntry(forKey: "k\(number)") }
    try await cache.store(FileCacheRig.entry(200_000, seed: 99), forKey: "again")
    #expect(try await cache.whole("again")?.bytes == FileCacheRig.bytes(200_000, seed: 99))
    await cache.close()
  }

  @Test("a disk that becomes read-only returns its entries, and rejects all changes")
  func readOnly() async throws {
    let rig = try FileCacheRig()
    let disk = try SmallDisk(bytes: 2 << 20)
    if disk == nil { print("no disk can be mounted here: system calls fail instead") }
    let path = disk.map { $0.path + "/cache" } ?? rig.path
    let first = try FileCache(path: path, byteLimit: 1 << 30, encryptionKey: try RigKey.fromEnvironment())
    try await first.store(FileCacheRig.entry(10), forKey: "small")
    try await first.store(FileCacheRig.entry(200_000), forKey: "large")
    await first.close()
    if let disk { try #require(disk.remount("ro")) }
    let rejects: DiskFaults = { step in [.create, .write, .rename, .remove, .makeFolder].contains(step) ? EROFS : nil }
    let cache = try FileCache(
      path: path, byteLimit: 1 << 30, faults: disk == nil ? rejects : nil, encryptionKey: try RigKey.fromEnvironment())
    await cache.drained()
    #expect(try await cache.whole("small")?.bytes == FileCacheRig.bytes(10))
    let openEntry = try #require(try await cache.entry(forKey: "large"))
    #expect(try await openEntry.read(0..<200_000) == FileCacheRig.bytes(200_000))
    #expect(try cache.count == 2)
    let rejection = CacheError.readOnly(path: path)
    await #expect(throws: rejection) { try await cache.store(FileCacheRig.entry(10), forKey: "a") }
    await #expect(throws: rejection) { try await cache.removeEntry(forKey: "small") }
    await #expect(throws: rejection) { try await cache.removeAll() }
    await #expect(throws: rejection) { try await cache.update(openEntry, to: FileCacheRig.metadata(), forKey: "large") }
    await #expect(throws: rejection) { _ = try await cache.makeWriter() }
    await cache.close()
    let empty = disk.map { $0.path + "/other" } ?? rig.folder.file("other")
    #expect(throws: CacheError.readOnly(path: empty)) {
      try FileCache(
        path: empty, byteLimit: 1 << 30, faults: disk == nil ? rejects : nil,
        encryptionKey: try RigKey.fromEnvironment())
    }
    if let disk { try #require(disk.remount("rw")) }
    let last = try FileCache(path: path, encryptionKey: try RigKey.fromEnvironment())
    #expect(try await last.whole("large")?.bytes == FileCacheRig.bytes(200_000))
    await last.close()
  }

  @Test("files as long as a disk takes them are dropped, counted and evicted as others are")
  func longest() async throws {
    let rig = try FileCacheRig()
    let disk = try SmallDisk(bytes: 8 << 20)
    if disk == nil { print("no disk can be mounted here: the files are as long as this one takes them") }
    let place = try FileCacheRig(folder: rig.folder, path: disk.map { $0.path + "/cache" } ?? rig.path)
    let cache = try place.open(limit: 6_000_000)
    await cache.drained()
    for number in 0..<12 { try await cache.store(FileCacheRig.entry(200_000), forKey: "k\(number)") }
    var longest: UInt64 = 0
    for file in place.blobFiles { longest = try RealDiskTests.lengthen(place.path + "/" + file) }
    print("the longest file here: \(longest) bytes")
    for number in 0..<4 {
      await #expect(throws: CacheError.self) { try await cache.entry(forKey: "k\(number)") }
      #expect(try await cache.entry(forKey: "k\(number)") == nil)
    }
    for file in place.entryFiles.prefix(2) { _ = try RealDiskTests.lengthen(place.path + "/" + file) }
    // Counted again: they take more than there can be.
    try Data().write(to: URL(filePath: place.path + "/larder.temporary/dead.lock"))
    let again = try place.open(limit: 6_000_000)
    await again.drained()
    #expect(try again.usedBytes > 6_000_000)
    try await again.store(FileCacheRig.entry(200_000), forKey: "new")
    #expect(try await again.whole("new")?.bytes == FileCacheRig.bytes(200_000))
    #expect(try again.usedBytes <= 6_000_000)
    #expect(try again.usedBytes == place.bytesOnDisk)
    await cache.close()
    await again.close()
    #expect(place.diagnostics.all.isEmpty)
  }

  /// Creates a file as long as can be, without writing anything; returns its length.
  private static func lengthen(_ path: String) throws -> UInt64 {
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? handle.close() }
    var length = UInt64(Int64.max)
    while true {
      do {
        try handle.truncate(atOffset: length)
        return length
      } catch {
        length /= 2
        if length == 0 { throw error }
      }
    }
  }

  /// How a cache's folder goes away under it.
  enum Removal: CaseIterable, Sendable {
    /// The folder with all that is in it.
    case folder
    /// All that is in it, and not the folder.
    case content
    /// What it is recognised by.
    case state
    /// The place of files that are not complete.
    case temporary
  }

  @Test(
    "a folder that is removed while it is open is created again by the next change; open contents stay readable",
    arguments: Removal.allCases)
  func removedFolder(removal: Removal) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    let openEntry = try #require(try await cache.entry(forKey: "k"))
    let writer = try await cache.makeWriter()
    try await writer.append(FileCacheRig.bytes(200_000))
    try RealDiskTests.remove(removal, of: rig.path)
    if removal == .folder || removal == .content { #expect(try await cache.entry(forKey: "k") == nil) }
    #expect(try await openEntry.read(0..<200_000) == FileCacheRig.bytes(200_000))
    // What was begun in the folder before cannot end in the new one, and says so.
    let failure = await cacheError { _ = try await writer.commit(FileCacheRig.metadata(), forKey: "w") }
    #expect(failure?.description.contains("removed while the cache was open") == true, "\(String(describing: failure))")
    #expect(try await writer.read(0..<200_000) == FileCacheRig.bytes(200_000))
    for (key, length) in [("small", 10), ("large", 200_000)] {
      try await cache.store(FileCacheRig.entry(length, seed: 2), forKey: key)
      #expect(try await cache.whole(key)?.bytes == FileCacheRig.bytes(length, seed: 2))
    }
    let second = try await cache.makeWriter()
    try await second.append(FileCacheRig.bytes(200_000, seed: 3))
    _ = try await second.commit(FileCacheRig.metadata(), forKey: "written")
    await cache.drained()
    #expect(try cache.count == (removal == .temporary ? 4 : 3))
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    await cache.close()
    // Another process finds what was stored afterwards.
    let again = try rig.open()
    #expect(try await again.whole("small")?.bytes == FileCacheRig.bytes(10, seed: 2))
    #expect(try await again.whole("written")?.bytes == FileCacheRig.bytes(200_000, seed: 3))
    await again.close()
    #expect(rig.files(below: "larder.temporary").isEmpty)
  }

  private static func remove(_ removal: Removal, of path: String) throws {
    let files = FileManager.default
    switch removal {
    case .folder: try files.removeItem(atPath: path)
    case .content:
      for name in try files.contentsOfDirectory(atPath: path) { try files.removeItem(atPath: path + "/" + name) }
    case .state: try files.removeItem(atPath: path + "/larder.state")
    case .temporary: try files.removeItem(atPath: path + "/larder.temporary")
    }
  }

  @Test("A folder that another process has created again is used without a restart")
  func remade() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(10), forKey: "old")
    try FileManager.default.removeItem(atPath: rig.path)
    let other = try rig.open()
    try await other.store(FileCacheRig.entry(10, seed: 2), forKey: "new")
    #expect(try await cache.whole("new")?.bytes == FileCacheRig.bytes(10, seed: 2))
    #expect(try await cache.entry(forKey: "old") == nil)
    try await cache.removeEntry(forKey: "new")
    #expect(try await other.entry(forKey: "new") == nil)
    await cache.close()
    await other.close()
  }

  @Test("if a removed folder cannot be created again, the change reports why, and a later one retries")
  func notRemade() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    await cache.drained()
    try FileManager.default.removeItem(atPath: rig.path)
    plan.fail(.makeFolder, after: 0, ENOSPC, lasting: true)
    let failure = await cacheError { try await cache.store(FileCacheRig.entry(10), forKey: "k") }
    #expect(failure == .full(path: rig.path))
    #expect(plan.end() > 0)
    try await cache.store(FileCacheRig.entry(10), forKey: "k")
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(10))
    await cache.close()
    #expect(await cacheError { try await cache.store(FileCacheRig.entry(10), forKey: "k") } == .closed)
  }

  @Test("many tasks that meet a removed folder make one again together")
  func removedUnderLoad() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    await cache.drained()
    try FileManager.default.removeItem(atPath: rig.path)
    await withTaskGroup(of: CacheError?.self) { group in
      for number in 0..<16 {
        group.addTask {
          await cacheError {
            try await cache.store(FileCacheRig.entry(1000, seed: UInt64(number)), forKey: "k\(number)")
          }
        }
      }
      for await failure in group { #expect(failure == nil) }
    }
    for number in 0..<16 {
      #expect(try await cache.whole("k\(number)")?.bytes == FileCacheRig.bytes(1000, seed: UInt64(number)))
    }
    await cache.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: rig.path + "/larder.temporary")
    #expect(names.isEmpty, "\(names)")
  }
}
