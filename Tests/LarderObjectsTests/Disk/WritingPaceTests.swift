import Dispatch
import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: the thread of a change", .timeLimit(.minutes(5)))
struct WritingPaceTests {
  @Test("The first change runs on the writer's thread; after quick ones, the next one runs at once")
  func quick() {
    var pace = WritingPace()
    #expect(!pace.isQuick)
    pace.note(.microseconds(300), changes: 1)
    #expect(pace.isQuick)
  }

  @Test("Concurrent changes share the next transaction too, until a single one arrives")
  func crowded() {
    var pace = WritingPace()
    pace.note(.microseconds(300), changes: 2)
    #expect(!pace.isQuick)
    pace.note(.microseconds(300), changes: 1)
    #expect(pace.isQuick)
  }

  @Test("On a slow disk no thread of the pool is blocked; one slow commit moves only a few changes to the writer")
  func slow() {
    var pace = WritingPace()
    for _ in 0..<5 { pace.note(.milliseconds(8), changes: 1) }
    #expect(!pace.isQuick)
    for _ in 0..<20 { pace.note(.microseconds(300), changes: 1) }
    #expect(pace.isQuick)
    pace.note(.milliseconds(20), changes: 1)
    #expect(!pace.isQuick)
    for _ in 0..<5 { pace.note(.microseconds(300), changes: 1) }
    #expect(pace.isQuick)
    pace.note(.seconds(Int64.max), changes: 1)
    #expect(!pace.isQuick)
  }

  @Test("At most one thread of the pool is blocked at a time")
  func oneThread() {
    var (outer, inner): (Bool?, Bool?)
    outer = BlockedThread.take {
      inner = BlockedThread.take { true }
      return true
    }
    // The store of another test may block it.
    if outer != nil { #expect(inner == nil) }
  }

  @Test("The main actor is recognized")
  @MainActor
  func mainActor() {
    #expect(BlockedThread.isMain(MainActor.shared))
    #expect(!BlockedThread.isMain(Writer()))
    #expect(!BlockedThread.isMain(nil))
  }

  private actor Writer {
    func fill(_ store: ObjectStore, _ name: String) async throws {
      for number in 0..<50 { try await store.put(number, forKey: "\(name) \(number)") }
    }
  }

  @MainActor
  private static func fill(_ store: ObjectStore) async throws {
    for number in 0..<50 { try await store.put(number, forKey: "main \(number)") }
  }

  @Test(
    "The main actor, another actor, tasks and transactions change one store concurrently; no change is lost, and each read sees it"
  )
  func everywhere() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await WritingPaceTests.fill(store) }
        group.addTask { try await Writer().fill(store, "own") }
        for task in 0..<3 {
          group.addTask { @concurrent in
            for number in 0..<50 {
              let key = "task \(task) \(number)"
              try await store.put(number, forKey: key)
              #expect(try await store.value(Int.self, forKey: key) == number)
              if number.isMultiple(of: 2) { #expect(try await store.removeValue(forKey: key)) }
            }
          }
        }
        group.addTask { @concurrent in
          for number in 0..<20 {
            try await store.transaction { objects in try objects.put(number, forKey: "whole \(number)") }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.count == 50 + 50 + 3 * 25 + 20)
    }
  }

  @Test("Changes that arrive while the writer is busy wait for it, and those of one task keep their order")
  func busy() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<5 { try await store.put(number, forKey: "before") }
      let go = DispatchSemaphore(value: 0)
      await withCheckedContinuation { (begun: CheckedContinuation<Void, Never>) in
        store.database.whereWriting { _ in
          begun.resume()
          go.wait()
        }
      }
      async let first: Void = store.put(1, forKey: "a")
      async let second: Void = store.put(2, forKey: "b")
      // A read continues in the meantime.
      #expect(try await store.value(Int.self, forKey: "before") == 4)
      go.signal()
      _ = try await (first, second)
      #expect(try await store.values(Int.self, .keys(from: "a", upTo: "b")) == [1])
      try await store.put(3, forKey: "a")
      #expect(try await store.value(Int.self, forKey: "a") == 3)
    }
  }

  @Test("While another process holds the lock, a quick put waits for it and is applied")
  func otherProcess() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<5 { try await store.put(number, forKey: "before") }
      let counter = try SharedCounter(rig.path + "-changes")
      try counter.lock(milliseconds: 1000)
      async let put: Void = store.put(5, forKey: "before")
      #expect(try await store.value(Int.self, forKey: "before") == 4)
      counter.unlock()
      try await put
      #expect(try await store.value(Int.self, forKey: "before") == 5)
    }
  }

  @Test("While another SQLite connection holds the lock, a quick put waits for it too")
  func otherProgram() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<5 { try await store.put(number, forKey: "before") }
      let other = try await Database.open(rig.path, key: try rig.key, schema: ObjectSchema.schema)
      let go = DispatchSemaphore(value: 0)
      let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
      async let holding: Void = other.write { (_) throws(StorageError) in
        isBegun.finish()
        go.wait()
      }
      for await _ in begun {}
      async let put: Void = store.put(5, forKey: "before")
      go.signal()
      try await holding
      try await put
      try await other.close()
      #expect(try await store.value(Int.self, forKey: "before") == 5)
    }
  }
}
