import Foundation
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: the power goes", .timeLimit(.minutes(2)))
struct PowerLossTests {
  @Test("any part of the log that reached the disk, and garbage behind it: the store shows one state and works")
  func log() async throws {
    var random = PrintedSeed(for: "the power goes")
    let rig = try await VersionedStore()
    let (service, store) = (rig.place.service, rig.store)
    defer { rig.place.server.stop() }
    // All that follows stays in the log: each of its beginnings is what a disk may have at some time.
    try await store.store?.replica.database.write { (connection) throws(StorageError) in
      try connection.run("PRAGMA wal_autocheckpoint = 0")
    }
    for _ in 0..<2 { try await store.download() }
    service.moves = false
    let file = try Data(contentsOf: URL(filePath: store.file))
    let log = try Data(contentsOf: URL(filePath: store.file + "-wal"))
    var states: Set<String> = []
    for number in 0..<60 {
      let copy = try TemporaryFolder()
      let path = copy.file("store.larder")
      let length = number == 0 ? log.count : Int.random(in: 0...log.count, using: &random)
      var remaining = log.prefix(length)
      // A sector that was being written, or blocks of another file's.
      if number % 3 == 0 {
        remaining += (0..<Int.random(in: 1...9000, using: &random)).map { _ in UInt8.random(in: 0...255) }
      }
      if number % 5 == 1, length < log.count { remaining += Data(count: log.count - length) }
      try file.write(to: URL(filePath: path))
      try remaining.write(to: URL(filePath: path + "-wal"))
      let killed = try await KilledStore(path)
      let versions = try await killed.check("\(length) of \(log.count) bytes of the log")
      states.insert("\(versions["Rows"] ?? 0) \(versions["Whole"] ?? 0)")
      try await killed.close()
      guard number % 6 == 0 else { continue }
      let again = try OfflineCrashRig.provider(copy.path, rig.place.root)
      try await again.open()
      for _ in 0..<2 { try await again.download() }
      try await again.close()
      let end = try await KilledStore(path)
      #expect(try await end.check("after going on")["Whole"] == service.version)
      #expect(try await end.rubbish().isEmpty)
      try await end.close()
    }
    print("\(log.count) bytes of log, states seen: \(states.sorted())")
    try await store.close()
  }
}
