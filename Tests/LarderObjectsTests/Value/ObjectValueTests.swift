import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Objects: values by key", .timeLimit(.minutes(5)))
struct ObjectValueTests {
  /// Runs a test with and without the memory tier, and after opening the store again.
  private func inEveryTier(_ put: (ObjectStore) async throws -> Void, _ check: (ObjectStore) async throws -> Void)
    async throws
  {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await put(store)
      try await check(store)
      try await check(store)
    }
    try await rig.with { try await check($0) }
    try await rig.with(ObjectStoreOptions(memory: .none)) { try await check($0) }
  }

  @Test("Values are read as they were put: structures, raw bytes, custom codings, single values")
  func roundTrips() async throws {
    let friend = Friend(name: "Ada", age: 36, met: Date(timeIntervalSinceReferenceDate: 0.1))
    let bytes: [UInt8] = [0, 255, 10, 13]
    try await inEveryTier { (store) async throws in
      try await store.put(friend, forKey: "friend")
      try await store.put(Data(bytes), forKey: "data")
      try await store.put(bytes, forKey: "bytes")
      try await store.put([UInt8](), forKey: "empty")
      try await store.put(Point(1, 2), forKey: "own")
      try await store.put(7, forKey: "number")
      try await store.put("text\u{0}", forKey: "text")
      try await store.put([friend, friend], forKey: "list")
    } _: { (store) async throws in
      #expect(try await store.value(Friend.self, forKey: "friend") == friend)
      #expect(try await store.value(Data.self, forKey: "data") == Data(bytes))
      #expect(try await store.value([UInt8].self, forKey: "data") == bytes)
      #expect(try await store.value(Data.self, forKey: "bytes") == Data(bytes))
      #expect(try await store.value([UInt8].self, forKey: "empty") == [])
      #expect(try await store.value(Point.self, forKey: "own") == Point(1, 2))
      #expect(try await store.value(Int.self, forKey: "number") == 7)
      #expect(try await store.value(String.self, forKey: "text") == "text\u{0}")
      #expect(try await store.value([Friend].self, forKey: "list") == [friend, friend])
      #expect(try await store.value(Friend.self, forKey: "nobody") == nil)
      #expect(try await store.storedBytes(forKey: "data")?.bytes == bytes)
      #expect(try await store.storedBytes(forKey: "own")?.coding == .custom)
      #expect(try await store.count == 8)
    }
  }

  @Test("Reading another type is an error with the key, and the row stays")
  func mismatches() async throws {
    try await inEveryTier { (store) async throws in
      try await store.put(Friend(name: "Ada", age: 36), forKey: "friend")
      try await store.put([UInt8]([1, 2, 3]), forKey: "bytes")
      try await store.put(Point(1, 2), forKey: "own")
      try await store.put(7, forKey: "number")
    } _: { (store) async throws in
      for (key, read) in [
        ("friend", { _ = try await store.value([Int].self, forKey: "friend") }),
        ("friend", { _ = try await store.value(Data.self, forKey: "friend") }),
        ("bytes", { _ = try await store.value(Friend.self, forKey: "bytes") }),
        ("bytes", { _ = try await store.value(Point.self, forKey: "bytes") }),
        ("own", { _ = try await store.value(Friend.self, forKey: "own") }),
        ("number", { _ = try await store.value(String.self, forKey: "number") }),
      ] as [(String, () async throws -> Void)] {
        let error = try #require(await reason(read))
        #expect(error.key == key)
        guard case .typeMismatch = error.category else {
          Issue.record("\(error)")
          continue
        }
        #expect(error.description.contains("\"\(key)\""))
      }
      let missing = try #require(await reason { _ = try await store.value(Needy.self, forKey: "friend") })
      guard case .undecodable = missing.category else { throw missing }
      #expect(missing.key == "friend")
      #expect(try await store.value(Friend.self, forKey: "friend")?.name == "Ada")
      #expect(try await store.value(Int64.self, forKey: "number") == 7)
      #expect(try await store.value(Int.self, forKey: "number") == 7)
      #expect(try await store.count == 4)
    }
  }

  struct Needy: Codable, Sendable { var missing: String }

  @Test("A value that cannot be encoded changes nothing")
  func unencodable() async throws {
    try await ObjectRig().with { (store) async throws in
      try await store.put(1.5, forKey: "number")
      let error = try #require(await reason { try await store.put(Double.nan, forKey: "number") })
      guard case .unencodable = error.category else { throw error }
      #expect(error.key == "number")
      #expect(try await store.value(Double.self, forKey: "number") == 1.5)
    }
  }

  @Test("Keys are compared by their bytes: case, canonical equivalents, NUL, spaces, any scalar")
  func keys() async throws {
    let keys = [
      "a", "A", "a ", " a", "a\u{0}", "a\u{0}b", "\u{0}", "\u{e9}", "e\u{301}", "\u{1E69}", "s\u{323}\u{307}",
      "s\u{307}\u{323}", "\u{10FFFF}", "日本", "'; DROP TABLE object; --", String(repeating: "k", count: 1024),
    ]
    try await inEveryTier { (store) async throws in
      for (number, key) in keys.enumerated() { try await store.put(number, forKey: key, labels: [key]) }
    } _: { (store) async throws in
      for (number, key) in keys.enumerated() {
        #expect(try await store.value(Int.self, forKey: key) == number)
        #expect(try await store.values(Int.self, label: key) == [number])
      }
      #expect(try await store.count == keys.count)
      let ordered = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      #expect(try await store.keys().map { Array($0.utf8) } == ordered.map { Array($0.utf8) })
    }
  }

  @Test("Invalid keys and labels are rejected", arguments: ["", String(repeating: "é", count: 513)])
  func wrongKeys(key: String) async throws {
    try await ObjectRig().with { (store) async throws in
      for attempt in [
        { try await store.put(1, forKey: key) }, { _ = try await store.value(Int.self, forKey: key) },
        { try await store.removeValue(forKey: key) }, { _ = try await store.metadata(forKey: key) },
        { try await store.removeAll(label: key) },
      ] as [() async throws -> Void] {
        let error = try #require(await reason(attempt))
        guard case .invalidKey(key.utf8.count) = error.category else { throw error }
      }
      let label = try #require(await reason { try await store.put(1, forKey: "a", labels: ["b", key]) })
      guard case .invalidLabel = label.category else { throw label }
      #expect(label.key == "a")
      let many = (0...ObjectStore.labelLimit).map { "label \($0)" }
      let tooMany = try #require(await reason { try await store.put(1, forKey: "a", labels: many) })
      guard case .tooManyLabels(257) = tooMany.category else { throw tooMany }
      #expect(try await store.count == 0)
    }
  }

  @Test("A value past the limit is rejected, and the stored one stays")
  func tooLarge() async throws {
    try await ObjectRig().with(ObjectStoreOptions(valueByteLimit: 10)) { (store) async throws in
      try await store.put([UInt8](repeating: 1, count: 10), forKey: "a")
      let error = try #require(
        await reason { try await store.put([UInt8](repeating: 2, count: 11), forKey: "a") })
      guard case .tooLarge(11, 10) = error.category else { throw error }
      #expect(try await store.value([UInt8].self, forKey: "a") == [UInt8](repeating: 1, count: 10))
    }
  }

  @Test("Metadata: created, updated, requests, size, labels, expiry")
  func metadata() async throws {
    let rig = try ObjectRig()
    let start = rig.clock.now
    try await rig.with { (store) async throws in
      try await store.put([UInt8]([1, 2, 3]), forKey: "a", labels: ["y", "x", "x"])
      rig.clock.advance(10)
      try await store.put([UInt8]([1, 2]), forKey: "a", labels: ["z"], expires: start.addingTimeInterval(100))
      for _ in 0..<5 { _ = try await store.value([UInt8].self, forKey: "a") }
      let metadata = try #require(try await store.metadata(forKey: "a"))
      #expect(metadata.created == start)
      #expect(metadata.updated == start.addingTimeInterval(10))
      #expect(metadata.expires == start.addingTimeInterval(100))
      #expect(metadata.timesRequested == 5)
      #expect(metadata.byteCount == 2)
      #expect(metadata.labels == ["z"])
      #expect(metadata.coding == .bytes)
      #expect(try await store.values([UInt8].self, label: "x").isEmpty)
      #expect(try await store.metadata(forKey: "b") == nil)
      #expect(try await store.usedBytes == 2)
    }
    try await rig.with { (store) async throws in
      #expect(try await store.metadata(forKey: "a")?.timesRequested == 5)
      _ = try await store.value([UInt8].self, forKey: "a")
      #expect(try await store.metadata(forKey: "a")?.timesRequested == 6)
      #expect(try await store.metadata().items.map(\.timesRequested) == [6])
      try await store.removeValue(forKey: "a")
      try await store.put(1, forKey: "a")
      #expect(try await store.metadata(forKey: "a")?.timesRequested == 0)
    }
  }

  @Test("Delete: by key, all, by label, not updated since")
  func deletes() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<10 {
        try await store.put(number, forKey: "\(number)", labels: [number.isMultiple(of: 2) ? "even" : "odd", "all"])
        rig.clock.advance(1)
      }
      #expect(try await store.removeValue(forKey: "3"))
      #expect(try await store.removeValue(forKey: "3") == false)
      #expect(try await store.value(Int.self, forKey: "3") == nil)
      #expect(try await store.removeAll(label: "even") == 5)
      #expect(try await store.values(Int.self) == [1, 5, 7, 9])
      #expect(try await store.values(Int.self, label: "all") == [1, 5, 7, 9])
      let seventh = Date(timeIntervalSince1970: 1_000_007)
      #expect(try await store.removeAll(notUpdatedSince: seventh) == 2)
      #expect(try await store.values(Int.self) == [7, 9])
      #expect(try await store.value(Int.self, forKey: "5") == nil)
      #expect(try await store.removeAll() == 2)
      #expect(try await store.count == 0)
      #expect(try await store.usedBytes == 0)
      #expect(try await store.values(Int.self, label: "all").isEmpty)
      #expect(try await store.value(Int.self, forKey: "9") == nil)
    }
    let count = try await rig.with { try await $0.count }
    #expect(count == 0)
  }

  @Test("After close every call throws closed, and a second close does nothing")
  func closed() async throws {
    let store = try await ObjectRig().open()
    try await store.put(1, forKey: "a")
    try await store.close()
    try await store.close()
    for attempt in [
      { try await store.put(1, forKey: "a") }, { _ = try await store.value(Int.self, forKey: "a") },
      { try await store.removeValue(forKey: "a") }, { _ = try await store.count }, { _ = try await store.keys() },
      { try await store.transaction { try $0.put(1, forKey: "b") } }, { _ = try await store.metadata(forKey: "a") },
    ] as [() async throws -> Void] {
      let error = try #require(await reason(attempt))
      guard case .closed = error.category else { throw error }
    }
  }
}
