import ContentCache
import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import CrashRig

/// A small disk of its own where this user may mount one.
private final class SmallDisk {
  let path: String
  private let folder: TemporaryFolder

  /// Nil where nothing may be mounted here.
  init?(bytes: Int) throws {
    folder = try TemporaryFolder()
    path = folder.file("disk")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", path) else { return nil }
  }

  func remount(_ option: String) -> Bool { SmallDisk.run("mount", "-o", "remount,\(option)", path) }

  deinit { _ = SmallDisk.run("umount", "-l", path) }

  private static func run(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

/// Where no disk can be mounted the same tests run with system calls that fail as those of such a disk do.
@Suite("Disks that are full, read-only or gone", .serialized, .timeLimit(.minutes(5)))
struct RealDiskTests {
  @Test("a full disk fails with its name; what was complete is whole, and room makes it work again")
  func full() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let disk = try SmallDisk(bytes: 2 << 20)
    if disk == nil { print("no disk can be mounted here: system calls fail instead") }
    let path = disk.map { $0.path + "/cache" } ?? rig.path
    let cache = try FileCache(
      path: path, limit: 1 << 30, faults: disk == nil ? plan.faults : nil, key: try RigKey.fromEnvironment())
    var stored: [String: Int] = [:]
    var refused = 0
    for number in 0..<60 {
      let length = number % 3 == 0 ? 200_000 : 10_000
      if number == 20 { plan.fail(.write, after: 2, ENOSPC, lasting: true) }
      do throws(CacheError) {
        try await cache.store(FileCacheRig.entry(length, seed: UInt64(number)), forKey: "k\(number)")
        stored["k\(number)"] = number
      } catch {
        #expect(error == .full(path: path))
        refused += 1
      }
      for (key, seed) in stored {
        let length = seed % 3 == 0 ? 200_000 : 10_000
        #expect(try await cache.whole(key)?.bytes == FileCacheRig.bytes(length, seed: UInt64(seed)))
      }
    }
    #expect(refused > 5 && stored.count > 5)
    #expect(try cache.count == stored.count)
    _ = plan.end()
    for number in 0..<12 { try await cache.removeEntry(forKey: "k\(number)") }
    try await cache.store(FileCacheRig.entry(200_000, seed: 99), forKey: "again")
    #expect(try await cache.whole("again")?.bytes == FileCacheRig.bytes(200_000, seed: 99))
    await cache.close()
  }

  @Test("a disk that becomes read-only gives what it holds, and refuses all changes")
  func readOnly() async throws {
    let rig = try FileCacheRig()
    let disk = try SmallDisk(bytes: 2 << 20)
    if disk == nil { print("no disk can be mounted here: system calls fail instead") }
    let path = disk.map { $0.path + "/cache" } ?? rig.path
    let first = try FileCache(path: path, limit: 1 << 30, key: try RigKey.fromEnvironment())
    try await first.store(FileCacheRig.entry(10), forKey: "small")
    try await first.store(FileCacheRig.entry(200_000), forKey: "large")
    await first.close()
    if let disk { try #require(disk.remount("ro")) }
    let refuses: DiskFaults = { step in [.create, .write, .rename, .remove, .makeFolder].contains(step) ? EROFS : nil }
    let cache = try FileCache(
      path: path, limit: 1 << 30, faults: disk == nil ? refuses : nil, key: try RigKey.fromEnvironment())
    await cache.drained()
    #expect(try await cache.whole("small")?.bytes == FileCacheRig.bytes(10))
    let held = try #require(try await cache.entry(forKey: "large"))
    #expect(try await held.read(0..<200_000) == FileCacheRig.bytes(200_000))
    #expect(try cache.count == 2)
    let refusal = CacheError.readOnly(path: path)
    await #expect(throws: refusal) { try await cache.store(FileCacheRig.entry(10), forKey: "a") }
    await #expect(throws: refusal) { try await cache.removeEntry(forKey: "small") }
    await #expect(throws: refusal) { try await cache.removeAll() }
    await #expect(throws: refusal) { try await cache.update(held, to: FileCacheRig.metadata(), forKey: "large") }
    await #expect(throws: refusal) { _ = try await cache.makeWriter() }
    await cache.close()
    let empty = disk.map { $0.path + "/other" } ?? rig.folder.file("other")
    #expect(throws: CacheError.readOnly(path: empty)) {
      try FileCache(path: empty, limit: 1 << 30, faults: disk == nil ? refuses : nil, key: try RigKey.fromEnvironment())
    }
    if let disk { try #require(disk.remount("rw")) }
    let last = try FileCache(path: path, key: try RigKey.fromEnvironment())
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

  /// Makes a file as long as can be, without writing anything; answers its length.
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

  @Test("a folder that is removed while it is open: no entries, a word of advice, held contents stay readable")
  func removedFolder() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    let held = try #require(try await cache.entry(forKey: "k"))
    let writer = try await cache.makeWriter()
    try await writer.append(FileCacheRig.bytes(200_000))
    try FileManager.default.removeItem(atPath: rig.path)
    #expect(try await cache.entry(forKey: "k") == nil)
    #expect(try await held.read(0..<200_000) == FileCacheRig.bytes(200_000))
    for key in ["a", "k"] {
      let failure = await #expect(throws: CacheError.self) {
        try await cache.store(FileCacheRig.entry(10), forKey: key)
      }
      #expect(failure?.description.contains("removed while it was open") == true)
    }
    await #expect(throws: CacheError.self) { _ = try await writer.commit(FileCacheRig.metadata(), forKey: "w") }
    #expect(try await writer.read(0..<200_000) == FileCacheRig.bytes(200_000))
    try await cache.removeEntry(forKey: "k")
    await cache.close()
    let again = try rig.open()
    try await again.store(FileCacheRig.entry(10), forKey: "a")
    #expect(try await again.whole("a")?.bytes == FileCacheRig.bytes(10))
  }
}
