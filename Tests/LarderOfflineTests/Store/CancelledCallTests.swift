import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: calls that are cancelled", .timeLimit(.minutes(2)))
struct CancelledCallTests {
  enum Call: String, CaseIterable, Sendable { case execute, batch, readEntity, create, live }

  private static func run(_ call: Call, _ store: OfflineODataProvider) async throws {
    switch call {
    case .execute: _ = try await store.execute(.single(.read("Orders")))
    case .batch: _ = try await store.execute(batch: ODataBatchRequest([.single(.read("Orders"))]))
    case .readEntity: _ = try await store.readEntity("Orders(1)")
    case .create: _ = try await store.create(ODataEntity(), in: "Orders")
    case .live: for try await _ in try store.liveResults([[String: Int]].self, "Orders") {}
    }
  }

  @Test("A call throws CancellationError in a cancelled task", arguments: Call.allCases)
  func cancelledTask(call: Call) async throws {
    let rig = try await UploadRig()
    let store = rig.store
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await Self.run(call, store)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  enum Work: String, CaseIterable, Sendable { case open, download, upload, undo, discard }

  /// The work, begun while the service does not respond to it.
  private func begin(_ work: Work, _ rig: UploadRig, _ folder: TemporaryFolder) async throws -> Task<Void, any Error> {
    var store = rig.store
    switch work {
    case .open:
      try await store.close()
      store = try UploadRig.provider(folder, rig.service)
      try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    case .download: break
    case .upload, .undo:
      try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
      if work == .undo { try await rig.lose("batch") }
    case .discard:
      try await store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("poison"))]))
      try await store.upload()
      try await store.update("Orders(2)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
      try await rig.lose("batch")
      // A dependent request whose outcome is looked up before it is discarded.
      try await rig.open.write { try $0.connection.run("INSERT INTO larder_dependency(request, earlier) VALUES(2, 1)") }
    }
    rig.service.fail(.hang) { _ in true }
    let task = Task { [store] in
      switch work {
      case .open: try await store.open()
      case .download: try await store.download()
      case .upload: try await store.upload()
      case .undo: try await store.undoAllPendingChanges()
      case .discard: try await store.discardAll()
      }
    }
    try await rig.service.hangs.wait(for: 1)
    return task
  }

  @Test("Work with the service throws CancellationError if its task is cancelled", arguments: Work.allCases)
  func cancelledWork(work: Work) async throws {
    let rig = try await UploadRig()
    let folder = try TemporaryFolder()
    let task = try await begin(work, rig, folder)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    withExtendedLifetime(folder) {}
  }

  @Test("A download or an upload throws CancellationError if it is cancelled", arguments: [Work.download, .upload])
  func cancelledCall(work: Work) async throws {
    let rig = try await UploadRig()
    let folder = try TemporaryFolder()
    let task = try await begin(work, rig, folder)
    if work == .download { rig.store.cancelDownload() } else { rig.store.cancelUpload() }
    await #expect(throws: CancellationError.self) { try await task.value }
    withExtendedLifetime(folder) {}
  }
}
