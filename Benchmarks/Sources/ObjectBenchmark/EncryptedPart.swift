import Foundation
import KeyCost
import LarderObjects

/// What a key costs an object store, without its memory tier: the same puts and reads on one without and on one with.
struct EncryptedPart {
  let folder: URL
  let count: Int
  private static let rounds = 9

  private let works = [
    KeyCost.Work("puts in transactions of 10,000", limit: 1.25),
    KeyCost.Work("each value once, store opened anew", limit: 1.45),
    KeyCost.Work("1,000 durable puts with four reads each", limit: 1.25),
  ]

  init(folder: URL, count: Int) { (self.folder, self.count) = (folder, count) }

  /// True where every limit held. The times are of one put or read; values are of 1 kB.
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
    let first = try await ObjectStore(path: path, key: key, options: options)
    let load = try await KeyCost.seconds(of: count) {
      for start in stride(from: 0, to: count, by: 10_000) {
        try await first.transaction { [count] changes in
          for number in start..<min(count, start + 10_000) { try changes.put(value, forKey: "key/\(number)") }
        }
      }
      // With what the last connection moves from the log into the file.
      try await first.close()
    }
    // Pages that SQLite held are gone, those of the operating system are there.
    let store = try await ObjectStore(path: path, key: key, options: options)
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
      throw BenchmarkError("no value of \(number)")
    }
  }
}
