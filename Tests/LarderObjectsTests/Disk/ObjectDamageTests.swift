import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: damage and failures of the file", .timeLimit(.minutes(5)))
struct ObjectDamageTests {
  /// Changes the file without the store.
  private func damage(_ rig: ObjectRig, _ statements: String...) async throws {
    let database = try await Database.open(rig.path, key: try rig.key, schema: ObjectSchema.schema)
    try await database.write { (connection) throws(StorageError) in
      for sql in statements { try connection.run(sql) }
    }
    try await database.close()
  }

  @Test("A transaction with a failed change is rolled back, even if its closure continues")
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
      guard case .storage(let cause)? = error?.category else { throw NoNetwork() }
      #expect(cause.category == .constraint)
      #expect(try await store.keys() == ["before"])
      #expect(try await store.count == 1)
    }
  }

  @Test("Requests of a deleted value are not counted for a value that is put after it", arguments: [false, true])
  func idsOnce(atOnce: Bool) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<100 { try await store.put(number, forKey: "a \(number)") }
      for number in 0..<500 { _ = try await store.value(Int.self, forKey: "a \(number % 100)") }
      if atOnce {
        try await store.transaction { objects in
          try objects.removeAll()
          for number in 0..<100 { try objects.put(number, forKey: "b \(number)") }
        }
      } else {
        try await store.removeAll()
        for number in 0..<100 { try await store.put(number, forKey: "b \(number)") }
      }
    }
    try await rig.with { (store) async throws in
      #expect(try await store.metadata().items.allSatisfy { $0.timesRequested == 0 })
      #expect(try await store.count == 100)
    }
  }

  @Test("An expired row with a damaged key is deleted, and does not affect other values")
  func damagedKey() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a", labels: ["x"])
      try await store.put(2, forKey: "b", labels: ["x"])
    }
    try await damage(rig, "UPDATE object SET key = CAST(x'61FF' AS TEXT), expires = 1 WHERE key = 'a'")
    try await rig.with(ObjectStoreOptions(disk: .init(countLimit: 1))) { (store) async throws in
      try await store.put(3, forKey: "c", labels: ["x"])
      #expect(try await store.keys() == ["c"])
      #expect(try await store.keys(.label("x")) == ["c"])
      #expect(try await store.count == 1)
    }
    let database = try await Database.open(rig.path, key: try rig.key, schema: ObjectSchema.schema)
    let left = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT key FROM label") { (row) throws(StorageError) in try row.text(0) }
    }
    #expect(left == ["c"])
    try await database.close()
  }

  @Test("Damaged labels are deleted with their value, and the key can be put with them again")
  func damagedLabels() async throws {
    let rig = try ObjectRig()
    for labels in ["x'00'", "x'0001'", "x'000179'", "x'0001FF'", "NULL"] {
      try await rig.with { (store) async throws in try await store.put(1, forKey: "a", labels: ["x"]) }
      try await damage(rig, "UPDATE object SET labels = \(labels)")
      try await rig.with { (store) async throws in
        #expect(try await store.removeValue(forKey: "a"))
        #expect(try await store.keys(.label("x")) == [])
        try await store.put(2, forKey: "a", labels: ["x"])
        #expect(try await store.keys(.label("x")) == ["a"])
        try await store.removeAll()
      }
    }
  }

  @Test("The largest numbers do not end the process: not in reads, puts or counts")
  func largestNumbers() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in try await store.put(1, forKey: "a") }
    let most = Int64.max
    try await damage(
      rig, "INSERT INTO request SELECT id, \(most), 5 FROM object", "UPDATE object SET size = \(most)",
      "UPDATE object SET objects = \(most), bytes = \(most)", "UPDATE usage SET objects = \(most), bytes = \(most)")
    try await rig.with { (store) async throws in
      for _ in 0..<3 { _ = try await store.value(Int.self, forKey: "a") }
      #expect(try await store.metadata(forKey: "a")?.timesRequested == .max)
      try await store.put(2, forKey: "b")
      try await store.put(3, forKey: "a")
      #expect(try await store.value(Int.self, forKey: "a") == 3)
      _ = try await store.count
      _ = try await store.usedBytes
    }
    try await rig.with { (store) async throws in
      #expect(try await store.metadata(forKey: "a")?.timesRequested == .max)
      #expect(try await store.values(Int.self) == [3, 2])
    }
  }

  @Test("Counts that cannot be written in the background are reported")
  func countsAreReported() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in try await store.put(1, forKey: "a") }
    try await damage(rig, "CREATE TRIGGER t BEFORE INSERT ON request BEGIN SELECT RAISE(ABORT, 'no'); END")
    let store = try await rig.open()
    _ = try await store.value(Int.self, forKey: "a")
    rig.runDelayed()
    // The writer's thread runs its work in order.
    await withCheckedContinuation { written in store.database.whereWriting { _ in written.resume() } }
    let failure = try #require(rig.diagnostics.first("countsNotWritten"))
    #expect(failure.module == "LarderObjects" && failure.level == .warning)
    #expect(failure.fields == ["path": store.database.path] && failure.error is ObjectStoreError)
    try? await store.close()
  }

  @Test("Counts that cannot be written do not prevent puts")
  func countsFail() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in try await store.put(1, forKey: "a") }
    try await damage(rig, "CREATE TRIGGER t BEFORE INSERT ON request BEGIN SELECT RAISE(ABORT, 'no'); END")
    let store = try await rig.open()
    _ = try await store.value(Int.self, forKey: "a")
    try await store.put(2, forKey: "b")
    #expect(try await store.values(Int.self) == [1, 2])
    #expect(try await store.metadata(forKey: "a")?.timesRequested == 1)
    // Close waits for the write of the counts.
    #expect(await reason { try await store.close() } != nil)
  }

  @Test(
    "The file with the number of changes has the permissions of the store's file; if it cannot be created, the store does not open"
  )
  func fileOfChanges() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in try await store.put(1, forKey: "a") }
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: rig.path)
    try FileManager.default.removeItem(atPath: rig.path + "-changes")
    try await rig.with { (store) async throws in
      let attributes = try FileManager.default.attributesOfItem(atPath: rig.path + "-changes")
      #expect(attributes[.posixPermissions] as? Int == 0o666)
    }
    try FileManager.default.removeItem(atPath: rig.path + "-changes")
    try FileManager.default.createDirectory(atPath: rig.path + "-changes", withIntermediateDirectories: false)
    let error = await reason { _ = try await rig.open() }
    guard case .storage(let cause)? = error?.category else { throw NoNetwork() }
    #expect(cause.category == .cannotOpen)
  }
}
