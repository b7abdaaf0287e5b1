import Foundation
import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: observed changes", .timeLimit(.minutes(5)))
struct ObjectChangeTests {
  @Test("An observer that is added during a change receives `missed`")
  func lateObserver() async throws {
    try await ObjectRig().with { (store) async throws in
      let changes = try await store.transaction { objects in
        let changes = store.changes()
        try objects.put(1, forKey: "a")
        return changes
      }
      var iterator = changes.makeAsyncIterator()
      #expect(await iterator.next() == .missed)
    }
  }

  @Test("An observer that is always one change behind stores only a few keys")
  func oneBehind() {
    var buffer = ChangeBuffer(limit: 10)
    var taken: [ObjectChange] = []
    for number in 0..<10_000 {
      buffer.add(RecordedChange(kind: .put, key: ObjectKey(stored: "\(number)"), labels: []))
      if number > 0, let change = buffer.next() { taken.append(change) }
      #expect(buffer.keyCount < 32)
    }
    #expect(taken == (0..<9999).map { .put(key: "\($0)") })
  }

  @Test("A cancelled loop ends, even if changes are pending")
  func cancelledLoop() async throws {
    try await ObjectRig().with { (store) async throws in
      let changes = store.changes()
      for number in 0..<3 { try await store.put(number, forKey: "\(number)") }
      let values = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        var iterator = changes.makeAsyncIterator()
        return await iterator.next()
      }.value
      #expect(values == nil)
    }
  }

  /// Reads the changes reported so far; `end` is the key that was put last.
  private func reportedChanges(_ changes: ObjectChanges, until end: ObjectChange) async -> [ObjectChange] {
    var all: [ObjectChange] = []
    for await change in changes {
      if change == end { break }
      all.append(change)
    }
    return all
  }

  @Test("Changes of a key, of a label and of all, in the order of commits")
  func kinds() async throws {
    try await ObjectRig().with { (store) async throws in
      let key = try store.changes(forKey: "a")
      let label = try store.changes(label: "x")
      let all = store.changes()
      try await store.put(1, forKey: "b", labels: ["x"])
      try await store.put(1, forKey: "c", labels: ["y"])
      try await store.put(1, forKey: "a")
      try await store.removeValue(forKey: "nobody")
      try await store.removeValue(forKey: "c")
      // The removal of a label is reported once more.
      try await store.put(2, forKey: "b")
      var keyed = key.makeAsyncIterator()
      #expect(await keyed.next() == .put(key: "a"))
      var labelled = label.makeAsyncIterator()
      #expect(await labelled.next() == .put(key: "b"))
      try await store.put(3, forKey: "b")
      try await store.put(3, forKey: "d", labels: ["x", "y"])
      #expect(await labelled.next() == .put(key: "d"))
      try await store.put(1, forKey: "end")
      #expect(
        await reportedChanges(all, until: .put(key: "end")) == [
          .put(key: "b"), .removed(key: "c"), .put(key: "a"), .put(key: "d"),
        ])
      try await store.removeAll()
      #expect(await keyed.next() == .removed(key: "a"))
      #expect(await labelled.next() == .removed(key: "d"))
    }
  }

  @Test("A transaction is reported when it is durable, a rolled back one never")
  func transactions() async throws {
    try await ObjectRig().with { (store) async throws in
      let changes = store.changes()
      await #expect(throws: CancellationError.self) {
        try await store.transaction { objects in
          try objects.put(1, forKey: "never")
          throw CancellationError()
        }
      }
      try await store.transaction { objects in
        try objects.put(1, forKey: "b")
        try objects.put(1, forKey: "a")
        try objects.removeValue(forKey: "b")
      }
      try await store.put(1, forKey: "end")
      #expect(await reportedChanges(changes, until: .put(key: "end")) == [.removed(key: "b"), .put(key: "a")])
    }
  }

  @Test("An observer that is too far behind receives `missed` once")
  func missed() async throws {
    try await ObjectRig().with { (store) async throws in
      let (behind, slow) = (store.changes(), try store.changes(forKey: "5"))
      try await store.transaction { objects in
        for number in 0...ObjectStore.observedChangeLimit { try objects.put(number, forKey: "\(number)") }
      }
      var iterator = behind.makeAsyncIterator()
      #expect(await iterator.next() == .missed)
      try await store.put(1, forKey: "a")
      #expect(await iterator.next() == .put(key: "a"))
      var keyed = slow.makeAsyncIterator()
      #expect(await keyed.next() == .put(key: "5"))
      try await store.removeAll()
      #expect(await keyed.next() == .missed)
    }
  }

  @Test("A loop ends with the store and with its task; a released observer receives nothing")
  func ends() async throws {
    let store = try await ObjectRig().open()
    #expect(store.observers.isEmpty)
    do {
      let changes = store.changes()
      #expect(!store.observers.isEmpty)
      let waits = Task { await self.reportedChanges(changes, until: .missed) }
      waits.cancel()
      #expect(await waits.value == [])
    }
    #expect(store.observers.isEmpty)
    let changes = store.changes()
    let ends = Task { await self.reportedChanges(changes, until: .missed) }
    try await store.put(1, forKey: "a")
    try await store.close()
    #expect(await ends.value == [.put(key: "a")])
    #expect(await reportedChanges(store.changes(), until: .missed) == [])
  }

  @Test("The buffer stores the newest change of each key, in the order in which the keys first changed")
  func buffer() {
    var buffer = ChangeBuffer(limit: 3)
    func add(_ kind: RecordedChange.Kind, _ key: String?) {
      buffer.add(RecordedChange(kind: kind, key: key.map { ObjectKey(stored: $0) }, labels: []))
    }
    add(.put, "a")
    add(.put, "b")
    add(.removed, "a")
    #expect(buffer.next() == .removed(key: "a"))
    add(.put, "a")
    add(.put, "c")
    #expect(buffer.next() == .put(key: "b"))
    #expect(buffer.next() == .put(key: "a"))
    #expect(buffer.next() == .put(key: "c"))
    #expect(buffer.next() == nil)
    for key in ["a", "b", "c", "d", "e"] { add(.put, key) }
    #expect(buffer.next() == .missed)
    #expect(buffer.next() == nil)
    add(.put, "f")
    add(.missed, nil)
    add(.put, "g")
    #expect(buffer.next() == .missed)
    #expect(buffer.next() == nil)
  }
}
