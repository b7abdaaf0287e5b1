import OData
import ODataService
import Storage
import TestSupport
import Testing

@testable import OfflineOData

@Suite("Uploads and downloads that were cut", .timeLimit(.minutes(1)))
struct UploadStagedTests {
  /// A store whose download of orders was cut behind its second page.
  private func cutRig(_ prepare: (UploadRig) async throws -> Void = { _ in }) async throws -> UploadRig {
    let rig = try await UploadRig(orders: 5)
    try await prepare(rig)
    rig.service.change { $0.ways.pageSize = 2 }
    rig.service.fail(.unreachable) { $0.contains("Orders") && $0.contains("skiptoken=4") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.download() }
    try #require(try await isStaged(rig))
    return rig
  }

  private func isStaged(_ rig: UploadRig) async throws -> Bool {
    try await rig.rows(
      """
      SELECT 1 FROM larder_download d JOIN larder_query q ON q.id = d.query
        WHERE q.name = 'orders' AND position IS NOT NULL
      """
    ) == ["1"]
  }

  /// How the orders came: whether the download went on where it was cut.
  private func goesOn(_ rig: UploadRig) async throws -> Bool {
    let report = try await rig.store.download()
    #expect(try await rig.rows("SELECT count(*) FROM {Orders}") == ["\(rig.service.entities("Orders").count)"])
    let notes = report.queries.first { $0.name == "orders" }?.notes ?? []
    return notes.contains { $0.hasPrefix("Goes on behind page 2") }
  }

  @Test("An upload that does not reach the service keeps what was downloaded")
  func offline() async throws {
    let rig = try await cutRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    rig.service.fail(.unreachable) { _ in true }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(try await isStaged(rig))
    #expect(try await goesOn(rig))
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await rig.isClean())
  }

  @Test("A change that was sent is not undone by rows that came before it", arguments: [100, 0])
  func sent(changesPerBatch: Int) async throws {
    let rig = try await cutRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch)).sent == 1)
    #expect(try await !isStaged(rig))
    #expect(try await !goesOn(rig))
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
  }

  @Test("Changes of other entities leave it as it is, whatever waits or was refused of these")
  func others() async throws {
    let rig = try await cutRig { rig in
      try await rig.create("Orders", key: -1, ["Name": .string("poison")])
      #expect(try await rig.store.upload().failed == 1)
    }
    try await rig.create("Items", key: 50, ["Text": .string("t")])
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await isStaged(rig))
  }

  @Test("An action that is about no entity may have changed any")
  func action() async throws {
    let rig = try await cutRig()
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Reset")), [])
    _ = try await rig.store.upload()
    #expect(try await !isStaged(rig))
  }
}
