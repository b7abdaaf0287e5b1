import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Uploads and downloads that were interrupted", .timeLimit(.minutes(1)))
struct UploadStagedTests {
  /// A store whose download of orders was interrupted after its second page.
  private func interruptedRig(
    _ behavior: UploadService.Behavior = .init(), _ prepare: (UploadRig) async throws -> Void = { _ in }
  ) async throws -> UploadRig {
    let rig = try await UploadRig(behavior, orders: 5)
    try await prepare(rig)
    rig.service.change { $0.behavior.pageSize = 2 }
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

  /// How the orders came: whether the download resumed where it was interrupted.
  private func goesOn(_ rig: UploadRig) async throws -> Bool {
    let report = try await rig.store.download()
    #expect(try await rig.rows("SELECT count(*) FROM {Orders}") == ["\(rig.service.entities("Orders").count)"])
    let notes = report.queries.first { $0.name == "orders" }?.notes ?? []
    return notes.contains { $0.hasPrefix("Resumes after page 2") }
  }

  @Test("An upload that does not reach the service keeps what was downloaded")
  func offline() async throws {
    let rig = try await interruptedRig()
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
    let rig = try await interruptedRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch)).sent == 1)
    #expect(try await !isStaged(rig))
    #expect(try await !goesOn(rig))
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
  }

  @Test("Changes of other entities leave it unchanged, whether they are pending or rejected")
  func others() async throws {
    let rig = try await interruptedRig { rig in
      try await rig.create("Orders", key: -1, ["Name": .string("poison")])
      #expect(try await rig.store.upload().failed == 1)
    }
    try await rig.create("Items", key: 50, ["Text": .string("t")])
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await isStaged(rig))
  }

  @Test("An action that is about no entity may have changed any")
  func action() async throws {
    let rig = try await interruptedRig()
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Reset")), [])
    rig.service.fail(.response(204)) { $0 == "POST Reset" }
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0)).sent == 1)
    #expect(try await !isStaged(rig))
  }

  @Test("What the service rejects it has not done: the download continues", arguments: [100, 0])
  func rejected(changesPerBatch: Int) async throws {
    let rig = try await interruptedRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")])
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Reset")), [])
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch)).failed == 2)
    #expect(try await isStaged(rig))
    #expect(try await goesOn(rig))
  }

  @Test(
    "A resolved conflict takes the service's row, not an older one; if that cannot be read, the download continues",
    arguments: [true, false])
  func decided(isKnown: Bool) async throws {
    func colleague(_ rig: UploadRig, _ name: String) {
      rig.service.change { $0.sets["Orders"]?[1]?.values["Name"] = "\"\(name)\"" }
    }
    let rig = try await interruptedRig(.init(hasETags: false)) { rig in
      try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
      colleague(rig, "theirs")
      #expect(try await rig.store.download().queries.flatMap(\.conflicts).count == 1)
    }
    colleague(rig, "newer")
    if !isKnown { rig.service.fail(.status(500), times: 9) { $0 == "GET Orders(1)" } }
    #expect(try await rig.store.upload().failed == 1)
    #expect(try await isStaged(rig) != isKnown)
    #expect(try await goesOn(rig) != isKnown)
    #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string(isKnown ? "newer" : "theirs"))
  }
}
