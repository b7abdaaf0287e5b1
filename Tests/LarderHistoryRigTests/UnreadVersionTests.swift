import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import Testing

@testable import LarderHistoryRig

/// Changes behind requests that gave an entity a version which the store has read in part, or not at all.
@Suite("Changes behind versions that the store has not read", .timeLimit(.minutes(1)))
struct UnreadVersionTests {
  /// A store and its service.
  private struct Rig {
    let model: SharedModel
    let store: StoreHand

    init(_ configure: (inout ModelKind) -> Void = { _ in }) async throws {
      var kind = ModelKind()
      kind.hasLinks = true
      configure(&kind)
      model = SharedModel(HistoryRun.service(kind))
      store = try StoreHand("A", model, seed: 1)
      try await store.open()
    }

    var order: ModelService.Entity? { model.service.entities[.init("Orders", "1")] }
    var photo: ModelService.Entity? { model.service.entities[.init("Photos", "1")] }
    var buyer: String? { order?.links["Buyer"]?.first?.key }

    func other(_ method: String, _ path: String, _ body: String) {
      model.change { service in
        let request = ModelRequest(method, path, fields: [.ifMatch: "*"], body: Array(body.utf8))
        let response = service.respond(to: request, from: "other")
        #expect(!response.isError, "\(response)")
      }
    }

    func link() async throws { try await store.provider.createLink("Orders(1)/Tags/$ref", to: "Tags('red')") }

    func buy(_ key: Int) async throws {
      try await store.provider.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(\(key))")
    }

    func set(_ name: String, of path: String = "Orders(1)", to text: String) async throws {
      try await store.provider.update(path, to: ODataEntity(properties: [ODataProperty(name, .string(text))]))
    }

    /// Changes a property by a request that is not merged with another.
    func note(_ text: String) async throws {
      let entity = ODataEntity(properties: [ODataProperty("Note", .string(text))])
      var request = ODataSingleRequest.update("Orders(1)", to: entity)
      request.customTag = "note"
      _ = try await store.provider.execute(.single(request))
    }

    func paint(_ byte: UInt8) async throws {
      let bytes = ODataRequestBody.bytes([byte], contentType: "image/x")
      _ = try await store.provider.execute(.single(.updateMedia("Photos(1)/$value", to: bytes)))
    }

    /// Uploads, and loses the response.
    func lose(_ fault: Fault = .responseLost) async throws {
      store.transport.arm(fault, after: 0, takesReads: false) {}
      await #expect(throws: OfflineODataError.self) { try await store.provider.upload() }
      _ = store.transport.disarm()
    }

    /// Uploads where the service's first response to a read is a gateway's.
    func uploadUnread(_ policy: OfflineODataConflictPolicy = .archive) async throws -> OfflineODataUploadReport {
      store.transport.arm(.gateway(504), after: 0, takesReads: true) {}
      let report = try await upload(policy)
      #expect(store.transport.disarm() != nil)
      return report
    }

    func upload(_ policy: OfflineODataConflictPolicy = .archive) async throws -> OfflineODataUploadReport {
      try await store.provider.upload(OfflineODataUploadOptions(conflictPolicy: policy))
    }
  }

  // MARK: Links

  /// What brings the store the ETag of a version whose links it does not read.
  enum Partial: CaseIterable { case lostLink, link, lostUpdate, rejectedUpdate }

  @Test(
    "A link that the user sets after a version was read without its links does not overwrite another client's",
    arguments: Partial.allCases, [false, true])
  func setLater(partial: Partial, isSetByOther: Bool) async throws {
    let rig = try await Rig()
    switch partial {
    case .lostLink, .link: try await rig.link()
    case .lostUpdate, .rejectedUpdate: try await rig.set("Note", to: "mine")
    }
    if partial == .lostLink || partial == .lostUpdate { try await rig.lose() }
    if partial == .rejectedUpdate { rig.other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}") }
    if isSetByOther { rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}") }
    #expect(try await rig.upload(.serverWins).failed == 0)
    try await rig.store.reopen()
    try await rig.buy(2)
    let report = try await rig.upload()
    #expect(report.sent == (isSetByOther ? 0 : 1) && report.failed == (isSetByOther ? 1 : 0), "\(report)")
    #expect(rig.buyer == (isSetByOther ? "3" : "2"))
    try await rig.store.provider.close()
  }

  @Test(
    "A link that the user sets after a download has brought the version replaces another client's",
    arguments: ModelKind.Deltas.allCases, [false, true])
  func setInformed(deltas: ModelKind.Deltas, hidesLinks: Bool) async throws {
    let rig = try await Rig { ($0.deltas, $0.hidesLinks) = (deltas, hidesLinks) }
    try await rig.link()
    try await rig.lose()
    rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    #expect(try await rig.upload().sent == 1)
    let etag = rig.order?.etag
    try await rig.store.provider.download()
    try await rig.buy(2)
    let report = try await rig.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(rig.buyer == "2" && rig.model.service.effects.last?.condition == etag)
    try await rig.store.provider.close()
  }

  @Test("A download of other entities does not tell the links of a version that was read without them")
  func downloadOfOthers() async throws {
    let rig = try await Rig { $0.deltas = .plain }
    try await rig.link()
    try await rig.lose()
    rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    #expect(try await rig.upload().sent == 1)
    try await rig.store.provider.download(["buyers"])
    try await rig.buy(2)
    #expect(try await rig.upload().failed == 1)
    #expect(rig.buyer == "3")
    try await rig.store.provider.close()
  }

  @Test("A link behind a change behind another link does not overwrite another client's", arguments: [false, true])
  func behindChange(isMadeLater: Bool) async throws {
    let rig = try await Rig()
    try await rig.link()
    rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    var sent = 0
    if isMadeLater { sent = try await rig.upload().sent }
    try await rig.set("Note", to: "mine")
    try await rig.buy(2)
    let report = try await rig.upload()
    #expect(sent + report.sent == 2 && report.failed == 1, "\(report)")
    #expect(rig.buyer == "3" && rig.order?.values["Note"] == .string("mine"))
    try await rig.store.provider.close()
  }

  @Test(
    "A download of values alone does not tell the links that another query shows", arguments: ModelKind.Deltas.allCases)
  func downloadWithoutLinks(deltas: ModelKind.Deltas) async throws {
    let rig = try await Rig { $0.deltas = deltas }
    try await rig.store.provider.add(OfflineODataDefiningQuery("values", "Orders"))
    try await rig.store.provider.download(["values"])
    try await rig.set("Note", to: "mine")
    try await rig.lose()
    rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}")
    #expect(try await rig.upload().sent == 1)
    try await rig.store.provider.download(["values"])
    try await rig.buy(2)
    #expect(try await rig.upload().failed == 1)
    #expect(rig.buyer == "3")
    try await rig.store.provider.close()
  }

  @Test(
    "A link in a transaction is sent though an own change has given its entity another ETag", arguments: [false, true],
    [false, true])
  func linkInTransaction(isUpdate: Bool, isSetByOther: Bool) async throws {
    let rig = try await Rig()
    try await rig.set("Note", to: "mine")
    try await rig.lose()
    #expect(try await rig.upload().sent == 1)
    if isSetByOther { rig.other("PUT", "Orders(1)/Buyer/$ref", "{\"@odata.id\":\"Buyers(3)\"}") }
    var buyer = ODataNavigationLink(name: "Buyer")
    buyer.bindings = ["Buyers(2)"]
    let link: ODataSingleRequest =
      isUpdate
      ? .update("Orders(1)", to: ODataEntity(navigationLinks: [buyer]))
      : .updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)")
    let name = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    _ = try await rig.store.provider.execute(
      batch: ODataBatchRequest([.changeSet([link, .update("Buyers(1)", to: name)])]))
    let report = try await rig.upload(.serverWins)
    #expect(report.sent == (isSetByOther ? 0 : 2) && report.discarded == (isSetByOther ? 2 : 0), "\(report)")
    #expect(report.failed == 0 && rig.buyer == (isSetByOther ? "3" : "2"))
    try await rig.store.provider.close()
  }

  @Test("A change behind such a link in its transaction does not overwrite what another client has written")
  func changeBehindLinkInTransaction() async throws {
    let rig = try await Rig()
    try await rig.set("Note", to: "mine")
    try await rig.lose()
    #expect(try await rig.upload().sent == 1)
    let name = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    _ = try await rig.store.provider.execute(
      batch: ODataBatchRequest([
        .changeSet([.updateLink("Orders(1)/Buyer/$ref", to: "Buyers(2)"), .update("Orders(1)", to: name)])
      ]))
    rig.other("PATCH", "Orders(1)", "{\"Name\":\"theirs\"}")
    let report = try await rig.upload()
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(rig.order?.values["Name"] == .string("theirs"))
    try await rig.store.provider.close()
  }

  @Test("A row whose query is removed does not come back, though a version of it was read in part")
  func rowOfRemovedQuery() async throws {
    let rig = try await Rig { $0.deltas = .plain }
    let provider = rig.store.provider
    try await provider.add(OfflineODataDefiningQuery("second", "Orders(2)"))
    try await provider.download(["second"])
    try await rig.set("Note", to: "mine")
    try await rig.lose()
    #expect(try await rig.upload().sent == 1)
    try await provider.removeDefiningQuery("orders")
    for name in ["theirs", "theirs too"] {
      rig.other("PATCH", "Buyers(1)", "{\"Name\":\"\(name)\"}")
      try await provider.download(["buyers"])
    }
    let orders = try await provider.readEntitySet("Orders?$select=ID").entities
    #expect(orders.map { $0["ID"]?.plain } == ["2"])
    let error = await #expect(throws: OfflineODataError.self) { try await rig.set("Note", to: "again") }
    #expect(error?.name == .entityNotFound)
    try await provider.close()
  }

  @Test("A row of a removed query that a pending link leads to goes when the link is sent")
  func targetOfRemovedQuery() async throws {
    let rig = try await Rig { ($0.deltas, $0.hidesLinks) = (.plain, true) }
    let provider = rig.store.provider
    try await provider.add(OfflineODataDefiningQuery("first", "Buyers(1)"))
    try await provider.download(["first"])
    func buyers() async throws -> [String] {
      try await provider.readEntitySet("Buyers?$select=ID").entities.compactMap { $0["ID"]?.plain }
    }
    try await rig.buy(2)
    try await provider.removeDefiningQuery("buyers")
    #expect(try await buyers() == ["1", "2"])
    #expect(try await rig.upload().sent == 1)
    try await provider.download(["orders"])
    #expect(try await buyers() == ["1"])
    try await provider.close()
  }

  // MARK: ETags that were not read

  /// A change of the store that gives an entity a new ETag, without telling it.
  enum Untold: CaseIterable { case link, update }

  @Test(
    "Where the new ETag of an own change cannot be read, a change behind it is neither given up nor sent unconditionally",
    arguments: Untold.allCases, [false, true])
  func unread(untold: Untold, isMadeLater: Bool) async throws {
    for isChangedByOther in [false, true] {
      let rig = try await Rig { ($0.countsManyLinks, $0.insertion, $0.hidesNewETags) = (true, .noContent, true) }
      if untold == .link { try await rig.link() } else { try await rig.set("Name", to: "mine") }
      var failed = 0
      if isMadeLater {
        failed = try await rig.uploadUnread(.serverWins).failed
        if isChangedByOther { rig.other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}") }
      }
      try await rig.note("mine")
      if !isMadeLater {
        let model = rig.model
        rig.store.transport.arm(
          .gateway(504), after: 0, takesReads: true,
          meanwhile: {
            guard isChangedByOther else { return }
            model.change { service in
              let body = Array("{\"Note\":\"theirs\"}".utf8)
              _ = service.respond(
                to: ModelRequest("PATCH", "Orders(1)", fields: [.ifMatch: "*"], body: body), from: "other")
            }
          }, crash: {})
      }
      let report = try await rig.upload(isChangedByOther ? .archive : .serverWins)
      if !isMadeLater { #expect(rig.store.transport.disarm() != nil) }
      #expect(report.discarded == 0 && failed + report.failed == (isChangedByOther ? 1 : 0), "\(report)")
      #expect(rig.order?.values["Note"] == .string(isChangedByOther ? "theirs" : "mine"))
      try await rig.store.provider.close()
    }
  }

  @Test("A change behind lost bytes does not overwrite what another client has written", arguments: [false, true])
  func behindLostBytes(isMadeLater: Bool) async throws {
    let rig = try await Rig { $0.hasMedia = true }
    try await rig.paint(9)
    if !isMadeLater { try await rig.set("Name", of: "Photos(1)", to: "mine") }
    try await rig.lose()
    if isMadeLater { #expect(try await rig.upload().sent == 1) }
    rig.other("PATCH", "Photos(1)", "{\"Name\":\"theirs\"}")
    if isMadeLater { try await rig.set("Name", of: "Photos(1)", to: "mine") }
    let report = try await rig.upload()
    #expect(report.sent == (isMadeLater ? 0 : 1) && report.failed == 1, "\(report)")
    #expect(rig.photo?.values["Name"] == .string("theirs"))
    try await rig.store.provider.close()
  }

  @Test("Bytes behind lost bytes do not overwrite those of another client", arguments: [false, true])
  func bytesBehindLostBytes(isMadeLater: Bool) async throws {
    let rig = try await Rig { ($0.hasMedia, $0.streamETags) = (true, .optional) }
    try await rig.paint(9)
    try await rig.lose()
    if !isMadeLater { try await rig.paint(8) }
    if isMadeLater { #expect(try await rig.upload().sent == 1) }
    rig.model.change { service in
      let request = ModelRequest("PUT", "Photos(1)/$value", fields: [.ifMatch: "*"], body: [7])
      #expect(!service.respond(to: request, from: "other").isError)
    }
    if isMadeLater { try await rig.paint(8) }
    let report = try await rig.upload()
    #expect(report.failed >= 1, "\(report)")
    #expect(rig.photo?.bytes == [7])
    try await rig.store.provider.close()
  }

  @Test("A change of values behind bytes of its own transaction does not overwrite what another client has written")
  func behindBytesOfTransaction() async throws {
    let rig = try await Rig { $0.hasMedia = true }
    let update = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    let bytes = ODataRequestBody.bytes([9], contentType: "image/x")
    _ = try await rig.store.provider.execute(
      batch: ODataBatchRequest([
        .changeSet([.updateMedia("Photos(1)/$value", to: bytes), .update("Photos(1)", to: update)])
      ]))
    rig.other("PATCH", "Photos(1)", "{\"Name\":\"theirs\"}")
    // Bytes are sent in no change set, so the changes go one by one.
    let options = OfflineODataUploadOptions(splitsTransactions: true)
    let report = try await rig.store.provider.upload(options)
    #expect(report.failed >= 1, "\(report)")
    #expect(rig.photo?.values["Name"] == .string("theirs"))
    try await rig.store.provider.close()
  }

  // MARK: Deletions and held changes

  @Test("A deletion behind a link whose response was lost does not delete what a download has brought")
  func deletionBehindLostLink() async throws {
    let rig = try await Rig()
    try await rig.link()
    try await rig.store.provider.delete("Orders(1)")
    try await rig.lose()
    rig.other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}")
    try await rig.store.provider.download()
    let report = try await rig.upload()
    #expect(report.sent == 1 && report.failed == 1, "\(report)")
    #expect(rig.order?.values["Note"] == .string("theirs"))
    try await rig.store.provider.close()
  }

  @Test("A held change does not overwrite what another client has written meanwhile", arguments: [false, true])
  func held(isWritten: Bool) async throws {
    let rig = try await Rig()
    let provider = rig.store.provider
    let tag = ODataEntity(properties: [ODataProperty("ID", .string("new")), ODataProperty("Name", .string("mine"))])
    try await provider.create(tag, in: "Tags")
    rig.other("POST", "Tags", "{\"ID\":\"new\",\"Name\":\"theirs\"}")
    #expect(try await rig.upload().failed == 1)
    try await rig.link()
    try await provider.createLink("Orders(1)/Tags/$ref", to: "Tags('new')")
    try await rig.set("Note", to: "mine")
    try await rig.lose()
    if isWritten { rig.other("PATCH", "Orders(1)", "{\"Note\":\"theirs\"}") }
    #expect(try await rig.upload().sent == 1)
    rig.other("DELETE", "Tags('new')", "")
    try await provider.retryAll()
    let report = try await rig.upload()
    #expect(report.sent == (isWritten ? 2 : 3) && report.failed == (isWritten ? 1 : 0), "\(report)")
    #expect(rig.order?.values["Note"] == .string(isWritten ? "theirs" : "mine"))
    try await provider.close()
  }
}
