import Foundation
@_spi(Stores) import LarderCore
import LarderStorage
import LarderTestSupport
import Testing

@Suite("Opening files", .timeLimit(.minutes(5)))
struct OpeningTests {
  let folder: TemporaryFolder
  var path: String { folder.file("test.db") }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ schema: Schema = TestSchema.first, rows: Int = 3) async throws {
    let database = try await Database.openForTest(path, schema: schema)
    for index in 0..<rows { try await database.insert("row \(index)", data: [UInt8](repeating: 5, count: 9000)) }
    try await database.close()
  }

  @Test("A file of the first version is migrated to the second and keeps its rows")
  func migrates() async throws {
    try await make()
    let database = try await Database.openForTest(path, schema: TestSchema.second)
    let notes = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT note FROM item") { (row) throws(StorageError) in try row.text(0) }
    }
    #expect(notes == ["none", "none", "none"])
    try await database.close()
  }

  @Test("A file of a later version is rejected and not changed")
  func newer() async throws {
    try await make(TestSchema.second)
    let before = try Data(contentsOf: URL(filePath: path))
    let error = await storageError { _ = try await Database.openForTest(path, schema: TestSchema.first) }
    #expect(error?.category == .newerSchema)
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test("A failed migration step leaves the file at the previous version")
  func failingStep() async throws {
    try await make()
    #expect(await storageError { _ = try await Database.openForTest(path, schema: TestSchema.failing) } != nil)
    let database = try await Database.openForTest(path, schema: TestSchema.first)
    let tables = try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") { (row) throws(StorageError) in
        try row.text(0)
      }
    }
    #expect(tables == ["item"])
    try await database.close()
  }

  @Test("Another application's database is rejected and not changed")
  func foreign() async throws {
    try await make(TestSchema.other)
    let before = try Data(contentsOf: URL(filePath: path))
    let error = await storageError { _ = try await Database.openForTest(path, schema: TestSchema.first) }
    #expect(error?.category == .foreignFile)
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    #expect(try DatabaseFile(path).content() == (TestKey.isUsed ? .encrypted : .database(applicationID: 99)))
  }

  @Test("A text file is not a database")
  func text() async throws {
    let bytes = Array(String(repeating: "not a database. ", count: 100).utf8)
    try folder.write(bytes, to: "test.db")
    let error = await storageError { _ = try await Database.openForTest(path, schema: TestSchema.first) }
    #expect(error?.category == .notADatabase)
    #expect(try DatabaseFile(path).content() == .other)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(bytes))
  }

  @Test("The check finds damage and truncation")
  func damage() async throws {
    try await make(rows: 30)
    let whole = try Data(contentsOf: URL(filePath: path))
    var damaged = whole
    for index in 4096..<12_288 { damaged[index] = 0xAA }
    for bytes in [damaged, whole.prefix(whole.count / 2)] {
      try bytes.write(to: URL(filePath: path))
      let error = await storageError {
        let database = try await Database.openForTest(path, schema: TestSchema.first)
        do { try await database.checkIntegrity() } catch {
          try? await database.close()
          throw error
        }
        try await database.close()
      }
      #expect(error?.category == .corrupt)
    }
  }

  @Test(
    "The kind of a file by its first bytes",
    arguments: [
      ("", 1, DatabaseFile.Content.absent), ("hello", 1, .other), ("SQLite format 3\0", 1, .damaged),
      ("garbage ", 1024, .damaged), ("garbage ", 1023, .other),
      ("SQLite format 3\0", 16, .database(applicationID: 0x7465_2066)),
    ])
  func content(_ text: String, times: Int, _ content: DatabaseFile.Content) throws {
    let file = try folder.write(Array(String(repeating: text, count: times).utf8), to: "some")
    #expect(try DatabaseFile(file).content() == content)
  }

  @Test("A damaged file is moved aside with its content and log, and replaces an earlier one")
  func setAside() throws {
    for log in [[4] as [UInt8], nil] {
      let file = try folder.write([1, 2, 3], to: "cache")
      if let log { try folder.write(log, to: "cache-wal") }
      try folder.write([5], to: "cache-shm")
      let aside = try DatabaseFile(file).setAside()
      #expect(try Data(contentsOf: URL(filePath: aside)) == Data([1, 2, 3]))
      #expect((try? Data(contentsOf: URL(filePath: aside + "-wal"))) == log.map { Data($0) })
      for suffix in ["", "-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: file + suffix)) }
    }
  }

  @Test("A missing folder cannot be opened")
  func missingFolder() async throws {
    let error = await storageError {
      _ = try await Database.openForTest(folder.file("no/where.db"), schema: TestSchema.first)
    }
    #expect(error?.category == .cannotOpen)
  }

  @Test("The lock has one owner, and is free after its release")
  func lock() throws {
    let file = folder.file("lock")
    let first = try FileLock(file)
    #expect(throws: StorageError.self) { _ = try FileLock(file) }
    first.release()
    let second = try FileLock(file)
    second.release()
  }

  #if os(Linux)
    @Test("A released lock is free, even if a new child process still has a copy of its descriptor")
    func lockWithCopies() throws {
      let file = folder.file("lock")
      let first = try FileLock(file)
      // As between a child's beginning and its program's: the copy shares the lock.
      let copies = openDescriptors().compactMap { name, target -> FileHandle? in
        guard let number = Int32(name), target == file else { return nil }
        return FileHandle(fileDescriptor: dup(number), closeOnDealloc: true)
      }
      #expect(!copies.isEmpty)
      first.release()
      let second = try FileLock(file)
      second.release()
      for copy in copies { try copy.close() }
    }
  #endif
}

@Suite("Digests", .timeLimit(.minutes(5)))
struct DigestTests {
  @Test(
    "SHA-256: the examples of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func sha256(_ text: String, _ digest: String) {
    #expect(Hexadecimal.text(Digest.sha256(Array(text.utf8))) == digest)
  }

  @Test("HMAC: RFC 4231, cases 1, 2 and 6")
  func hmac() {
    let first = Digest.hmac(Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))
    #expect(Hexadecimal.text(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    let second = Digest.hmac(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(Hexadecimal.text(second) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let sixth = Digest.hmac(
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8), key: [UInt8](repeating: 0xaa, count: 131))
    #expect(Hexadecimal.text(sixth) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test("A changed bit, length or order changes the checksum")
  func checksum() {
    var random = PrintedSeed(for: "checksum")
    for length in [0, 1, 7, 8, 15, 16, 17, 31, 32, 1000] {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sum = Checksum.of(bytes)
      #expect(Checksum.of(bytes) == sum)
      #expect(Checksum.of(bytes + [0]) != sum)
      for index in bytes.indices {
        var changed = bytes
        changed[index] ^= 1 << UInt8(index % 8)
        #expect(Checksum.of(changed) != sum)
      }
      if length >= 16 {
        let swapped = Array(bytes[8...] + bytes[..<8])
        #expect(swapped == bytes || Checksum.of(swapped) != sum)
      }
    }
  }
}
