import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: what its files show", .timeLimit(.minutes(4)))
struct StoreMarkerTests {
  private typealias Marker = MarkedService.Marker

  /// What a plain store's file always says.
  private static let words = ["SQLite format 3", "CREATE TABLE", "EntityContainer", "larder_request"]

  /// What was found, in whatever file.
  private static func markers(_ search: MarkerSearch) -> Set<String> {
    Set(search.matches.map { String($0.split(separator: ": ", maxSplits: 1).last ?? "") })
  }

  /// A store's whole life; `look` is called again and again while it is open, and where it is closed.
  private func live(
    _ parameters: OfflineODataParameters, _ run: String, _ look: () -> Void
  ) async throws {
    let service = MarkedService(run: run)
    let root = try #require(URL(string: "http://h/s/"))
    let store = try OfflineODataProvider(serviceRoot: root, transport: service, parameters: parameters)
    let filter = "Rows?$filter=Text ne '\(Marker.queryText.text(run))'"
    try await store.add(OfflineODataDefiningQuery(Marker.queryName.text(run), filter))
    try await store.add(OfflineODataDefiningQuery("photos", "Photos", automaticallyRetrievesStreams: true))
    try await store.open()
    look()
    #expect(try await store.readMedia("Photos(1)/$value").starts(with: Array(Marker.media.text(run).utf8)))
    let created = ODataEntity(properties: [
      ODataProperty("ID", .int32(9)), ODataProperty("Text", .string(Marker.created.text(run))),
    ])
    _ = try await store.execute(
      single: ODataSingleRequest(
        .create, "Rows", body: .entity(created), fields: ["X-Field": Marker.field.text(run)],
        customTag: Marker.tag.text(run)))
    let changed = ODataEntity(properties: [ODataProperty("Text", .string(Marker.changed.text(run)))])
    try await store.update("Rows(1)", to: changed)
    let media = String(repeating: Marker.newMedia.text(run), count: 9000)
    _ = try await store.execute(
      single: ODataSingleRequest(
        .updateMedia, "Photos(1)/$value", body: .bytes(Array(media.utf8), contentType: "image/png")))
    look()
    #expect(try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0)).failed == 3)
    #expect(try await store.readCount("ErrorArchive") == 3)
    look()
    service.interrupt()
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    look()
    try await store.close()
    look()
  }

  @Test(
    "nothing that a store is given is in any byte of its files; a plain one shows all but sessions and credentials",
    arguments: [true, false])
  func markers(isEncrypted: Bool) async throws {
    let run = isEncrypted ? "sealed" : "plain"
    let folder = try TemporaryFolder()
    let keys = try (1...2).map { try StorageKey(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
    var parameters = OfflineODataParameters(
      path: folder.path, customHeaders: ["X-Header": Marker.header.text(run)],
      encryptionKey: isEncrypted ? keys[0] : nil)
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    let all = Marker.allCases.map { $0.text(run) }
    var search = MarkerSearch(for: all + Self.words)
    // Other tests of this process have plain files open.
    var open = MarkerSearch(for: all)
    try await live(parameters, run) {
      search.look(in: folder.path)
      if isEncrypted { open.look(atOpenFilesOf: ProcessInfo.processInfo.processIdentifier) }
    }
    if isEncrypted {
      try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: keys[1])
      search.look(in: folder.path)
      #expect(search.matches == [])
      #expect(open.matches == [])
    } else {
      #expect(Self.markers(search) == Set(Marker.allCases.filter(\.isStored).map { $0.text(run) } + Self.words))
      // Of the copy that is encrypted nothing of that is left.
      try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: keys[0])
      var second = MarkerSearch(for: all + Self.words)
      second.look(in: folder.path)
      #expect(second.matches == [])
    }
    #expect(search.names.isSuperset(of: ["store.larder", "store.larder-wal", "store.larder-shm"]))
    print("\(search.looks) looks, \(search.bytes >> 20) MiB, \(search.names.count) files")
  }

  #if os(Linux)
    @Test(
      "a process that downloads, stopped again and again and killed: no content is in what it has open or leaves",
      arguments: [true, false])
    func killed(isEncrypted: Bool) async throws {
      var random = PrintedSeed(for: "markers of a killed process, \(isEncrypted)")
      let service = VersionedService()
      let server = try service.serve()
      defer { server.stop() }
      let folder = try TemporaryFolder()
      // Of the service's second state: digits fill the texts of rows, and bytes of one number the photos.
      let markers =
        Self.words + ["Rows?since=", String(repeating: "2", count: 24), String(repeating: "\u{2}", count: 32)]
      for kill in 0..<(isEncrypted ? 3 : 1) {
        let process = try CrashRigProcess(
          ["offline", folder.path, server.url("/s/").absoluteString, "3"],
          environment: [RigKey.variable: isEncrypted ? "1" : nil])
        let pause = UInt32.random(in: 0...15_000, using: &random)
        service.onRequest(Int.random(in: 20...110, using: &random)) {
          Thread.detachNewThread {
            usleep(pause)
            process.kill()
          }
        }
        let search = await MarkerSearch.search(for: markers, in: folder.path, of: process, untilLine: .max)
        #expect(search.names.isSuperset(of: ["store.larder", "store.larder-wal"]))
        print("\(search.looks) looks, \(search.bytes >> 20) MiB")
        // The program itself is read too while it starts.
        let matches = Set(search.matches.filter { $0.hasPrefix("store.larder") || $0.hasPrefix("etilqs_") })
        guard isEncrypted else {
          #expect(matches.count > Self.words.count)
          continue
        }
        #expect(matches == [])
        let store = try await KilledStore(folder.file("store.larder"), key: try RigKey.make())
        _ = try await store.check("kill \(kill)")
        try await store.close()
      }
    }
  #endif
}
