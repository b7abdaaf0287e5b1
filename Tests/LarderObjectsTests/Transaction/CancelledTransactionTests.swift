import LarderObjects
import LarderTestSupport
import Testing

@Suite("Object store: transactions in a cancelled task", .timeLimit(.minutes(2)))
struct CancelledTransactionTests {
  @Test("A transaction in a cancelled task is applied, and returns")
  func applied() async throws {
    try await ObjectRig().with { (store) async throws in
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.transaction { objects in
          try objects.put(1, forKey: "a")
          return 2
        }
      }
      #expect(try await task.value == 2)
      #expect(try await store.value(Int.self, forKey: "a") == 1)
    }
  }
}
