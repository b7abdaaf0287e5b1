import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Objects: concurrent calls", .timeLimit(.minutes(5)))
struct ObjectStressTests {
  @Test(
    "Concurrent calls of all functions on two stores with one file end, and the file is consistent",
    arguments: [
      ObjectStoreOptions(), ObjectStoreOptions(memory: .init(countLimit: 8)), ObjectStoreOptions(memory: .none),
      ObjectStoreOptions(disk: .init(countLimit: 20)),
    ])
  func everything(options: ObjectStoreOptions) async throws {
    let rig = try ObjectRig()
    let stores = [try await rig.open(options), try await rig.open(options)]
    let observers = stores.map { $0.changes() }
    let observing = observers.map { changes in
      Task {
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<32 {
        group.addTask { @concurrent in
          var random = PrintedSeed(seed: UInt64(task))
          for _ in 0..<25 {
            try await ObjectStressTests.call(stores[task % 2], &random)
            rig.clock.advance(0.01)
          }
        }
      }
      try await group.waitForAll()
    }
    rig.runDelayed()
    for store in stores {
      let all = try await store.metadata().items
      #expect(try await store.count == all.count)
      #expect(try await store.usedBytes == all.reduce(0) { $0 + $1.byteCount })
      for metadata in all {
        #expect(try await store.value(Int.self, forKey: metadata.key) != nil)
        for label in metadata.labels { #expect(try await store.keys(.label(label)).contains(metadata.key)) }
      }
      #expect(try await store.keys(.labels()).count == all.count { !$0.labels.isEmpty })
      try await store.checkIntegrity()
    }
    for store in stores { try await store.close() }
    for task in observing { #expect(await task.value > 0) }
  }

  private static func call(_ store: ObjectStore, _ random: inout PrintedSeed) async throws {
    let key = "key \(Int.random(in: 0..<30, using: &random))"
    let label = "label \(Int.random(in: 0..<4, using: &random))"
    let value = Int.random(in: 0..<1000, using: &random)
    switch Int.random(in: 0..<24, using: &random) {
    case 0, 1, 2: try await store.put(value, forKey: key, labels: [label])
    case 3: try await store.put(value, forKey: key, expires: Date(timeIntervalSince1970: 1_000_003))
    case 4, 5, 6: _ = try await store.value(Int.self, forKey: key)
    case 7: try await store.removeValue(forKey: key)
    case 8: _ = try await store.values(Int.self)
    case 9: _ = try await store.values(Int.self, label: label)
    case 10: _ = try await store.page(Int.self, .labels(prefix: "label"), limit: 3)
    case 11: _ = try await store.metadata(forKey: key)
    case 12: _ = try await store.count
    case 13: _ = try await store.usedBytes
    case 14: try await store.removeAll(label: label)
    case 15: try await store.removeAll(notUpdatedSince: Date(timeIntervalSince1970: 1_000_001))
    case 16 where value < 200: try await store.removeAll()
    case 17:
      try await store.transaction { objects in
        try objects.put((objects.value(Int.self, forKey: key) ?? 0) + 1, forKey: key, labels: [label])
        try objects.removeValue(forKey: "key 0")
      }
    case 18: try await stream(store, key, value, steps: 2)
    // The loop is left after its first step.
    case 19: try await stream(store, key, value, steps: 1)
    case 20: try await stream(store, key, nil, steps: 2)
    case 21:
      let changes = try store.changes(forKey: key)
      try await store.put(value, forKey: key, labels: [label])
      for await _ in changes { break }
    case 22: store.refresh()
    default: _ = try await store.storedBytes(forKey: key)
    }
  }

  /// The fetch may belong to another task, and then ends with its result.
  private static func stream(_ store: ObjectStore, _ key: String, _ value: Int?, steps: Int) async throws {
    let stream = store.stream(Int.self, forKey: key) { () async throws in
      guard let value else { throw ObjectStoreError.gone }
      return value
    }
    var iterator = stream.makeAsyncIterator()
    do { for _ in 0..<steps { _ = try await iterator.next() } } catch {
      guard case .gone = error.category else { throw error }
    }
  }
}
