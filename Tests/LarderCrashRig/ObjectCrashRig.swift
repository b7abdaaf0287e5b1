import Foundation
import LarderObjects

/// Changes an object store as fast as it can, and says which changes were acknowledged.
enum ObjectCrashRig {
  /// What it does.
  enum Kind: String, Sendable {
    /// Rounds of puts, deletes and transactions, many at once.
    case rounds
    /// Raises a count by one, again and again, as often as the number of the first round says.
    case count
    /// Says how many values there are, and closes.
    case look
  }

  /// How many values a round changes, and how many pairs.
  static let count = 100
  static let pairs = 10

  static func key(_ number: Int) -> String { "value \(number)" }
  static func label(_ number: Int) -> String { "label \(number % 7)" }

  /// Whether a round deletes the value with a number, rather than to put it.
  static func deletes(_ number: Int, _ round: Int) -> Bool { (number + round) % 5 == 0 }

  /// What is put in a round under a number: the content says both, and its length depends on both.
  static func content(_ number: Int, _ round: Int) -> [UInt8] {
    var sum = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(round) &* 0xD6E8_FEB8_6659_FD93
    sum ^= sum >> 29
    let length = Int(sum % (number % 25 == 0 ? 100_000 : 2000))
    return Array("\(number) \(round)\n".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: sum >> 40), count: length)
  }

  static func run(_ kind: Kind, _ path: String, from first: Int) async throws {
    let store = try await ObjectStore(path: path, encryptionKey: try RigKey.fromEnvironment())
    switch kind {
    case .rounds: try await rounds(store, from: first)
    case .count:
      for _ in 0..<first {
        let count = try await store.transaction { objects in
          let count = (try objects.value(Int.self, forKey: "count") ?? 0) + 1
          try objects.put(count, forKey: "count")
          return count
        }
        say("counted \(count)")
      }
      try await store.close()
    case .look:
      say("holds \(try await store.count)")
      try await store.close()
    }
  }

  private static func rounds(_ store: ObjectStore, from first: Int) async throws {
    var round = first
    while true {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          group.addTask { @concurrent [round] in
            if deletes(number, round) {
              try await store.removeValue(forKey: key(number))
            } else {
              try await store.put(content(number, round), forKey: key(number), labels: [label(number)])
            }
            say("changed \(round) \(number)")
          }
        }
        for pair in 0..<pairs {
          group.addTask { @concurrent [round] in
            try await store.transaction { objects in
              try objects.put(round, forKey: "pair \(pair) left")
              try objects.put(round, forKey: "pair \(pair) right")
            }
            say("paired \(round) \(pair)")
          }
        }
        try await group.waitForAll()
      }
      round += 1
    }
  }

  /// One write a line: the reader never sees half of one.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
