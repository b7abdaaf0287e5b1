import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Encryption: damaged, swapped and truncated files", .timeLimit(.minutes(5)))
struct EncryptedDamageTests {
  let rig: EncryptionRig
  private let page = FileContent.pageLength

  init() throws { rig = try EncryptionRig() }

  /// What a copy of the file holds: its rows, or the error's category.
  private enum Outcome: Equatable {
    case rows([String])
    case failed(StorageError.Category)
  }

  private func outcome(_ path: String) throws -> Outcome {
    do {
      let connection = try rig.connection(path)
      defer { try? connection.close() }
      let finding = try connection.plainly("PRAGMA integrity_check")
      guard finding == ["ok"] else { return .failed(.corrupt) }
      return .rows(
        try connection.plainly("SELECT name || ' ' || hex(substr(data, 1, 4)) || length(data) FROM item ORDER BY id"))
    } catch let error as StorageError {
      #expect(error.category != .corrupt || error.path == path)
      return .failed(error.category)
    }
  }

  private func outcome(file: [UInt8], log: [UInt8]? = nil) throws -> Outcome {
    let path = rig.folder.file("copy.db")
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try rig.write(file, to: path)
    if let log { try rig.write(log, to: path + "-wal") }
    return try outcome(path)
  }

  /// The file and its log as a crash leaves them after some commits, each of one row.
  private func crashed(_ commits: Int) throws -> (file: [UInt8], log: [UInt8]) {
    let connection = try rig.connection()
    try connection.plainly("PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0")
    try OneTable().run(on: connection)
    try connection.plainly("PRAGMA wal_checkpoint(TRUNCATE)")
    for commit in 0..<commits {
      try connection.plainly("INSERT INTO item(name, data) VALUES('row \(commit)', zeroblob(3000))")
    }
    let state = (rig.bytes, rig.contents(rig.path + "-wal"))
    try connection.close()
    return state
  }

  @Test("Each bit of a small file is authenticated: a change makes its page unreadable")
  func everyBit() async throws {
    try await rig.fill(3)
    let bytes = rig.bytes
    let keys = try EncryptedFile(path: rig.path).unlock(rig.key)
    let codec = try #require(PageCodec(keys))
    var plain = [UInt8](repeating: 0, count: page)
    var missed = 0
    for number in 1...(bytes.count / page) {
      var sealed = Array(bytes[((number - 1) * page)..<(number * page)])
      #expect(
        plain.withUnsafeMutableBytes { room in
          room.baseAddress.map { codec.open(sealed, number: UInt64(number), to: $0) } ?? false
        })
      for bit in 0..<(page * 8) {
        sealed[bit / 8] ^= 1 << UInt8(bit % 8)
        let isOpen = plain.withUnsafeMutableBytes { room in
          room.baseAddress.map { codec.open(sealed, number: UInt64(number), to: $0) } ?? true
        }
        if isOpen { missed += 1 }
        sealed[bit / 8] ^= 1 << UInt8(bit % 8)
      }
    }
    #expect(missed == 0)
  }

  @Test("A changed bit in the header or in any page is an error with the file's name")
  func bits() async throws {
    try await rig.fill(12, size: 900)
    let bytes = rig.bytes
    guard case .rows = try outcome(file: bytes) else { return #expect(Bool(false), "the file itself") }
    var random = PrintedSeed(for: "bits of the file")
    let places =
      Array(0..<16) + Array(68..<100) + (0..<200).map { _ in Int.random(in: 0..<bytes.count, using: &random) }
    for place in places {
      var changed = bytes
      changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      #expect(try outcome(file: changed) == .failed(.corrupt), "byte \(place)")
    }
  }

  @Test("Pages that are swapped, repeated, zeroed, or copied from another file with the same key are errors")
  func swaps() async throws {
    try await rig.fill(30, size: 900)
    let bytes = rig.bytes
    let count = bytes.count / page
    func at(_ number: Int) -> Range<Int> { ((number - 1) * page)..<(number * page) }
    try FileManager.default.removeItem(atPath: rig.path)
    try await rig.fill(30, size: 900)
    let other = rig.bytes
    #expect(other.count == bytes.count && count > 5)
    for number in 2...count {
      var swapped = bytes
      let with = number == count ? 2 : number + 1
      swapped.replaceSubrange(at(number), with: bytes[at(with)])
      #expect(try outcome(file: swapped) == .failed(.corrupt), "page \(with) as \(number)")
      swapped = bytes
      swapped.replaceSubrange(at(number), with: other[at(number)])
      #expect(try outcome(file: swapped) == .failed(.corrupt), "page \(number) of another file")
      swapped = bytes
      swapped.replaceSubrange(at(number), with: [UInt8](repeating: 0, count: page))
      #expect(try outcome(file: swapped) == .failed(.corrupt), "page \(number) wiped")
    }
  }

  @Test("A page copied from the log into the file is an error, and so is the log of another file")
  func logPages() throws {
    let (file, log) = try crashed(4)
    for frame in 0..<((log.count - 32) / 4120) {
      let image = log[(32 + frame * 4120 + 24)..<(32 + (frame + 1) * 4120)]
      for number in 1...(file.count / page) {
        var changed = file
        changed.replaceSubrange(((number - 1) * page)..<(number * page), with: image)
        #expect(try outcome(file: changed) == .failed(.corrupt), "frame \(frame) as page \(number)")
      }
    }
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: rig.path + suffix) }
    let (second, _) = try crashed(4)
    #expect(try outcome(file: second, log: log) == outcome(file: second))
  }

  @Test("A truncated file is an error")
  func cuts() async throws {
    try await rig.fill(12, size: 900)
    let bytes = rig.bytes
    for length in stride(from: page / 2, to: bytes.count, by: page / 2) {
      guard case .failed(let category) = try outcome(file: Array(bytes[..<length])) else {
        #expect(Bool(false), "cut to \(length)")
        continue
      }
      #expect(category == .corrupt || (length < page && category == .notADatabase), "cut to \(length)")
    }
  }

  @Test("A file truncated while its log is not empty is an error when the missing page is read")
  func truncatedAfterLog() throws {
    let connection = try rig.connection()
    try connection.plainly("PRAGMA wal_autocheckpoint = 0")
    try OneTable().run(on: connection)
    try connection.plainly(
      "INSERT INTO item(name, data) VALUES('long', zeroblob(60000))", "PRAGMA wal_checkpoint(TRUNCATE)")
    try connection.plainly("INSERT INTO item(name) VALUES('short')")
    let (file, log) = (rig.bytes, rig.contents(rig.path + "-wal"))
    try connection.close()
    #expect(try outcome(file: Array(file[..<(4 * page)]), log: log) == .failed(.corrupt))
  }

  @Test(
    "A changed bit in the log is an error if a later commit exists; otherwise the last commit is dropped")
  func logBits() throws {
    let commits = 5
    let (file, log) = try crashed(commits)
    let frames = (log.count - 32) / 4120
    guard case .rows(let all) = try outcome(file: file, log: log) else { return #expect(Bool(false), "the log itself") }
    #expect(all.count == commits && frames > commits)
    // Where the last commit begins: the log of one commit fewer has as many frames.
    let before = try lengthWithoutLast(file, log, all.count)
    var random = PrintedSeed(for: "bits of the log")
    var places = Array(0..<32)
    for frame in 0..<frames {
      let start = 32 + frame * 4120
      places += Array(start..<(start + 24)) + Array((start + 24 + 4064)..<(start + 4120))
      places += (0..<20).map { _ in Int.random(in: (start + 24)..<(start + 4120), using: &random) }
    }
    for place in places {
      var changed = log
      changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let result = try outcome(file: file, log: changed)
      if place < before {
        #expect(result == .failed(.corrupt), "byte \(place)")
      } else {
        #expect(result == .rows(Array(all.dropLast())), "byte \(place)")
      }
    }
  }

  @Test("A log with a zeroed header is an error, not a file without its last commits")
  func wipedLogHeader() throws {
    let (file, written) = try crashed(5)
    var log = written
    log.replaceSubrange(0..<32, with: [UInt8](repeating: 0, count: 32))
    #expect(try outcome(file: file, log: log) == .failed(.corrupt))
    // Nothing but zeros is what a file system may have made of a log that was never on the disk.
    log = [UInt8](repeating: 0, count: log.count)
    #expect(try outcome(file: file, log: log) == .rows([]))
  }

  @Test("Data of a failed commit in the log is not used as a frame when it is overwritten")
  func failedCommit() throws {
    // A plain database's file lends its calls; what is written to it is a log.
    let path = rig.folder.file("log")
    let connection = try Connection(path, access: .readWriteCreate, options: DatabaseOptions(), cipher: nil)
    defer { try? connection.close() }
    let keys = try FileKeys.new(rig.key)
    let log = try #require(connection.mainFile.flatMap { LogFile(RealFile($0), keys) })
    var header = [UInt8](repeating: 7, count: 32)
    header.replaceSubrange(8..<12, with: [0, 0, 16, 0])
    #expect(log.write(header, 32, at: 0) == 0)
    let image = [UInt8](repeating: 1, count: FileContent.sealedLength) + [UInt8](repeating: 0, count: 32)
    func write(_ frame: Int, ends: Bool, page hasPage: Bool = true) -> Bool {
      let place = Int64(32 + (frame - 1) * 4120)
      let head = [0, 0, 0, 1, 0, 0, 0, ends ? 1 : 0] + [UInt8](repeating: 7, count: 16)
      guard log.write(head, 24, at: place) == 0 else { return false }
      return !hasPage || log.write(image, page, at: place + 24) == 0
    }
    #expect(write(1, ends: true) && log.sync(2) == 0)
    // The page of this one never comes: the disk is full, say. What is synchronized next is another's.
    #expect(write(2, ends: true, page: false) && log.sync(2) == 0)
    #expect(write(2, ends: false) && write(3, ends: true) && log.sync(2) == 0)
    let place = 32 + 2 * 4120 + 24 + FileContent.sealedLength
    #expect(Array(rig.contents(path)[place..<(place + 4)]) == [1, 0, 0, 0])
    #expect(write(4, ends: true))
    #expect(Array(rig.contents(path)[(place + 4120)..<(place + 4124)]) == [3, 0, 0, 0])
  }

  /// How long the log is without its last commit.
  private func lengthWithoutLast(_ file: [UInt8], _ log: [UInt8], _ count: Int) throws -> Int {
    var length = log.count
    while length > 32, case .rows(let rows) = try outcome(file: file, log: Array(log[..<(length - 4120)])) {
      length -= 4120
      if rows.count < count - 1 { return length + 4120 }
    }
    return length
  }

  @Test("A truncated log contains the complete commits before the truncation")
  func logCuts() throws {
    let (file, log) = try crashed(5)
    guard case .rows(let all) = try outcome(file: file, log: log) else { return #expect(Bool(false), "the log itself") }
    var last = 0
    for length in Array(stride(from: 0, to: log.count, by: 515)) + [log.count] {
      let result = try outcome(file: file, log: Array(log[..<length]))
      guard case .rows(let rows) = result else {
        #expect(Bool(false), "cut to \(length): \(result)")
        continue
      }
      #expect(rows == Array(all.prefix(rows.count)) && rows.count >= last, "cut to \(length)")
      last = rows.count
    }
    #expect(last == 5)
  }

  @Test("Swapped frames of the log are errors or the end of the log, never other rows")
  func logSwaps() throws {
    let (file, log) = try crashed(5)
    guard case .rows(let all) = try outcome(file: file, log: log) else { return #expect(Bool(false), "the log itself") }
    let frames = (log.count - 32) / 4120
    func at(_ frame: Int) -> Range<Int> { (32 + frame * 4120)..<(32 + (frame + 1) * 4120) }
    for frame in 1..<frames {
      var swapped = log
      swapped.replaceSubrange(at(frame), with: log[at(frame - 1)])
      swapped.replaceSubrange(at(frame - 1), with: log[at(frame)])
      let result = try outcome(file: file, log: swapped)
      guard result != .failed(.corrupt) else { continue }
      #expect(result == .rows(Array(all.dropLast())), "frames \(frame - 1) and \(frame)")
    }
  }
}
