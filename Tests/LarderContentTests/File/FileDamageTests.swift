import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCrashRig

@Suite("Damaged files of the cache", .timeLimit(.minutes(5)))
struct FileDamageTests {
  /// How a cache handles a damaged entry: true if it was rejected, and is removed afterwards.
  private static func isRejected(_ cache: FileCache, _ note: String) async -> Bool {
    do throws(CacheError) {
      guard let stored = try await cache.whole("k") else { return true }
      Issue.record("\(note): served \(stored.bytes.count) bytes")
      return false
    } catch {
      guard case .corrupt = error else {
        Issue.record("\(note): \(error)")
        return false
      }
    }
    // It is reported once.
    do throws(CacheError) {
      let again = try await cache.entry(forKey: "k")
      #expect(again == nil, "\(note): still there")
      return again == nil
    } catch {
      Issue.record("\(note): reported again: \(error)")
      return false
    }
  }

  /// Puts a file's bytes back, and looks the entry up where the next look is to know what was read last.
  private static func restore(
    _ bytes: [UInt8], _ file: String, _ rig: FileCacheRig, _ cache: FileCache, isKnown: Bool
  ) async throws {
    guard isKnown else { return }
    try rig.put(bytes, at: file)
    #expect(try await cache.entry(forKey: "k") != nil)
  }

  @Test("every flipped bit of a small entry is detected, and the entry is removed", arguments: [false, true])
  func everyBit(isKnown: Bool) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    let file = try #require(rig.entryFiles.first)
    let bytes = try rig.read(file)
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try await FileDamageTests.restore(bytes, file, rig, cache, isKnown: isKnown)
      try rig.put(damaged, at: file)
      guard await FileDamageTests.isRejected(cache, "bit \(bit)") else { return }
    }
    try rig.put(bytes, at: file)
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(20))
  }

  @Test("an entry truncated at any length, or with bytes behind it, is detected", arguments: [false, true])
  func everyLength(isKnown: Bool) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    let file = try #require(rig.entryFiles.first)
    let bytes = try rig.read(file)
    for length in 0..<bytes.count {
      try await FileDamageTests.restore(bytes, file, rig, cache, isKnown: isKnown)
      try rig.put(Array(bytes[..<length]), at: file)
      guard await FileDamageTests.isRejected(cache, "length \(length)") else { return }
    }
    for more in [1, 8, 20_000, 200_000] {
      try await FileDamageTests.restore(bytes, file, rig, cache, isKnown: isKnown)
      try rig.put(bytes + [UInt8](repeating: 0, count: more), at: file)
      guard await FileDamageTests.isRejected(cache, "\(more) bytes more") else { return }
    }
  }

  @Test(
    "flipped bits and truncations of larger entries, and bytes behind them, are detected",
    arguments: [30_000, 100_000, 131_072], [false, true])
  func sampledInline(length: Int, isKnown: Bool) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let file = try #require(rig.entryFiles.first)
    let bytes = try rig.read(file)
    var random = PrintedSeed(for: "sampled damage")
    for _ in 0..<150 {
      var damaged = bytes
      let place = Int(random.next() % UInt64(bytes.count))
      switch random.next() % 4 {
      case 0: damaged[place] ^= 1 << UInt8(random.next() % 8)
      case 1: damaged.removeSubrange(place...)
      case 2: damaged += damaged[place...]
      default:
        // A sector of zeros, as after a loss of power.
        for zero in place..<min(place + 512, bytes.count) { damaged[zero] = 0 }
      }
      try await FileDamageTests.restore(bytes, file, rig, cache, isKnown: isKnown)
      try rig.put(damaged, at: file)
      guard await FileDamageTests.isRejected(cache, "at \(place)") else { return }
    }
  }

  @Test("entries whose file ends just where the first read ends are whole, and not with a byte less or more")
  func firstRead() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(0), forKey: "k")
    let head = rig.bytesOnDisk
    for length in 20_478 - head...20_482 - head {
      try await cache.store(FileCacheRig.entry(length), forKey: "k")
      let file = try #require(rig.entryFiles.first)
      let bytes = try rig.read(file)
      #expect(bytes.count == head + length)
      for isKnown in [false, true] {
        #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(length))
        for other in [Array(bytes.dropLast()), bytes + [0], Array(bytes.prefix(20_479)), bytes + bytes]
        where other != bytes {
          try await FileDamageTests.restore(bytes, file, rig, cache, isKnown: isKnown)
          try rig.put(other, at: file)
          guard await FileDamageTests.isRejected(cache, "\(length) as \(other.count)") else { return }
        }
        try rig.put(bytes, at: file)
      }
    }
  }

  @Test("what another cache puts in an entry's place is seen, however alike it is", arguments: [5, 40_000, 200_000])
  func replaced(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let other = try rig.open()
    for round in 0..<6 {
      let seed = UInt64(round / 2)
      let entry = FileCacheRig.entry(length, seed: seed, note: "\(round)")
      if round % 2 == 0 {
        try await other.store(entry, forKey: "k")
      } else {
        // The content stays, and so do the lengths.
        let present = try #require(try await other.entry(forKey: "k"))
        try await other.update(present, to: entry.metadata, forKey: "k")
      }
      for _ in 0..<2 {
        let stored = try await cache.whole("k")
        #expect(stored?.metadata == entry.metadata)
        #expect(stored?.bytes == FileCacheRig.bytes(length, seed: seed))
        #expect(try await cache.entry(forKey: "k")?.rules.etag == "\"\(round)\"")
      }
    }
    try await other.removeEntry(forKey: "k")
    #expect(try await cache.entry(forKey: "k") == nil)
  }

  @Test("all of a content at once is as whole as its pieces", arguments: [1, 65_536, 131_073, 300_000, 1_000_000])
  func atOnce(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let content = FileCacheRig.bytes(length)
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let entry = try #require(try await cache.entry(forKey: "k"))
    #expect(try await entry.getData() == Data(content))
    for begun in [0, 1, 65_536, 100_000, length] where begun <= length {
      #expect(try await entry.readAll(behind: Array(content[..<begun])) == content)
    }
    guard let blob = rig.blobFiles.first else { return }
    var damaged = try rig.read(blob)
    damaged[length - 1] ^= 1
    try rig.write(damaged, to: blob)
    await #expect(throws: CacheError.self) { try await entry.getData() }
    #expect(try await cache.entry(forKey: "k") == nil)
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let again = try #require(try await cache.entry(forKey: "k"))
    let other = try #require(rig.blobFiles.first)
    damaged = try rig.read(other)
    damaged[length - 1] ^= 1
    try rig.write(damaged, to: other)
    await #expect(throws: CacheError.self) { try await again.readAll(behind: Array(content[..<65_536])) }
    #expect(try await cache.entry(forKey: "k") == nil)
  }

  @Test("Content is returned up to the damaged block, and the entry is removed")
  func blobs() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    let length = 500_000
    let content = FileCacheRig.bytes(length)
    var random = PrintedSeed(for: "blob damage")
    for round in 0..<60 {
      try await cache.store(FileCacheRig.entry(length), forKey: "k")
      let file = try #require(rig.blobFiles.first)
      var damaged = try rig.read(file)
      let place = Int(random.next() % UInt64(length))
      damaged[place] ^= 1 << UInt8(random.next() % 8)
      let entry = try #require(try await cache.entry(forKey: "k"))
      try rig.write(damaged, to: file)
      var served: [UInt8] = []
      let failure = await #expect(throws: CacheError.self) {
        while served.count < length {
          let piece = round % 2 == 0 ? 65_536 : 10_000
          served += try await entry.read(served.count..<served.count + piece)
        }
      }
      guard case .corrupt? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(served == Array(content[..<served.count]))
      #expect(served.count <= place && served.count >= place / 65_536 * 65_536 - 65_536)
      #expect(try await cache.entry(forKey: "k") == nil)
      #expect(rig.files().isEmpty)
    }
    #expect(try cache.usedBytes == 0)
  }

  @Test("A content file that is truncated, too long, missing or foreign is detected", arguments: 0..<5, [false, true])
  func blobFile(how: Int, isKnown: Bool) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    let file = try #require(rig.blobFiles.first)
    let bytes = try rig.read(file)
    if isKnown { #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(200_000)) }
    switch how {
    case 0: try rig.write(Array(bytes[..<199_999]), to: file)
    case 1: try rig.write(bytes + [0], to: file)
    case 2: try FileManager.default.removeItem(atPath: rig.path + "/" + file)
    case 3:
      // One block stands in for another.
      try rig.write(Array(bytes[65_536..<131_072] + bytes[65_536...]), to: file)
    default:
      // The content of another entry, whole in itself.
      try await cache.store(FileCacheRig.entry(200_000, seed: 2), forKey: "other")
      let other = try #require(rig.blobFiles.first { $0 != file })
      try rig.write(try rig.read(other), to: file)
    }
    #expect(await FileDamageTests.isRejected(cache, "how \(how)"))
    #expect(rig.files().count == (how == 4 ? 2 : 0))
    if how == 4 { #expect(try await cache.whole("other")?.bytes == FileCacheRig.bytes(200_000, seed: 2)) }
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(200_000))
  }

  @Test("with the damaged head of a large entry its content's file goes too", arguments: [false, true])
  func damagedHead(isKnown: Bool) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    for key in ["k", "other"] { try await cache.store(FileCacheRig.entry(200_000), forKey: key) }
    let place = try cache.filePath(of: "k")
    let bytes = try rig.read(place)
    for damaged in [Array(bytes.dropLast()), bytes + [0], [], Array(bytes[..<40]) + [1] + Array(bytes[41...])] {
      try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
      if isKnown { _ = try await cache.entry(forKey: "k") }
      try rig.put(damaged, at: place)
      #expect(await FileDamageTests.isRejected(cache, "\(damaged.count) bytes"))
      #expect(rig.files().count == 2)
      #expect(try cache.usedBytes == rig.bytesOnDisk)
      #expect(try cache.count == 1)
    }
    #expect(try await cache.whole("other")?.bytes == FileCacheRig.bytes(200_000))
  }

  @Test("an entry's file under the name of another key is not that key's")
  func otherKey() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20, seed: 1), forKey: "a")
    let first = try #require(rig.entryFiles.first)
    try await cache.store(FileCacheRig.entry(20, seed: 2), forKey: "b")
    let second = try #require(rig.entryFiles.first { $0 != first })
    for key in ["a", "b"] { _ = try await cache.entry(forKey: key) }
    try rig.put(try rig.read(first), at: second)
    // Without a key its own one stands in it; with one it is damage, as whatever was not written under this name.
    do throws(CacheError) {
      #expect(try await cache.entry(forKey: "b") == nil)
      #expect(!RigKey.isUsed)
    } catch {
      guard case .corrupt = error, RigKey.isUsed else { throw error }
    }
    #expect(try await cache.entry(forKey: "b") == nil)
    #expect(rig.entryFiles.contains(second) == !RigKey.isUsed)
    #expect(try await cache.whole("a")?.bytes == FileCacheRig.bytes(20, seed: 1))
    try await cache.store(FileCacheRig.entry(20, seed: 2), forKey: "b")
    #expect(try await cache.whole("b")?.bytes == FileCacheRig.bytes(20, seed: 2))
  }

  @Test("A damaged state file is counted again or empties the folder; entries are never wrong")
  func state() async throws {
    var random = PrintedSeed(for: "state damage")
    var storedCount = 0
    for round in 0..<40 {
      let rig = try FileCacheRig()
      let cache = try rig.open()
      for number in 0..<8 { try await cache.store(FileCacheRig.entry(30_000 * number, seed: 9), forKey: "k\(number)") }
      await cache.close()
      var bytes = try rig.read("larder.state")
      if round % 4 == 0 {
        bytes.removeSubrange(Int(random.next() % UInt64(bytes.count))...)
      } else {
        let place = round % 4 == 1 ? Int(random.next() % 64) : Int(random.next() % UInt64(bytes.count))
        for other in place..<min(place + 400, bytes.count) { bytes[other] = UInt8(truncatingIfNeeded: random.next()) }
      }
      try rig.write(bytes, to: "larder.state")
      let again = try rig.open()
      await again.drained()
      for number in 0..<8 {
        guard let stored = try await again.whole("k\(number)") else { continue }
        storedCount += 1
        #expect(stored.bytes == FileCacheRig.bytes(30_000 * number, seed: 9))
      }
      #expect(try again.usedBytes == rig.bytesOnDisk)
      #expect(try again.count == rig.entryFiles.count)
      #expect(rig.files(below: "larder.removed").isEmpty)
      try await again.store(FileCacheRig.entry(10), forKey: "k")
      #expect(try await again.whole("k")?.bytes == FileCacheRig.bytes(10))
    }
    #expect(storedCount > 0)
  }

  @Test("a folder of a later version is neither opened nor emptied, and stays as it is")
  func laterVersion() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(10), forKey: "k")
    await cache.close()
    var bytes = try rig.read("larder.state")
    bytes[7] = UInt8(ascii: "2")
    try rig.write(bytes, to: "larder.state")
    let opening = await cacheError { try await rig.open().close() }
    let clearing = await cacheError { try FileCache.clear(path: rig.path) }
    for failure in [opening, clearing] {
      guard case .notSupported(let what)? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(what.contains(rig.path) && what.contains("delete the folder"))
    }
    #expect(try rig.read("larder.state") == bytes)
    #expect(rig.entryFiles.count == 1)
  }

  @Test(
    "A folder that a later version has created again is not changed by caches that had it open",
    arguments: [10, 200_000])
  func laterMeanwhile(length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    await cache.drained()
    var bytes = try rig.read("larder.state")
    bytes[7] = UInt8(ascii: "2")
    try rig.write(bytes, to: "larder.state")
    let failure = await cacheError { try await cache.store(FileCacheRig.entry(length), forKey: "k") }
    #expect(failure?.description.contains("open it again") == true)
    #expect(rig.files().isEmpty)
  }
}

@Suite("Foreign files in the cache's folder", .timeLimit(.minutes(5)))
struct ForeignFileTests {
  enum Guest: String, CaseIterable, Sendable {
    case emptyFile, text, emptyFolder, fullFolder, deepFolder, danglingLink, linkToEntry, linkToFolder, pipe, huge
  }

  @Test("in the place of an entry are no entry, block nothing and make room for one", arguments: Guest.allCases)
  func guest(_ guest: Guest) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "other")
    let other = try #require(rig.entryFiles.first)
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    _ = try await cache.entry(forKey: "k")
    let file = try #require(rig.entryFiles.first { $0 != other })
    let place = rig.path + "/" + file
    for isRead in [true, false] {
      try? FileManager.default.removeItem(atPath: place)
      try put(guest, at: place, other: rig.path + "/" + other, folder: rig.folder)
      if isRead {
        do throws(CacheError) {
          #expect(try await cache.entry(forKey: "k") == nil)
        } catch {
          guard case .corrupt = error else {
            Issue.record("\(error)")
            return
          }
        }
        #expect(try await cache.entry(forKey: "k") == nil)
        #expect(!FileManager.default.fileExists(atPath: place))
      } else {
        try await cache.store(FileCacheRig.entry(30, seed: 3), forKey: "k")
        #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(30, seed: 3))
      }
    }
    try await cache.removeEntry(forKey: "k")
    #expect(try await cache.whole("other")?.bytes == FileCacheRig.bytes(20))
    #expect(FileManager.default.fileExists(atPath: rig.folder.file("kept/file")))
    await cache.close()
    let again = try rig.open()
    await again.drained()
    #expect(rig.files(below: "larder.removed").isEmpty)
  }

  private func put(_ guest: Guest, at place: String, other: String, folder: TemporaryFolder) throws {
    let files = FileManager.default
    let storedCount = folder.file("kept")
    try files.createDirectory(atPath: storedCount, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: storedCount + "/file"))
    switch guest {
    case .emptyFile: try Data().write(to: URL(filePath: place))
    case .text: try Data("hello\n".utf8).write(to: URL(filePath: place))
    case .huge:
      let bytes = Data(repeating: 0x4C, count: 30_000_000)
      try bytes.write(to: URL(filePath: place))
    case .emptyFolder: try files.createDirectory(atPath: place, withIntermediateDirectories: false)
    case .fullFolder:
      try files.createDirectory(atPath: place, withIntermediateDirectories: false)
      try Data([1]).write(to: URL(filePath: place + "/x"))
    case .deepFolder:
      let deep = (0..<60).map { "d\($0)" }.joined(separator: "/")
      try files.createDirectory(atPath: place + "/" + deep, withIntermediateDirectories: true)
      try files.createSymbolicLink(atPath: place + "/" + deep + "/link", withDestinationPath: storedCount)
    case .danglingLink: try files.createSymbolicLink(atPath: place, withDestinationPath: "/nowhere/at/all")
    case .linkToEntry: try files.createSymbolicLink(atPath: place, withDestinationPath: other)
    case .linkToFolder: try files.createSymbolicLink(atPath: place, withDestinationPath: storedCount)
    case .pipe: try #require(mkfifo(place, 0o600) == 0)
    }
  }

  @Test("in the place of a shelf, or beside the entries, harm nothing")
  func shelf() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    let file = try #require(rig.entryFiles.first)
    let shelf = rig.path + "/" + file.split(separator: "/").dropLast().joined(separator: "/")
    try Data([1]).write(to: URL(filePath: shelf + "/.DS_Store"))
    try Data([1]).write(to: URL(filePath: shelf + "/0123456789abcdef0123456789abcZ"))
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(20))
    try FileManager.default.removeItem(atPath: shelf)
    try Data([1]).write(to: URL(filePath: shelf))
    #expect(try await cache.entry(forKey: "k") == nil)
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(20))
  }

  enum Change: CaseIterable, Sendable { case none, store, update, remove, removeAll, count, evict }

  @Test(
    "are not followed, read or changed behind a link in the place of a shelf", arguments: Change.allCases,
    [20, 200_000])
  func linkedShelf(change: Change, length: Int) async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open(limit: 1_000_000)
    await cache.drained()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let seen = try #require(try await cache.entry(forKey: "k"))
    let file = try #require(rig.entryFiles.first)
    let shelf = rig.path + "/" + file.split(separator: "/").dropLast().joined(separator: "/")
    let elsewhere = rig.folder.file("elsewhere")
    try FileManager.default.moveItem(atPath: shelf, toPath: elsewhere)
    try FileManager.default.createSymbolicLink(atPath: shelf, withDestinationPath: elsewhere)
    func behind() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: elsewhere)) ?? []).sorted() }
    let before = behind()
    // Another cache knows nothing of what was read before.
    let other = try rig.open(limit: 1_000_000)
    await other.drained()
    #expect(try await other.entry(forKey: "k") == nil)
    switch change {
    case .none: break
    case .store: try await cache.store(FileCacheRig.entry(30, seed: 3), forKey: "k")
    case .update: try await cache.update(seen, to: FileCacheRig.metadata("https://example.com/a", "n"), forKey: "k")
    case .remove: try await cache.removeEntry(forKey: "k")
    case .removeAll: try await cache.removeAll()
    case .count:
      try Data().write(to: URL(filePath: rig.path + "/larder.temporary/dead.lock"))
      let third = try rig.open()
      await third.drained()
      #expect(try third.usedBytes == 0)
      await third.close()
    case .evict:
      for number in 0..<6 { try await cache.store(FileCacheRig.entry(300_000), forKey: "n\(number)") }
      #expect(try cache.usedBytes <= 1_000_000)
    }
    await cache.drained()
    #expect(behind() == before)
    let stored = try await other.whole("k")?.bytes
    #expect(stored == (change == .store ? FileCacheRig.bytes(30, seed: 3) : nil))
    if change == .store || change == .count { #expect(try cache.usedBytes == rig.bytesOnDisk) }
    #expect(rig.diagnostics.all.isEmpty)
  }

  @Test("in the place of the folder of all shelves, as a link, are not followed")
  func linkedShelves() async throws {
    let rig = try FileCacheRig()
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    await cache.close()
    let elsewhere = rig.folder.file("elsewhere")
    try FileManager.default.moveItem(atPath: rig.path + "/larder.entries", toPath: elsewhere)
    try FileManager.default.createSymbolicLink(
      atPath: rig.path + "/larder.entries", withDestinationPath: elsewhere)
    let again = try rig.open()
    await again.drained()
    #expect(try await again.entry(forKey: "k") == nil)
    try await again.store(FileCacheRig.entry(30), forKey: "k")
    #expect(try await again.whole("k")?.bytes == FileCacheRig.bytes(30))
    #expect(FileManager.default.enumerator(atPath: elsewhere)?.allObjects.count == 2)
    #expect(rig.files(below: "larder.removed").isEmpty)
  }

  @Test("in the cache's folder itself stay")
  func beside() async throws {
    let rig = try FileCacheRig()
    try FileManager.default.createDirectory(atPath: rig.path + "/mine", withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: rig.path + "/mine/file"))
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    try await cache.removeAll()
    await cache.close()
    #expect(FileManager.default.fileExists(atPath: rig.path + "/mine/file"))
  }
}
