import Foundation
import LarderContent
import LarderHTTP
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

@Suite("A folder of a cache with a key", .timeLimit(.minutes(5)))
struct FileEncryptionTests {
  let rig: FileCacheRig
  private let key: StorageKey

  init() throws {
    key = try RigKey.make()
    var rig = try FileCacheRig()
    rig.key = key
    self.rig = rig
  }

  /// What opening says; nil where it opens.
  private func rejection(_ key: StorageKey?) async -> CacheError? {
    await cacheError { try await FileCache(path: rig.path, encryptionKey: key).close() }
  }

  private func fill(_ key: StorageKey?) async throws {
    let cache = try FileCache(path: rig.path, encryptionKey: key)
    try await cache.store(FileCacheRig.entry(500, seed: 1), forKey: "small")
    try await cache.store(FileCacheRig.entry(200_000, seed: 2), forKey: "large")
    await cache.close()
  }

  private func isWhole(_ key: StorageKey?) async throws -> Bool {
    let cache = try FileCache(path: rig.path, encryptionKey: key)
    let (small, large) = (try await cache.whole("small")?.bytes, try await cache.whole("large")?.bytes)
    await cache.close()
    return small == FileCacheRig.bytes(500, seed: 1) && large == FileCacheRig.bytes(200_000, seed: 2)
  }

  /// Every file, with its bytes.
  private var everything: [String: Data] {
    let names = FileManager.default.enumerator(atPath: rig.path)?.allObjects.compactMap { $0 as? String } ?? []
    return names.reduce(into: [:]) { $0[$1] = try? Data(contentsOf: URL(filePath: rig.path + "/" + $1)) }
  }

  @Test(
    "another key, no key, and a key for a plain folder have different errors with a remedy; the folder is unchanged")
  func wrongKeys() async throws {
    try await fill(key)
    let before = everything
    #expect(await rejection(nil) == .encrypted(path: rig.path))
    #expect(await rejection(try StorageKey(passphrase: "wrong".utf8)) == .wrongKey(path: rig.path))
    #expect(await rejection(try StorageKey(bytes: [UInt8](repeating: 1, count: 32))) == .wrongKey(path: rig.path))
    #expect(everything == before)
    #expect(try await isWhole(key))
    try FileManager.default.removeItem(atPath: rig.path)
    try await fill(nil)
    let plain = everything
    #expect(await rejection(key) == .notEncrypted(path: rig.path))
    #expect(everything == plain)
    #expect(try await isWhole(nil))
  }

  @Test("a passphrase opens it again, and its bytes as a key do not")
  func passphrase() async throws {
    let text = Array("a passphrase of 32 bytes exactly".utf8)
    try await fill(try StorageKey(passphrase: text))
    #expect(try await isWhole(try StorageKey(passphrase: text)))
    #expect(await rejection(try StorageKey(bytes: text)) == .wrongKey(path: rig.path))
  }

  @Test("A read-only folder is readable with its key, and with no other")
  func readOnly() async throws {
    try await fill(key)
    let rejects: DiskFaults = { step in [.create, .write, .rename, .remove].contains(step) ? EROFS : nil }
    let cache = try rig.open(faults: rejects)
    #expect(try await cache.whole("large")?.bytes == FileCacheRig.bytes(200_000, seed: 2))
    await cache.close()
    let other = try StorageKey(bytes: [UInt8](repeating: 1, count: 32))
    #expect(throws: CacheError.wrongKey(path: rig.path)) {
      try FileCache(path: rig.path, byteLimit: 1 << 30, faults: rejects, encryptionKey: other)
    }
  }

  @Test("two folders with one key share no name and no content")
  func folders() async throws {
    try await fill(key)
    let first = rig.files()
    let contents = Set(first.keys.compactMap { try? rig.read($0) })
    try FileManager.default.removeItem(atPath: rig.path)
    try await fill(key)
    #expect(Set(first.keys).isDisjoint(with: rig.files().keys))
    #expect(contents.isDisjoint(with: rig.files().keys.compactMap { try? rig.read($0) }))
  }

  @Test("an emptied folder opens with another key, with none, and with the one before; who had it open stores no more")
  func clearing() async throws {
    try FileCache.clear(path: rig.path)
    let other = try StorageKey(passphrase: "another".utf8)
    for next in [key, other, nil, key] {
      try await fill(next)
      #expect(try await isWhole(next))
      try FileCache.clear(path: rig.path)
      #expect(rig.files().isEmpty && rig.files(below: "larder.removed").isEmpty)
    }
    let open = try FileCache(path: rig.path)
    try await open.store(FileCacheRig.entry(10), forKey: "plain")
    try FileCache.clear(path: rig.path)
    let keyed = try rig.open()
    let failure = await cacheError { try await open.store(FileCacheRig.entry(10), forKey: "plain") }
    #expect(failure?.description.contains("open it again") == true)
    #expect(try keyed.count == 0)
    #expect(rig.entryFiles.isEmpty)
  }

  /// Looks through the folder at each step of a cache's once it is armed, so also between a file's writing and its end.
  private final class Watch: Sendable {
    private let search: Mutex<MarkerSearch?> = Mutex(nil)

    func begin(_ search: MarkerSearch) { self.search.withLock { $0 = search } }
    func look(in folder: String) { search.withLock { $0?.look(in: folder) } }
    var matches: [String] { search.withLock { $0?.matches ?? [] } }
  }

  /// An entry of which each KiB holds a word, and its URL another.
  private static func marked(_ word: String, _ count: Int) -> CacheEntry {
    let line = Array((word + String(repeating: ".", count: 1024 - word.utf8.count)).utf8)
    let bytes = (0..<(count + 1023) / 1024).flatMap { _ in line }.prefix(count)
    return CacheEntry(metadata: FileCacheRig.metadata("https://example.com/\(word)-url", word), bytes: Array(bytes))
  }

  @Test("who had a plain folder open that is encrypted by now writes not a byte of what it is given into it")
  func plainWriter() async throws {
    let word = "Merkwort-51c0"
    let watch = Watch()
    let folder = rig.path
    let open = try FileCache(
      path: folder, byteLimit: 1 << 30,
      faults: { _ in
        watch.look(in: folder)
        return nil
      })
    await open.drained()
    // One has begun a file that lies there in plain text, the other none yet.
    let begun = try await open.makeWriter()
    try await begun.append([UInt8](repeating: 1, count: 200_000))
    let empty = try await open.makeWriter()
    try FileCache.clear(path: folder)
    let keyed = try rig.open()
    await keyed.drained()
    watch.begin(MarkerSearch(for: [word]))
    for count in [500, 100_000, 300_000] {
      let entry = FileEncryptionTests.marked(word, count)
      let failure = await cacheError { try await open.store(entry, forKey: "k") }
      #expect(failure?.description.contains("open it again") == true, "\(count) bytes")
    }
    for writer in [begun, empty] {
      let bytes = try await FileEncryptionTests.marked(word, 300_000).allBytes()
      let failure = await cacheError { try await writer.append(bytes) }
      #expect(failure?.description.contains("open it again") == true)
      watch.look(in: folder)
    }
    #expect(watch.matches == [])
    #expect(try keyed.count == 0)
    await open.close()
    await keyed.close()
  }

  // MARK: Damage

  /// What the cache gives: whole, a miss, or `corrupt`; anything else is an issue. True where it is still there.
  private func look(_ cache: FileCache, _ key: String, _ bytes: [UInt8], _ note: String) async -> Bool {
    do throws(CacheError) {
      guard let entry = try await cache.whole(key) else { return false }
      #expect(entry.bytes == bytes, "\(note)")
      return true
    } catch {
      guard case .corrupt = error else {
        Issue.record("\(note): \(error)")
        return false
      }
      // The file is gone with the word.
      do throws(CacheError) { #expect(try await cache.entry(forKey: key) == nil, "\(note)") } catch {
        Issue.record("\(note): reported again: \(error)")
      }
      return false
    }
  }

  @Test(
    "every flipped bit of an entry's file is detected, of one beside its content each seventh",
    arguments: [20, 131_073])
  func entryBits(length: Int) async throws {
    try await flip(in: length, { try #require(rig.entryFiles.first) }) { bits in
      Array(stride(from: 0, to: bits, by: length == 20 ? 1 : 7))
    }
  }

  @Test("flipped bits of a content's file are detected: each of its first and last bytes, and each 2999th")
  func blobBits() async throws {
    try await flip(in: 140_000, { try #require(rig.blobFiles.first) }) { bits in
      Array(0..<128) + Array(bits - 128..<bits) + Array(stride(from: 128, to: bits, by: 2999))
    }
  }

  /// Keeps a content, then flips one bit after another of one of its files: each must make the entry a miss or `corrupt`.
  private func flip(
    in length: Int, _ file: () throws -> String, _ choose: (_ bits: Int) -> [Int]
  ) async throws {
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let file = try file()
    let files = try rig.files().keys.map { ($0, try rig.read($0)) }
    let bytes = try rig.read(file)
    for bit in choose(bytes.count * 8) {
      for (name, content) in files { try rig.put(content, at: name) }
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try rig.put(damaged, at: file)
      if await look(cache, "k", FileCacheRig.bytes(length), "bit \(bit)") {
        Issue.record("bit \(bit) made no difference")
        return
      }
    }
  }

  @Test(
    "every flipped bit of the state's header is a new folder or a typed error, and of a slot a number counted again")
  func stateBits() async throws {
    let first = try rig.open()
    try await first.store(FileCacheRig.entry(500), forKey: "k")
    await first.close()
    let files = try rig.files().keys.map { ($0, try rig.read($0)) }
    let state = try rig.read("larder.state")
    for bit in Array(0..<64 * 8) + Array(stride(from: 64 * 8, to: state.count * 8, by: 331)) {
      var damaged = state
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try rig.write(damaged, to: "larder.state")
      do throws(CacheError) {
        let cache = try rig.open()
        let isThere = await look(cache, "k", FileCacheRig.bytes(500), "bit \(bit)")
        #expect(isThere == (bit >= 64 * 8), "bit \(bit)")
        await cache.drained()
        await cache.close()
      } catch {
        // The version's digit became a later one's.
        guard case .notSupported = error else {
          Issue.record("bit \(bit): \(error)")
          return
        }
      }
      for (name, content) in files {
        let folder = String(name[..<(name.lastIndex(of: "/") ?? name.endIndex)])
        try FileManager.default.createDirectory(
          atPath: rig.path + "/" + folder, withIntermediateDirectories: true)
        try rig.put(content, at: name)
      }
      try rig.write(state, to: "larder.state")
    }
    #expect(try await rig.open().whole("k")?.bytes == FileCacheRig.bytes(500))
  }

  @Test("a content truncated near a block's end, longer, or with blocks in another order is detected")
  func cutsAndOrders() async throws {
    let length = 4 * 65_536
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let blob = try #require(rig.blobFiles.first)
    let files = try rig.files().keys.map { ($0, try rig.read($0)) }
    let bytes = try rig.read(blob)
    let blocks = stride(from: 0, to: length, by: 65_536).map { Array(bytes[$0..<$0 + 65_536]) }
    let others =
      [0, 1, 65_535, 65_536, 3 * 65_536, length - 1].map { Array(bytes[..<$0]) }
      + [bytes + [0], bytes + blocks[0], blocks[1] + blocks[0] + blocks[2] + blocks[3]]
      + [blocks[0] + blocks[1] + blocks[2] + blocks[2]]
    for (index, other) in others.enumerated() {
      for (name, content) in files { try rig.put(content, at: name) }
      try rig.put(other, at: blob)
      #expect(!(await look(cache, "k", FileCacheRig.bytes(length), "change \(index)")))
      #expect(rig.files().isEmpty)
    }
  }

  @Test("a range opens the blocks that it needs, and no others")
  func ranges() async throws {
    let length = 600_000
    let content = FileCacheRig.bytes(length)
    let cache = try rig.open()
    try await cache.store(FileCacheRig.entry(length), forKey: "k")
    let blob = try #require(rig.blobFiles.first)
    var damaged = try rig.read(blob)
    damaged[3 * 65_536 + 5] ^= 1
    try rig.write(damaged, to: blob)
    let entry = try #require(try await cache.entry(forKey: "k"))
    for range in [0..<1, 65_530..<65_540, 0..<3 * 65_536, 4 * 65_536..<length, length - 1..<length] {
      #expect(try await entry.read(range) == Array(content[range]))
    }
    await #expect(throws: CacheError.self) { try await entry.read(4 * 65_536 - 1..<4 * 65_536) }
    #expect(try await cache.entry(forKey: "k") == nil)
  }

  @Test("files of other entries, of earlier ones under the same key, and plain ones in an entry's place are detected")
  func swapped() async throws {
    let cache = try rig.open()
    func put(_ key: String, _ seed: UInt64, _ length: Int) async throws -> (entry: String, blob: String?) {
      let before = Set(rig.files().keys)
      try await cache.store(FileCacheRig.entry(length, seed: seed), forKey: key)
      let place = try cache.filePath(of: key)
      return (place, Set(rig.files().keys).subtracting(before).first { $0 != place })
    }
    // Two entries' files, then their contents, for each other.
    let (a, b) = (try await put("a", 1, 300), try await put("b", 2, 300))
    try rig.put(try rig.read(a.entry), at: b.entry)
    #expect(!(await look(cache, "b", FileCacheRig.bytes(300, seed: 2), "entries swapped")))
    let (c, d) = (try await put("c", 3, 200_000), try await put("d", 4, 200_000))
    try rig.put(try rig.read(try #require(c.blob)), at: try #require(d.blob))
    #expect(!(await look(cache, "d", FileCacheRig.bytes(200_000, seed: 4), "contents swapped")))
    #expect(await look(cache, "c", FileCacheRig.bytes(200_000, seed: 3), "the other one"))
    // The content that was under the key before, under the new one's name.
    let old = try rig.read(try #require(c.blob))
    let new = try await put("c", 5, 200_000)
    try rig.put(old, at: try #require(new.blob))
    #expect(!(await look(cache, "c", FileCacheRig.bytes(200_000, seed: 5), "an earlier content")))
    // A whole entry of a folder without a key.
    var plainRig = try FileCacheRig()
    plainRig.key = nil
    let plain = try plainRig.open()
    try await plain.store(FileCacheRig.entry(300, seed: 9), forKey: "a")
    try rig.put(try plainRig.read(try #require(plainRig.entryFiles.first)), at: a.entry)
    #expect(!(await look(cache, "a", FileCacheRig.bytes(300, seed: 1), "a plain entry")))
  }
}
