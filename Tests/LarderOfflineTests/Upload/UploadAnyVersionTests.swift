import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// OData Protocol 4.01 §11.4.4: an update of an entity that does not exist creates it, unless it has a condition.
@Suite("Updates of entities without ETags", .timeLimit(.minutes(5)))
struct UploadAnyVersionTests {
  enum Form: String, CaseIterable, Sendable { case single, batch, changeSet }

  private func entity(_ name: String, _ value: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(value))])
  }

  /// A store with a change of order 1, in a transaction with one of order 2 if the form says so.
  private func rig(_ form: Form, _ behavior: UploadService.Behavior) async throws -> UploadRig {
    var behavior = behavior
    behavior.hasETags = false
    let rig = try await UploadRig(behavior)
    try await change(rig, form, "mine")
    return rig
  }

  private func change(_ rig: UploadRig, _ form: Form, _ name: String) async throws {
    let update = ODataSingleRequest.update("Orders(1)", to: entity("Name", name))
    if form == .changeSet {
      let other = ODataSingleRequest.update("Orders(2)", to: entity("Name", name))
      _ = try await rig.store.execute(batch: ODataBatchRequest([.changeSet([update, other])]))
    } else {
      _ = try await rig.store.execute(single: update)
    }
  }

  private func upload(_ rig: UploadRig, _ form: Form) async throws -> OfflineODataUploadReport {
    rig.service.change { $0.attempts = [] }
    return try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: form == .single ? 0 : 100))
  }

  /// The conditions with which changes of order 1 arrived.
  private func conditions(_ rig: UploadRig) -> [String] {
    rig.service.attempts.filter { $0.contains("Orders(1)") }.map {
      $0.split(separator: " ").last.map(String.init) ?? ""
    }
  }

  @Test("An entity that another client has deleted is not created anew: a conflict", arguments: Form.allCases)
  func deleted(form: Form) async throws {
    let rig = try await rig(form, .init(upserts: true))
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    let report = try await upload(rig, form)
    #expect(report.failed == (form == .changeSet ? 2 : 1) && report.sent == 0, "\(report)")
    #expect(conditions(rig) == ["*"] && rig.service.entities("Orders")[1] == nil)
    if form != .changeSet {
      let conflict = try #require(try await rig.store.conflict(1))
      #expect(conflict.isTheirsKnown && conflict.theirs == nil && conflict.mine?["Name"] == .string("mine"))
    }
  }

  @Test("Only updates from V4 on have the condition, and not if the metadata deny upserts", arguments: [true, false])
  func kinds(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, hasETags: false))
    try await rig.store.update("Orders(1)", to: entity("Name", "mine"))
    try await rig.store.update("Orders(2)", to: entity("Name", "mine"), method: .replace)
    try await rig.store.delete("Orders(3)")
    _ = try await upload(rig, .single)
    let marks = rig.service.attempts.map { String($0.suffix(1)) }.sorted()
    #expect(marks == (isV2 ? ["-", "-", "-"] : ["*", "*", "-"]), "\(rig.service.attempts)")
    let denying = try await UploadRig(.init(hasETags: false, deniesUpserts: true))
    try await denying.store.update("Orders(1)", to: entity("Name", "mine"))
    #expect(try await upload(denying, .single).sent == 1)
    #expect(conditions(denying) == ["-"])
  }

  @Test(
    "A service that rejects the condition gets the update once without; it is remembered for a day",
    arguments: [400, 412, 428, 501], Form.allCases)
  func rejected(status: Int, form: Form) async throws {
    let rig = try await rig(form, .init(rejectsAnyVersion: status))
    let count = form == .changeSet ? 2 : 1
    let first = try await upload(rig, form)
    #expect(first.sent == count && first.failed == 0 && first.pending == 0, "\(first)")
    #expect(conditions(rig) == ["*", "-"])
    #expect(try await rig.isClean())
    try await change(rig, form, "again")
    #expect(try await upload(rig, form).sent == count)
    #expect(conditions(rig) == ["-"])
    try await rig.open.write { snapshot in
      try snapshot.connection.run("UPDATE larder_setting SET value = value - 86400 WHERE name = 'any-version-rejected'")
    }
    rig.service.change { $0.behavior.rejectsAnyVersion = nil }
    try await change(rig, form, "next day")
    #expect(try await upload(rig, form).sent == count)
    #expect(conditions(rig) == ["*"])
  }

  @Test(
    "An update that is rejected without the condition too is a rejection, and teaches nothing", arguments: Form.allCases
  )
  func rejectedAnyway(form: Form) async throws {
    let rig = try await rig(form, .init(rejectsChange: { resource, _ in resource == "Orders(1)" ? 400 : nil }))
    let report = try await upload(rig, form)
    #expect(report.failed == (form == .changeSet ? 2 : 1) && report.sent == 0 && report.pending == 0, "\(report)")
    #expect(conditions(rig) == ["*", "-"])
    #expect(try await rig.rows("SELECT name FROM larder_setting WHERE name = 'any-version-rejected'").isEmpty)
  }

  @Test("An update that has created an entity (201) is a conflict that shows what is left", arguments: Form.allCases)
  func created(form: Form) async throws {
    let rig = try await rig(form, .init(upserts: true, ignoresConditions: true))
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    let report = try await upload(rig, form)
    #expect(report.failed == 1 && report.sent == (form == .changeSet ? 1 : 0), "\(report)")
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base?["Total"] == .int32(1) && conflict.theirs?["Total"] ?? .null == .null)
    let row = try #require(try await rig.store.readEntity("ErrorArchive(1)"))
    #expect(row["HTTPStatusCode"] == .int32(201) && row["Reason"] == .string("Conflict"))
  }

  @Test("A 201 with all other values of the entity is done")
  func sloppy() async throws {
    let rig = try await rig(.single, .init(updatesWith201: true))
    #expect(try await upload(rig, .single).sent == 1)
    #expect(try await rig.isClean())
  }
}
