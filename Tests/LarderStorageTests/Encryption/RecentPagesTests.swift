import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Encryption: the cache of plaintext pages", .timeLimit(.minutes(5)))
struct RecentPagesTests {
  let rig: EncryptionRig

  init() throws { rig = try EncryptionRig() }

  /// A page of one value, with zeros where SQLite has them.
  private func page(_ value: UInt8) -> [UInt8] {
    [UInt8](repeating: value, count: FileContent.sealedLength)
      + [UInt8](repeating: 0, count: FileContent.reservedLength)
  }

  private func end(_ value: UInt8) -> [UInt8] { [UInt8](repeating: value, count: FileContent.reservedLength) }

  private func take(_ pages: RecentPages, _ number: UInt64, end value: UInt8) -> [UInt8]? {
    var content = [UInt8](repeating: 0xEE, count: FileContent.pageLength)
    return pages.copyPage(number, end: end(value), to: &content) ? content : nil
  }

  @Test("A page is found only with its nonce and tag; another page replaces it in its slot")
  func slots() {
    let pages = RecentPages(slots: 4)
    #expect(!pages.mayHave(1) && take(pages, 1, end: 1) == nil)
    pages.store(1, page(11), end: end(1))
    pages.store(2, page(22), end: end(2))
    #expect(pages.mayHave(1) && !pages.mayHave(5) && !pages.mayHave(3))
    #expect(take(pages, 1, end: 1) == page(11))
    #expect(take(pages, 1, end: 2) == nil && take(pages, 5, end: 1) == nil)
    var nearly = end(1)
    nearly[FileContent.reservedLength - 1] = 0
    var content = page(0)
    #expect(!pages.copyPage(1, end: nearly, to: &content) && content == page(0))
    pages.store(5, page(55), end: end(5))
    #expect(!pages.mayHave(1) && take(pages, 5, end: 5) == page(55) && take(pages, 2, end: 2) == page(22))
    pages.store(5, page(56), end: end(6))
    #expect(take(pages, 5, end: 5) == nil && take(pages, 5, end: 6) == page(56))
  }

  @Test("Later commits of another process are read from the log, and a damaged frame is never another page")
  func frames() throws {
    // A plain database's file lends its calls; what is written to it is a log.
    let path = rig.folder.file("log")
    let connection = try Connection(path, access: .readWriteCreate, options: DatabaseOptions(), cipher: nil)
    defer { try? connection.close() }
    let keys = try FileKeys.new(rig.key)
    // With what one process keeps, and with what another does.
    let others = try #require(try FileKeys.of(keys.header, rig.key))
    let mine = try #require(connection.mainFile.flatMap { LogFile(RealFile($0), keys) })
    let theirs = try #require(connection.mainFile.flatMap { LogFile(RealFile($0), others) })
    func write(_ log: LogFile, _ number: Int, _ value: UInt8) -> Bool {
      let place = Int64(32 + (number - 1) * LogFile.frameLength)
      let head: [UInt8] = [0, 0, 0, UInt8(number), 0, 0, 0, 1] + [UInt8](repeating: 7, count: 16)
      return log.write(head, 24, at: place) == 0 && log.write(page(value), FileContent.pageLength, at: place + 24) == 0
    }
    func read(_ log: LogFile, _ number: Int) -> [UInt8]? {
      var content = [UInt8](repeating: 0xEE, count: FileContent.pageLength)
      let place = Int64(32 + (number - 1) * LogFile.frameLength + LogFile.frameHeaderLength)
      return log.read(&content, content.count, at: place) == 0 ? content : nil
    }
    for number in 1...3 { #expect(write(mine, number, UInt8(number))) }
    for number in 1...3 {
      #expect(read(mine, number) == page(UInt8(number)) && read(theirs, number) == page(UInt8(number)))
    }
    #expect(write(theirs, 2, 22))
    #expect(read(mine, 2) == page(22) && read(theirs, 2) == page(22) && read(mine, 2) == page(22))
    // One bit of the third frame's page: a connection that has it sees what was written, one that opens it an error.
    var bytes = rig.contents(path)
    bytes[32 + 2 * LogFile.frameLength + LogFile.frameHeaderLength + 100] ^= 1
    try rig.write(bytes, to: path)
    #expect(read(mine, 3) == page(3))
    let fresh = try #require(try FileKeys.of(keys.header, rig.key))
    let newcomer = try #require(connection.mainFile.flatMap { LogFile(RealFile($0), fresh) })
    #expect(read(newcomer, 3) == nil && read(newcomer, 1) == page(1))
  }

  @Test("The check of an open file reads the disk, not the cache")
  func check() async throws {
    try await rig.fill(200)
    let databases = [try await rig.open(), try await rig.open()]
    for database in databases { try await database.checkIntegrity() }
    var bytes = rig.bytes
    // A page in the midst, without its nonce and tag.
    bytes[20 * FileContent.pageLength + 1000] ^= 1
    try rig.write(bytes, to: rig.path)
    // SQLite lets its own pages go.
    try await databases[0].insert("more")
    for database in databases {
      #expect(await storageError { try await database.checkIntegrity() }?.category == .corrupt)
      try await database.close()
    }
  }

  @Test("Two connections with separate page caches see each other's commits at once", arguments: 1...6)
  func twoOpenings(seed: UInt64) async throws {
    var random = PrintedSeed(seed: seed)
    try await rig.fill(400, size: 900)
    let databases = [try await rig.open(), try await rig.open()]
    var model = (0..<400).map { UInt8($0 & 255) }
    for step in 0..<150 {
      let (one, other) =
        Int.random(in: 0..<2, using: &random) == 0 ? (databases[0], databases[1]) : (databases[1], databases[0])
      let changes = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
        (row: Int.random(in: 0..<400, using: &random), value: UInt8.random(in: 0...255, using: &random))
      }
      try await one.write { (connection) throws(StorageError) in
        for change in changes {
          try connection.run(
            "UPDATE item SET data = ? WHERE id = ?", .blob([UInt8](repeating: change.value, count: 900)),
            .integer(Int64(change.row + 1)))
        }
      }
      for change in changes { model[change.row] = change.value }
      // The log begins anew, from its first frame on.
      if Int.random(in: 0..<10, using: &random) == 0 { try await one.checkpoint() }
      for _ in 0..<8 {
        let row = Int.random(in: 0..<400, using: &random)
        let content = try await other.read { (connection) throws(StorageError) -> [UInt8]? in
          try connection.first("SELECT data FROM item WHERE id = ?", .integer(Int64(row + 1))) {
            (row) throws(StorageError) in try row.bytes(0)
          }
        }
        #expect(content == [UInt8](repeating: model[row], count: 900), "seed \(seed), step \(step), row \(row)")
      }
    }
    for database in databases { try await database.close() }
    #expect(try await rig.wholeRows() == model.enumerated().map { "row \($0.offset) 900 \($0.element)" })
  }
}
