import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The order of an upload", .timeLimit(.minutes(1)))
struct UploadOrderTests {
  private func text(_ name: String, _ value: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(value))])
  }

  private func bound(_ order: String) -> ODataNavigationLink {
    var link = ODataNavigationLink(name: "Order")
    link.bindings = [order]
    return link
  }

  @Test(
    "An entity is deleted behind the changes that take away what refers to it", arguments: [100, 0], [false, true])
  func references(changesPerBatch: Int, isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, guardsItems: true))
    rig.service.change { state in
      for key in 11...13 { state.sets["Items"]?[key] = .init(values: ["ID": "\(key)", "Order_ID": "1"]) }
    }
    try await rig.store.download()
    // One goes elsewhere by its foreign key, one by a link, one goes; a new one came and goes elsewhere, too.
    try await rig.store.update("Items(11)", to: ODataEntity(properties: [ODataProperty("Order_ID", .int32(2))]))
    var moved = ODataEntity()
    moved.navigationLinks = [bound("Orders(2)")]
    try await rig.store.update("Items(12)", to: moved)
    try await rig.store.delete("Items(13)")
    var new = text("Text", "new")
    new.navigationLinks = [bound("Orders(1)")]
    try await rig.store.create(new, in: "Items")
    let key = try #require(try await rig.rows("SELECT ID FROM {Items} WHERE ID < 0").first)
    try await rig.store.update("Items(\(key))", to: ODataEntity(properties: [ODataProperty("Order_ID", .int32(3))]))
    try await rig.store.delete("Orders(1)")
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    #expect(report.sent == 6 && report.failed == 0, "\(report) \(rig.service.log)")
    #expect(rig.service.log.last == "DELETE Orders(1)")
    #expect(try await rig.rows("SELECT Order_ID FROM {Items} ORDER BY ID") == ["2", "2", "3"])
    #expect(try await rig.isClean())
  }

  @Test("An entity is created with the key of one that is deleted: after its deletion", arguments: [100, 0])
  func sameKey(changesPerBatch: Int) async throws {
    let rig = try await UploadRig()
    for round in 1...3 {
      try await rig.store.delete("Orders(1)")
      let new = ODataEntity(properties: [ODataProperty("ID", .int32(1)), ODataProperty("Name", .string("\(round)"))])
      try await rig.store.create(new, in: "Orders")
    }
    // Creations that are deleted again are not sent.
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    #expect(report.sent == 2 && report.failed == 0, "\(report) \(rig.service.log)")
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID") == ["1|3", "2|n2", "3|n3"])
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID") == ["1|3", "2|n2", "3|n3"])
  }

  @Test(
    "A change whose response was lost is looked up before it is taken back: one that took effect stays")
  func undo() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: text("Name", "mine"))
    try await rig.store.create(text("Name", "made"), in: "Orders")
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.fail(.hang, times: 20) { $0.contains("GET Orders") }
    let upload = Task { try await rig.store.upload() }
    try await rig.service.hangs.wait(for: 1)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.store.undoAllPendingChanges() }
    #expect(error?.name == .changesPending)
    let other = await #expect(throws: OfflineODataError.self) { try await rig.store.delete("RequestQueue(1)") }
    #expect(other?.name == .changesPending)
    rig.store.cancelUpload()
    await #expect(throws: CancellationError.self) { try await upload.value }
    rig.service.change { $0.fault = nil }
    let first = await #expect(throws: OfflineODataError.self) { try await rig.store.delete("RequestQueue(1)") }
    let second = await #expect(throws: OfflineODataError.self) { try await rig.store.undoAllPendingChanges() }
    #expect(first?.name == .changeTookEffect && second?.name == .changeTookEffect)
    #expect(try await rig.rows("SELECT Name FROM {Orders} ORDER BY ID") == ["mine", "n2", "n3", "made"])
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(try await rig.rows("SELECT Name FROM {Orders} ORDER BY ID") == ["mine", "n2", "n3", "made"])
    #expect(try await rig.store.upload() == OfflineODataUploadReport())
  }

  @Test("A query of some properties keeps of the others what the server has, not what is changed here")
  func someProperties() async throws {
    let rig = try await UploadRig()
    let other = OfflineODataDefiningQuery("names", "Orders?$select=ID,Name")
    try await rig.store.add(other)
    try await rig.store.download()
    try await rig.store.update("Orders(1)", to: text("Note", "mine"))
    rig.service.change { $0.sets["Orders"]?[1]?.values["Name"] = "\"theirs\"" }
    try await rig.store.download(["names"])
    #expect(try await rig.rows("SELECT Name, Note FROM {Orders} WHERE ID = 1") == ["theirs|mine"])
    #expect(try await rig.store.undoAllPendingChanges() == 1)
    #expect(try await rig.rows("SELECT Name, Note FROM {Orders} WHERE ID = 1") == ["theirs|-"])
  }

  @Test(
    "What the metadata says of repeated requests counts before any response has shown it", arguments: [true, false])
  func repeatable(isSupported: Bool) async throws {
    let rig = try await UploadRig(.init(knowsNames: true, declaresRepeatability: isSupported))
    try await rig.store.create(text("Name", "made"), in: "Orders")
    rig.service.fail(.lost) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    let requestCount = rig.service.requests.count
    #expect(try await rig.store.upload().sent == 1)
    let later = rig.service.requests.dropFirst(requestCount)
    #expect(rig.service.log == ["POST Orders(1000)"])
    // Looked for, or sent again under its name.
    #expect(later.contains { $0.hasPrefix("GET Orders?") } != isSupported, "\(later)")
  }

  enum KeyChange: String, CaseIterable, Sendable { case entity, property, value, link }

  /// An item whose foreign key is set to the key of an order that is made here.
  private func tied(_ change: KeyChange, _ rig: UploadRig) async throws {
    rig.service.change { $0.sets["Items"]?[11] = .init(values: ["ID": "11", "Order_ID": "1"]) }
    try await rig.store.download()
    try await rig.store.create(text("Name", "new"), in: "Orders")
    let text = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)
    let key = ODataProperty("Order_ID", .int32(try #require(Int32(text))))
    var tied = ODataEntity()
    tied.navigationLinks = [bound("Orders(\(text))")]
    let request =
      switch change {
      case .link: ODataSingleRequest.update("Items(11)", to: tied)
      case .entity: ODataSingleRequest.update("Items(11)", to: ODataEntity(properties: [key]))
      case .property: ODataSingleRequest(.update(.replace), "Items(11)/Order_ID", body: .properties([key]))
      case .value:
        ODataSingleRequest(
          .update(.replace), "Items(11)/Order_ID/$value", body: .bytes(Array(text.utf8), contentType: "text/plain"))
      }
    _ = try await rig.store.execute(single: request)
  }

  @Test(
    "A foreign key that is set by itself is sent as the service's key, behind the entity that it is of",
    arguments: KeyChange.allCases, [false, true])
  func foreignKey(change: KeyChange, isV2: Bool) async throws {
    for changesPerBatch in [100, 0] {
      let rig = try await UploadRig(.init(isV2: isV2))
      try await tied(change, rig)
      let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
      #expect(report.sent == 2 && report.failed == 0, "\(report)")
      #expect(rig.service.entities("Items")[11]?.values["Order_ID"] == "1000")
      #expect(try await rig.rows("SELECT Order_ID FROM {Items}") == ["1000"])
      #expect(try await rig.isClean())
    }
  }

  @Test(
    "One whose response was lost is compared by the service's key", arguments: KeyChange.allCases,
    [UploadService.Fault.lost, .status(504)])
  func foreignKeyInDoubt(change: KeyChange, fault: UploadService.Fault) async throws {
    let rig = try await UploadRig()
    try await tied(change, rig)
    rig.service.fail(fault) { $0.contains("Items(11)") }
    let options = OfflineODataUploadOptions(changesPerBatch: 0)
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options) }
    let report = try await rig.store.upload(options)
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(rig.service.entities("Items")[11]?.values["Order_ID"] == "1000")
    #expect(rig.service.log.filter { $0.contains("Items") }.count == 1, "\(rig.service.log)")
    #expect(try await rig.isClean())
  }
}
