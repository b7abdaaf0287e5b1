import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// What lies between a lost answer and the next upload: downloads, edits, others like it, services with ways of their own.
@Suite("Changes in doubt", .timeLimit(.minutes(1)))
struct UploadDoubtTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let behavior: UploadService.Behavior
  }

  @Test(
    "A download brings what was made before its lost answer is looked up: it is one row, and is not sent again",
    arguments: [
      Case(testDescription: "V4", behavior: .init()), Case(testDescription: "V2", behavior: .init(isV2: true)),
      Case(testDescription: "names", behavior: .init(knowsNames: true)),
    ])
  func twin(world: Case) async throws {
    let rig = try await UploadRig(world.behavior)
    if world.behavior.knowsNames {
      try await rig.store.update("Orders(3)", to: ODataEntity(properties: [ODataProperty("Note", .string("x"))]))
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("made"))]), in: "Orders")
    let local = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)
    let before = rig.service.log.count
    try await rig.lose()
    try await rig.store.download()
    // Both are seen, and changed, and have items.
    #expect(try await rig.rows("SELECT count(*) FROM {Orders} WHERE Name = 'made'") == ["2"])
    for (path, note) in [("Orders(1000)", "theirs"), ("Orders(\(local))", "mine")] {
      try await rig.store.update(path, to: ODataEntity(properties: [ODataProperty("Note", .string(note))]))
      try await rig.store.create(ODataEntity(properties: [ODataProperty("Text", .string(note))]), in: "\(path)/Items")
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 5 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.count == before + 5, "\(rig.service.log)")
    #expect(try await rig.rows("SELECT ID, Name, Note FROM {Orders} WHERE Name = 'made'") == ["1000|made|mine"])
    #expect(try await rig.rows("SELECT Order_ID, Text FROM {Items} ORDER BY Text") == ["1000|mine", "1000|theirs"])
    #expect(try await rig.isClean())
    let entity = try #require(try await rig.store.readEntity("Orders(\(local))"))
    #expect(entity["ID"] == .int32(1000) && !entity.isLocal)
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name, Note FROM {Orders} WHERE Name = 'made'") == ["1000|made|mine"])
  }

  @Test("The one that the download brought is deleted here meanwhile: the deletion is sent")
  func deletedTwin() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.lose()
    try await rig.store.download()
    try await rig.store.delete("Orders(1000)")
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && rig.service.log == ["POST Orders(1000)", "DELETE Orders(1000)"])
    #expect(try await rig.rows("SELECT ID FROM {Orders} ORDER BY ID") == ["1", "2", "3"])
    #expect(try await rig.isClean())
  }

  @Test("A download that was cut before an upload does not go on with what it had read before it")
  func cutDownload() async throws {
    let rig = try await UploadRig(.init(pageSize: 2), orders: 5)
    rig.service.fail(.unreachable) { $0.contains("skiptoken=4") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.download() }
    rig.service.change { $0.fault = nil }
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("changed")])
    try await rig.delete(try await rig.row("Orders", 2))
    #expect(try await rig.store.upload().sent == 2)
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID") == ["1|changed", "3|n3", "4|n4", "5|n5"])
  }

  @Test(
    "A creation that is rejected with 406 is looked up: it may have been executed",
    arguments: [(true, 0), (false, 0), (true, 100)])
  func notAcceptable(isDone: Bool, changesPerBatch: Int) async throws {
    let rig = try await UploadRig()
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("made by me"))]), in: "Orders")
    if changesPerBatch == 0 {
      rig.service.fail(isDone ? .response(406) : .status(406)) { $0.hasPrefix("POST") }
    } else {
      rig.service.change { state in
        state.behavior.shapesParts = { parts in
          parts.map { part in
            guard let line = part.firstRange(of: "HTTP/1.1 201") else { return part }
            return part[..<line.lowerBound] + "HTTP/1.1 406 X\r\nContent-Length: 0\r\n\r\n\r\n"
          }
        }
      }
    }
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    #expect(report.sent == (isDone ? 1 : 0) && report.failed == (isDone ? 0 : 1), "\(report)")
    #expect(try await rig.failures() == (isDone ? [] : [.rejected]))
    #expect(rig.service.log == (isDone ? ["POST Orders(1000)"] : []))
  }

  @Test("A request that is rejected with 406 and cannot be looked up is archived with the service's response")
  func notAcceptableLookUp() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("made by me"))]), in: "Orders")
    rig.service.fail(.status(406), times: 9) { _ in true }
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.failed == 1, "\(report)")
    let failure = try await rig.open.read { try ChangeQueue($0.connection).entries().first?.failure }
    #expect(failure?.kind == .unknownOutcome && failure?.httpStatus == 406)
    #expect(failure?.message.contains("lost") == false && failure?.message.contains("406") == true)
    #expect(failure?.domain == "larder" && failure?.code == "")
  }

  @Test("Two that are alike were made, and one of them arrived: each is made once", arguments: [1, 2])
  func alike(arrived: Int) async throws {
    let rig = try await UploadRig()
    for key in [-1, -2] { try await rig.create("Orders", key: key, ["Name": .string("same")]) }
    rig.service.fail(.lost) { $0.contains("$batch") }
    let options = OfflineODataUploadOptions(changesPerBatch: arrived)
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options) }
    if arrived == 1 {
      // The second was on its way too and never came.
      rig.service.fail(.status(504)) { $0.contains("$batch") }
      try await rig.open.write { snapshot in
        let attempt = try ChangeQueue(snapshot.connection).entry(1)?.attempt
        try ChangeQueue(snapshot.connection).set(.sent, of: 2)
        try ChangeQueue(snapshot.connection).set(attempt: attempt, of: 2)
      }
      rig.service.change { $0.fault = nil }
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(rig.service.log == ["POST Orders(1000)", "POST Orders(1001)"])
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3 ORDER BY ID") == ["1000|same", "1001|same"])
    #expect(try await rig.isClean())
  }

  @Test(
    "Creations that a download contained are not sent again after another client has deleted one", arguments: [1, 2],
    [false, true])
  func deletedAfterDownload(count: Int, isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    for key in 1...count { try await rig.create("Orders", key: -key, ["Name": .string("same")]) }
    try await rig.lose()
    try await rig.store.download()
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    // A person decides about the creation that the other client has deleted, as about a change.
    #expect([report.sent, report.failed, report.pending] == [count - 1, 1, 0])
    #expect(try await rig.failures() == [.unknownOutcome])
    #expect(rig.service.log == Array(["POST Orders(1000)", "POST Orders(1001)"].prefix(count)))
  }

  @Test("A service keeps what it is sent in another form: nothing is sent twice", arguments: [false, true])
  func capitals(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, capitalizes: true))
    try await rig.create("Orders", key: -1, ["Name": .string(" made here ")])
    try await rig.create("Orders", key: 50, ["Name": .string("own key")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("changed")])
    try await rig.lose()
    let report = try await rig.store.upload()
    // What was made under a key of the service's own is likely the one there: a person decides.
    #expect(report.sent == 2 && report.failed == 1, "\(report)")
    #expect(rig.service.log.count == 3)
    #expect(try await rig.failures() == [.unknownOutcome])
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID IN (1, 50) ORDER BY ID") == ["CHANGED", "OWN KEY"])
  }

  @Test("A change of letters alone that never arrived is sent, whatever another has changed beside it")
  func letters() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("N1")])
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Total"] = "99"
      state.sets["Orders"]?[1]?.version = 9
    }
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: .mergeDisjoint))
    #expect(report.sent == 1 && rig.service.entities("Orders")[1]?.values["Name"] == "\"N1\"")
  }

  @Test(
    "A value of another's that is near the one that was sent is a conflict, not that one",
    arguments: [
      ("Total", ODataValue.int32(10100), "10105", "10000"), ("Name", .string("Shoes"), "\"Shoes, socks\"", "\"Hats\""),
      ("Name", .string("Main Street 12"), "\"Main Street\"", "\"Elm Road\""),
    ])
  func near(name: String, mine: ODataValue, theirs: String, base: String) async throws {
    let rig = try await UploadRig()
    rig.service.change { $0.sets["Orders"]?[1]?.values[name] = base }
    try await rig.store.download()
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty(name, mine)]))
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values[name] = theirs
      state.sets["Orders"]?[1]?.version = 9
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 1, "\(report)")
    #expect(try await rig.failures() == [.conflict])
  }

  @Test("A transaction that is refused because another was faster is not taken for done")
  func nearTransaction() async throws {
    let rig = try await UploadRig(.init(respondsToEach: true))
    rig.service.change { $0.sets["Orders"]?[1]?.values["Total"] = "10000" }
    try await rig.store.download()
    let row = try await rig.row("Orders", 1)
    let first = try await rig.update(row, ["Total": .int32(10100)])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("b")], unit: first)
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Total"] = "10105"
      state.sets["Orders"]?[1]?.version = 9
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(rig.service.entities("Orders")[1]?.values["Total"] == "10105")
  }

  @Test(
    "Behind a condition that failed only what is exactly as it was sent is that", arguments: [false, true],
    ["\"MAIN STREET\"", "\"Main\""])
  func formOfAnother(respondsToEach: Bool, theirs: String) async throws {
    let rig = try await UploadRig(.init(respondsToEach: respondsToEach))
    let first = try await rig.update(try await rig.row("Orders", 1), ["Name": .string("Main Street")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("b")], unit: first)
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Name"] = theirs
      state.sets["Orders"]?[1]?.version = 9
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(try await rig.store.conflict(1)?.mine?["Name"] == .string("Main Street"))
  }

  @Test(
    "A number is the one that was sent where it is that to the digits that its type keeps",
    arguments: [
      (ODataValue.decimal(20), ODataValue.decimal(ODataDecimal("19.99") ?? 0), false),
      (.decimal(19), .decimal(ODataDecimal("19.99") ?? 0), false), (.double(20), .double(19.99), false),
      (.double(0.3), .double(0.1 + 0.2), true), (.double(0.301), .double(0.1 + 0.2), false),
      (.single(0.1), .single(0.100_000_1), true), (.int32(5), .decimal(ODataDecimal("5.00") ?? 0), true),
    ])
  func numbers(found: ODataValue, sent: ODataValue, isForm: Bool) {
    #expect(SentContent.isForm(found, of: sent) == isForm)
  }

  @Test("Entities of two sets under one number, both with lost answers: each is found, none is made twice")
  func sameNumbers() async throws {
    let rig = try await UploadRig()
    let text = ODataEntity(properties: [ODataProperty("Name", .string("made"))])
    try await rig.store.create(text, in: "Orders")
    let item = ODataEntity(properties: [ODataProperty("Text", .string("made"))])
    try await rig.store.create(item, in: "Items")
    rig.service.change { $0.behavior.numbersSetsApart = true }
    try await rig.lose()
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(rig.service.log == ["POST Orders(1000)", "POST Items(1000)"])
    #expect(try await rig.isClean())
  }

  @Test(
    "A part of a change set is said to be done, another failed, and the service can be asked no more: all is in doubt")
  func unreachable() async throws {
    let rig = try await UploadRig(.init(respondsToEach: true))
    let first = try await rig.update(try await rig.row("Orders", 1), ["Total": .int32(5)])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("poison")], unit: first)
    rig.service.fail(.unreachable, times: 9) { $0.contains("GET Orders(") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(try await rig.queue == ["1|1", "2|1"])
    rig.service.change { $0.fault = nil }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(rig.service.entities("Orders")[1]?.values["Total"] == "1")
    #expect(try await rig.rows("SELECT Total FROM {Orders} WHERE ID = 1") == ["5"])
  }

  @Test(
    "What a download brings of a change whose answer was lost is no conflict, in whatever form the service keeps it")
  func ownChange() async throws {
    let rig = try await UploadRig(.init(capitalizes: true))
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("mine"))]))
    try await rig.lose()
    #expect(try await rig.store.download().queries.flatMap(\.conflicts).isEmpty)
    #expect(try await rig.store.readCount("RequestQueue?$filter=Conflict") == 0)
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["MINE"])
    #expect(try await rig.isClean())
  }

  @Test("A service that has refused a creation need not settle: nobody waits for it")
  func rejectedCreations() async throws {
    let waits = Mutex<[Duration]>([])
    let rig = try await UploadRig(sleep: { wait in waits.withLock { $0.append(wait) } })
    let first = try await rig.create("Orders", key: -1, ["Name": .string("poison")])
    try await rig.create("Orders", key: -2, ["Name": .string("good")], unit: first.id)
    let report = try await rig.store.upload()
    #expect(report.failed == 2, "\(report)")
    #expect(waits.withLock { $0 } == [])
  }

  @Test("A creation that arrives behind its look-up is refused the second time, and is taken for done")
  func late() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: 50, ["Name": .string("late")])
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { state in
      state.fault = { line in line.contains("$batch") ? .late("Orders", 50, ["ID": "50", "Name": "\"late\""]) : nil }
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0 && rig.service.log.isEmpty, "\(report)")
    #expect(try await rig.isClean())
  }

  @Test("What is made under the service's key and not found is looked for once more when the service has settled")
  func settling() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: -1, ["Name": .string("slow")])
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    let asked = rig.service.requests.count
    rig.service.change { state in
      state.fault = { line in
        // It comes to the service between the two questions.
        line.contains("toupper") ? .late("Orders", 1000, ["ID": "1000", "Name": "\"slow\""]) : nil
      }
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0 && rig.service.log.isEmpty, "\(report)")
    #expect(rig.service.requests.count > asked + 2)
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3") == ["1000|slow"])
  }

  // MARK: Sent again in vain

  enum Later: CaseIterable { case update, deletion }

  @Test(
    "What may have been done stays in doubt where it is sent again in vain: later changes do not go into it",
    arguments: Later.allCases, [nil, 429])
  func sentInVain(later: Later, status: Int?) async throws {
    let rig = try await UploadRig(.init(knowsNames: true), combines: true)
    try await rig.store.update("Orders(3)", to: ODataEntity(properties: [ODataProperty("Note", .string("x"))]))
    _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("made"))]), in: "Orders")
    let local = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)
    try await rig.lose()
    rig.service.fail(status.map { .status($0) } ?? .unreachable, times: 9) { $0.contains("POST") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { $0.fault = nil }
    #expect(try await rig.queue == ["2|1"])
    switch later {
    case .update:
      let note = ODataEntity(properties: [ODataProperty("Note", .string("mine"))])
      try await rig.store.update("Orders(\(local))", to: note)
    case .deletion: try await rig.store.delete("Orders(\(local))")
    }
    #expect(try await rig.queue == ["2|1", "3|0"])
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(rig.service.log.dropFirst(2) == [later == .update ? "PATCH Orders(1000)" : "DELETE Orders(1000)"])
    #expect(rig.service.entities("Orders").keys.filter { $0 > 3 } == (later == .update ? [1000] : []))
    #expect(try await rig.isClean())
  }

  @Test("What certainly never left takes later changes in, and goes with what was made here", arguments: Later.allCases)
  func neverLeft(later: Later) async throws {
    let rig = try await UploadRig(combines: true)
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("made"))]), in: "Orders")
    let local = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)
    rig.service.fail(.unreachable) { $0.contains("POST") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    switch later {
    case .update:
      let note = ODataEntity(properties: [ODataProperty("Note", .string("mine"))])
      try await rig.store.update("Orders(\(local))", to: note)
    case .deletion: try await rig.store.delete("Orders(\(local))")
    }
    #expect(try await rig.queue == (later == .update ? ["1|0"] : []))
  }

  // MARK: Links

  /// Items that say their orders by links alone; item 1 has the text `a`.
  private func linked(_ values: [ODataProperty], hasETags: Bool = true) async throws -> UploadRig {
    let rig = try await UploadRig(.init(hasETags: hasETags, linksPlainly: true))
    rig.service.change { $0.sets["Items"]?[1] = .init(values: ["ID": "1", "Text": "\"a\""]) }
    try await rig.store.download()
    var order = ODataNavigationLink(name: "Order")
    order.bindings = ["Orders(2)"]
    try await rig.store.update("Items(1)", to: ODataEntity(properties: values, navigationLinks: [order]))
    return rig
  }

  @Test(
    "An update with a link was done: it is found by its properties, else by the link itself", arguments: [false, true])
  func linkDone(hasETags: Bool) async throws {
    for values in [[], [ODataProperty("Text", .string("b"))], [ODataProperty("Text", .string("a"))]] {
      let rig = try await linked(values, hasETags: hasETags)
      try await rig.lose()
      let report = try await rig.store.upload()
      #expect(report.sent == 1 && report.failed == 0, "\(values) \(report)")
      #expect(rig.service.log == ["PATCH Items(1)"])
      // Until then, the store remembers that it has not read the links of the version that was looked up.
      try await rig.store.download()
      #expect(try await rig.isClean())
    }
  }

  @Test("A link that never arrived is set, where no other has changed the entity", arguments: [false, true])
  func linkNotDone(hasETags: Bool) async throws {
    for values in [[], [ODataProperty("Text", .string("b"))]] {
      let rig = try await linked(values, hasETags: hasETags)
      rig.service.fail(.status(504)) { $0.contains("$batch") }
      await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
      let report = try await rig.store.upload()
      #expect(report.sent == 1 && report.failed == 0, "\(values) \(report)")
      #expect(rig.service.log == ["PATCH Items(1)"])
      #expect(rig.service.entities("Items")[1]?.values["Order_ID"] == "2")
    }
  }

  @Test("A link that never arrived is not taken for set because another has changed the entity")
  func linkOfAnother() async throws {
    let rig = try await linked([])
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.change { state in
      state.sets["Items"]?[1]?.values["Text"] = "\"theirs\""
      state.sets["Items"]?[1]?.version = 9
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 1 && rig.service.log.isEmpty, "\(report)")
    #expect(try await rig.failures() == [.conflict])
  }
}
