import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderStorage

@Suite("File protection classes", .timeLimit(.minutes(5)))
struct FileProtectionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The system's call, which records what was requested: the class of each file, by the file's number.
  private final class Classes: Sendable {
    let set = Mutex<[UInt64: Int32]>([:])

    func note(_ descriptor: Int32, _ number: Int32) -> Int32 {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { return -1 }
      set.withLock { $0[UInt64(status.st_ino)] = number }
      return 0
    }

    func number(_ path: String) -> Int32? {
      FileProtectionTests.file(path).flatMap { file in set.withLock { $0[file] } }
    }
  }

  private static func file(_ path: String) -> UInt64? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  @Test("The classes have the system's numbers: A to D")
  func numbers() {
    #expect(FileProtection.allCases.map(\.number) == [1, 2, 3, 4])
  }

  @Test("A file system without protection classes is no error; a class that cannot be set is one")
  func failures() {
    for (number, result) in [(ENOTSUP, 0), (EINVAL, 0), (ENOTTY, 0), (EPERM, -1), (EACCES, -1)] as [(Int32, Int32)] {
      let got = FileProtection.complete.protect(0) { _, _ in
        errno = number
        return -1
      }
      #expect(got == result)
      #expect(got == 0 || errno == number)
    }
    #expect(FileProtection.complete.protect(-1, set: nil) == 0)
  }

  @Test(
    "The file and its log get the class, its index none; SQLite uses these files", arguments: FileProtection.allCases)
  func companions(protection: FileProtection) async throws {
    let path = folder.file("store.db")
    let classes = Classes()
    var token = try FilesInUse.enter(path, makes: true, protection, set: classes.note)
    #expect(token != nil)
    let numbers = ["", "-wal", "-shm"].map { classes.number(path + $0) }
    #expect(numbers == [protection.number, protection.number, FileProtection.none.number])
    let files = ["", "-wal", "-shm"].map { FileProtectionTests.file(path + $0) }

    let database = try await Database.open(path, schema: TestSchema.first)
    _ = try await database.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO item(name) VALUES('a')")
    }
    #expect(["", "-wal", "-shm"].map { FileProtectionTests.file(path + $0) } == files)
    // Nothing is opened and closed beside a connection: its locks would be dropped.
    classes.set.withLock { $0 = [:] }
    let other = try FilesInUse.enter(path, makes: true, protection, set: classes.note)
    #expect(classes.set.withLock { $0.isEmpty })
    try await database.close()
    withExtendedLifetime((token, other)) {}
    token = nil
  }

  @Test("An existing file gets another class when it is opened next; a reader sets none")
  func changed() throws {
    let path = folder.file("store.db")
    let classes = Classes()
    _ = try FilesInUse.enter(path, makes: true, .completeUntilFirstUserAuthentication, set: classes.note)
    _ = try FilesInUse.enter(path, makes: true, .complete, set: classes.note)
    #expect(classes.number(path) == FileProtection.complete.number)
    _ = try FilesInUse.enter(path, makes: false, FileProtection.none, set: classes.note)
    #expect(classes.number(path) == FileProtection.complete.number)
  }

  @Test("A class that cannot be set is an error with the file's name, and the file is not in use")
  func rejected() throws {
    let path = folder.file("store.db")
    let reject: @Sendable (Int32, Int32) -> Int32 = { _, _ in
      errno = EPERM
      return -1
    }
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) {
        _ = try FilesInUse.enter(path, makes: true, .complete, set: reject)
      }
      #expect(error?.path == path)
      #expect(error?.message.contains("file protection class") == true)
    }
  }
}
