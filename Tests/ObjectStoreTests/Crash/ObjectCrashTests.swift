import Foundation
import ObjectStore
import Synchronization
import TestSupport
import Testing

@testable import CrashRig

/// What the other process has said.
private final class Progress: Sendable {
  private let state = Mutex((said: 0, isOver: false))

  var said: Int {
    get { state.withLock { $0.said } }
    set { state.withLock { $0.said = newValue } }
  }
  var isOver: Bool { state.withLock { $0.isOver } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("Objects: other processes, and their sudden end", .timeLimit(.minutes(3)))
struct ObjectCrashTests {
  @Test("Everything acknowledged is there after a kill, transactions whole, and the file is sound")
  func kills() async throws {
    var random = PrintedSeed(for: "kills of an object store")
    let rig = try ObjectRig()
    var first = 0
    /// The last round that was acknowledged of each number.
    var acknowledged: [Int: Int] = [:]
    for _ in 0..<8 {
      let process = try ObjectProcess(.rounds, rig.path, first)
      let wanted = Int.random(in: 1...600, using: &random)
      let heard = Mutex<[(round: Int, number: Int)]>([])
      await process.forEachLine { line in
        let words = line.split(separator: " ")
        guard words.count == 3, let round = Int(words[1]), let number = Int(words[2]) else { return false }
        return heard.withLock { heard in
          heard.append((round, number))
          return heard.count == wanted
        }
      }
      for (round, number) in heard.withLock({ $0 }) { acknowledged[number] = max(acknowledged[number] ?? -1, round) }
      let store = try await rig.open()
      first = try await check(store, acknowledged) + 1
      try await store.close()
    }
  }

  /// Checks what is there; answers the last round of which anything is.
  private func check(_ store: ObjectStore, _ acknowledged: [Int: Int]) async throws -> Int {
    try await store.checkIntegrity()
    var last = acknowledged.values.max() ?? 0
    for number in 0..<ObjectCrashRig.count {
      let least = acknowledged[number] ?? 0
      let found = try await store.value([UInt8].self, forKey: ObjectCrashRig.key(number))
      // A round begins when the one before has ended: what is there is of the last acknowledged round or the one after it,
      // or of any that was begun where a process was killed before it said anything.
      let rounds = least...(max(last, least) + 2)
      let possible = rounds.filter { round in
        ObjectCrashRig.deletes(number, round) ? found == nil : found == ObjectCrashRig.content(number, round)
      }
      #expect(!possible.isEmpty || (acknowledged[number] == nil && found == nil), "number \(number), round \(least)")
      if found != nil { last = max(last, possible.first ?? 0) }
      let labelled = try await store.keys(.label(ObjectCrashRig.label(number)).keys(prefix: ObjectCrashRig.key(number)))
      #expect(labelled.contains(ObjectCrashRig.key(number)) == (found != nil))
    }
    for pair in 0..<ObjectCrashRig.pairs {
      let left = try await store.value(Int.self, forKey: "pair \(pair) left")
      #expect(left == (try await store.value(Int.self, forKey: "pair \(pair) right")))
      last = max(last, left ?? 0)
    }
    let all = try await store.metadata().items
    #expect(try await store.count() == all.count)
    #expect(try await store.size() == all.reduce(0) { $0 + $1.size })
    return last
  }

  @Test("Two processes raise one count: none is lost, and what one has said the other reads at once, from memory too")
  func twoProcesses() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.put(0, forKey: "count")
    let process = try ObjectProcess(.count, rig.path, 100)
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
