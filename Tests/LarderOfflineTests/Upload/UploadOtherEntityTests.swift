import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Records that were merged, redirects, and keys that a service writes in another form.
@Suite("Responses with another entity than the one that was requested", .timeLimit(.minutes(5)))
struct UploadOtherEntityTests {
  enum Form: String, CaseIterable, Sendable { case single, batch, changeSet }
  enum Change: String, CaseIterable, Sendable { case update, property, deletion }

  struct Row: Sendable, CustomTestStringConvertible {
    var change: Change
    var form: Form
    var isV2: Bool
    var testDescription: String { "\(change.rawValue), \(form.rawValue)\(isV2 ? ", V2" : "")" }
    var changes: Int { form == .changeSet ? 2 : 1 }
  }

  static let rows = Change.allCases.flatMap { change in
    Form.allCases.flatMap { form in [false, true].map { Row(change: change, form: form, isV2: $0) } }
  }

  private func entity(_ name: String, _ value: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(value))])
  }

  /// A store with a change of order 1, for which the service returns order 2, and one of order 3.
  private func rig(_ row: Row, _ behavior: UploadService.Behavior) async throws -> UploadRig {
    var behavior = behavior
    (behavior.isV2, behavior.merged) = (row.isV2, [1: 2])
    let rig = try await UploadRig(behavior, orders: 4)
    let name = ODataRequestBody.properties([ODataProperty("Name", .string("mine"))])
    let change: ODataSingleRequest =
      switch row.change {
      case .update: .update("Orders(1)", to: entity("Name", "mine"))
      case .property: ODataSingleRequest(.update(.replace), "Orders(1)/Name", body: name)
      case .deletion: .delete("Orders(1)")
      }
    if row.form == .changeSet {
      _ = try await rig.store.execute(
        batch: ODataBatchRequest([.changeSet([change, .update("Orders(4)", to: entity("Name", "four"))])]))
    } else {
      _ = try await rig.store.execute(single: change)
    }
    try await rig.store.update("Orders(3)", to: entity("Name", "three"))
    return rig
  }

  private func options(_ row: Row, _ policy: OfflineODataConflictPolicy = .archive) -> OfflineODataUploadOptions {
    OfflineODataUploadOptions(changesPerBatch: row.form == .single ? 0 : 100, lanes: 1, conflictPolicy: policy)
  }

  private func message(_ rig: UploadRig) async throws -> String {
    guard case .string(let message)? = try await rig.store.readEntity("ErrorArchive(1)")?["Message"] else { return "" }
    return message
  }

  private func orders(_ rig: UploadRig) async throws -> [String] {
    try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID")
  }

  @Test(
    "A change that is rejected goes to the archive with what was seen, the others are sent, and it can be discarded",
    arguments: rows, [412, 409, 404, 400])
  func rejected(row: Row, status: Int) async throws {
    // A 404 completes a deletion.
    guard status != 404 || row.change != .deletion else { return }
    let policies: [OfflineODataConflictPolicy] = [
      .archive, .clientWins, .serverWins, .mergeDisjoint, .resolver { _ in .useMine },
    ]
    for policy in policies {
      let rig = try await rig(
        row, .init(rejectsChange: { resource, _ in resource.hasPrefix("Orders(1)") ? status : nil }))
      let report = try await rig.store.upload(options(row, policy))
      #expect(report.failed == row.changes && report.sent == 1 && report.pending == 0, "\(report)")
      #expect(try await message(rig).hasSuffix(". The service returned another entity in its place: Orders(2)."))
      let own = row.change == .deletion ? [] : ["1|mine"]
      let four = row.form == .changeSet ? "4|four" : "4|n4"
      #expect(try await orders(rig) == own + ["2|n2", "3|three", four])
      #expect(rig.service.attempts.allSatisfy { !$0.contains("Orders(2)") })
      try await rig.store.discardAll()
      #expect(try await rig.isClean())
      #expect(try await orders(rig) == ["1|n1", "2|n2", "3|three", "4|n4"])
      // Another change of it is a change of the entity, not of the other one.
      try await rig.store.delete("Orders(1)")
      #expect(try await rig.store.plan().map(\.url) == ["Orders(1)"])
    }
  }

  @Test(
    "A change whose response was lost is unclear, except in a transaction with a change that took effect",
    arguments: rows)
  func lost(row: Row) async throws {
    for hasETags in [true, false] {
      let rig = try await rig(row, .init(hasETags: hasETags))
      rig.service.fail(.lost) { !$0.hasPrefix("GET") }
      await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options(row)) }
      rig.service.change { $0.fault = nil }
      let report = try await rig.store.upload(options(row))
      #expect(report.failed == (row.form == .changeSet ? 0 : 1) && report.pending == 0, "\(report)")
      #expect(rig.service.attempts.filter { $0.contains("Orders(1)") }.count == 1)
      #expect(try await orders(rig).contains("2|n2"))
      guard row.form != .changeSet else { continue }
      #expect(try await message(rig).hasSuffix(". The service returned another entity in its place: Orders(2)."))
      #expect(try await rig.failures().first == .unknownOutcome)
    }
  }

  @Test("A change that succeeds is done; a response that contradicts it is not", arguments: rows, [true, false])
  func succeeded(row: Row, isSilent: Bool) async throws {
    let rig = try await rig(row, .init(isSilent: isSilent || row.isV2))
    let report = try await rig.store.upload(options(row))
    // The response to the update contains order 2 with its own name.
    let isUnclear = row.change == .update && !isSilent && !row.isV2 && row.form != .changeSet
    #expect(report.sent == row.changes + (isUnclear ? 0 : 1) && report.failed == (isUnclear ? 1 : 0), "\(report)")
    #expect(report.pending == 0)
    if isUnclear {
      let found = try await message(rig)
      #expect(found.hasPrefix("The request succeeded") && found.hasSuffix("Orders(2)."))
    }
    let own = row.change == .deletion ? [] : ["1|mine"]
    let four = row.form == .changeSet ? "4|four" : "4|n4"
    #expect(try await orders(rig) == own + ["2|n2", "3|three", four])
    let isReported = rig.diagnostics.all.contains { $0.name == "lookUpFailed" && $0.message.contains("Orders(2)") }
    #expect(isReported == (row.change != .deletion && (isSilent || row.isV2)))
    try await rig.store.download()
    try await rig.store.discardAll()
    #expect(try await orders(rig).contains("2|n2"))
  }

  @Test("A response with the values that were sent is of the entity under its new key")
  func renamed() async throws {
    let rig = try await UploadRig(.init(merged: [1: 2], changesMerged: true))
    try await rig.store.update("Orders(1)", to: entity("Name", "mine"))
    #expect(try await rig.store.upload().sent == 1)
    #expect(try await orders(rig) == ["2|mine", "3|n3"])
    #expect(try await rig.store.readEntity("Orders(1)")?["ID"] == .int32(2))
    try await rig.store.download()
    #expect(try await rig.isClean())
  }

  @Test("Responses that give two rows one key archive their request, and the others are committed")
  func contradiction() async throws {
    let rig = try await UploadRig()
    let order = try await rig.row("Orders", 1)
    try await rig.update(order, ["Name": .string("mine")])
    try await rig.update(try await rig.row("Orders", 3), ["Name": .string("three")])
    let entries = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entries() }
    let failure = ArchivedFailure(kind: .conflict, message: "changed.", method: "PATCH", url: "Orders(1)", time: 0)
    let other = ServerResponse(entity: ODataEntity(properties: [ODataProperty("ID", .int32(2))]))
    let journal = UploadJournal(store: try rig.open, options: OfflineODataUploadOptions())
    let (outcomes, counts) = try await UploadCommit(journal: journal).commit([
      .init(id: 1, outcomes: [(entries[0], .archived(failure, theirs: .existing(other)))]),
      .init(id: 2, outcomes: [(entries[1], .done(ServerResponse()))]),
    ])
    #expect(outcomes == [1: .archived, 2: .done] && counts == UploadCounts(sent: 1, failed: 1))
    #expect(try await orders(rig) == ["1|mine", "2|n2", "3|three"])
    #expect(
      try await message(rig) == "changed. The response contains an entity that the store has under another path.")
  }
}
