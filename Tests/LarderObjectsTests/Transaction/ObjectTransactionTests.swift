import Foundation
import LarderObjects
import LarderTestSupport
import Testing

@Suite("Objects: transactions", .timeLimit(.minutes(5)))
struct ObjectTransactionTests {
  struct GivenUp: Error {}

  @Test("A transaction applies all changes or none, on disk and in memory; its reads see its earlier changes")
  func atomic() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a", labels: ["x"])
      await #expect(throws: GivenUp.self) {
        try await store.transaction { objects in
          try objects.put(2, forKey: "a")
          try objects.put(3, forKey: "b")
          #expect(try objects.value(Int.self, forKey: "a") == 2)
          #expect(try objects.keys() == ["a", "b"])
          try objects.removeAll()
          #expect(try objects.keys() == [])
          throw GivenUp()
        }
      }
      #expect(try await store.values(Int.self, label: "x") == [1])
      #expect(try await store.value(Int.self, forKey: "a") == 1)
      #expect(try await store.count == 1)
      let sum = try await store.transaction { objects in
        try objects.put(2, forKey: "b", labels: ["x"])
        try objects.removeAll(label: "x")
        try objects.put(5, forKey: "c")
        return try (objects.value(Int.self, forKey: "c") ?? 0) + (objects.value(Int.self, forKey: "a") ?? 0)
      }
      #expect(sum == 5)
      #expect(try await store.keys() == ["c"])
      #expect(try await store.usedBytes == 1)
    }
  }

  @Test("An error of a value in a transaction contains its key, and is thrown unchanged")
  func errors() async throws {
    try await ObjectRig().with { (store) async throws in
      try await store.put("text", forKey: "a")
      let error = try #require(
        await reason { try await store.transaction { _ = try $0.value(Int.self, forKey: "a") } })
      #expect(error.key == "a")
      #expect(error.operation == .transaction)
    }
  }

  @Test("Counters incremented in transactions by many tasks and two stores lose no increment")
  func counting() async throws {
    let rig = try ObjectRig()
    let stores = [try await rig.open(), try await rig.open()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          for _ in 0..<3 {
            try await stores[number % 2].transaction { objects in
              try objects.put((objects.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for store in stores {
      #expect(try await store.value(Int.self, forKey: "count") == 120)
      try await store.close()
    }
  }

  @Test("Ten thousand values in one transaction")
  func batch() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.transaction { objects in
        for number in 0..<10_000 { try objects.put(number, forKey: "\(number)", labels: ["\(number % 7)"]) }
      }
      #expect(try await store.count == 10_000)
      #expect(try await store.value(Int.self, forKey: "9999") == 9999)
      #expect(try await store.values(Int.self, label: "3").count == 1429)
    }
  }
}
