import Foundation
import LarderObjects
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig

@Suite("Objects: several stores and processes on one file", .timeLimit(.minutes(5)))
struct ObjectSharingTests {
  /// Another process opens the file, counts the values and closes it.
  private func expectCount(_ count: Int, _ rig: ObjectRig) async throws {
    let lines = try await ObjectProcess.lines(.look, rig.path, 0)
    #expect(lines == ["holds \(count)"])
  }

  @Test("The values that two stores of a process put exist after another process has opened and closed the file")
  func twoStoresAndAProcess() async throws {
    let rig = try ObjectRig()
    let first = try await rig.open()
    let second = try await rig.open()
    try await first.put(1, forKey: "before")
    try await expectCount(1, rig)
    for number in 0..<20 { try await first.put(number, forKey: "first \(number)") }
    try await second.put(2, forKey: "second")
    try await expectCount(22, rig)
    #expect(try await second.count == 22)
    try await first.close()
    try await expectCount(22, rig)
    try await second.put(3, forKey: "alone")
    try await expectCount(23, rig)
    try await second.close()
    try await expectCount(23, rig)
  }

  @Test("A value that one store has just put is not evicted first by another store")
  func eviction() async throws {
    let rig = try ObjectRig()
    let options = ObjectStoreOptions(disk: .init(countLimit: 3))
    let (first, second) = (try await rig.open(options), try await rig.open(options))
    for number in 0..<20 { try await second.put(number, forKey: "\(number % 3)") }
    try await first.put(1, forKey: "first's")
    try await second.put(1, forKey: "second's")
    #expect(try await first.keys() == ["1", "first's", "second's"])
    try await first.close()
    try await second.close()
  }

  @Test("If a process ends during a commit, observers are notified at the next refresh")
  func endsInCommit() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    let changes = store.changes()
    do {
      let counter = try SharedCounter(rig.path + "-changes")
      try counter.lock(milliseconds: 1000)
      counter.set(counter.number + 1)
      counter.unlock()
    }
    store.refresh()
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == .missed)
    #expect(try SharedCounter(rig.path + "-changes").number.isMultiple(of: 2))
    try await store.close()
  }

  @Test("Reading counts, metadata and pages detects changes of another store, and notifies observers")
  func noticing() async throws {
    let rig = try ObjectRig()
    let (first, second) = (try await rig.open(), try await rig.open())
    let reads: [@Sendable () async throws -> Void] = [
      { _ = try await second.count }, { _ = try await second.metadata(forKey: "a") },
      { _ = try await second.keys() }, { _ = try await second.usedBytes },
    ]
    for look in reads {
      var changes = second.changes().makeAsyncIterator()
      try await first.put(1, forKey: "a")
      try await look()
      #expect(await changes.next() == .missed)
    }
    try await first.close()
    try await second.close()
  }

  @Test("Stores that open a new file at the same time all use it, and lose no value of each other")
  func firstOpening() async throws {
    for _ in 0..<5 {
      let rig = try ObjectRig()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask { @concurrent in
            let store = try await rig.open()
            try await store.put(number, forKey: "value \(number)")
            try await store.close()
          }
        }
        try await group.waitForAll()
      }
      let values = try await rig.with { store in
        try await store.checkIntegrity()
        return try await store.values(Int.self)
      }
      #expect(values == Array(0..<8))
    }
  }

  @Test("Processes that open a new file at the same time all use it, and no increment is lost")
  func firstOpeningOfProcesses() async throws {
    let rig = try ObjectRig()
    let lines = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<4 { group.addTask { try await ObjectProcess.lines(.count, rig.path, 10) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(lines.count == 40)
    #expect(Set(lines).count == 40)
    let count = try await rig.with { store in try await store.value(Int.self, forKey: "count") }
    #expect(count == 40)
  }
}
