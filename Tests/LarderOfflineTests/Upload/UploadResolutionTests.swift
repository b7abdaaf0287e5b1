import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Changes whose response was lost", .timeLimit(.minutes(1)))
struct UploadResolutionTests {
  /// A kind of change, and what it is recognised by.
  enum Kind: String, CaseIterable, Sendable {
    case clientKey, serverKey, update, delete, transaction
  }

  private func record(_ kind: Kind, _ rig: UploadRig) async throws {
    switch kind {
    case .clientKey: try await rig.create("Orders", key: 50, ["Name": .string("mine")])
    case .serverKey: try await rig.create("Orders", key: -1, ["Name": .string("mine"), "Total": .int32(5)])
    case .update: try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    case .delete: try await rig.delete(try await rig.row("Orders", 1))
    case .transaction:
      let created = try await rig.create("Orders", key: -1, ["Name": .string("mine")])
      try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")], unit: created.id)
    }
  }

  @Test(
    "It took effect and the response was lost: it is looked up, not sent again",
    arguments: Kind.allCases,
    [UploadService.Behavior(), .init(isV2: true), .init(knowsNames: true), .init(isV2: true, knowsNames: true)])
  func tookEffect(kind: Kind, behavior: UploadService.Behavior) async throws {
    let rig = try await UploadRig(behavior)
    if behavior.knowsNames {
      // The store has learned it from a response before.
      try await rig.update(try await rig.row("Orders", 3), ["Name": .string("c")])
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }
    let before = rig.service.log.count
    try await record(kind, rig)
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    let count = kind == .transaction ? 2 : 1
    #expect(rig.service.log.count == before + count)
    let report = try await rig.store.upload()
    #expect(report.sent == count && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.count == before + count, "\(rig.service.log)")
    #expect(try await rig.isClean())
    if kind == .serverKey {
      #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 999") == ["1000|mine"])
    }
  }

  @Test(
    "It never arrived: it is sent once more, once", arguments: Kind.allCases,
    [UploadService.Behavior(), .init(isV2: true)])
  func neverArrived(kind: Kind, behavior: UploadService.Behavior) async throws {
    let rig = try await UploadRig(behavior)
    try await record(kind, rig)
    // What stands between says so: the store cannot know.
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(rig.service.log.isEmpty)
    let count = kind == .transaction ? 2 : 1
    #expect(try await rig.queue.allSatisfy { $0.hasSuffix("|1") })
    let report = try await rig.store.upload()
    #expect(report.sent == count && report.pending == 0 && rig.service.log.count == count, "\(report)")
    #expect(try await rig.isClean())
  }

  @Test("Another has changed the entity since: a conflict, and nothing is overwritten")
  func conflict() async throws {
    let rig = try await UploadRig()
    try await record(.update, rig)
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.sets["Orders"]?[1] = .init(values: ["ID": "1", "Name": "\"theirs\""], version: 5) }
    let report = try await rig.store.upload()
    #expect(report.failed == 1 && rig.service.entities("Orders")[1]?.values["Name"] == "\"theirs\"")
    #expect(try await rig.queue == ["1|2"])
  }

  @Test("Several could be the one that was created: none is guessed")
  func several() async throws {
    let rig = try await UploadRig()
    try await record(.serverKey, rig)
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.sets["Orders"]?[70] = .init(values: ["ID": "70", "Name": "\"mine\"", "Total": "5"]) }
    let report = try await rig.store.upload()
    #expect(report.failed == 1 && rig.service.log.count == 1)
    let failure = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entry(1)?.failure }
    #expect(failure?.kind == .unknownOutcome)
  }

  @Test(
    "It follows others that look like it: the service's pages are read to their end", arguments: [false, true])
  func behindOthers(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    rig.service.change { state in
      for key in 10..<17 {
        state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"mine\"", "Total": "5"])
      }
    }
    try await rig.store.download()
    try await record(.serverKey, rig)
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.behavior.pageSize = 3 }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0 && rig.service.log == ["POST Orders(1000)"], "\(report)")
    #expect(try await rig.rows("SELECT ID FROM {Orders} WHERE ID > 999") == ["1000"])
  }

  @Test("A service that does not say which entities it has is not sent the new one again", arguments: [404, 410, 400])
  func inconclusive(status: Int) async throws {
    let rig = try await UploadRig()
    try await record(.serverKey, rig)
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.fail(.status(status), times: 9) { $0.hasPrefix("GET Orders?") }
    let report = try await rig.store.upload()
    #expect(report.failed == 1 && rig.service.log.count == 1, "\(report)")
  }

  @Test("An action whose response was lost is never sent again automatically")
  func action() async throws {
    let rig = try await UploadRig()
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Release")), [])
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    let report = try await rig.store.upload()
    #expect(report.failed == 1)
    #expect(rig.service.requests.filter { $0.contains("$batch") }.count == 1)
  }

  @Test("An edit made while its row's upload is in flight stays, and goes under the new ETag")
  func inFlight() async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("first")])
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    try await rig.update(row, ["Name": .string("second")])
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["second"])
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0)
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"second\"")
    #expect(try await rig.rows("SELECT Name, \"@etag\" FROM {Orders} WHERE ID = 1") == ["second|W/\"3\""])
    #expect(rig.service.log == ["PATCH Orders(1)", "PATCH Orders(1)"])
  }

  @Test("A service that says nothing of what it did is read")
  func silent() async throws {
    let rig = try await UploadRig(.init(isSilent: true))
    try await record(.serverKey, rig)
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("a")])
    try await rig.update(row, ["Total": .int32(8)])
    let report = try await rig.store.upload()
    #expect(report.sent == 3 && report.failed == 0)
    #expect(
      try await rig.rows("SELECT ID, Name, Total, \"@etag\" FROM {Orders} WHERE ID IN (1, 1000) ORDER BY ID") == [
        "1|a|8|W/\"3\"", "1000|mine|5|W/\"1\"",
      ])
    #expect(try await rig.isClean())
  }
}
