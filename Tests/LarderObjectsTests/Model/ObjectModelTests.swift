import Foundation
import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: random operations against a dictionary", .timeLimit(.minutes(5)))
struct ObjectModelTests {
  /// The expected contents of the store.
  struct Model {
    struct Entry: Equatable {
      var value: [UInt8]
      var labels: Set<String>
      var created: Date
      var updated: Date
      var expires: Date?
      var requests: Int
    }

    /// A key compared by its bytes: `String` treats some different keys as equal.
    typealias Key = [UInt8]

    var entries: [Key: Entry] = [:]

    func live(_ now: Date) -> [Key: Entry] { entries.filter { $0.value.expires.map { $0 > now } ?? true } }

    /// The keys in the order of their bytes.
    static func ordered(_ keys: some Sequence<Key>) -> [Key] { keys.sorted { $0.lexicographicallyPrecedes($1) } }
  }

  @Test(
    "Thousands of operations, with reopening and crashes between them, with and without memory",
    arguments: [1, 2, 3, 4] as [UInt64])
  func operations(seed: UInt64) async throws {
    var random = PrintedSeed(for: "objects against a dictionary", default: seed)
    let rig = try ObjectRig()
    var run = ModelRun(rig: rig, store: try await rig.open())
    for step in 0..<1500 {
      switch Int.random(in: 0..<200, using: &random) {
      case 0, 1: try await run.reopen(&random)
      case 2: try await run.crash(&random, "seed \(random.seed), step \(step)")
      default: break
      }
      try await run.step(&random)
      if step.isMultiple(of: 50) { try await run.checkEverything("seed \(random.seed), step \(step)") }
      run.rig.clock.advance(0.25)
    }
    try await run.checkEverything("seed \(random.seed), end")
    try await run.reopen(&random)
    try await run.checkEverything("seed \(random.seed), reopened")
    try await run.store.close()
  }
}

/// A store and its model.
struct ModelRun {
  var rig: ObjectRig
  var store: ObjectStore
  var model = ObjectModelTests.Model()
  /// The counts in the file: those at the last write, of values that still exist.
  private var written: [ObjectModelTests.Model.Key: Int] = [:]

  init(rig: ObjectRig, store: ObjectStore) { (self.rig, self.store) = (rig, store) }

  private mutating func noteWritten() { written = model.entries.mapValues(\.requests) }
  private mutating func noteDeleted() { written = written.filter { model.entries[$0.key] != nil } }

  private static let keys = (0..<40).map { "key \($0)" } + ["", "\u{0}", "e\u{301}", "\u{e9}"].map { "special\($0)" }
  private static let labels = ["red", "green", "blue", "green-ish"]

  mutating func reopen(_ random: inout PrintedSeed) async throws {
    try await store.close()
    noteWritten()
    let memory: [ObjectStoreOptions.MemoryLimit] = [.init(), .none, .init(countLimit: 5), .init(byteLimit: 200)]
    store = try await rig.open(
      ObjectStoreOptions(
        memory: memory[Int.random(in: 0..<4, using: &random)], warmUpCount: Int.random(in: 0..<10, using: &random)))
  }

  /// Continues with files as a crash during a commit leaves them: not closed, and with an odd number of changes.
  mutating func crash(_ random: inout PrintedSeed, _ place: Comment) async throws {
    let next = try ObjectRig(clock: rig.clock)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: rig.path + suffix, toPath: next.path + suffix)
    }
    try next.folder.write([0xFF] + [UInt8](repeating: 0, count: 4095), to: "objects-changes")
    try await store.close()
    rig = next
    store = try await rig.open()
    // Only the counts since the last write are lost.
    for key in model.entries.keys { model.entries[key]?.requests = written[key] ?? 0 }
    try await checkEverything(place)
  }

  private func key(_ random: inout PrintedSeed) -> String {
    ModelRun.keys[Int.random(in: 0..<ModelRun.keys.count, using: &random)]
  }

  private func value(_ random: inout PrintedSeed) -> [UInt8] {
    let sizes = [0, 1, 20, 300, 5000]
    let size = sizes[Int.random(in: 0..<sizes.count, using: &random)]
    return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: size)
  }

  mutating func step(_ random: inout PrintedSeed) async throws {
    let now = rig.clock.now
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30:
      let (key, value) = (key(&random), value(&random))
      let labels = Set(ModelRun.labels.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
      let expires =
        Int.random(in: 0..<5, using: &random) == 0
        ? now.addingTimeInterval(Double.random(in: -1...20, using: &random)) : nil
      try await store.put(value, forKey: key, labels: labels, expires: expires)
      put(key, value, labels, expires, now)
    case 30..<65:
      let key = key(&random)
      let stored = try await store.value([UInt8].self, forKey: key)
      #expect(stored == model.live(now)[Array(key.utf8)]?.value)
      if stored != nil { model.entries[Array(key.utf8)]?.requests += 1 }
    case 65..<75:
      let key = key(&random)
      #expect(try await store.removeValue(forKey: key) == (model.live(now)[Array(key.utf8)] != nil))
      model.entries[Array(key.utf8)] = nil
      noteDeleted()
    case 75..<78:
      let label = ModelRun.labels[Int.random(in: 0..<4, using: &random)]
      let doomed = model.live(now).filter { $0.value.labels.contains(label) }
      #expect(try await store.removeAll(label: label) == doomed.count)
      model.entries = model.entries.filter { !$0.value.labels.contains(label) }
      noteDeleted()
    case 78:
      let date = now.addingTimeInterval(-Double.random(in: 0...100, using: &random))
      let doomed = model.live(now).filter { $0.value.updated < date }
      #expect(try await store.removeAll(notUpdatedSince: date) == doomed.count)
      model.entries = model.entries.filter { $0.value.updated >= date }
      noteDeleted()
    case 79 where Int.random(in: 0..<8, using: &random) == 0:
      #expect(try await store.removeAll() == model.live(now).count)
      model.entries = [:]
      noteDeleted()
    case 79:
      rig.runDelayed()
      // The writer's thread runs its work in order.
      await withCheckedContinuation { written in store.database.whereWriting { _ in written.resume() } }
      noteWritten()
    case 80..<90: try await transaction(&random, now)
    default: try await select(&random, now)
    }
  }

  private mutating func put(
    _ key: String, _ value: [UInt8], _ labels: Set<String>, _ expires: Date?, _ now: Date
  ) {
    let old = model.live(now)[Array(key.utf8)]
    if old == nil { written[Array(key.utf8)] = nil }
    model.entries[Array(key.utf8)] = ObjectModelTests.Model.Entry(
      value: value, labels: labels, created: old?.created ?? now, updated: now, expires: expires,
      requests: old?.requests ?? 0)
  }

  private mutating func transaction(_ random: inout PrintedSeed, _ now: Date) async throws {
    struct GivenUp: Error {}
    let isGivenUp = Bool.random(using: &random)
    let changes = (0..<Int.random(in: 1...6, using: &random)).map { _ in
      (key: key(&random), value: Bool.random(using: &random) ? value(&random) : nil)
    }
    do {
      try await store.transaction { objects in
        for change in changes {
          if let value = change.value {
            try objects.put(value, forKey: change.key)
          } else {
            try objects.removeValue(forKey: change.key)
          }
        }
        if isGivenUp { throw GivenUp() }
      }
    } catch is GivenUp { return }
    for change in changes {
      if let value = change.value {
        put(change.key, value, [], nil, now)
      } else {
        model.entries[Array(change.key.utf8)] = nil
        noteDeleted()
      }
    }
  }

  private func select(_ random: inout PrintedSeed, _ now: Date) async throws {
    let label = ModelRun.labels[Int.random(in: 0..<4, using: &random)]
    let live = model.live(now)
    let labelled = ObjectModelTests.Model.ordered(live.filter { $0.value.labels.contains(label) }.keys)
    #expect(try await store.entries([UInt8].self, .label(label)).map { Array($0.key.utf8) } == labelled)
    #expect(try await store.values([UInt8].self, label: label) == labelled.compactMap { live[$0]?.value })
    let (one, two) = (key(&random), key(&random))
    let range = ObjectModelTests.Model.ordered(live.keys).filter {
      !$0.lexicographicallyPrecedes(one.utf8) && $0.lexicographicallyPrecedes(two.utf8)
    }
    #expect(try await store.keys(.keys(from: one, upTo: two)).map { Array($0.utf8) } == range)
  }

  /// The complete state, read with every function.
  func checkEverything(_ place: Comment) async throws {
    let live = model.live(rig.clock.now)
    let all = try await store.metadata().items
    #expect(all.map { Array($0.key.utf8) } == ObjectModelTests.Model.ordered(live.keys), place)
    #expect(try await store.count == live.count, place)
    #expect(try await store.usedBytes == live.values.reduce(0) { $0 + $1.value.count }, place)
    for metadata in all {
      let entry = try #require(live[Array(metadata.key.utf8)])
      #expect(metadata.byteCount == entry.value.count && Set(metadata.labels) == entry.labels, place)
      #expect(metadata.created == entry.created && metadata.updated == entry.updated, place)
      #expect(metadata.timesRequested == entry.requests, "\(place): \(metadata.key)")
    }
    let values = try await store.entries([UInt8].self)
    #expect(values.map(\.value) == ObjectModelTests.Model.ordered(live.keys).compactMap { live[$0]?.value }, place)
  }
}
