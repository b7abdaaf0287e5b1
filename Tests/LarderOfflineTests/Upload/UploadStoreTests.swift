import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Uploads of a store", .timeLimit(.minutes(1)))
struct UploadStoreTests {
  @Test(
    "Changes of all kinds reach the service in one upload, in causal order, once", arguments: [false, true],
    [true, false])
  func allKinds(isV2: Bool, takesBatches: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, batchStatus: takesBatches ? nil : 404, requiresIfMatch: true))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("new")])
    let item = try await rig.create(
      "Items", key: -1, ["Text": .string("first")], order: created.row, orderKey: -1, after: [created.id])
    let one = try await rig.row("Orders", 1)
    try await rig.update(one, ["Name": .string("a")])
    try await rig.update(one, ["Total": .int32(7)])
    try await rig.delete(try await rig.row("Orders", 2))
    let report = try await rig.store.upload()
    #expect(report.sent == 5 && report.failed == 0 && report.pending == 0)
    #expect(rig.service.log.count == 5, "\(rig.service.log)")
    #expect(rig.service.entities("Orders")[1000]?.values["Name"] == "\"new\"")
    #expect(rig.service.entities("Items")[1001]?.values["Order_ID"] == "1000")
    #expect(rig.service.entities("Orders")[1]?.values == ["ID": "1", "Name": "\"a\"", "Total": "7"])
    #expect(rig.service.entities("Orders")[2] == nil)
    // The rows have the service's keys and ETags, and are the same rows.
    #expect(
      try await rig.rows("SELECT ID, Name, Total, \"@etag\" FROM {Orders} ORDER BY ID") == [
        "1|a|7|W/\"3\"", "3|n3|3|W/\"1\"", "1000|new|-|W/\"1\"",
      ])
    #expect(try await rig.rows("SELECT \"@id\", ID, Order_ID FROM {Items}") == ["\(item.row.row)|1001|1000"])
    #expect(try await rig.isClean())
    if takesBatches {
      #expect(rig.service.requests.filter { $0.hasPrefix("POST") }.allSatisfy { $0.hasSuffix("$batch") })
      #expect(report.requests == 2)
    }
    #expect(try await rig.store.upload() == OfflineODataUploadReport())
  }

  @Test(
    "A transaction goes in one change set, and its entities refer to each other before they have keys",
    arguments: [false, true])
  func transaction(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("new")])
    try await rig.create(
      "Items", key: -1, ["Text": .string("i")], order: created.row, orderKey: -1, unit: created.id, after: [created.id])
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.requests == 1)
    #expect(rig.service.entities("Items")[1001]?.values["Order_ID"] == "1000")
    #expect(try await rig.rows("SELECT ID, Order_ID FROM {Items}") == ["1001|1000"])
    #expect(try await rig.isClean())
  }

  @Test("A rejected request goes to the archive with its dependents, and a thousand others arrive")
  func poison() async throws {
    let rig = try await UploadRig(orders: 0)
    let bad = try await rig.create("Orders", key: -1, ["Name": .string("poison")])
    try await rig.update(bad.row, ["Name": .string("better")])
    try await rig.createMany(1000)
    let clock = ContinuousClock()
    let begin = clock.now
    let report = try await rig.store.upload()
    print("upload of 1002 changes: \(clock.now - begin)")
    #expect(report.sent == 1000 && report.failed == 2 && report.pending == 0)
    #expect(report.requests <= 13)
    #expect(try await rig.queue == ["1|2", "2|3"])
    let failure = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entry(1)?.failure }
    #expect(failure?.httpStatus == 400 && failure?.code == "E" && failure?.message == "poison")
    #expect(failure?.method == "POST" && failure?.url == "Orders" && failure?.body == #"{"Name":"poison"}"#)
  }

  @Test(
    "Credentials, a busy service and a lost network leave the queue as it is",
    arguments: [401, 403, 429, 502, 503, 504, 0])
  func interrupted(status: Int) async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("b")])
    rig.service.fail(
      status == 0 ? .unreachable : .status(status, status == 403 ? [.wwwAuthenticate: "Basic"] : [:])
    ) { $0.contains("$batch") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(error.category == .communicationError)
    #expect(try await rig.store.hasPendingUpload())
    #expect(try await rig.queue.count == 2)
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.pending == 0)
    #expect(rig.service.log == ["PATCH Orders(1)", "PATCH Orders(2)"])
  }

  @Test("An entity that another has changed goes to the archive with its three versions")
  func conflict() async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("mine")])
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("b")])
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values["Name"] = "\"theirs\""
      state.sets["Orders"]?[1]?.version = 9
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 1)
    let failure = try await rig.open.read { snapshot in try ChangeQueue(snapshot.connection).entry(1)?.failure }
    #expect(failure?.kind == .conflict && failure?.theirsIsUnknown == false)
    #expect(failure?.base?["Name"] == .text("n1") && failure?.mine?["Name"] == .text("mine"))
    #expect(failure?.theirs?["Name"] == .text("theirs") && failure?.theirs?.text(.etag) == "W/\"9\"")
    #expect(try await rig.rows("SELECT Name, \"@state\" & 4 FROM {Orders} WHERE ID = 1") == ["mine|4"])
  }

  @Test("A conflict's policy decides", arguments: ["client", "server", "merge", "clash", "resolver"])
  func policies(policy: String) async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("mine")])
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values[policy == "clash" ? "Name" : "Total"] = policy == "clash" ? "\"theirs\"" : "99"
      state.sets["Orders"]?[1]?.version = 9
    }
    let chosen: OfflineODataConflictPolicy =
      switch policy {
      case "client": .clientWins
      case "server": .serverWins
      case "resolver":
        .resolver { conflict in
          #expect(conflict.base?["Name"] == .string("n1") && conflict.mine?["Name"] == .string("mine"))
          #expect(conflict.theirs?["Total"] == .int32(99) && conflict.path == "Orders(1)")
          return .use([ODataProperty("Name", .string("both"))])
        }
      default: .mergeDisjoint
      }
    let report = try await rig.store.upload(OfflineODataUploadOptions(conflictPolicy: chosen))
    let there = rig.service.entities("Orders")[1]?.values
    switch policy {
    case "client", "merge":
      #expect(report.sent == 1 && there?["Name"] == "\"mine\"" && there?["Total"] == "99")
    case "server":
      #expect(report.sent == 0 && report.discarded == 1 && there?["Name"] == "\"n1\"")
      #expect(try await rig.rows("SELECT Name, Total, \"@etag\" FROM {Orders} WHERE ID = 1") == ["n1|99|W/\"9\""])
    case "resolver": #expect(report.sent == 1 && there?["Name"] == "\"both\"" && there?["Total"] == "99")
    default: #expect(report.failed == 1 && there?["Name"] == "\"theirs\"")
    }
    if policy != "clash" {
      #expect(try await rig.isClean())
      #expect(try await rig.rows("SELECT Total FROM {Orders} WHERE ID = 1") == ["99"])
    }
  }

  @Test("What is gone already is deleted; what is gone and was changed is a conflict")
  func gone() async throws {
    let rig = try await UploadRig()
    try await rig.delete(try await rig.row("Orders", 1))
    try await rig.update(try await rig.row("Orders", 2), ["Name": .string("x")])
    rig.service.change { $0.sets["Orders"] = [:] }
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 1)
    #expect(try await rig.rows("SELECT ID FROM {Orders} ORDER BY ID") == ["2", "3"])
  }

  @Test(
    "A failed change set goes to the archive whole, unless the service has not taken it back",
    arguments: [true, false], [true, false])
  func changeSets(rollsBack: Bool, respondsToEach: Bool) async throws {
    let rig = try await UploadRig(.init(rollsBack: rollsBack, respondsToEach: respondsToEach))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("good")])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("good")], unit: created.id)
    try await rig.create("Orders", key: -2, ["Name": .string("poison")], unit: created.id)
    let report = try await rig.store.upload()
    #expect(report.sent == (rollsBack ? 0 : 2) && report.failed == (rollsBack ? 3 : 1), "\(report)")
    #expect(try await rig.queue == (rollsBack ? ["1|2", "2|2", "3|2"] : ["3|2"]))
    #expect(rig.service.log.count == (rollsBack ? 0 : 2))
  }

  @Test("A transaction and a service without batches: rejected by name, or sent one after another if that is allowed")
  func splitting() async throws {
    let rig = try await UploadRig(.init(batchStatus: 501))
    let created = try await rig.create("Orders", key: -1, ["Name": .string("new")])
    try await rig.create(
      "Items", key: -1, ["Text": .string("i")], order: created.row, orderKey: -1, unit: created.id, after: [created.id])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(error.name == .unsupportedByService)
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(try await rig.queue.count == 2)
    let report = try await rig.store.upload(OfflineODataUploadOptions(splitsTransactions: true))
    #expect(report.sent == 2 && report.pending == 0)
    #expect(rig.service.log == ["PATCH Orders(1)", "POST Orders(1000)", "POST Items(1001)"])
    #expect(try await rig.isClean())
  }

  @Test("A change returns its entity, although queries of its set wait for a download")
  func createdAndShown() async throws {
    let rig = try await UploadRig()
    // Rows of its set are still to be downloaded: queries of them wait for a download.
    try await rig.store.removeDefiningQuery("items")
    try await rig.store.add(OfflineODataDefiningQuery("items", "Items"))
    let created = try await rig.store.execute(
      single: .create(ODataEntity(properties: [ODataProperty("Text", .string("a"))]), in: "Items"))
    let location = try #require(created.fields[.location])
    #expect(created.httpStatus == 201 && location.hasPrefix("http://h/s/Items(-"))
    #expect(String(decoding: created.payloadBytes, as: UTF8.self).contains("\"Text\":\"a\""))
    #expect(try await rig.queue == ["1|0"])
  }

  @Test("A plan is what is sent, and sends nothing")
  func plan() async throws {
    let rig = try await UploadRig()
    let created = try await rig.create("Orders", key: -1, ["Name": .string("new")])
    try await rig.create(
      "Items", key: -1, ["Text": .string("i")], order: created.row, orderKey: -1, after: [created.id])
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    let requestCount = rig.service.requests.count
    let plan = try await rig.store.plan()
    #expect(rig.service.requests.count == requestCount)
    #expect(plan.map { "\($0.method) \($0.url)" } == ["POST Orders", "POST Items", "PATCH Orders(1)"])
    #expect(plan[0].body == #"{"Name":"new"}"# && plan[1].dependencies == [1])
    #expect(plan[1].body?.contains("Orders({\(created.row.row)})") ?? false, "\(plan[1].body ?? "")")
    #expect(plan[2].fields[.ifMatch] == "W/\"1\"")
    #expect(try await rig.queue == ["1|0", "2|0", "3|0"])
  }

  @Test("Only the requested categories are sent")
  func categories() async throws {
    let rig = try await UploadRig()
    for (key, category) in [(1, "a"), (2, "b")] {
      let row = try await rig.row("Orders", key)
      var request = QueuedRequest(.delete, QueuedTarget(row))
      (request.entity, request.category) = (row, category)
      try await rig.record(request, [Effect(.delete, "Orders", row.row)])
    }
    let report = try await rig.store.upload(OfflineODataUploadOptions(categories: ["b"]))
    #expect(report.sent == 1 && report.pending == 1 && rig.service.log == ["DELETE Orders(2)"])
  }

  @Test("Two uploads at once: the second is rejected by name")
  func twice() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    rig.service.fail(.hang) { $0.contains("$batch") }
    let first = Task { try await rig.store.upload() }
    try await rig.service.hangs.wait(for: 1)
    let second = try await #require(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(second.name == .uploadRunning)
    let other = try UploadRig.provider(rig.folder, rig.service)
    try await other.open()
    let third = try await #require(throws: OfflineODataError.self) { try await other.upload() }
    #expect(third.name == .uploadRunning)
    // Cancelled: it took effect, and the next upload finds that out.
    rig.store.cancelUpload()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await rig.queue == ["1|1"])
    let report = try await other.upload()
    #expect(report.sent == 1 && report.pending == 0 && rig.service.log == ["PATCH Orders(1)"])
    try await other.close()
  }
}
