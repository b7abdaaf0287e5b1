import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import Testing

@testable import LarderHistoryRig

/// Two clients set the link of an entity to one other. Where the service gives ETags, none overwrites what it has not seen.
@Suite("Links to one entity and other clients", .timeLimit(.minutes(1)))
struct SingleLinkTests {
  private let model: SharedModel
  private let store: StoreHand

  init() throws {
    var kind = ModelKind()
    kind.hasLinks = true
    model = SharedModel(HistoryRun.service(kind))
    store = try StoreHand("A", model, seed: 1)
  }

  private func other(_ method: String, _ path: String, _ body: String) { other(method, path, body, at: model) }

  private func other(_ method: String, _ path: String, _ body: String, at model: SharedModel) {
    model.change { service in
      let request = ModelRequest(method, path, fields: [.ifMatch: "*"], body: Array(body.utf8))
      let response = service.respond(to: request, from: "other")
      #expect(!response.isError, "\(response)")
    }
  }

  /// Changes a property of the order.
  private func note(_ text: String) async throws { try await note(text, at: store) }

  private func note(_ text: String, at store: StoreHand) async throws {
    try await store.provider.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Note", .string(text))]))
  }

  /// Uploads, and loses the response.
  private func lose() async throws { try await lose(of: store) }

  private func lose(of store: StoreHand) async throws {
    store.transport.arm(.responseLost, after: 0, takesReads: false) {}
    await #expect(throws: OfflineODataError.self) { try await store.provider.upload() }
    _ = store.transport.disarm()
  }

  private var buyer: String? { model.service.entities[.init("Orders", "1")]?.links["Buyer"]?.first?.key }

  @Test(
    "A link that another client has set, and that a download has brought, is not overwritten: that is a conflict",
    arguments: [nil, "1"], [false, true])
  func downloaded(before: String?, isRemoval: Bool) async throws {
    if let before { other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(\(before))\"}") }
    try await store.open()
    if isRemoval {
      try await store.provider.deleteLink("Orders(1)/Buyer/$ref")
    } else {
      try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    }
    other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    try await store.provider.download()
    let report = try await store.provider.upload()
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(buyer == "3")
    try await store.provider.close()
  }

  @Test(
    "A link is set where another client has changed its source and not the link", arguments: [nil, "1"], [false, true])
  func besideAnother(before: String?, hasDownloaded: Bool) async throws {
    if let before { other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(\(before))\"}") }
    try await store.open()
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
    if hasDownloaded { try await store.provider.download() }
    let report = try await store.provider.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(buyer == "2")
    try await store.provider.close()
  }

  @Test(
    "The ETag that is read behind a change without a condition, or behind a lost response, is not that of a later link",
    arguments: [false, true])
  func hidden(isLost: Bool) async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    if isLost {
      try await lose()
    }
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    let report = try await store.provider.upload()
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    #expect(buyer == "3")
    try await store.provider.close()
  }

  @Test(
    "A change behind a link does not overwrite what another client has written and a download has brought",
    arguments: [false, true])
  func behindLink(isMadeAgain: Bool) async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    try await note("mine")
    if isMadeAgain {
      other("DELETE", "Orders(1)", "")
      other("POST", "Orders", "{\"ID\":1,\"Name\":\"theirs\"}")
    } else {
      other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
    }
    try await store.provider.download()
    let report = try await store.provider.upload()
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    let order = try #require(model.service.entities[.init("Orders", "1")])
    #expect(order.values["Note"] == (isMadeAgain ? .null : .string("theirs")))
    #expect(order.links["Tags"] == [.init("Tags", "red")])
    try await store.provider.close()
  }

  @Test(
    "A change behind a link that was made after a download has brought another client's change is no conflict",
    arguments: [nil, "before"] as [String?], [false, true])
  func informedBehindLink(earlier: String?, isLost: Bool) async throws {
    for hasETags in [true, false] {
      for policy in [OfflineODataConflictPolicy.archive, .serverWins] {
        var kind = ModelKind()
        (kind.hasLinks, kind.hasETags) = (true, hasETags)
        let model = SharedModel(HistoryRun.service(kind))
        let store = try StoreHand("A", model, seed: 1)
        try await store.open()
        try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
        if isLost { try await lose(of: store) }
        if let earlier, !isLost { try await note(earlier, at: store) }
        other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}", at: model)
        try await store.provider.download()
        try await note("mine", at: store)
        let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: policy))
        #expect(report.failed == 0 && report.discarded == 0, "\(report)")
        #expect(
          model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("mine"), "\(hasETags) \(policy)")
        try await store.provider.close()
      }
    }
  }

  @Test("A change behind a link stays in conflict if the user changes another property after the download")
  func informedOfAnother() async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    try await note("mine")
    other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
    try await store.provider.download()
    try await store.provider.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    let report = try await store.provider.upload()
    #expect(report.failed >= 1, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("theirs"))
    try await store.provider.close()
  }

  @Test("A change of a link to one entity stays in conflict if the user changes a property after the download")
  func linkBehindLink() async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    try await store.provider.download()
    try await note("mine")
    let report = try await store.provider.upload()
    #expect(report.failed >= 1, "\(report)")
    #expect(buyer == "3")
    try await store.provider.close()
  }

  /// Adds a link and changes a property in one transaction.
  private func linkAndNote(_ text: String, at store: StoreHand, isSingle: Bool = false) async throws {
    let update = ODataEntity(properties: [ODataProperty("Note", .string(text))])
    let link: ODataSingleRequest =
      isSingle
      ? .updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)") : .createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    _ = try await store.provider.execute(
      batch: ODataBatchRequest([.changeSet([link, .update("Orders(1)", to: update)])]))
  }

  @Test(
    "A change behind a link of its own transaction does not overwrite what another client has written",
    arguments: [OfflineODataConflictPolicy.archive, .serverWins, .mergeDisjoint], [false, true])
  func behindLinkOfTransaction(policy: OfflineODataConflictPolicy, isSingle: Bool) async throws {
    for (hasETags, hasDownloaded) in [(true, false), (true, true), (false, true)] {
      var kind = ModelKind()
      (kind.hasLinks, kind.hasETags) = (true, hasETags)
      let model = SharedModel(HistoryRun.service(kind))
      let store = try StoreHand("A", model, seed: 1)
      try await store.open()
      try await linkAndNote("mine", at: store, isSingle: isSingle)
      other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}", at: model)
      if hasDownloaded { try await store.provider.download() }
      let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: policy))
      #expect(report.sent == 0 && report.failed + report.discarded == 2, "\(report)")
      let order = try #require(model.service.entities[.init("Orders", "1")])
      #expect(order.values["Note"] == .string("theirs"), "\(hasETags) \(hasDownloaded)")
      #expect(order.links["Tags"] ?? [] == [])
      try await store.provider.close()
    }
  }

  @Test(
    "A change behind a link of its own transaction is merged with another client's change of another property",
    arguments: [true, false])
  func mergedBehindLink(hasETags: Bool) async throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.hasETags) = (true, hasETags)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    try await linkAndNote("mine", at: store)
    other("PATCH", "Orders(1)", "{\"Name\":\"theirs\"}", at: model)
    try await store.provider.download()
    let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: .mergeDisjoint))
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    let order = try #require(model.service.entities[.init("Orders", "1")])
    #expect(order.values["Note"] == .string("mine") && order.values["Name"] == .string("theirs"))
    #expect(order.links["Tags"] == [.init("Tags", "red")])
    try await store.provider.close()
  }

  @Test("The resolver decides about the change behind a link of its own transaction, and the link is sent too")
  func resolvedBehindLink() async throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.hasETags) = (true, false)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    try await linkAndNote("mine", at: store)
    other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}", at: model)
    try await store.provider.download()
    let policy = OfflineODataConflictPolicy.resolver { conflict in
      #expect(conflict.mine?["Note"] == .string("mine") && conflict.theirs?["Note"] == .string("theirs"))
      return .use([ODataProperty("Note", .string("both"))])
    }
    let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: policy))
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    let order = try #require(model.service.entities[.init("Orders", "1")])
    #expect(order.values["Note"] == .string("both"))
    #expect(order.links["Tags"] == [.init("Tags", "red")])
    try await store.provider.close()
  }

  @Test("A transaction that the service rejects because of its own link is not discarded as another client's conflict")
  func ownLinkInTransaction() async throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.countsManyLinks) = (true, true)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    try await linkAndNote("mine", at: store)
    let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: .serverWins))
    #expect(report.sent == 0 && report.discarded == 0 && report.failed == 2, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.links["Tags"] ?? [] == [])
    try await store.provider.close()
  }

  @Test("Before V4, a link without a condition does not hide a conflict that a download has brought")
  func linksBeforeV4() async throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.isV2) = (true, true)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    _ = try await store.provider.execute(
      batch: ODataBatchRequest([
        .changeSet([
          .createLink("Orders(1)/$links/Tags", to: "Tags('red')"),
          .updateLink("Orders(1)/$links/Buyer", to: "Buyers(2)"),
          .update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Note", .string("mine"))])),
        ])
      ]))
    other("MERGE", "Orders(1)", "{\"Note\":\"theirs\"}", at: model)
    try await store.provider.download()
    let report = try await store.provider.upload()
    #expect(report.sent == 0 && report.failed == 3, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("theirs"))
    try await store.provider.close()
  }

  @Test(
    "A link to one entity does not overwrite another client's, whatever is behind it in its transaction",
    arguments: [OfflineODataConflictPolicy.archive, .mergeDisjoint], [false, true])
  func singleLinkBeforeChange(policy: OfflineODataConflictPolicy, hasDownloaded: Bool) async throws {
    try await store.open()
    try await linkAndNote("mine", at: store, isSingle: true)
    other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    if hasDownloaded { try await store.provider.download() }
    let report = try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: policy))
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(buyer == "3")
    try await store.provider.close()
  }

  @Test(
    "Where the service gives no ETags, a change behind a link does not overwrite what a download has brought",
    arguments: [0, 100], [false, true])
  func behindLinkWithoutETags(changesPerBatch: Int, isDeletion: Bool) async throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.hasETags) = (true, false)
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    if isDeletion {
      try await store.provider.delete("Orders(1)")
    } else {
      let update = ODataEntity(properties: [ODataProperty("Note", .string("mine"))])
      try await store.provider.update("Orders(1)", to: update)
    }
    other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}", at: model)
    try await store.provider.download()
    let report = try await store.provider.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("theirs"))
    try await store.provider.close()
  }

  @Test(
    "A deletion behind a link does not delete what another client has written and a download has brought",
    arguments: [false, true])
  func deletionBehindLink(isChanged: Bool) async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    try await store.provider.delete("Orders(1)")
    if isChanged {
      other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
      try await store.provider.download()
    }
    let report = try await store.provider.upload()
    #expect(report.sent == (isChanged ? 1 : 2) && report.failed == (isChanged ? 1 : 0), "\(report)")
    #expect((model.service.entities[.init("Orders", "1")] != nil) == isChanged)
    try await store.provider.close()
  }

  @Test(
    "What the service adds to a change whose response was lost is no conflict of a deletion", arguments: [false, true])
  func deletionBehindLostUpdate(isDeletedFirst: Bool) async throws {
    try await store.open()
    try await store.provider.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    try await lose()
    model.change { $0.entities[.init("Orders", "1")]?.values["Note"] = .string("added") }
    if isDeletedFirst { try await store.provider.delete("Orders(1)") }
    try await store.provider.download()
    if !isDeletedFirst { try await store.provider.delete("Orders(1)") }
    let report = try await store.provider.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")] == nil)
    try await store.provider.close()
  }

  @Test(
    "A change behind a link whose response was lost does not overwrite what another client has written",
    arguments: [false, true], [false, true])
  func behindLostLink(isSingle: Bool, isReadable: Bool) async throws {
    try await store.open()
    if isSingle {
      try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    } else {
      try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    }
    try await note("mine")
    try await lose()
    other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
    if !isReadable { store.transport.arm(.gateway(504), after: 1, takesReads: true) {} }
    let report = try await store.provider.upload()
    #expect((store.transport.disarm() != nil) == !isReadable)
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("theirs"))
    try await store.provider.close()
  }

  @Test("Nothing is a conflict behind a link whose response was lost if no other client has written")
  func ownChangeAfterLostLink() async throws {
    try await store.open()
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    try await note("mine")
    try await lose()
    let report = try await store.provider.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    let update = try #require(model.service.effects.last)
    #expect(update.kind == .update && update.condition != nil && update.condition != "*")
    try await store.provider.close()
  }

  @Test("A change behind a link whose source is read without an ETag keeps its condition")
  func behindLinkWithoutETag() async throws {
    try await store.open()
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    try await note("mine")
    try await lose()
    model.change { $0.kind.hasETags = false }
    let report = try await store.provider.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    let update = try #require(model.service.effects.last)
    #expect(update.kind == .update && update.condition != nil && update.condition != "*")
    try await store.provider.close()
  }

  @Test("What a download has brought of a transaction whose response was lost is no conflict of a later change")
  func ownChangeAfterLink() async throws {
    try await store.open()
    let update = ODataEntity(properties: [ODataProperty("Note", .string("first"))])
    _ = try await store.provider.execute(
      batch: ODataBatchRequest([
        .changeSet([.createLink("Orders(1)/Tags/$ref", to: "Tags('red')"), .update("Orders(1)", to: update)])
      ]))
    try await lose()
    try await note("last")
    try await store.provider.download()
    let report = try await store.provider.upload()
    #expect(report.sent == 3 && report.failed == 0, "\(report)")
    #expect(model.service.entities[.init("Orders", "1")]?.values["Note"] == .string("last"))
    try await store.provider.close()
  }

  @Test("Links of one entity that one store sets behind its own changes are no conflicts")
  func own() async throws {
    try await store.open()
    try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')")
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    try await note("mine")
    try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(1)")
    let report = try await store.provider.upload()
    #expect(report.sent == 4 && report.failed == 0, "\(report)")
    #expect(buyer == "1")
    try await store.provider.close()
  }
}
