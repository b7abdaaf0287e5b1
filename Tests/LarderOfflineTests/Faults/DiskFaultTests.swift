import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: faults of the disk", .timeLimit(.minutes(2)))
struct DiskFaultTests {
  private static func rows(_ count: Int, _ text: String) -> String {
    "{\"value\":[\((1...count).map { "{\"ID\":\($0),\"Text\":\"\(text)\"}" }.joined(separator: ","))]}"
  }

  @Test("a disk that is full in the middle of a slice ends the download; with room it resumes")
  func full() async throws {
    let rig = try await FaultRig()
    let database = try #require(rig.store.store?.replica.database)
    func limit(_ pages: Int64) async throws {
      try await database.write { (connection) throws(StorageError) in
        try connection.run("PRAGMA max_page_count = \(pages)")
      }
    }
    let pages = try await database.read { (connection) throws(StorageError) in
      try connection.first("PRAGMA page_count") { (row) throws(StorageError) in try row.int64(0) } ?? 0
    }
    let text = String(repeating: "x", count: 500)
    for room in [0, 1, 2, 5, 20, 60] as [Int64] {
      try await limit(pages + room)
      let error = await rig.download { _ in FaultyService.json(Self.rows(3000, text)) }
      #expect(error?.name == .diskFull, "\(room): \(error.debugDescription)")
      #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    }
    try await limit(1 << 30)
    #expect(try await rig.isIntact())
    #expect(await rig.download { _ in FaultyService.json(Self.rows(3000, text)) } == nil)
    #expect(try await rig.texts().count == 3000)
    try await rig.end()
  }

  @Test("a small disk that is really full: while a store is filled, and while it is open")
  func smallDisk() async throws {
    guard let folder = try SealedFolder() else { return print("nothing may be mounted here") }
    let service = FaultyService()
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let text = String(repeating: "y", count: 2000)
    service.faulty = { $0.path == "/s/Rows" ? FaultyService.json(Self.rows(8000, text)) : nil }
    func provider() throws -> OfflineODataProvider {
      try OfflineODataProvider(
        serviceRoot: server.url("/s/"), transport: rig.transport,
        parameters: OfflineODataParameters(path: folder.path, encryptionKey: try RigKey.fromEnvironment()))
    }
    let first = try provider()
    try await first.add(OfflineODataDefiningQuery("rows", "Rows"))
    let full = await #expect(throws: OfflineODataError.self) { try await first.open() }
    #expect(full?.name == .diskFull, "\(full.debugDescription)")
    service.faulty = nil
    // Room comes by clearing, too.
    try await first.clear()
    let second = try provider()
    try await second.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await second.open()
    #expect(try await second.size("Rows") == 5)
    service.faulty = { $0.path == "/s/Rows" ? FaultyService.json(Self.rows(8000, text)) : nil }
    let again = await #expect(throws: OfflineODataError.self) { try await second.download() }
    #expect(again?.name == .diskFull, "\(again.debugDescription)")
    #expect(try await second.size("Rows") == 5)
    // The log cannot be moved into the file, and says so; all that was committed is in it.
    let closing = await #expect(throws: OfflineODataError.self) { try await second.close() }
    #expect(closing?.name == .diskFull)
    #expect(!second.isOpen)
    server.stop()
    try await second.open()
    #expect(try await second.size("Rows") == 5)
    try await second.store?.replica.database.checkIntegrity()
    try? await second.close()
  }

  @Test("a folder that may not be written to: what is filled is read, the rest says so, and no store is made")
  func readOnly() async throws {
    guard let folder = try SealedFolder() else { return print("nothing may be sealed here") }
    let rig = try await FaultRig()
    var parameters = OfflineODataParameters(path: folder.path, encryptionKey: try RigKey.fromEnvironment())
    parameters.storeName = "there"
    func provider(_ parameters: OfflineODataParameters) throws -> OfflineODataProvider {
      try OfflineODataProvider(
        serviceRoot: rig.server.url("/s/"), transport: rig.rig.transport, parameters: parameters)
    }
    let filled = try provider(parameters)
    try await filled.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await filled.open()
    try await filled.close()
    try #require(folder.seal())
    parameters.storeName = "new"
    let new = try provider(parameters)
    let error = await #expect(throws: OfflineODataError.self) { try await new.open() }
    #expect(error?.name == .fileFailed, "\(error.debugDescription)")
    #expect(error?.name?.cure != nil)
    parameters.storeName = "there"
    parameters.indexes = [OfflineODataIndex("Rows", ["Text"])]
    let sealed = try provider(parameters)
    try await sealed.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await sealed.open()
    #expect(sealed.isReadOnly)
    try await checkReading(sealed)
    try await checkRejecting(sealed, rig.server)
    try await sealed.close()
    try #require(folder.unseal())
    let store = try provider(parameters)
    try await store.open()
    #expect(!store.isReadOnly)
    #expect(try await store.size("Rows") == 5)
    try await store.close()
    try await rig.end()
  }

  private func checkReading(_ store: OfflineODataProvider) async throws {
    #expect(try await store.size("Rows") == 5)
    #expect(try await store.readEntitySet("Rows?$filter=Text eq 'v1'&$orderby=ID desc").entities.count == 5)
    #expect(try await store.readEntitySet("Rows?$search=v1").entities.count == 5)
    #expect(try await store.readEntitySet("EventLog").entities.isEmpty == false)
    #expect(try await store.definingQueries().map(\.rows) == [5])
    #expect(try await store.hasPendingChanges() == false)
    #expect(try await store.hasPendingDownload() == false)
    #expect(try await store.explain("Rows(1)").statements.isEmpty == false)
    var bytes: [UInt8] = []
    for try await piece in try await store.streamJSON("Rows") { bytes += piece }
    #expect(!bytes.isEmpty)
    var live = try store.live(Int.self, "Rows/$count").makeAsyncIterator()
    #expect(try await live.next() == 5)
    var results = try store.live(Int.self, "Rows/$count?$search=v1").makeAsyncIterator()
    #expect(try await results.next() == 5)
  }

  private func checkRejecting(_ store: OfflineODataProvider, _ server: ScriptedServer) async throws {
    let requestCount = server.requests.count
    let rejected: [(String, @Sendable () async throws -> Void)] = [
      ("download", { _ = try await store.download() }), ("upload", { _ = try await store.upload() }),
      ("delete", { try await store.delete("Rows(1)") }),
      ("add", { try await store.add(OfflineODataDefiningQuery("more", "Rows?$top=1")) }),
      ("remove", { try await store.removeDefiningQuery("rows") }),
      ("media", { try await store.downloadMedia("Rows(1)/Text") }),
    ]
    for (name, call) in rejected {
      let error = await #expect(throws: (any Error).self, "\(name)") { try await call() }
      let storeError = error.map(OfflineODataError.init(below:))
      #expect(storeError?.name == .storeReadOnly, "\(name): \(storeError.debugDescription)")
    }
    #expect(server.requests.count == requestCount)
    try await checkReading(store)
  }

  @Test("a store whose log was not moved into it before its folder was sealed: a typed error, and nothing is lost")
  func sealedLog() async throws {
    guard let folder = try SealedFolder() else { return print("nothing may be sealed here") }
    let rig = try await FaultRig()
    // Its rows are in the log.
    let file = rig.store.file
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: file + suffix, toPath: folder.file("cut.larder\(suffix)"))
    }
    try #require(folder.seal())
    let parameters = OfflineODataParameters(
      storeName: "cut", path: folder.path, encryptionKey: try RigKey.fromEnvironment())
    let store = try OfflineODataProvider(
      serviceRoot: rig.server.url("/s/"), transport: rig.rig.transport, parameters: parameters)
    let error = await #expect(throws: OfflineODataError.self) { try await store.open() }
    #expect(error?.name == .fileFailed, "\(error.debugDescription)")
    #expect(error?.errorMessage.contains("log") == true, "\(error.debugDescription)")
    try #require(folder.unseal())
    try await store.open()
    #expect(try await store.size("Rows") == 5)
    try await store.close()
    try await rig.end()
  }

  @Test(
    "the file is removed while the store is open: reads continue, a download reports it, opening creates a new file")
  func removed() async throws {
    let rig = try await FaultRig()
    let file = rig.store.file
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    #expect(try await rig.texts().count == 5)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.store.download() }
    #expect(error?.name == .fileMoved, "\(error.debugDescription)")
    try await rig.store.close()
    try await rig.store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await rig.store.open()
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test(
    "the file is truncated while the store is open, or before: a typed error, and clearing helps", arguments: [0, 5000])
  func truncated(length: Int) async throws {
    let rig = try await FaultRig()
    let file = rig.store.file
    // All is in the file itself, nothing in its log.
    try await rig.store.close()
    try await rig.store.open()
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: UInt64(length))
    do {
      _ = try await rig.texts()
      _ = try await rig.store.download()
    } catch {
      #expect([.storeDamaged, .fileFailed, .foreignFile].contains(OfflineODataError(below: error).name), "\(error)")
    }
    try? await rig.store.close()
    try handle.truncate(atOffset: UInt64(length))
    try handle.close()
    if length > 0 {
      let error = await #expect(throws: OfflineODataError.self) { try await rig.store.open() }
      #expect(error?.name == .storeDamaged, "\(error.debugDescription)")
    }
    try await rig.store.clear()
    try await rig.store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await rig.store.open()
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("bytes that have changed on the disk end in results or typed errors, and clearing helps")
  func flips() async throws {
    let rig = try await FaultRig()
    let file = rig.store.file
    try await rig.store.close()
    let good = try Data(contentsOf: URL(filePath: file))
    var random = PrintedSeed(for: "bytes changed on the disk")
    var names: Set<String> = []
    for _ in 0..<30 {
      var bad = good
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        bad[Int.random(in: 0..<bad.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try bad.write(to: URL(filePath: file))
      do {
        try await rig.store.open()
        _ = try await rig.texts()
        _ = try await rig.store.download()
        names.insert("none")
      } catch {
        let storeError = OfflineODataError(below: error)
        names.insert(storeError.name.map { "\($0)" } ?? "?")
        // A set or a property may be called otherwise now: then the query does not fit, and its caller cannot correct
        // it.
        #expect(storeError.name?.cure != nil || storeError.name == .unfittingURL, "\(storeError.debugDescription)")
      }
      try? await rig.store.close()
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    }
    print("errors of changed bytes: \(names.sorted())")
    try await rig.store.clear()
    try await rig.store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await rig.store.open()
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("a store whose header forbids to write is read, and can be cleared")
  func forbidding() async throws {
    // Of an encrypted file that byte is authenticated.
    let rig = try await FaultRig(isPlain: true)
    let file = rig.store.file
    try await rig.store.close()
    var bytes = try Data(contentsOf: URL(filePath: file))
    // The version for writing, at 18: SQLite reads a file of a higher one and does not write to it.
    bytes[18] = 9
    try bytes.write(to: URL(filePath: file))
    try await rig.store.open()
    #expect(rig.store.isReadOnly)
    try await rig.store.close()
    try await rig.store.clear()
    try await rig.store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await rig.store.open()
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("a store that another provider has open is not cleared under it")
  func inUse() async throws {
    let rig = try await FaultRig()
    let other = try OfflineODataProvider(
      serviceRoot: rig.server.url("/s/"), transport: rig.rig.transport, parameters: rig.store.parameters)
    let error = await #expect(throws: OfflineODataError.self) { try await other.clear() }
    #expect(error?.name == .storeInUse, "\(error.debugDescription)")
    #expect(try await rig.isIntact())
    try await rig.store.close()
    try await other.clear()
    rig.server.stop()
  }

  @Test("files that are none of this version's stores are left alone")
  func foreign() async throws {
    let rig = try await FaultRig()
    let file = rig.store.file
    try await rig.store.store?.replica.database.write { (connection) throws(StorageError) in
      try connection.run("PRAGMA user_version = 99")
    }
    try await rig.store.close()
    var contents = [try Data(contentsOf: URL(filePath: file))]
    contents.append(Data("some other program's file".utf8))
    for content in contents {
      try content.write(to: URL(filePath: file))
      let error = await #expect(throws: OfflineODataError.self) { try await rig.store.open() }
      #expect(error?.name == .foreignFile, "\(error.debugDescription)")
      await #expect(throws: OfflineODataError.self) { try await rig.store.clear() }
      #expect(try Data(contentsOf: URL(filePath: file)) == content)
    }
    rig.server.stop()
  }
}
