import Foundation
import LarderObjects
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

/// The lines that the other process has printed.
private final class Progress: Sendable {
  private let state = Mutex((said: 0, isOver: false))

  var said: Int {
    get { state.withLock { $0.said } }
    set { state.withLock { $0.said = newValue } }
  }
  var isOver: Bool { state.withLock { $0.isOver } }
  func end() { state.withLock { $0.isOver = true } }
}

/// The state at the last check.
private struct StoredObjects {
  var contents: [Int: [UInt8]] = [:]
  var pairs: [Int: Int] = [:]
}

/// The acknowledged rounds of a process's changes; pairs are numbered after the values.
private struct AcknowledgedRounds {
  let first: Int
  private(set) var count = 0
  private var last: [Int: Int] = [:]
  private var inRound: [Int: Int] = [:]

  init(first: Int) { self.first = first }

  mutating func add(_ round: Int, _ number: Int) {
    count += 1
    last[number] = max(last[number] ?? round, round)
    inRound[round, default: 0] += 1
  }

  /// A round begins when all changes of the previous one have been acknowledged.
  var lastBegun: Int {
    guard let newest = inRound.keys.max() else { return first }
    return inRound[newest] == ObjectCrashRig.count + ObjectCrashRig.pairs ? newest + 1 : newest
  }

  func isAcknowledged(_ number: Int) -> Bool { last[number] != nil }

  /// The rounds whose state a value may have, besides the state before the process if nothing was acknowledged.
  func possible(_ number: Int) -> ClosedRange<Int> { (last[number] ?? first)...lastBegun }
}

@Suite("Objects: killed processes", .timeLimit(.minutes(5)))
struct ObjectCrashTests {
  @Test("All acknowledged changes exist after a kill, transactions are complete, and the file is intact")
  func kills() async throws {
    var random = PrintedSeed(for: "kills of an object store")
    let rig = try ObjectRig()
    var stored = StoredObjects()
    var first = 0
    for _ in 0..<8 {
      let process = try ObjectProcess.start(.rounds, rig.path, first)
      let wanted = Int.random(in: 1...600, using: &random)
      let heard = Mutex(AcknowledgedRounds(first: first))
      await process.forEachLine { line in
        let words = line.split(separator: " ")
        guard words.count == 3, let round = Int(words[1]), let number = Int(words[2]) else { return false }
        return heard.withLock { heard in
          heard.add(round, words[0] == "paired" ? ObjectCrashRig.count + number : number)
          return heard.count == wanted
        }
      }
      let acknowledged = heard.withLock { $0 }
      let store = try await rig.open()
      stored = try await check(store, acknowledged, before: stored)
      first = acknowledged.lastBegun + 1
      try await store.close()
    }
  }

  /// Checks that each value is from its last acknowledged change, or from a later one that had begun.
  private func check(
    _ store: ObjectStore, _ acknowledged: AcknowledgedRounds, before: StoredObjects
  ) async throws -> StoredObjects {
    try await store.checkIntegrity()
    var stored = StoredObjects()
    for number in 0..<ObjectCrashRig.count {
      let key = ObjectCrashRig.key(number)
      let content = try await store.value([UInt8].self, forKey: key)
      stored.contents[number] = content
      let rounds = acknowledged.possible(number)
      let isPossible =
        rounds.contains {
          ObjectCrashRig.deletes(number, $0) ? content == nil : content == ObjectCrashRig.content(number, $0)
        }
        || (!acknowledged.isAcknowledged(number) && content == before.contents[number])
      #expect(isPossible, "number \(number), rounds \(rounds)")
      let labelled = try await store.keys(.label(ObjectCrashRig.label(number)).keys(prefix: key))
      #expect(labelled.contains(key) == (content != nil))
    }
    for pair in 0..<ObjectCrashRig.pairs {
      let left = try await store.value(Int.self, forKey: "pair \(pair) left")
      #expect(left == (try await store.value(Int.self, forKey: "pair \(pair) right")))
      stored.pairs[pair] = left
      let number = ObjectCrashRig.count + pair
      let rounds = acknowledged.possible(number)
      let isPossible =
        left.map(rounds.contains) ?? false || (!acknowledged.isAcknowledged(number) && left == before.pairs[pair])
      #expect(isPossible, "pair \(pair), rounds \(rounds)")
    }
    let all = try await store.metadata().items
    #expect(try await store.count == all.count)
    #expect(try await store.usedBytes == all.reduce(0) { $0 + $1.byteCount })
    return stored
  }

  @Test(
    "Two processes increment one counter: no increment is lost, and each reads the other's acknowledged value at once, also from memory"
  )
  func twoProcesses() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.put(0, forKey: "count")
    let process = try ObjectProcess.start(.count, rig.path, 100)
    let progress = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await process.forEachLine { line in
          if let count = line.split(separator: " ").last.flatMap({ Int($0) }) { progress.said = count }
          return false
        }
        progress.end()
      }
      group.addTask {
        for _ in 0..<100 {
          try await store.transaction { objects in
            try objects.put((objects.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
          }
        }
      }
      group.addTask {
        var seen = 0
        while !progress.isOver {
          let heard = progress.said
          for _ in 0..<20 {
            let count = try await store.value(Int.self, forKey: "count") ?? 0
            #expect(count >= heard && count >= seen)
            seen = count
          }
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.value(Int.self, forKey: "count") == 200)
    try await store.close()
  }
}
