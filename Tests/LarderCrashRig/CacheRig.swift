import Foundation
import LarderContent
import LarderHTTP

/// Fills a cache with a thousand concurrent stores a round, and says which were acknowledged.
enum CacheRig {
  /// Which cache.
  enum Kind: String, CaseIterable, Sendable {
    case files, tiered, sqlite

    /// Opens one that has room for a round and more.
    func open(_ folder: String, limit: Int) async throws -> any Cache {
      let key = try RigKey.fromEnvironment()
      return switch self {
      case .files: try FileCache(path: folder + "/files", byteLimit: limit, encryptionKey: key)
      case .tiered:
        TieredCache(
          memory: MemoryCache(byteLimit: 1 << 20),
          disk: try FileCache(path: folder + "/files", byteLimit: limit, encryptionKey: key))
      case .sqlite: try await SQLiteCache(path: folder + "/database", byteLimit: limit, encryptionKey: key)
      }
    }
  }

  /// How many entries a round stores.
  static let count = 1000

  /// Stands in every URL, header field and content.
  static let marker = "Markierung-c5b0e29a7d13f846"

  static func key(_ number: Int) -> String { "https://example.com/\(marker)/\(number)" }

  /// What is stored in a round under a number: the content says both, and its length and filling depend on both.
  static func content(_ number: Int, _ round: Int) -> [UInt8] {
    var sum = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(round) &* 0xD6E8_FEB8_6659_FD93
    sum ^= sum >> 29
    let length = Int(sum % (number % 25 == 0 ? 300_000 : number % 5 == 0 ? 30_000 : 2000))
    let text = Array("\(marker) \(number) \(round) \(length)\n".utf8)
    return text + [UInt8](repeating: UInt8(truncatingIfNeeded: sum >> 40), count: length) + text
  }

  static func metadata(_ number: Int, _ round: Int, _ note: String = "stored") -> CacheMetadata {
    CacheMetadata(
      url: key(number), status: 200, fields: ["X-Round": "\(round)", "X-Note": note, "X-Marker": marker],
      requestTime: Int64(round), responseTime: Int64(round))
  }

  /// The round of a stored entry; nil where it is not exactly what was stored in any.
  static func round(of entry: CacheEntry, _ number: Int) async throws -> Int? {
    guard let round = entry.metadata.fields["X-Round"].flatMap({ Int($0) }) else { return nil }
    let notes = [metadata(number, round), metadata(number, round, "updated")]
    guard notes.contains(entry.metadata) else { return nil }
    return try await entry.read(0..<entry.length) == content(number, round) ? round : nil
  }

  /// Stores round after round until it is killed.
  static func run(_ kind: Kind, _ folder: String, limit: Int, from first: Int) async throws {
    let cache = try await kind.open(folder, limit: limit)
    var round = first
    while true {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          group.addTask { @concurrent [round] in
            try await store(number, round, in: cache)
            say("stored \(round) \(number)")
          }
        }
        try await group.waitForAll()
      }
      round += 1
    }
  }

  /// By the cache's own writer, by a store, or by a store and an update.
  private static func store(_ number: Int, _ round: Int, in cache: any Cache) async throws {
    let content = content(number, round)
    if number % 10 == 0 {
      let writer = try await cache.makeWriter()
      for start in stride(from: 0, to: content.count, by: 50_000) {
        try await writer.append(Array(content[start..<min(start + 50_000, content.count)]))
      }
      _ = try await writer.commit(metadata(number, round), forKey: key(number))
      return
    }
    let entry = CacheEntry(metadata: metadata(number, round), bytes: content)
    try await cache.store(entry, forKey: key(number))
    if number % 7 == 0 { try await cache.update(entry, to: metadata(number, round, "updated"), forKey: key(number)) }
  }

  /// One write a line: the reader never sees half of one.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
