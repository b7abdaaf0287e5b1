import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: opening without a download", .timeLimit(.minutes(1)))
struct OpenWithoutDownloadTests {
  /// A provider of a new store that does not download when it is opened, with one defining query.
  private func provider(
    _ rig: StoreRig, root: String? = nil, downloads: Bool = false
  ) async throws -> OfflineODataProvider {
    let provider = try rig.provider(root: root, downloadsOnOpening: downloads)
    try await provider.add(OfflineODataDefiningQuery("rows", "Rows"))
    return provider
  }

  @Test("A new store opens without the service; it has nothing until download()", arguments: [false, true])
  func opens(isReopened: Bool) async throws {
    let rows = ScriptedRows(3) { _ in }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    var store = try await provider(rig)
    try await store.open()
    if isReopened {
      try await store.close()
      store = try await provider(rig)
      try await store.open()
    }
    #expect(store.isOpen && rows.requested.isEmpty, "\(rows.requested)")
    #expect(try await store.hasPendingDownload())
    #expect(try await store.definingQueries().map(\.hasPendingDownload) == [true])
    try await store.download()
    #expect(try await store.size("Rows") == 3)
    #expect(try await !store.hasPendingDownload())
    try await store.close()
  }

  /// The name of a call, and the call.
  static let calls: [(name: String, call: @Sendable (OfflineODataProvider) async throws -> Void)] = [
    ("set", { _ = try await $0.readEntitySet("Rows") }), ("entity", { _ = try await $0.readEntity("Rows(1)") }),
    ("count", { _ = try await $0.readJSON("Rows/$count") }), ("document", { _ = try await $0.readJSON("") }),
    ("metadata", { _ = try await $0.execute(.single(.read("$metadata"))) }),
    ("media", { _ = try await $0.readMedia("Rows(1)/$value") }),
    ("creation", { _ = try await $0.create(ODataEntity(properties: [ODataProperty("ID", .int32(9))]), in: "Rows") }),
    ("update", { try await $0.update("Rows(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("a"))])) }),
    ("deletion", { try await $0.delete("Rows(1)") }),
    ("undo", { _ = try await $0.undoPendingChanges(of: ["Rows(1)"]) }),
    ("invalid syntax", { _ = try await $0.readJSON("Rows?$filter=(") }),
  ]

  @Test("Reads and changes before the first download are neverDownloaded", arguments: calls.map(\.name))
  func early(name: String) async throws {
    let rig = try StoreRig("http://127.0.0.1:1/s/")
    let store = try await provider(rig)
    try await store.open()
    let call = try #require(Self.calls.first { $0.name == name }).call
    let error = await #expect(throws: OfflineODataError.self) { try await call(store) }
    #expect(error?.name == .neverDownloaded, "\(error.debugDescription)")
    #expect(try await !store.hasPendingUpload())
    #expect(try await store.upload().sent == 0)
    try await store.close()
  }

  @Test("A mistyped first root does not bind the store; a root whose model was downloaded does")
  func mistypedRoot() async throws {
    let rows = ScriptedRows(3) { _ in }
    let server = try rows.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let mistyped = try await provider(rig, root: server.url("/typo/").absoluteString, downloads: true)
    await #expect(throws: OfflineODataError.self) { try await mistyped.open() }
    let second = try await provider(rig, root: server.url("/other/").absoluteString)
    try await second.open()
    await #expect(throws: OfflineODataError.self) { try await second.download() }
    try await second.close()
    let store = try await provider(rig)
    try await store.open()
    try await store.download()
    #expect(try await store.size("Rows") == 3)
    try await store.close()
    let late = try await provider(rig, root: server.url("/typo/").absoluteString)
    let error = await #expect(throws: OfflineODataError.self) { try await late.open() }
    #expect(error?.name == .otherService)
  }
}
