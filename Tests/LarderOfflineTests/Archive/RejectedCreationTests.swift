import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The service's version after a rejection", .timeLimit(.minutes(1)))
struct RejectedCreationTests {
  private func entity(_ values: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) })
  }

  /// A store with a local order 7, whose creation was rejected because another client has created it, and a held item of it.
  private func rejected(isV2: Bool = false, downloads: Bool = false) async throws -> UploadRig {
    let rig = try await UploadRig(.init(isV2: isV2, requiresIfMatch: true))
    let order = entity(("ID", .int32(7)), ("Name", .string("mine")), ("Note", .string("n")))
    _ = try await rig.store.create(order, in: "Orders")
    _ = try await rig.store.create(entity(("Text", .string("i"))), in: "Orders(7)/Items")
    rig.service.change { $0.sets["Orders"]?[7] = .init(values: ["ID": "7", "Name": "\"theirs\"", "Total": "9"]) }
    let report = try await rig.store.upload()
    #expect(report.failed == 2 && report.pending == 0, "\(report)")
    if downloads { try await rig.store.download() }
    return rig
  }

  @Test("A creation rejected with 409 shows the existing entity", arguments: [false, true])
  func shows(isV2: Bool) async throws {
    let rig = try await rejected(isV2: isV2)
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base == nil && conflict.path == "Orders(7)")
    #expect(conflict.mine?["Name"] == .string("mine") && conflict.mine?["Note"] == .string("n"))
    #expect(conflict.theirs?["Name"] == .string("theirs") && conflict.theirs?["Total"] == .int32(9))
    #expect(try await rig.rows("SELECT Name, Total FROM {Orders} WHERE ID = 7") == ["mine|-"])
    // Discarding removes the local entity; a download adds that of the service.
    #expect(try await rig.store.discard(1) == 2)
    try await rig.store.download()
    #expect(try await rig.rows("SELECT Name, Total FROM {Orders} WHERE ID = 7") == ["theirs|9"])
    #expect(try await rig.isClean())
  }

  @Test("The creation can become an update of that entity", arguments: [false, true], [false, true])
  func update(isV2: Bool, downloads: Bool) async throws {
    let rig = try await rejected(isV2: isV2, downloads: downloads)
    #expect(try await rig.store.retry(1, as: .update) == 2)
    #expect(try await rig.queue == ["1|0", "2|0"])
    #expect(try await rig.rows("SELECT Name, Note, Total FROM {Orders} WHERE ID = 7") == ["mine|n|9"])
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(
      rig.service.entities("Orders")[7]?.values == ["ID": "7", "Name": "\"mine\"", "Note": "\"n\"", "Total": "9"])
    #expect(rig.service.entities("Items")[1000]?.values["Order_ID"] == "7")
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3") == ["7|mine"])
  }

  @Test("The entity stays after a later change is sent or undone", arguments: [true, false])
  func laterChange(isSent: Bool) async throws {
    let rig = try await rejected()
    #expect(try await rig.store.retry(1, as: .update) == 2)
    #expect(try await rig.store.upload().sent == 2)
    try await rig.store.update("Orders(7)", to: entity(("Note", .string("later"))))
    let count = try await isSent ? rig.store.upload().sent : rig.store.undoAllPendingChanges()
    #expect(count == 1)
    let note = isSent ? "later" : "n"
    #expect(try await rig.rows("SELECT Name, Note FROM {Orders} WHERE ID = 7") == ["mine|\(note)"])
    #expect(try await rig.isClean())
  }

  @Test("The version of the service that replaces a discarded creation stays", arguments: [true, false])
  func changeOfDiscarded(isSent: Bool) async throws {
    let rig = try await UploadRig()
    _ = try await rig.store.create(entity(("ID", .int32(7)), ("Name", .string("mine"))), in: "Orders")
    try await rig.lose("batch")
    rig.service.change { $0.sets["Orders"]?[7] = .init(values: ["ID": "7", "Name": "\"theirs\""]) }
    #expect(try await rig.store.upload().failed == 1)
    #expect(try await rig.store.discard(1) == 1)
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 7") == ["theirs"])
    try await rig.store.update("Orders(7)", to: entity(("Note", .string("later"))))
    let count = try await isSent ? rig.store.upload().sent : rig.store.undoAllPendingChanges()
    #expect(count == 1)
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 7") == ["theirs"])
  }

  @Test("The creation can get another key, and its dependents follow", arguments: [false, true], [false, true])
  func key(isV2: Bool, downloads: Bool) async throws {
    let rig = try await rejected(isV2: isV2, downloads: downloads)
    #expect(try await rig.store.retry(1, as: .key("8")) == 2)
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID = 8") == ["8|mine"])
    #expect(try await rig.rows("SELECT Order_ID FROM {Items}") == ["8"])
    let theirs = try await rig.rows("SELECT ID, Name, Total FROM {Orders} WHERE ID = 7")
    #expect(theirs == (downloads ? ["7|theirs|9"] : []))
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(rig.service.entities("Orders")[8]?.values["Name"] == "\"mine\"")
    #expect(rig.service.entities("Orders")[7]?.values["Name"] == "\"theirs\"")
    #expect(rig.service.entities("Items")[1000]?.values["Order_ID"] == "8")
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3 ORDER BY ID") == ["7|theirs", "8|mine"])
  }

  @Test("An impossible correction is reported, and changes nothing")
  func rejections() async throws {
    let rig = try await rejected()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    let cases: [(Int64, OfflineODataRepair, OfflineODataErrorName)] = [
      (1, .key("1"), .entityExists), (1, .key("A=1,B=2"), .missingKeyProperty), (2, .update, .unsupportedChange),
      (3, .update, .unsupportedChange), (3, .key("9"), .unsupportedChange), (9, .update, .entityNotFound),
    ]
    for (id, repair, name) in cases {
      let error = await #expect(throws: OfflineODataError.self) { try await rig.store.retry(id, as: repair) }
      #expect(error?.name == name, "\(id) \(repair): \(error.debugDescription)")
    }
    #expect(try await rig.queue == ["1|2", "2|3", "3|2"])
    #expect(try await rig.store.conflict(3) == nil)
  }

  @Test("A change rejected because its entity was deleted shows that", arguments: [404, 410])
  func gone(status: Int) async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    if status == 410 { rig.service.fail(.status(410)) { $0.hasPrefix("PATCH") } }
    #expect(try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0)).failed == 1)
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.isTheirsKnown && conflict.theirs == nil)
    #expect(conflict.base?["Name"] == .string("n1") && conflict.mine?["Name"] == .string("mine"))
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
  }

  // MARK: Resolved before the upload

  enum Resolution: String, CaseIterable, Sendable {
    case retry, sameProperty, replacement, deletion, otherProperty, nothing
  }

  @Test(
    "A change whose noticed conflict is resolved before the upload is sent with the new ETag",
    arguments: Resolution.allCases, [true, false])
  func resolved(resolution: Resolution, hasETags: Bool) async throws {
    let rig = try await UploadRig(.init(requiresIfMatch: hasETags, hasETags: hasETags))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Name"] = "\"theirs\""
      state.sets["Orders"]?[1]?.version = 9
    }
    try await rig.store.download()
    #expect(try await rig.store.readCount("RequestQueue?$filter=Conflict") == 1)
    switch resolution {
    case .retry: #expect(try await rig.store.retry(1) == 1)
    case .sameProperty: try await rig.store.update("Orders(1)", to: entity(("Name", .string("both"))))
    case .replacement:
      try await rig.store.update("Orders(1)", to: entity(("Name", .string("both"))), method: .replace)
    case .deletion: try await rig.store.delete("Orders(1)")
    case .otherProperty: try await rig.store.update("Orders(1)", to: entity(("Note", .string("x"))))
    case .nothing: break
    }
    let isResolved = resolution != .otherProperty && resolution != .nothing
    #expect(try await rig.store.readCount("RequestQueue?$filter=Conflict") == (isResolved ? 0 : 1))
    if hasETags, isResolved {
      let etags = try await rig.rows("SELECT DISTINCT json_extract(request, '$.baseETag') FROM larder_request")
      #expect(etags == ["W/\"9\""])
      #expect(try await rig.store.readCount("RequestQueue?$filter=ETag eq 'W/\"9\"'") > 0)
    }
    let report = try await rig.store.upload()
    #expect((report.failed == 0) == isResolved && report.pending == 0, "\(report)")
    let name = rig.service.entities("Orders")[1]?.values["Name"]
    switch resolution {
    case .retry: #expect(name == "\"mine\"")
    case .sameProperty, .replacement: #expect(name == "\"both\"")
    case .deletion: #expect(name == nil)
    case .otherProperty, .nothing: #expect(name == "\"theirs\"")
    }
  }

  @Test("A conflict with a deleted entity is not resolved by a retry")
  func noticedGone() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    try await rig.store.download()
    let error = await #expect(throws: OfflineODataError.self) { try await rig.store.retry(1) }
    #expect(error?.name == .entityNotFound)
    #expect(try await rig.store.readCount("RequestQueue?$filter=Conflict") == 1)
  }
}
