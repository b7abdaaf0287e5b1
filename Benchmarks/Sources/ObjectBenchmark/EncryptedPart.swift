import Foundation
import KeyCost
import LarderObjects

/// The cost of encryption for an object store without a memory tier: the same puts and reads with and without a key.
struct EncryptedPart {
  let folder: URL
  let count: Int
  private static let rounds = 9

  private let works = [
    KeyCost.Work("puts in transactions of 10,000", limit: 1.25),
    KeyCost.Work("each value once, after opening the store again", limit: 1.45),
    KeyCost.Work("1,000 durable puts with four reads each", limit: 1.25),
  ]

  init(folder: URL, count: Int) { (self.folder, self.count) = (folder, count) }

  /// Returns true if all limits are met. The times are those of one put or read of 1 kB.
  func run() async throws -> Bool {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var cost = KeyCost()
    try await cost.compare("object store of \(count) values", works, rounds: EncryptedPart.rounds) { round, isKeyed in
      let place = folder.appending(path: "\(round)-\(isKeyed)")
      defer { try? FileManager.default.removeItem(at: place) }
      return try await measure(place.appending(path: "objects").path, isKeyed)
    }
    return cost.end()
  }

  private func measure(_ path: String, _ isKeyed: Bool) async throws -> [Double] {
    let key = isKeyed ? try StorageKey(bytes: (0..<32).map { $0 &* 7 }) : nil
    let options = ObjectStoreOptions(memory: .none, warmUpCount: 0)
    let value = [UInt8](repeating: 0x78, count: 1024)
    let first = try await ObjectStore(path: path, encryptionKey: key, options: options)
    let load = try await KeyCost.seconds(of: count) {
      for start in stride(from: 0, to: count, by: 10_000) {
        try await first.transaction { [count] changes in
          for number in start..<min(count, start + 10_000) { try changes.put(value, forKey: "key/\(number)") }
        }
      }
      // Includes the checkpoint that the last connection writes.
      try await first.close()
    }
    // The page cache of SQLite is empty now, the one of the operating system is not.
    let store = try await ObjectStore(path: path, encryptionKey: key, options: options)
    let scan = try await KeyCost.seconds(of: count) { for number in 0..<count { try await get(number, store) } }
    let mixed = try await KeyCost.seconds(of: 5000) {
      for turn in 0..<1000 {
        try await store.put(value, forKey: "key/\(turn * 7919 % (count * 2))")
        for step in 0..<4 { try await get((turn * 611_953 + step * 104_729) % count, store) }
      }
    }
    try await store.close()
    return [load, scan, mixed]
  }

  private func get(_ number: Int, _ store: ObjectStore) async throws {
    guard try await store.value([UInt8].self, forKey: "key/\(number)")?.count == 1024 else {
      throw BenchmarkError("there is no value with the number \(number)")
    }
  }
}
