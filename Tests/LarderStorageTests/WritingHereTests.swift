import Dispatch
import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@Suite("Databases: writing on the caller's thread", .timeLimit(.minutes(5)))
struct WritingHereTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  /// Blocks, as a caller that writes by itself does.
  private func insertHere(_ name: String, _ database: Database) -> String {
    let error: StorageError?? = database.writeHere { turn in
      do throws(StorageError) {
        try turn.write { (connection) throws(StorageError) in
          try connection.run("INSERT INTO item(name) VALUES(?)", .text(name))
        }
        return nil
      } catch { return error }
    }
    guard let error else { return "not free" }
    return error.map { "\($0.category)" } ?? "written"
  }

  @Test("Writes on the caller's thread and on the writer's thread are both read")
  func writes() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    for number in 0..<10 {
      if number.isMultiple(of: 2) {
        #expect(insertHere("\(number)", database) == "written")
      } else {
        try await database.insert("\(number)")
      }
    }
    #expect(try await database.names() == (0..<10).map { "\($0)" })
    try await database.close()
    #expect(insertHere("late", database) == "closed")
  }

  @Test("What follows a turn of the writer has no lock: it can write on its own thread")
  func afterwards() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let outcome = await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
      database.whereWriting { _ in
        "a"
      } afterwards: { [self] name in
        done.resume(returning: insertHere(name, database))
      }
    }
    #expect(outcome == "written")
    #expect(try await database.names() == ["a"])
    try await database.close()
  }

  @Test("It does not wait for the writer's thread or another connection's lock")
  func neverWaits() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let other = try await Database.openForTest(path, schema: TestSchema.first)
    let go = DispatchSemaphore(value: 0)
    let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
    async let holding: Void = other.write { (_) throws(StorageError) in
      isBegun.finish()
      go.wait()
    }
    for await _ in begun {}
    #expect(insertHere("a", other) == "not free")
    #expect(insertHere("a", database) == "busy")
    // The writer's thread waits for the lock, and so does a later caller.
    async let waiting: Void = database.insert("b")
    go.signal()
    try await holding
    try await waiting
    #expect(insertHere("c", other) == "written")
    #expect(try await database.names() == ["b", "c"])
    try await other.close()
    try await database.close()
  }
}
