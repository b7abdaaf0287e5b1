import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Failed changes are retried or undone", .timeLimit(.minutes(1)))
struct ArchiveFaceTests {
  /// An order whose creation is rejected, and another change of it.
  private func rejectedRig(_ behavior: UploadService.Behavior = .init()) async throws -> (
    rig: UploadRig, created: RowReference
  ) {
    let rig = try await UploadRig(behavior)
    let (_, row) = try await rig.create("Orders", key: -5, ["Name": .string("poison")])
    try await rig.update(row, ["Total": .int32(3)])
    let report = try await rig.store.upload()
    #expect(report.failed == 2 && report.sent == 0)
    return (rig, row)
  }

  @Test("A retry puts a rejected request and the requests held with it back into the queue", arguments: [false, true])
  func retry(isV2: Bool) async throws {
    let (rig, _) = try await rejectedRig(.init(isV2: isV2))
    #expect(try await rig.queue == ["1|2", "2|3"])
    #expect(try await rig.store.retry(1) == 2)
    #expect(try await rig.queue == ["1|0", "2|0"])
    #expect(try await rig.rows("SELECT \"@state\" FROM {Orders} WHERE ID = -5") == ["3"])
    let report = try await rig.store.upload()
    #expect(report.failed == 2)
    #expect(try await rig.store.retryAll() == 2)
    await #expect(throws: OfflineODataError.self) { try await rig.store.retry(9) }
    await #expect(throws: OfflineODataError.self) { try await rig.store.retry(1) }
  }

  @Test("Retrying a held request retries the request that holds it")
  func retryOfHeld() async throws {
    let (rig, _) = try await rejectedRig()
    #expect(try await rig.store.retry(2) == 2)
    #expect(try await rig.queue == ["1|0", "2|0"])
  }

  @Test("Deleting an entity of the archive undoes that request and its dependents", arguments: [1, 2])
  func discard(id: Int) async throws {
    let (rig, _) = try await rejectedRig()
    try await rig.store.delete("ErrorArchive(\(id))")
    #expect(try await rig.queue == (id == 1 ? [] : ["1|2"]))
    let left = try await rig.rows("SELECT Name, Total FROM {Orders} WHERE ID < 0")
    #expect(left == (id == 1 ? [] : ["poison|-"]))
    if id == 1 { #expect(try await rig.isClean()) }
    await #expect(throws: OfflineODataError.self) { try await rig.store.delete("ErrorArchive(\(id))") }
    await #expect(throws: OfflineODataError.self) {
      try await rig.store.update("ErrorArchive(1)", to: ODataEntity(properties: [ODataProperty("Code", .string(""))]))
    }
  }

  private struct NamedOrder: ODataDescribed, Decodable {
    static let odataTypeName = "Sales.Order"
    let name: String?
    struct Fields: ODataFields {}
    private enum CodingKeys: String, CodingKey { case name = "Name" }
  }

  @Test("The archive, the queue and the event log are read as Swift types", arguments: [false, true])
  func types(isV2: Bool) async throws {
    let (rig, _) = try await rejectedRig(.init(isV2: isV2))
    let rejected = try await rig.store.errorArchive.filter { !$0.isHeld }.orderBy(\.requestID).all()
    #expect(rejected.map(\.requestID) == [1])
    let first = try #require(rejected.first)
    #expect(first.reason == "Rejected" && first.method == "POST" && first.httpStatus == 400 && !first.isConflict)
    #expect(first.time.map { $0 <= .now } == true && first.body?.contains("poison") == true)
    let dependents = try await rig.store.errorArchive[1].dependents.all()
    #expect(
      dependents.map(\.requestID) == [2] && dependents.first?.isHeld == true && dependents.first?.reason == "Held")
    #expect(try await rig.store.errorArchive[1].affectedEntity(as: NamedOrder.self).get().name == "poison")
    let missing = await #expect(throws: ODataServiceError.self) { try await rig.store.errorArchive[7].get() }
    #expect(missing?.httpStatus == 404)
    let log = try await rig.store.eventLog.filter { $0.type == "Upload" }.orderBy(\.eventID, descending: true).all()
    #expect(log.count == 1 && log.first?.errorCode == nil && log.first?.duration != nil)

    try await rig.store.retry(1)
    let queued = try await rig.store.requestQueue.all()
    #expect(queued.map(\.requestID) == [1, 2] && queued.map(\.status) == ["Queued", "Queued"])
    #expect(queued.map(\.entityPath).allSatisfy { $0 != nil } && queued.first?.method == "POST")
    try await rig.store.requestQueue.delete(try #require(queued.first))
    let left: Int64 = try await rig.store.requestQueue.count()
    #expect(left == 0)
  }

  @Test("Deleting an entity of the queue undoes its request")
  func queue() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("b")])
    await #expect(throws: OfflineODataError.self) { try await rig.store.discard(1) }
    try await rig.store.delete("RequestQueue(1)")
    #expect(try await rig.isClean())
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["n1"])
  }

  @Test("The three versions of a conflict, and the local version sent over the server's")
  func conflict() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Name"] = "\"theirs\""
      state.sets["Orders"]?[1]?.version = 2
    }
    #expect(try await rig.store.conflict(1) == nil)
    #expect(try await rig.store.upload().failed == 1)
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base?["Name"] == .string("n1"))
    #expect(conflict.mine?["Name"] == .string("mine"))
    #expect(conflict.theirs?["Name"] == .string("theirs") && conflict.isTheirsKnown)
    #expect(conflict.path == "Orders(1)")
    #expect(try await rig.store.retry(1) == 1)
    #expect(try await rig.store.upload().sent == 1)
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"mine\"")
    #expect(try await rig.isClean())
  }
}
