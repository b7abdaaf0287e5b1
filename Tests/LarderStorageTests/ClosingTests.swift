import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Databases: closing during other work, and partial failures", .timeLimit(.minutes(5)))
struct ClosingTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  /// What this process has open of the folder.
  private var descriptors: [String] { openDescriptors().values.filter { $0.hasPrefix(folder.path) } }

  @Test("A reader that is lent during suspension is rejected, and suspending waits for its end")
  func lending() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    try await database.insert("a")
    let ends = Tally("ends of the suspending")
    let (category, isEarly, suspending) = try await onDedicatedThread {
      () -> (StorageError.Category?, Bool, Task<Void, any Error>?) in
      var isEarly = false
      var suspending: Task<Void, any Error>?
      do throws(StorageError) {
        _ = try database.readers.lendConnection {
          suspending = Task {
            try await database.suspend()
            ends.add()
          }
          while database.readers.closingError == nil { sched_yield() }
          // Suspending would end about now if it did not wait for this reader.
          for _ in 0..<1000 { sched_yield() }
          isEarly = ends.value > 0
        }
        return (nil, isEarly, suspending)
      } catch { return (error.category, isEarly, suspending) }
    }
    try await suspending?.value
    #expect(category == .suspended && !isEarly)
    #expect(descriptors == [])
  }

  @Test("A database that is released without being closed closes its files")
  func released() async throws {
    do {
      let database = try await Database.openForTest(path, schema: TestSchema.first)
      try await database.insert("a")
      #expect(
        try await database.read { (connection) throws(StorageError) in try connection.integers("SELECT 1") } == [1])
    }
    // A thread that has just used a connection may still hold it.
    for _ in 0..<10_000 where descriptors != [] { await Task.yield() }
    #expect(descriptors == [])
  }

  @Test("If a reader cannot be closed, the writer is closed anyway, and the error is thrown")
  func failing() async throws {
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    for name in ["a", "b"] { try await database.insert(name) }
    let reader = try database.readers.lendConnection()
    var cursor: RowCursor? = try reader.use { (connection, _) throws(StorageError) in
      let cursor = try connection.cursor("SELECT name FROM item")
      try cursor.forEachRow { (_) throws(StorageError) in false }
      return cursor
    }
    // Back in the pool with a statement that is still in use.
    reader.end()
    #expect(await storageError { try await database.suspend() }?.category == .busy)
    // The reader's connection ends with its statement; the writer's has ended before.
    _ = cursor.take()
    #expect(descriptors == [])
    #expect(await storageError { try await database.insert("c") }?.category == .suspended)
  }
}
