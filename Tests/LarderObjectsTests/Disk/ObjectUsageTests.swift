import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: the number of values, and their ids", .timeLimit(.minutes(5)))
struct ObjectUsageTests {
  /// Lengths of values that store the usage if they are the newest, and of values too long for it.
  private static let lengths = [0, 100, 2048, 2049, 50_000]

  private func value(_ length: Int) -> [UInt8] { [UInt8](repeating: 7, count: length) }

  /// The ids of all rows and of the next row, read by another connection.
  private func ids(_ rig: ObjectRig) async throws -> (all: [Int64], next: Int64?) {
    let database = try await Database.open(rig.path, key: try rig.key, schema: ObjectSchema.schema)
    let rows = try await database.read { (connection) throws(StorageError) in
      (
        try connection.rows("SELECT id FROM object ORDER BY id") { (row) throws(StorageError) in try row.int64(0) },
        try ObjectUsage.read(connection)?.next
      )
    }
    try await database.close()
    return (rows.0, rows.1)
  }

  @Test("The usage is correct whatever happens to the newest value", arguments: lengths, lengths)
  func newest(before: Int, after: Int) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      func expect(_ lengths: [Int], line: Int = #line) async throws {
        #expect(try await store.count == lengths.count, "line \(line)")
        #expect(try await store.usedBytes == lengths.reduce(0, +), "line \(line)")
      }
      try await store.put(value(before), forKey: "a")
      try await store.put(value(after), forKey: "b")
      try await expect([before, after])
      try await store.put(value(after), forKey: "a")
      try await store.put(value(before), forKey: "b")
      try await expect([after, before])
      try await store.removeValue(forKey: "b")
      try await expect([after])
      try await store.put(value(before), forKey: "a")
      try await expect([before])
      try await store.transaction { [new = value(after)] objects in
        try objects.removeValue(forKey: "a")
        try objects.put(new, forKey: "c")
        try objects.put(new, forKey: "d")
        try objects.removeValue(forKey: "d")
      }
      try await expect([after])
      try await store.removeAll()
      try await expect([])
      try await store.put(value(after), forKey: "a")
      try await expect([after])
    }
    try await rig.with { (store) async throws in
      #expect(try await store.count == 1)
      #expect(try await store.usedBytes == after)
    }
  }

  @Test("An id is never reused, even if the newest value or all values were deleted and the file was closed in between")
  func idsOnce() async throws {
    let rig = try ObjectRig()
    var usedIDs: Set<Int64> = []
    for round in 0..<6 {
      try await rig.with { (store) async throws in
        for number in 0..<3 {
          try await store.put(value(round.isMultiple(of: 2) ? 10 : 5000), forKey: "\(round) \(number)")
        }
      }
      let new = try await ids(rig)
      #expect(usedIDs.isDisjoint(with: new.all.suffix(3)))
      usedIDs.formUnion(new.all)
      #expect(try #require(new.next) > (usedIDs.max() ?? 0))
      try await rig.with { (store) async throws in
        if round < 3 { try await store.removeValue(forKey: "\(round) 2") } else { try await store.removeAll() }
      }
      #expect(try #require(try await ids(rig).next) > (usedIDs.max() ?? 0))
    }
  }
}
