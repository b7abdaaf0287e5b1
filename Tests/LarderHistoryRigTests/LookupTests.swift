import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import Testing

@testable import LarderHistoryRig

/// Creations whose responses were lost, and the look-ups behind them.
@Suite("Look-ups of lost creations", .timeLimit(.minutes(1)))
struct LookupTests {
  private let model: SharedModel
  private let store: StoreHand

  init() throws {
    model = SharedModel(HistoryRun.service(ModelKind()))
    store = try StoreHand("A", model, seed: 1)
  }

  /// Uploads, and loses the response.
  private func lose() async throws { try await lose(store) }

  private func lose(_ store: StoreHand) async throws {
    store.transport.arm(.responseLost, after: 0, takesReads: false) {}
    await #expect(throws: OfflineODataError.self) { try await store.provider.upload() }
    _ = store.transport.disarm()
  }

  private func other(_ path: String, _ body: String) { other("PATCH", path, body, at: model) }

  private func other(_ method: String, _ path: String, _ body: String, at model: SharedModel) {
    model.change { service in
      let request = ModelRequest(method, path, fields: [.ifMatch: "*"], body: Array(body.utf8))
      let response = service.respond(to: request, from: "other")
      #expect(!response.isError, "\(response)")
    }
  }

  private var creations: Int { model.service.effects.count { $0.kind == .create } }

  private func order(_ name: String) -> ODataEntity {
    ODataEntity(properties: [
      ODataProperty("Name", .string(name)), ODataProperty("Note", .string("note of \(name)")),
      ODataProperty("Stock", .int32(1)),
    ])
  }

  @Test("A look-up that is interrupted is followed by no narrower one: nothing is sent again")
  func unreadable() async throws {
    try await store.open()
    var order = order("made")
    let item = ODataEntity(properties: [ODataProperty("Text", .string("inside"))])
    order.navigationLinks = [
      ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: [item])))
    ]
    try await store.provider.create(order, in: "Orders")
    try await lose()
    other("Orders(1001)", "{\"Name\":\"theirs\",\"Note\":\"theirs\"}")
    store.transport.arm(.truncated(isSilent: true), after: 1, takesReads: true) {}
    let report = try await store.provider.upload()
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(creations == 1)
    try await store.provider.close()
  }

  @Test("Two that are alike were made, and another client has changed one of them: nothing is sent again")
  func changedTwin() async throws {
    try await store.open()
    for _ in 0..<2 { try await store.provider.create(order("same"), in: "Orders") }
    try await lose()
    other("Orders(1001)", "{\"Note\":\"theirs\"}")
    let report = try await store.provider.upload()
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    #expect(creations == 2)
    try await store.provider.close()
  }

  @Test("A change set changes a property twice, and the first response is missing: the last value stays")
  func changedTwice() async throws {
    try await store.open()
    let updates = ["first", "last"].map { name in
      ODataSingleRequest.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string(name))]))
    }
    _ = try await store.provider.execute(batch: ODataBatchRequest([.changeSet(updates)]))
    store.transport.arm(.memberMissing(0, rejected: nil), after: 0, takesReads: false) {}
    let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(model.service.effects.count == 2)
    #expect(model.service.entities[.init("Orders", "1")]?.values["Name"] == .string("last"))
    try await store.provider.close()
  }

  @Test(
    "What a download brought of one that is alike, and is unclear, does not make another common: it is not sent again")
  func unclearTwin() async throws {
    try await store.open()
    try await store.provider.create(order("same"), in: "Orders")
    try await lose()
    other("Orders(1001)", "{\"Name\":\"theirs\"}")
    try await store.provider.download()
    #expect(try await store.provider.upload().failed == 1)
    try await store.provider.create(order("same"), in: "Orders")
    try await lose()
    other("Orders(1002)", "{\"Name\":\"theirs too\"}")
    let report = try await store.provider.upload()
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(creations == 2)
    try await store.provider.close()
  }

  @Test(
    "A link that needs a condition stays in the queue if the service cannot return the ETag now", arguments: 0..<4)
  func conditionOfLink(read: Int) async throws {
    var kind = ModelKind()
    (kind.isV2, kind.hasLinks, kind.hidesLinks, kind.requiresIfMatch) = (true, true, true, true)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    _ = try await store.provider.execute(single: .updateLink("Orders(2)/$links/Buyer", to: "Buyers(1)"))
    store.transport.arm(.gateway(504), after: read, takesReads: true) {}
    let first = try? await store.provider.upload()
    _ = store.transport.disarm()
    #expect(first?.failed ?? 0 == 0)
    let second = try await store.provider.upload()
    #expect(second.failed == 0 && second.pending == 0, "\(second)")
    #expect(model.service.entities[.init("Orders", "2")]?.links["Buyer"] == [.init("Buyers", "1")])
    try await store.provider.close()
  }

  @Test("After an update that sets a link is given up, the next one does not overwrite a link that was never seen")
  func linkNotSeen() async throws {
    var kind = ModelKind()
    kind.hasLinks = true
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    var buyer = ODataNavigationLink(name: "Buyer")
    buyer.bindings = ["Buyers(2)"]
    var update = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    update.navigationLinks = [buyer]
    try await store.provider.update("Orders(3)", to: update)
    try await lose(store)
    other("PUT", "Orders(3)/Buyer/$ref", "{\"@odata.id\":\"Buyers(1)\"}", at: model)
    other("PATCH", "Orders(3)", "{\"Name\":\"theirs\"}", at: model)
    let given = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: .serverWins))
    #expect(given.discarded == 1, "\(given)")
    update.properties = []
    try await store.provider.update("Orders(3)", to: update)
    let report = try await store.provider.upload()
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(model.service.entities[.init("Orders", "3")]?.links["Buyer"] == [.init("Buyers", "1")])
    try await store.provider.close()
  }
}
