import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Uploads to services with unusual behavior", .timeLimit(.minutes(5)))
struct UploadOddServicesTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let behavior: UploadService.Behavior
    init(_ name: String, _ behavior: UploadService.Behavior) { (testDescription, self.behavior) = (name, behavior) }
  }

  static let cases: [Case] = [
    Case("batches 404", .init(batchStatus: 404)), Case("batches 405", .init(batchStatus: 405)),
    Case("batches 415", .init(isV2: true, batchStatus: 415)), Case("batches 501", .init(batchStatus: 501)),
    Case("batches get a page", .init(batchResponse: ("text/html", "<html><body>Hello</body></html>"))),
    Case("batches get nothing", .init(batchResponse: ("application/json", "{}"))),
    Case(
      "batches get a broken part", .init(batchResponse: ("multipart/mixed; boundary=b", "--b\r\nfoo"))),
    Case("V2 batches get a page", .init(isV2: true, batchResponse: ("text/html", "<html></html>"))),
    Case("204 with a location", .init(isSilent: true)),
    Case("204 and nothing else", .init(isSilent: true, hasLocation: false)),
    Case("V2, 204 and nothing else", .init(isV2: true, isSilent: true, hasLocation: false)),
    Case("parts of what was changed", .init(isPartial: true)), Case("V2, parts", .init(isV2: true, isPartial: true)),
    Case("no ETags", .init(hasETags: false)), Case("V2, no ETags", .init(isV2: true, hasETags: false)),
    Case("If-Match, ETags of single entities alone", .init(requiresIfMatch: true, hasListETags: false)),
    Case(
      "V2, If-Match, ETags of single entities alone, parts",
      .init(isV2: true, requiresIfMatch: true, isPartial: true, hasListETags: false)),
    Case("If-Match, parts", .init(requiresIfMatch: true, isPartial: true)),
    Case("If-Match, silent, no batches", .init(batchStatus: 404, requiresIfMatch: true, isSilent: true)),
    Case("small batches", .init(mostParts: 2)), Case("responds to each of a set", .init(respondsToEach: true)),
  ]

  @Test(
    "Made, changed before and after, with an item, deleted: all of it arrives once, both sides are equal",
    arguments: cases)
  func all(odd: Case) async throws {
    let rig = try await UploadRig(odd.behavior)
    let store = rig.store
    func entity(_ name: String, _ value: String) -> ODataEntity {
      ODataEntity(properties: [ODataProperty(name, .string(value))])
    }
    try await store.create(entity("Name", "made"), in: "Orders")
    let path = "Orders(\(try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)))"
    try await store.update(path, to: entity("Note", "later"))
    try await store.create(entity("Text", "item"), in: "\(path)/Items")
    try await store.update("Orders(1)", to: entity("Name", "a"))
    try await store.update("Orders(1)", to: entity("Note", "b"))
    try await store.delete("Orders(2)")
    let report = try await store.upload()
    #expect(report.sent == 6 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.count == 6, "\(rig.service.log)")
    #expect(try await rig.isClean())
    let shown = ["1|a|b", "3|n3|-", "1000|made|later"]
    #expect(try await rig.rows("SELECT ID, Name, Note FROM {Orders} ORDER BY ID") == shown)
    let items = try await rig.rows("SELECT ID, Order_ID, Text FROM {Items}")
    #expect(items == ["1001|1000|item"])
    // What the upload has learned lasts for the next one.
    try await store.update(path, to: entity("Note", "again"))
    #expect(try await store.upload().sent == 1)
    try await store.download()
    #expect(try await rig.rows("SELECT Note FROM {Orders} WHERE ID = 1000") == ["again"])
    #expect(try await store.readEntity(path)?["ID"] == .int32(1000))
  }

  @Test("A sign-in page with status 200: nothing is treated as done or rejected", arguments: [100, 0])
  func page(changesPerBatch: Int) async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    try await rig.delete(try await rig.row("Orders", 2))
    rig.service.change { $0.fault = { _ in .page(200) } }
    let options = OfflineODataUploadOptions(changesPerBatch: changesPerBatch)
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.upload(options) }
    #expect(error.category == .communicationError, "\(error)")
    #expect(try await rig.queue.count == 3)
    for status in [302, 511] {
      rig.service.change { $0.fault = { _ in .page(status) } }
      await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options) }
      #expect(try await rig.queue.allSatisfy { $0.hasSuffix("|0") || $0.hasSuffix("|1") })
    }
    rig.service.change { $0.fault = nil }
    let report = try await rig.store.upload(options)
    #expect(report.sent == 3 && report.failed == 0 && report.pending == 0 && rig.service.log.count == 3, "\(report)")
  }

  @Test("A service whose responses to changes can never be read: an upload ends")
  func endless() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    rig.service.change { state in
      state.fault = { line in line.hasPrefix("GET") ? nil : .garbage }
    }
    let report = try? await rig.store.upload()
    #expect(report == nil || report?.pending == 1 || report?.sent == 1)
    #expect(rig.service.requests.count < 60)
  }

  @Test("A 401 in the middle: what came before is done, the rest stays pending, and continues with the next upload")
  func unauthorized() async throws {
    let rig = try await UploadRig(orders: 0)
    try await rig.createMany(30)
    let count = Atomic(0)
    rig.service.change { state in
      state.fault = { line in
        guard line.contains("$batch"), count.wrappingAdd(1, ordering: .relaxed).newValue > 2 else { return nil }
        return .status(401, [.wwwAuthenticate: "Basic"])
      }
    }
    let error = try await #require(throws: OfflineODataError.self) {
      try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 10))
    }
    #expect(error.name == .authenticationFailed && rig.service.log.count == 20)
    #expect(try await rig.queue.count == 10)
    #expect(try await rig.queue.allSatisfy { $0.hasSuffix("|0") })
    rig.service.change { $0.fault = nil }
    let report = try await rig.store.upload()
    #expect(report.sent == 10 && rig.service.log.count == 30 && Set(rig.service.log).count == 30)
  }

  @Test("Deleted on both sides: done, whatever the service responds", arguments: [404, 410])
  func bothDeleted(status: Int) async throws {
    let rig = try await UploadRig()
    for key in [1, 2] { try await rig.store.delete("Orders(\(key))") }
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    if status == 410 { rig.service.fail(.status(410)) { $0.contains("Orders(1)") } }
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: status == 410 ? 0 : 100))
    #expect(report.sent == 2 && report.failed == 0)
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["3"])
  }

  @Test("A thousand behind a poison on a service without batches arrive", arguments: [4])
  func poison(lanes: Int) async throws {
    let rig = try await UploadRig(.init(batchStatus: 404), orders: 0)
    try await rig.create("Orders", key: -1, ["Name": .string("poison")])
    try await rig.createMany(1000)
    let report = try await rig.store.upload(OfflineODataUploadOptions(lanes: lanes))
    #expect(report.sent == 1000 && report.failed == 1 && report.pending == 0)
    #expect(rig.service.log.count == 1000)
  }

  @Test(
    "A service that rejects the names of requests gets all of them without: none goes to the archive",
    arguments: [400, 412, 501], [100, 0])
  func rejectedNames(status: Int, changesPerBatch: Int) async throws {
    for isV2 in [false, true] { try await rejectedNames(status, changesPerBatch, isV2) }
  }

  private func rejectedNames(_ status: Int, _ changesPerBatch: Int, _ isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, rejectsNames: status), orders: 9)
    for key in 1...6 { try await rig.update(try await rig.row("Orders", key), ["Name": .string("mine")]) }
    try await rig.delete(try await rig.row("Orders", 7))
    let first = try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.update(try await rig.row("Orders", 8), ["Name": .string("mine")], unit: first.id)
    let report = try await rig.store.upload(
      OfflineODataUploadOptions(changesPerBatch: changesPerBatch, splitsTransactions: changesPerBatch == 0))
    #expect(report.sent == 9 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.count == 9, "\(rig.service.log)")
    #expect(try await rig.isClean())
  }

  @Test("A rejection for another reason than the name is a rejection", arguments: [400, 412])
  func rejectedOtherwise(status: Int) async throws {
    let rig = try await UploadRig(.init(rejectsNames: status))
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")])
    // The caller's own name is nothing that could be left out.
    var update = ODataSingleRequest.update(
      "Orders(2)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    update.fields["Repeatability-Request-ID"] = "mine"
    _ = try await rig.store.execute(single: update)
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 0 && report.failed == 2 && report.pending == 0, "\(report)")
    #expect(rig.service.requests.count < 12, "\(rig.service.requests)")
  }

  @Test(
    "A name that is rejected when it is sent again says nothing of the first time: it is looked up",
    arguments: [400, 412])
  func rejectedAgain(status: Int) async throws {
    let rig = try await UploadRig(.init(knowsNames: true, declaresRepeatability: true))
    try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Orders")), [])
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    let done = rig.service.log
    rig.service.change { $0.behavior.rejectsNames = status }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 1 && rig.service.log == done, "\(report) \(rig.service.log)")
    let failure = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entry(2)?.failure }
    #expect(failure?.kind == .unknownOutcome)
  }
}
