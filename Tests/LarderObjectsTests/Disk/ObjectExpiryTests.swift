import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Objects: expiry and limits", .timeLimit(.minutes(5)))
struct ObjectExpiryTests {
  @Test("An expired value is absent at once in every call, and is deleted by later changes")
  func expiry() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let end = rig.clock.now.addingTimeInterval(10)
      for number in 0..<200 {
        try await store.put(number, forKey: "short \(number)", labels: ["all"], expires: end)
      }
      try await store.put(1, forKey: "long", labels: ["all"])
      #expect(try await store.value(Int.self, forKey: "short 0") == 0)
      rig.clock.advance(9.999)
      #expect(try await store.count == 201)
      #expect(try await store.value(Int.self, forKey: "short 0") == 0)
      rig.clock.advance(0.001)
      #expect(try await store.value(Int.self, forKey: "short 0") == nil)
      #expect(try await store.value(Int.self, forKey: "short 1") == nil)
      #expect(try await store.metadata(forKey: "short 0") == nil)
      #expect(try await store.count == 1)
      #expect(try await store.usedBytes == 1)
      #expect(try await store.keys() == ["long"])
      #expect(try await store.values(Int.self, label: "all") == [1])
      #expect(try await store.removeValue(forKey: "short 0") == false)
      #expect(try await store.transaction { try $0.value(Int.self, forKey: "short 2") } == nil)
      #expect(try await store.transaction { try $0.keys() } == ["long"])
      // A put under the key creates a new value.
      try await store.put(5, forKey: "short 3")
      #expect(try await store.metadata(forKey: "short 3")?.created == rig.clock.now)
      #expect(try await store.metadata(forKey: "short 3")?.timesRequested == 0)
      #expect(try await store.removeAll(label: "all") == 1)
      for _ in 0..<5 { try await store.put(2, forKey: "other") }
      #expect(try await store.count == 2)
      #expect(try await store.removeAll() == 2)
    }
  }

  @Test("Each change deletes a limited number of expired values")
  func bounded() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let end = rig.clock.now.addingTimeInterval(1)
      try await store.transaction { objects in
        for number in 0..<200 { try objects.put(number, forKey: "\(number)", expires: end) }
      }
      rig.clock.advance(1)
      let changes = store.changes()
      try await store.put(1, forKey: "a")
      var reported = 0
      var iterator = changes.makeAsyncIterator()
      while let change = await iterator.next() {
        if case .put = change { continue }
        guard case .expired = change else { throw Unexpected(change: change) }
        reported += 1
        if reported == 64 { break }
      }
      try await store.put(1, forKey: "a")
      #expect(await iterator.next() == .put(key: "a"))
    }
  }

  struct Unexpected: Error { let change: ObjectChange }

  @Test("A count limit with eviction of the least recently used value")
  func leastRecentlyUsed() async throws {
    let rig = try ObjectRig()
    for memory in [ObjectStoreOptions.MemoryLimit(), .none] {
      try await rig.with(ObjectStoreOptions(memory: memory, disk: .init(countLimit: 3))) { (store) async throws in
        try await store.removeAll()
        for key in ["a", "b", "c"] { try await store.put(1, forKey: key) }
        _ = try await store.value(Int.self, forKey: "a")
        try await store.put(1, forKey: "d")
        #expect(try await store.keys() == ["a", "c", "d"])
        try await store.put(2, forKey: "c")
        try await store.put(1, forKey: "e")
        #expect(try await store.keys() == ["c", "d", "e"])
        #expect(try await store.value(Int.self, forKey: "a") == nil)
      }
    }
  }

  @Test("A count limit with eviction of the least requested value")
  func leastRequested() async throws {
    let rig = try ObjectRig()
    let options = ObjectStoreOptions(disk: .init(countLimit: 3, eviction: .leastRequested))
    try await rig.with(options) { (store) async throws in
      for (key, times) in [("a", 3), ("b", 1), ("c", 2)] {
        try await store.put(1, forKey: key)
        for _ in 0..<times { _ = try await store.value(Int.self, forKey: key) }
      }
      try await store.put(1, forKey: "d")
      #expect(try await store.keys() == ["a", "c", "d"])
    }
    try await rig.with(options) { (store) async throws in
      for _ in 0..<9 { _ = try await store.value(Int.self, forKey: "d") }
      try await store.put(1, forKey: "e")
      #expect(try await store.keys() == ["a", "d", "e"])
    }
  }

  @Test("A byte limit: a larger value is rejected, and expired values are deleted first")
  func bytes() async throws {
    let rig = try ObjectRig()
    try await rig.with(ObjectStoreOptions(disk: .init(byteLimit: 100))) { (store) async throws in
      func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
      try await store.put(bytes(40), forKey: "a")
      try await store.put(bytes(40), forKey: "b")
      try await store.put(bytes(30), forKey: "c")
      #expect(try await store.keys() == ["b", "c"])
      #expect(try await store.usedBytes == 70)
      let error = try #require(await reason { try await store.put(bytes(101), forKey: "d") })
      guard case .tooLarge(101, 100) = error.category else { throw error }
      #expect(try await store.keys() == ["b", "c"])
      try await store.put(bytes(30), forKey: "e", expires: rig.clock.now.addingTimeInterval(1))
      rig.clock.advance(1)
      try await store.put(bytes(25), forKey: "f")
      #expect(try await store.keys() == ["b", "c", "f"])
      try await store.put(bytes(100), forKey: "g")
      #expect(try await store.keys() == ["g"])
    }
  }

  @Test("A file that grew without limits is reduced to its limits when it is opened with some")
  func limitLater() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.transaction { objects in
        for number in 0..<1000 { try objects.put(number, forKey: "\(number)") }
      }
      for number in 500..<510 { _ = try await store.value(Int.self, forKey: "\(number)") }
    }
    try await rig.with(ObjectStoreOptions(disk: .init(countLimit: 10))) { (store) async throws in
      #expect(try await store.keys() == (500..<510).map { "\($0)" })
    }
  }

  @Test("Evictions are reported, and labels are deleted with their values")
  func reported() async throws {
    try await ObjectRig().with(ObjectStoreOptions(disk: .init(countLimit: 1))) { (store) async throws in
      try await store.put(1, forKey: "a", labels: ["x"])
      var changes = try store.changes(label: "x").makeAsyncIterator()
      try await store.put(1, forKey: "b")
      #expect(await changes.next() == .evicted(key: "a"))
      #expect(try await store.keys(.label("x")).isEmpty)
    }
  }
}
