import Foundation
import Storage
import TestSupport
import Testing

@testable import ObjectStore

@Suite("Objects: damage and failures of the file", .timeLimit(.minutes(1)))
struct ObjectDamageTests {
  /// Changes the file past the store.
  private func damage(_ rig: ObjectRig, _ statements: String...) async throws {
    let database = try await Database.open(rig.path, schema: ObjectSchema.schema)
    try await database.write { (connection) throws(StorageError) in
      for sql in statements { try connection.run(sql) }
    }
    try await database.close()
  }

  @Test("A transaction one of whose changes failed is not made, even if its closure goes on")
  func failedChange() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in try await store.put(1, forKey: "before") }
    try await damage(
      rig,
      "CREATE TRIGGER t BEFORE INSERT ON label WHEN new.label = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END")
    try await rig.with { (store) async throws in
      let error = await reason {
        try await store.transaction { objects in
          try objects.put(1, forKey: "a")
          try? objects.put(2, forKey: "b", labels: ["bad"])
          try? objects.put(3, forKey: "c")
        }
      }
      guard case .storage(let cause)? = error?.reason else { throw NoNetwork() }
      #expect(cause.category == .constraint)
      #expect(try await store.keys() == ["before"])
      #expect(try await store.count() == 1)
    }
  }

  @Test("Requests of a deleted value are not those of one put after it", arguments: [false, true])
  func idsOnce(atOnce: Bool) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<100 { try await store.put(number, forKey: "a \(number)") }
      for number in 0..<500 { _ = try await store.value(Int.self, forKey: "a \(number % 100)") }
      if atOnce {
        try await store.transaction { objects in
          try objects.deleteAll()
          for number in 0..<100 { try objects.put(number, forKey: "b \(number)") }
        }
      } else {
        try await store.deleteAll()
        for number in 0..<100 { try await store.put(number, forKey: "b \(number)") }
      }
    }
    try await rig.with { (store) async throws in
      #expect(try await store.metadata().items.allSatisfy { $0.timesRequested == 0 })
      #expect(try await store.count() == 100)
    }
  }
}
