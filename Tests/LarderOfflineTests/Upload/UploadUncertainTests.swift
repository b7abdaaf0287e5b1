import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Other clients, and the service itself, change what an uncertain request was about before anybody looks it up.
@Suite("Uncertain requests and other clients", .timeLimit(.minutes(1)))
struct UploadUncertainTests {
  /// Uploads once with every response lost behind the service, or every request lost before it.
  private func lose(_ rig: UploadRig, beforeService: Bool = false) async throws {
    rig.service.fail(beforeService ? .status(504) : .lost, times: 9) { line in
      !line.hasPrefix("GET")
    }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.fault = nil }
  }

  private func failures(_ rig: UploadRig) async throws -> [ArchivedFailure.Kind] {
    try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entries().compactMap(\.failure?.kind) }
  }

  /// Creates an order with an item (deep insert).
  private func createOrder(_ rig: UploadRig, total: Int32) async throws {
    var items = ODataNavigationLink(name: "Items")
    items.content = .collection(
      ODataEntityCollection(entities: [ODataEntity(properties: [ODataProperty("Text", .string("child"))])]))
    try await rig.store.create(
      ODataEntity(
        properties: [ODataProperty("Name", .string("made here")), ODataProperty("Total", .int32(total))],
        navigationLinks: [items]), in: "Orders")
  }

  private func edit(_ rig: UploadRig, _ set: String, _ key: Int, _ values: [String: String]) {
    rig.service.change { state in
      state.sets[set]?[key]?.values.merge(values) { _, new in new }
      state.sets[set]?[key]?.version += 5
    }
  }

  // MARK: Creations

  @Test(
    "A created entity that another client has edited since is unclear: it is not created twice",
    arguments: [false, true], [["Name": "\"theirs\""], ["Total": "7"], ["Total": "7", "Note": "\"seen\""]])
  func editedCreation(isV2: Bool, edits: [String: String]) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await lose(rig)
    edit(rig, "Orders", 1000, edits)
    let report = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(1000)"])
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(try await failures(rig) == [.unknownOutcome])
  }

  @Test(
    "A created entity whose text the service has truncated is unclear: it is not created twice",
    arguments: [false, true])
  func truncatedCreation(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    try await rig.create("Orders", key: -1, ["Name": .string("a name that is long")])
    try await lose(rig)
    edit(rig, "Orders", 1000, ["Name": "\"a name\""])
    let report = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(1000)"])
    #expect(report.failed == 1, "\(report)")
    #expect(try await failures(rig) == [.unknownOutcome])
  }

  @Test("A deep insert that another client has edited since is not sent twice", arguments: [false, true])
  func editedDeepInsert(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    try await createOrder(rig, total: 512)
    try await lose(rig)
    let created = try #require(rig.service.entities("Orders").keys.max())
    edit(rig, "Orders", created, ["Name": "\"theirs\""])
    _ = try await rig.store.upload()
    #expect(rig.service.entities("Orders").count == 4 && rig.service.entities("Items").count == 1)
    #expect(try await failures(rig) == [.unknownOutcome])
  }

  @Test("A creation that never arrived is sent again, whatever other clients have created meanwhile")
  func othersCreation() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await lose(rig, beforeService: true)
    rig.service.change { $0.sets["Orders"]?[70] = .init(values: ["ID": "70", "Name": "\"other\"", "Total": "9"]) }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(rig.service.log == ["POST Orders(1000)"])
  }

  @Test("A created entity that a download has brought in another form is not created twice")
  func downloadedCreation() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await lose(rig)
    edit(rig, "Orders", 1000, ["Name": "\"theirs\""])
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(1000)"])
    #expect(report.failed == 1, "\(report)")
  }

  @Test("What another client has created with values that many entities have is not taken for an uncertain creation")
  func commonValues() async throws {
    let rig = try await UploadRig()
    edit(rig, "Orders", 1, ["Total": "512"])
    try await rig.store.download()
    try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await lose(rig, beforeService: true)
    rig.service.change { $0.sets["Orders"]?[70] = .init(values: ["ID": "70", "Name": "\"other\"", "Total": "512"]) }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(rig.service.log == ["POST Orders(1000)"])
  }

  @Test("What a later change of the same transaction has made of a created entity is recognized")
  func changedInTransaction() async throws {
    let rig = try await UploadRig()
    let created = try await rig.create("Orders", key: -1, ["Name": .string("first"), "Total": .int32(512)])
    try await rig.update(created.row, ["Name": .string("second")], unit: created.id)
    try await lose(rig)
    let report = try await rig.store.upload()
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.filter { $0.hasPrefix("POST") } == ["POST Orders(1000)"])
    #expect(rig.service.entities("Orders")[1000]?.values["Name"] == "\"second\"")
    #expect(try await rig.isClean())
  }

  @Test("A created entity that a download has brought and another client has deleted is not created again")
  func deletedCreation() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: 50, ["Name": .string("mine")])
    try await lose(rig)
    try await rig.store.download()
    rig.service.change { $0.sets["Orders"]?[50] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(50)"] && rig.service.entities("Orders")[50] == nil)
    #expect(report.failed == 1, "\(report)")
    #expect(try await failures(rig) == [.conflict])
  }

  @Test(
    "A created entity under the service's key that a download has brought and another client has deleted is unclear")
  func deletedUnderServiceKey() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await lose(rig)
    try await rig.store.download()
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    let report = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(1000)"])
    #expect(report.failed == 1, "\(report)")
    #expect(try await failures(rig) == [.unknownOutcome])
  }

  @Test("A change of a change set that failed is not taken for done because the look-up of the rest was interrupted")
  func failedWithoutRollback() async throws {
    let rig = try await UploadRig(.init(rollsBack: false))
    let (first, _) = try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("mine")], unit: first)
    edit(rig, "Orders", 2, ["Name": "\"theirs\""])
    rig.service.fail(.lost, times: 9) { $0.hasPrefix("GET") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.fault = nil }
    _ = try await rig.store.upload()
    #expect(try await failures(rig) == [.conflict])
    #expect(rig.service.entities("Orders")[2]?.values["Name"] == "\"theirs\"")
    #expect(rig.service.entities("Orders")[1000]?.values["Name"] == "\"made here\"")
  }

  // MARK: Deletions

  @Test("A deleted entity that another client has created anew is not deleted again", arguments: [false, true])
  func recreated(hasETags: Bool) async throws {
    let rig = try await UploadRig(.init(hasETags: hasETags))
    try await rig.delete(try await rig.row("Orders", 1))
    try await lose(rig)
    rig.service.change {
      $0.sets["Orders"]?[1] = .init(values: ["ID": "1", "Name": "\"anew\"", "Total": "9"], version: 9)
    }
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"anew\"")
    #expect(report.failed == 1 && rig.service.log == ["DELETE Orders(1)"], "\(report)")
    #expect(try await failures(rig) == [.conflict])
  }

  // MARK: Changes

  @Test(
    "A change that took effect and that another client has overwritten is not applied again by --conflicts client",
    arguments: [false, true], [["Name": "\"theirs\""], ["Name": "\"theirs\"", "Total": "9"], ["Total": "9"]])
  func overwritten(hasETags: Bool, edits: [String: String]) async throws {
    let rig = try await UploadRig(.init(hasETags: hasETags))
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine"), "Total": .int32(512)])
    try await lose(rig)
    edit(rig, "Orders", 1, edits)
    let theirs = rig.service.entities("Orders")[1]?.values
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(rig.service.entities("Orders")[1]?.values == theirs)
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(report.failed == 1, "\(report)")
    #expect(try await failures(rig) == [.conflict])
  }

  @Test("A change that never arrived beside another client's is decided by the policy")
  func besideAnother() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig, beforeService: true)
    edit(rig, "Orders", 1, ["Total": "9"])
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(report.sent == 1, "\(report)")
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"mine\"")
    #expect(rig.service.entities("Orders")[1]?.values["Total"] == "9")
  }

  @Test("A property that another client has overwritten since is not set again", arguments: [false, true])
  func property(hasETags: Bool) async throws {
    let rig = try await UploadRig(.init(hasETags: hasETags))
    _ = try await rig.store.execute(
      single: ODataSingleRequest(
        .update(.replace), "Orders(1)/Name", body: .properties([ODataProperty("Name", .string("mine"))])))
    try await lose(rig)
    edit(rig, "Orders", 1, ["Name": "\"theirs\""])
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"theirs\"")
    #expect(report.failed == 1, "\(report)")
  }

  @Test("A transaction of which one change was overwritten by another client is not applied again")
  func transaction() async throws {
    let rig = try await UploadRig()
    let first = try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("mine")], unit: first)
    try await lose(rig)
    edit(rig, "Orders", 1, ["Name": "\"theirs\""])
    _ = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .clientWins))
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"theirs\"")
    #expect(rig.service.log == ["PATCH Orders(1)", "PATCH Orders(2)"])
  }

  @Test("A change set has one outcome: where one of its changes is seen done, those that others have overwritten are")
  func carriedOut() async throws {
    let rig = try await UploadRig()
    let first = try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("mine")], unit: first)
    try await lose(rig)
    edit(rig, "Orders", 1, ["Name": "\"theirs\""])
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(rig.service.log == ["PATCH Orders(1)", "PATCH Orders(2)"])
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID < 3 ORDER BY ID") == ["theirs", "mine"])
    #expect(try await rig.isClean())
  }

  @Test(
    "A created entity that another client has deleted since is unclear where its change set has or may have taken effect",
    arguments: [false, true])
  func deletedWithChangeSet(isOtherEdited: Bool) async throws {
    let rig = try await UploadRig()
    let (first, _) = try await rig.create("Orders", key: -1, ["Name": .string("made here"), "Total": .int32(512)])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("mine")], unit: first)
    try await lose(rig)
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    if isOtherEdited { edit(rig, "Orders", 2, ["Name": "\"theirs\""]) }
    _ = try await rig.store.upload()
    _ = try await rig.store.upload()
    #expect(rig.service.log == ["POST Orders(1000)", "PATCH Orders(2)"])
    #expect(try await failures(rig).contains(.unknownOutcome))
    let kind = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entry(first)?.failure?.kind }
    #expect(kind == .unknownOutcome)
  }

  @Test(
    "A new change of an entity does not send again a conflict that may have taken effect", arguments: [false, true])
  func changeBehindConflict(isDeletion: Bool) async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("mine")])
    try await lose(rig)
    edit(rig, "Orders", 1, ["Name": "\"theirs\""])
    _ = try await rig.store.upload()
    #expect(try await failures(rig) == [.conflict])
    if isDeletion {
      try await rig.store.delete("Orders(1)")
    } else {
      try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Total", .int32(9))]))
    }
    _ = try await rig.store.upload()
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(try await rig.queue == ["1|2", "2|3"])
  }

  @Test("The deletion of an entity whose creation may have taken effect waits for the creation; neither is dropped")
  func deletionBehindCreation() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(
      ODataEntity(properties: [ODataProperty("ID", .int32(77)), ODataProperty("Name", .string("made here"))]),
      in: "Orders")
    try await lose(rig)
    let key = try #require(rig.service.entities("Orders").keys.max())
    edit(rig, "Orders", key, ["Name": "\"theirs\""])
    _ = try await rig.store.upload()
    let path = try await rig.store.readEntitySet("ErrorArchive").entities.first?["EntityPath"]
    guard case .string(let text)? = path else {
      throw OfflineODataError(.entityNotFound, "\(String(describing: path))")
    }
    try await rig.store.delete(text)
    #expect(try await rig.queue == ["1|2", "2|3"])
  }

  @Test(
    "A look-up's ETag is not that of a later change of a property that another client has changed: that is a conflict",
    arguments: ["Note", "Total"], [false, true])
  func laterChange(property: String, isTransaction: Bool) async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("mine")])
    try await lose(rig)
    edit(rig, "Orders", 1, ["Note": "\"theirs\""])
    let mine: ODataValue = property == "Note" ? .string("mine") : .int32(77)
    let unit = isTransaction ? try await rig.update(row, ["Name": .string("again")]) : nil
    try await rig.update(row, [property: mine], unit: unit)
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .mergeDisjoint))
    let entity = rig.service.entities("Orders")[1]?.values
    #expect(entity?["Note"] == "\"theirs\"")
    #expect(entity?["Total"] == (property == "Total" ? "77" : "1"))
    #expect(report.failed == (property == "Total" ? 0 : isTransaction ? 2 : 1), "\(report)")
    #expect(try await failures(rig).contains(.conflict) == (property == "Note"))
  }

  @Test("A new change of an entity does not resend another entity's conflict of the same transaction")
  func conflictOfAnother() async throws {
    let rig = try await UploadRig()
    let rows = [try await rig.row("Orders", 1), try await rig.row("Orders", 2)]
    let first = try await rig.update(rows[0], ["Name": .string("mine")])
    try await rig.update(rows[1], ["Name": .string("mine")], unit: first)
    edit(rig, "Orders", 2, ["Name": "\"theirs\""])
    let report = try await rig.store.upload()
    #expect(report.failed == 2, "\(report)")
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("new"))]))
    _ = try await rig.store.upload()
    #expect(rig.service.entities("Orders")[2]?.values["Name"] == "\"theirs\"")
    #expect(rig.service.log.isEmpty)
  }

  @Test(
    "A deep insert is recognized by its nested entities if another client has changed all its other values")
  func childOfDeepInsert() async throws {
    let rig = try await UploadRig()
    try await createOrder(rig, total: 1)
    try await lose(rig)
    edit(rig, "Orders", try #require(rig.service.entities("Orders").keys.max()), ["Name": "\"theirs\""])
    _ = try await rig.store.upload()
    #expect(rig.service.entities("Items").count == 1)
    #expect(try await failures(rig) == [.unknownOutcome])
  }

  @Test(
    "A later change does not overwrite what another client has set since a change set that its other entity shows as done"
  )
  func laterVersion() async throws {
    let rig = try await UploadRig()
    let rows = [try await rig.row("Orders", 1), try await rig.row("Orders", 2)]
    let first = try await rig.update(rows[0], ["Name": .string("mine")])
    try await rig.update(rows[1], ["Name": .string("mine")], unit: first)
    try await lose(rig)
    edit(rig, "Orders", 2, ["Name": "\"theirs\""])
    try await rig.update(rows[1], ["Name": .string("again")])
    let report = try await rig.store.upload()
    #expect(report.failed == 1, "\(report)")
    #expect(rig.service.entities("Orders")[2]?.values["Name"] == "\"theirs\"")
    #expect(try await failures(rig) == [.conflict])
  }

  // MARK: Taking back

  @Test("An unclear change of the archive is not taken back but discarded, and the others are taken back without it")
  func undoOfUnclear() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(
      ODataEntity(properties: [ODataProperty("Name", .string("made here")), ODataProperty("Total", .int32(77))]),
      in: "Orders")
    try await lose(rig)
    edit(rig, "Orders", try #require(rig.service.entities("Orders").keys.max()), ["Total": "78"])
    _ = try await rig.store.upload()
    #expect(try await failures(rig) == [.unknownOutcome])
    let archive = try await rig.store.readEntitySet("ErrorArchive")
    let path = try #require(
      archive.entities.first?["EntityPath"].flatMap { if case .string(let text) = $0 { text } else { nil } })
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    await #expect { try await rig.store.undoPendingChanges(of: path) } throws: {
      ($0 as? OfflineODataError)?.name == .outcomeUncertain
    }
    #expect(try await rig.store.undoAllPendingChanges() == 1)
    #expect(try await failures(rig) == [.unknownOutcome])
    #expect(try await rig.store.discardAll() == 1)
    #expect(try await rig.isClean())
  }

  @Test("A conflict that may have taken effect is not taken back but discarded")
  func undoOfConflict() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig)
    edit(rig, "Orders", 1, ["Name": "\"theirs\""])
    _ = try await rig.store.upload()
    await #expect { try await rig.store.undoPendingChanges(of: "Orders(1)") } throws: {
      ($0 as? OfflineODataError)?.name == .outcomeUncertain
    }
    #expect(try await rig.store.undoAllPendingChanges() == 0)
    #expect(try await rig.queue == ["1|2"])
    #expect(try await rig.store.discardAll() == 1)
  }

  @Test("A change that was uncertain when it was held is not taken back")
  func undoOfHeld() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig)
    try await rig.open.write { snapshot in try ChangeQueue(snapshot.connection).hold(1) }
    await #expect { try await rig.store.undoPendingChanges(of: "Orders(1)") } throws: {
      ($0 as? OfflineODataError)?.name == .outcomeUncertain
    }
    #expect(try await rig.store.undoAllPendingChanges() == 0)
    // Nothing in the archive holds it, so it is uncertain again and is looked up next.
    #expect(try await rig.queue == ["1|1"])
  }

  @Test("An uncertain change that took effect cannot be taken back: it is looked up, and the error says so")
  func undoOfDone() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig)
    await #expect { try await rig.store.undoPendingChanges(of: "Orders(1)") } throws: {
      ($0 as? OfflineODataError)?.name == .changeTookEffect
    }
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
    #expect(try await rig.isClean())
  }

  @Test("An uncertain change that never arrived is looked up and taken back")
  func undoOfLost() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig, beforeService: true)
    #expect(try await rig.store.undoPendingChanges(of: "Orders(1)") == 1)
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["n1"])
    #expect(try await rig.isClean() && rig.service.log.isEmpty)
  }

  @Test("Without its service an uncertain change cannot be taken back, and stays uncertain")
  func undoOffline() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    try await lose(rig)
    rig.service.fail(.unreachable, times: 9) { _ in true }
    await #expect { try await rig.store.undoAllPendingChanges() } throws: {
      ($0 as? OfflineODataError)?.name == .outcomeUncertain
    }
    #expect(try await rig.queue == ["1|1"])
  }
}
