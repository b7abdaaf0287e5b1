import Foundation
import LarderStorage
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite("A database on a full disk", .timeLimit(.minutes(2)))
struct FullDiskTests {
  @Test("A closed file can be read; writing throws full until there is space")
  func reads() async throws {
    guard let disk = try SmallDisk(bytes: 1 << 20) else { return print("no disk can be mounted here") }
    let path = disk.path + "/a.db"
    let first = try await Database.openForTest(path, schema: TestSchema.first)
    for index in 0..<3 { try await first.insert("row \(index)") }
    try await first.close()
    try disk.fill()
    for options in [DatabaseOptions(), DatabaseOptions(allowsReadOnly: true)] {
      let database = try await Database.openForTest(path, schema: TestSchema.first, options: options)
      #expect(database.isReadOnly && database.isFull)
      #expect(try await database.names() == ["row 0", "row 1", "row 2"])
      for _ in 0..<2 {
        let error = await storageError { try await database.insert("more") }
        #expect(error?.category == .full)
        #expect(error?.description.contains("disk was full") == true)
      }
      try await database.close()
    }
    let new = await storageError { _ = try await Database.openForTest(disk.path + "/b.db", schema: TestSchema.first) }
    #expect(new?.category == .full, "\(new.debugDescription)")
    try FileManager.default.removeItem(atPath: disk.path + "/filling")
    let again = try await Database.openForTest(path, schema: TestSchema.first)
    #expect(!again.isReadOnly && !again.isFull)
    try await again.insert("more")
    #expect(try await again.names().count == 4)
    try await again.close()
  }

  @Test("A log without its index is moved into the file on a full disk, and read")
  func leftLog() async throws {
    guard let disk = try SmallDisk(bytes: 1 << 20) else { return print("no disk can be mounted here") }
    let folder = try TemporaryFolder()
    let (from, path) = (folder.file("a.db"), disk.path + "/a.db")
    let first = try await Database.openForTest(from, schema: TestSchema.first)
    try await first.insert("row 0")
    try await first.checkpoint()
    try await first.insert("row 1")
    // As a crash leaves them, in a copy.
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: from + suffix, toPath: path + suffix) }
    try await first.close()
    try disk.fill()
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    #expect(database.isFull)
    #expect(try await database.names() == ["row 0", "row 1"])
    try await database.close()
  }

  @Test("A read-only folder can be read by a user other than root")
  func permissions() async throws {
    guard geteuid() != 0 else {
      return print("root may write everywhere: the tests of larder run as another user instead")
    }
    let folder = try TemporaryFolder()
    let database = try await Database.openForTest(folder.file("a.db"), schema: TestSchema.first)
    try await database.insert("row")
    try await database.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
    let options = DatabaseOptions(allowsReadOnly: true)
    let sealed = try await Database.openForTest(folder.file("a.db"), schema: TestSchema.first, options: options)
    #expect(try await sealed.names() == ["row"])
    try await sealed.close()
  }
}
