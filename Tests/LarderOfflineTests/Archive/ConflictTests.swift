import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Conflicts", .timeLimit(.minutes(1)))
struct ArchiveConflictTests {
  private func entity(_ values: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) })
  }

  /// Another client changes a property of order 1.
  private func colleague(_ rig: UploadRig, _ name: String = "Name", _ value: String = "\"theirs\"", key: Int = 1) {
    rig.service.change { state in
      state.sets["Orders"]?[key]?.values[name] = value
      state.sets["Orders"]?[key]?.version += 1
    }
  }

  private func options(_ policy: OfflineODataConflictPolicy) -> OfflineODataUploadOptions {
    OfflineODataUploadOptions(conflictPolicy: policy)
  }

  private func order(_ rig: UploadRig, _ key: Int = 1) -> [String: String]? {
    rig.service.entities("Orders")[key]?.values
  }

  // MARK: Noticed by a download

  @Test(
    "The policy resolves a conflict that a download has noticed, even if the service has no ETags",
    arguments: ["archive", "client", "server", "merge", "disjoint", "reverted"], [100, 0])
  func withoutETags(way: String, changesPerBatch: Int) async throws {
    let rig = try await UploadRig(.init(hasETags: false))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    colleague(rig, way == "disjoint" ? "Note" : "Name")
    #expect(try await rig.store.download().queries.flatMap(\.conflicts).count == 1)
    if way == "reverted" { colleague(rig, "Name", "\"n1\"") }
    let policies: [String: OfflineODataConflictPolicy] = [
      "client": .clientWins, "server": .serverWins, "merge": .mergeDisjoint, "disjoint": .mergeDisjoint,
    ]
    let options = OfflineODataUploadOptions(
      changesPerBatch: changesPerBatch, conflictPolicy: policies[way] ?? .archive)
    let report = try await rig.store.upload(options)
    switch way {
    case "archive", "merge":
      #expect(report.failed == 1 && report.sent == 0 && order(rig)?["Name"] == "\"theirs\"")
      #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string("theirs"))
    case "server":
      #expect(report.discarded == 1 && report.sent == 0 && order(rig)?["Name"] == "\"theirs\"")
      #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["theirs"])
    default: #expect(report.sent == 1 && report.failed == 0 && order(rig)?["Name"] == "\"mine\"")
    }
    if report.failed == 0 { #expect(try await rig.isClean()) }
  }

  @Test(
    "A conflict in a transaction with an uncertain request is resolved after the look-up: nothing is sent twice",
    arguments: ["archive", "client", "server"])
  func besideDoubt(way: String) async throws {
    let rig = try await UploadRig(.init(hasETags: false))
    _ = try await rig.store.execute(
      batch: ODataBatchRequest([
        .changeSet([
          .create(entity(("Name", .string("new"))), in: "Orders"),
          .update("Orders(1)", to: entity(("Name", .string("mine")))),
        ])
      ]))
    let policies: [String: OfflineODataConflictPolicy] = ["client": .clientWins, "server": .serverWins]
    let options = OfflineODataUploadOptions(
      changesPerBatch: 0, splitsTransactions: true, conflictPolicy: policies[way] ?? .archive)
    rig.service.fail(.lost) { $0.hasPrefix("POST") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options) }
    #expect(try await rig.queue == ["1|1", "2|0"])
    colleague(rig)
    #expect(try await rig.store.download().queries.flatMap(\.conflicts).count == 1)
    let report = try await rig.store.upload(options)
    #expect(rig.service.log.filter { $0.hasPrefix("POST") } == ["POST Orders(1000)"])
    switch way {
    case "client": #expect(report.sent == 2 && order(rig)?["Name"] == "\"mine\"", "\(report)")
    case "server": #expect(report.sent == 1 && report.discarded == 1, "\(report)")
    default: #expect(report.sent == 1 && report.failed == 1, "\(report)")
    }
    if way == "archive" {
      #expect(try await rig.queue == ["2|2"])
      #expect(try await rig.store.conflict(2)?.theirs?["Name"] == .string("theirs"))
      try await rig.store.retry(2)
      #expect(try await rig.store.upload(options).sent == 1)
      #expect(rig.service.log == ["POST Orders(1000)", "PATCH Orders(1)"])
    } else if way == "server" {
      #expect(order(rig)?["Name"] == "\"theirs\"")
    }
    #expect(try await rig.isClean())
  }

  @Test(
    "Behind a merged change, one that knows the other client's version is no conflict; a deletion that does not is",
    arguments: [false, true], [true, false])
  func behindMerged(isDeletion: Bool, hasETags: Bool) async throws {
    let rig = try await UploadRig(.init(hasETags: hasETags))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    if isDeletion { try await rig.store.delete("Orders(1)") }
    colleague(rig, "Note")
    try await rig.store.download()
    if !isDeletion { try await rig.store.update("Orders(1)", to: entity(("Note", .string("mine")))) }
    let report = try await rig.store.upload(options(.mergeDisjoint))
    #expect(report.sent == (isDeletion ? 1 : 2) && report.failed == (isDeletion ? 1 : 0), "\(report)")
    #expect(order(rig)?["Name"] == "\"mine\"")
    #expect(order(rig)?["Note"] == (isDeletion ? "\"theirs\"" : "\"mine\""))
  }

  @Test("A change of an entity that an own change of another one has touched is no conflict")
  func touchedBeside() async throws {
    let rig = try await UploadRig()
    let (first, second) = (try await rig.row("Orders", 1), try await rig.row("Orders", 2))
    var request = QueuedRequest(.patch, QueuedTarget(first))
    request.entity = first
    request.body = .entity(
      QueuedEntity(row: first, properties: [QueuedProperty(name: "Name", value: QueuedValue(.string("mine")))]))
    let beside = Effect(.set, second.table, second.row, cells: EntityCells(["Note": .text("beside")]))
    try await rig.record(
      request, [Effect(.set, first.table, first.row, cells: EntityCells(["Name": .text("mine")])), beside])
    try await rig.update(second, ["Name": .string("mine")])
    // What the first change does to the second order.
    colleague(rig, "Note", "\"beside\"", key: 2)
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(order(rig, 2)?["Name"] == "\"mine\"")
    #expect(try await rig.isClean())
  }

  @Test("An ETag that is confirmed is no longer an old one for the changes that are pending")
  func confirmedETag() async throws {
    let rig = try await UploadRig()
    let order = try await rig.row("Orders", 1)
    let id = try await rig.update(order, ["Name": .string("mine")])
    let marks = try await rig.open.changeRows { rows in
      let etag = try rows.queue.entry(id)?.request.baseETag
      try rows.queue.noteOldETag(order.row)
      let before = try rows.queue.entry(id)?.request.isETagOld
      try rows.queue.rebase(order.row, on: etag)
      return [before, try rows.queue.entry(id)?.request.isETagOld]
    }
    #expect(marks == [true, nil])
  }

  @Test("A conflict of a link is left to the service where it is sent with an ETag, and is none of the bytes behind it")
  func linkInConflict() throws {
    let order = RowReference("Orders", 1)
    func entry(_ id: Int64, _ operation: QueuedRequest.Operation, _ path: String, etag: String? = nil) -> QueueEntry {
      var request = QueuedRequest(operation, QueuedTarget(order, path))
      (request.entity, request.baseETag) = (order, etag)
      return QueueEntry(id: id, unit: 1, state: .queued, request: request)
    }
    let conflict = ArchivedFailure(kind: .conflict, message: "", method: "", url: "", time: 0)
    var (single, many) = (entry(1, .updateLink, "Buyer", etag: "1"), entry(1, .createLink, "Tags"))
    (single.failure, many.failure) = (conflict, conflict)
    let (bytes, update) = (entry(2, .deleteMedia, "Photo", etag: "1"), entry(2, .patch, ""))
    for (link, later, version, isHeld) in [
      (single, bytes, ODataVersion.v4, false), (single, bytes, .v2, false), (many, bytes, .v4, false),
      (single, update, .v4, false), (single, update, .v2, true), (many, update, .v4, true),
    ] {
      let holder = later.undetectableConflict(in: [link, later], version)
      #expect(holder == (isHeld ? link : nil), "\(link.request.operation) \(later.request.operation) \(version)")
    }
  }

  enum Change: String, CaseIterable, Sendable { case update, replacement, property, deletion }

  private func make(_ change: Change, _ rig: UploadRig) async throws -> String {
    let mine = entity(("Name", .string("mine")))
    switch change {
    case .update: try await rig.store.update("Orders(1)", to: mine)
    case .replacement: try await rig.store.update("Orders(1)", to: mine, method: .replace)
    case .deletion: try await rig.store.delete("Orders(1)")
    case .property:
      let name = ODataRequestBody.properties([ODataProperty("Name", .string("mine"))])
      _ = try await rig.store.execute(single: ODataSingleRequest(.update(.replace), "Orders(1)/Name", body: name))
    }
    return change == .update ? "PATCH" : change == .deletion ? "DELETE" : "PUT"
  }

  /// A rig whose service has no ETags and, if requested, recognises repeated requests.
  private func rigWithoutETags(knowsNames: Bool) async throws -> UploadRig {
    let rig = try await UploadRig(.init(knowsNames: knowsNames, hasETags: false))
    if knowsNames {
      try await rig.store.update("Orders(3)", to: entity(("Note", .string("c"))))
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }
    return rig
  }

  @Test(
    "A change that never arrived, and whose entity a download has changed, follows the policy and does not overwrite the other change",
    arguments: Change.allCases, [false, true])
  func inDoubt(change: Change, knowsNames: Bool) async throws {
    for policy in [OfflineODataConflictPolicy.archive, .serverWins, .clientWins] {
      let rig = try await rigWithoutETags(knowsNames: knowsNames)
      let method = try await make(change, rig)
      let id = try #require(try await rig.rows("SELECT id FROM larder_request").first.flatMap { Int64($0) })
      rig.service.fail(.status(504)) { $0.hasPrefix(method) }
      let options = OfflineODataUploadOptions(changesPerBatch: 0, conflictPolicy: policy)
      await #expect(throws: OfflineODataError.self) { try await rig.store.upload(options) }
      #expect(try await rig.queue == ["\(id)|1"])
      colleague(rig, "Note")
      // It is not reported yet, because the change itself may have caused it.
      #expect(try await rig.store.download().queries.flatMap(\.conflicts).isEmpty)
      let report = try await rig.store.upload(options)
      switch policy {
      case .archive:
        #expect(report.failed == 1 && order(rig)?["Note"] == "\"theirs\"", "\(report)")
        #expect(try await rig.store.conflict(id)?.theirs?["Note"] == .string("theirs"))
      case .serverWins: #expect(report.discarded == 1 && order(rig)?["Note"] == "\"theirs\"", "\(report)")
      default: #expect(report.sent == 1 && report.failed == 0, "\(report)")
      }
    }
  }

  @Test(
    "A downloaded change of our own whose response was lost is not a conflict, also without ETags",
    arguments: Change.allCases, [false, true])
  func ownChange(change: Change, knowsNames: Bool) async throws {
    let rig = try await rigWithoutETags(knowsNames: knowsNames)
    let method = try await make(change, rig)
    rig.service.fail(.lost) { $0.hasPrefix(method) }
    await #expect(throws: OfflineODataError.self) {
      try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }
    #expect(try await rig.store.download().queries.flatMap(\.conflicts).isEmpty)
    let before = rig.service.log.count
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0 && rig.service.log.count == before, "\(report)")
    #expect(try await rig.isClean())
  }

  @Test("A download notices a conflict, reports it, and keeps the three versions", arguments: [false, true])
  func noticed(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    try await rig.store.update("Orders(2)", to: entity(("Name", .string("two"))))
    colleague(rig)
    var events = rig.store.events.makeAsyncIterator()
    let report = try await rig.store.download()
    let noticed = OfflineODataNoticedConflict(requestID: 1, path: "Orders(1)", isGone: false)
    #expect(report.queries.flatMap(\.conflicts) == [noticed])
    var told: [OfflineODataNoticedConflict] = []
    while let event = await events.next() {
      if case .conflictsNoticed(let conflicts) = event { told += conflicts }
      if case .downloadFinished = event { break }
    }
    #expect(told == [noticed])
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base?["Name"] == .string("n1") && conflict.mine?["Name"] == .string("mine"))
    #expect(conflict.theirs?["Name"] == .string("theirs") && conflict.isTheirsKnown)
    #expect(try await rig.store.conflict(2) == nil)
    #expect(try await rig.store.readCount("RequestQueue?$filter=Conflict") == 1)
    // It is reported once for each version of the service; a newer version is stored.
    #expect(try await rig.store.download().queries.flatMap(\.conflicts).isEmpty)
    colleague(rig, "Name", "\"newer\"")
    _ = try await rig.store.download()
    #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string("newer"))
    #expect(try await rig.store.conflict(1)?.base?["Name"] == .string("n1"))
    // The upload sends it with the ETag that it was based on.
    let sent = try await rig.store.upload()
    #expect(sent.failed == 1 && sent.sent == 1)
    let archived = try #require(try await rig.store.conflict(1))
    #expect(archived.base?["Name"] == .string("n1") && archived.mine?["Name"] == .string("mine"))
    #expect(archived.theirs?["Name"] == .string("newer"))
    #expect(order(rig)?["Name"] == "\"newer\"")
  }

  @Test(
    "A merge of disjoint properties uses the base of the change, with or without a download in between",
    arguments: [false, true])
  func mergeAfterDownload(downloads: Bool) async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    try await rig.store.update("Orders(2)", to: entity(("Name", .string("mine"))))
    colleague(rig)
    colleague(rig, "Note", "\"noted\"", key: 2)
    if downloads { _ = try await rig.store.download() }
    let report = try await rig.store.upload(options(.mergeDisjoint))
    #expect(report.failed == 1 && report.sent == 1)
    #expect(order(rig)?["Name"] == "\"theirs\"", "another's value of the same property is not overwritten")
    #expect(order(rig, 2)?["Name"] == "\"mine\"" && order(rig, 2)?["Note"] == "\"noted\"")
    #expect(try await rig.queue == ["1|2"])
  }

  @Test(
    "A change that was rejected for another reason and whose entity has changed since is a conflict when it is retried")
  func overtaken() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison")), ("Total", .int32(4))))
    #expect(try await rig.store.upload().failed == 1)
    colleague(rig)
    _ = try await rig.store.download()
    #expect(try await rig.store.conflict(1) == nil)
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string("theirs"))
    #expect(try await rig.store.upload(options(.mergeDisjoint)).failed == 1)
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base?["Name"] == .string("n1") && conflict.mine?["Name"] == .string("good"))
    #expect(order(rig)?["Name"] == "\"theirs\"")
  }

  @Test("If the service cannot be reached, the server's version is unknown until the next download")
  func unknownTheirs() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    colleague(rig)
    rig.service.fail(.status(500), times: 9) { $0 == "GET Orders(1)" }
    #expect(try await rig.store.upload().failed == 1)
    let before = try #require(try await rig.store.conflict(1))
    #expect(!before.isTheirsKnown && before.theirs == nil && before.base?["Name"] == .string("n1"))
    _ = try await rig.store.download()
    let after = try #require(try await rig.store.conflict(1))
    #expect(after.isTheirsKnown && after.theirs?["Name"] == .string("theirs"))
    #expect(after.base?["Name"] == .string("n1") && after.mine?["Name"] == .string("mine"))
    // The local version.
    try await rig.store.retry(1)
    #expect(try await rig.store.upload().sent == 1)
    #expect(order(rig)?["Name"] == "\"mine\"")
  }

  @Test("The service has deleted the row: a local update stays in the archive, a local deletion is complete")
  func gone() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    try await rig.store.delete("Orders(2)")
    rig.service.change { state in
      state.sets["Orders"]?[1] = nil
      state.sets["Orders"]?[2] = nil
    }
    let noticed = try await rig.store.download().queries.flatMap(\.conflicts)
    #expect(Set(noticed.map(\.requestID)) == [1, 2] && noticed.allSatisfy(\.isGone))
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.theirs == nil && conflict.isTheirsKnown && conflict.mine?["Name"] == .string("mine"))
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 1)
    try await rig.store.discardAll()
    #expect(try await rig.isClean())
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["3"])
  }

  // MARK: The user's choices

  enum Choice: CaseIterable, Sendable { case mine, theirs, merge }

  @Test("The local version, the server's, or a merge of both", arguments: Choice.allCases, [false, true])
  func choices(choice: Choice, isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, requiresIfMatch: true))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine")), ("Total", .int32(9))))
    colleague(rig)
    #expect(try await rig.store.upload().failed == 1)
    switch choice {
    case .mine: try await rig.store.retry(1)
    case .theirs: try await rig.store.discard(1)
    case .merge: try await rig.store.update("Orders(1)", to: entity(("Name", .string("both"))))
    }
    let report = try await rig.store.upload()
    #expect(report.failed == 0 && report.sent == (choice == .theirs ? 0 : 1))
    let name =
      switch choice {
      case .mine: "mine"
      case .theirs: "theirs"
      case .merge: "both"
      }
    #expect(order(rig)?["Name"] == "\"\(name)\"")
    #expect(order(rig)?["Total"] == (choice == .theirs ? "1" : "9"))
    #expect(
      try await rig.rows("SELECT Name, Total FROM {Orders} WHERE ID = 1") == ["\(name)|\(choice == .theirs ? 1 : 9)"])
    #expect(try await rig.isClean())
  }

  // MARK: Transactions

  struct Case: Sendable, CustomTestStringConvertible {
    var policy: OfflineODataConflictPolicy
    var name: String
    var sent: Int
    var failed: Int
    var discarded: Int
    var order: String
    var other: String?
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(policy: .archive, name: "archive", sent: 0, failed: 2, discarded: 0, order: "theirs", other: "n2"),
    Case(policy: .clientWins, name: "client wins", sent: 2, failed: 0, discarded: 0, order: "mine", other: "two"),
    Case(policy: .serverWins, name: "server wins", sent: 0, failed: 0, discarded: 2, order: "theirs", other: "n2"),
    Case(policy: .mergeDisjoint, name: "merge", sent: 0, failed: 2, discarded: 0, order: "theirs", other: "n2"),
    Case(
      policy: .resolver { _ in .useMine }, name: "resolver: mine", sent: 2, failed: 0, discarded: 0, order: "mine",
      other: "two"),
    Case(
      policy: .resolver { _ in .useTheirs }, name: "resolver: theirs", sent: 0, failed: 0, discarded: 2,
      order: "theirs", other: "n2"),
    Case(
      policy: .resolver { _ in .archive }, name: "resolver: archive", sent: 0, failed: 2, discarded: 0, order: "theirs",
      other: "n2"),
    Case(
      policy: .resolver { conflict in
        let names = [conflict.base, conflict.mine, conflict.theirs].map { ConflictText.name($0) }
        return .use([ODataProperty("Name", .string(names.joined(separator: "+")))])
      }, name: "resolver: a merge", sent: 2, failed: 0, discarded: 0, order: "n1+mine+theirs", other: "two"),
  ]

  @Test("A policy applies to a whole transaction", arguments: cases, [false, true])
  func transactions(of one: Case, isV2: Bool) async throws {
    for respondsToEach in isV2 ? [false] : [false, true] {
      let rig = try await UploadRig(.init(isV2: isV2, requiresIfMatch: true, respondsToEach: respondsToEach))
      _ = try await rig.store.execute(
        batch: ODataBatchRequest([
          .changeSet([
            .update("Orders(1)", to: entity(("Name", .string("mine")))),
            .update("Orders(2)", to: entity(("Name", .string("two")))),
          ])
        ]))
      colleague(rig)
      let report = try await rig.store.upload(options(one.policy))
      #expect(
        [report.sent, report.failed, report.discarded, report.pending] == [one.sent, one.failed, one.discarded, 0])
      #expect(order(rig)?["Name"] == "\"\(one.order)\"")
      #expect(order(rig, 2)?["Name"] == "\"\(one.other ?? "")\"")
      if one.failed > 0 {
        // The request in conflict, and the other one, which is rejected with it.
        #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string("theirs"))
        #expect(try await rig.store.conflict(2) == nil)
        #expect(try await rig.store.retry(2) == 2)
        #expect(try await rig.store.upload().sent == 2)
        #expect(order(rig)?["Name"] == "\"mine\"" && order(rig, 2)?["Name"] == "\"two\"")
      }
      #expect(try await rig.isClean())
    }
  }

  @Test("Disjoint properties of a transaction are merged")
  func disjointTransaction() async throws {
    let rig = try await UploadRig()
    _ = try await rig.store.execute(
      batch: ODataBatchRequest([
        .changeSet([
          .create(entity(("Name", .string("new"))), in: "Orders"),
          .update("Orders(1)", to: entity(("Total", .int32(7)))),
        ])
      ]))
    colleague(rig)
    #expect(try await rig.store.upload(options(.mergeDisjoint)).sent == 2)
    #expect(order(rig) == ["ID": "1", "Name": "\"theirs\"", "Total": "7"])
    #expect(rig.service.log == ["POST Orders(1000)", "PATCH Orders(1)"])
  }

  // MARK: Conditions that are asked for

  @Test(
    "If the service sends ETags only with single entities and requires If-Match, the ETag is fetched",
    arguments: [false, true], [1, 2])
  func required(isV2: Bool, changes: Int) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, requiresIfMatch: true))
    try await forgetETags(rig)
    if changes == 1 {
      try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
      try await rig.store.delete("Orders(2)")
    } else {
      _ = try await rig.store.execute(
        batch: ODataBatchRequest([
          .changeSet([.update("Orders(1)", to: entity(("Name", .string("mine")))), .delete("Orders(2)")])
        ]))
    }
    #expect(try await rig.store.upload().sent == 2)
    #expect(order(rig)?["Name"] == "\"mine\"" && order(rig, 2) == nil)
    #expect(try await rig.isClean())
  }

  @Test("If another client has changed the entity meanwhile, there is a conflict")
  func requiredAndChanged() async throws {
    let rig = try await UploadRig(.init(requiresIfMatch: true))
    try await forgetETags(rig)
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    colleague(rig)
    #expect(try await rig.store.upload().failed == 1)
    #expect(try await rig.store.conflict(1)?.theirs?["Name"] == .string("theirs"))
    #expect(order(rig)?["Name"] == "\"theirs\"")
  }

  @Test("Without an ETag nothing can be sent, and the archive says so")
  func requiredWithoutETags() async throws {
    let rig = try await UploadRig(.init(requiresIfMatch: true, hasETags: false))
    // An update is sent with `*`.
    try await rig.store.delete("Orders(1)")
    #expect(try await rig.store.upload().failed == 1)
    let failure = try #require(try await rig.store.readEntity("ErrorArchive(1)"))
    #expect(failure["HTTPStatusCode"] == .int32(428))
    #expect(
      failure["Message"]
        == .string("The service requires a condition (If-Match), but sends no ETag for the entity. If-Match"))
  }

  private func forgetETags(_ rig: UploadRig) async throws {
    try await rig.open.write { snapshot in
      for table in snapshot.plan.tables where table.name == "Orders" {
        try snapshot.connection.run("UPDATE \(snapshot.state.tables[table.number]) SET \"@etag\" = NULL")
      }
    }
  }

  // MARK: Services that are wrong

  @Test("If a service rejects its own ETags, the change moves to the archive instead of looping", arguments: [1, 2])
  func alwaysRejected(changes: Int) async throws {
    let rig = try await UploadRig()
    var requests: [ODataSingleRequest] = []
    for key in 1...changes { requests.append(.update("Orders(\(key))", to: entity(("Name", .string("mine"))))) }
    _ = try await rig.store.execute(batch: ODataBatchRequest([.changeSet(requests)]))
    var options = options(.clientWins)
    if changes == 1 { options.changesPerBatch = 0 }
    rig.service.fail(.status(412), times: 1000) { $0.hasPrefix("PATCH") }
    rig.service.change { $0.alwaysConflicts = true }
    let report = try await rig.store.upload(options)
    #expect(report.failed == changes && report.sent == 0)
    #expect(rig.service.requests.count < 20)
  }

  @Test("A conflict that was passed to the application is passed to it again after a restart")
  func crash() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("mine"))))
    colleague(rig)
    let (asked, tell) = AsyncStream.makeStream(of: String.self)
    let upload = Task {
      try await rig.store.upload(
        options(
          .resolver { conflict in
            tell.yield(ConflictText.name(conflict.theirs))
            await untilCancelled()
            return .archive
          }))
    }
    var questions = asked.makeAsyncIterator()
    #expect(await questions.next() == "theirs")
    // Another process finds the file in its current state.
    #expect(try await rig.queue == ["1|1"])
    upload.cancel()
    _ = try? await upload.value
    #expect(try await rig.store.hasPendingChanges())
    let again = Mutex(0)
    let report = try await rig.store.upload(
      options(
        .resolver { conflict in
          again.withLock { $0 += 1 }
          return conflict.base?["Name"] == .string("n1") ? .useMine : .archive
        }))
    let count = again.withLock { $0 }
    let isArchived = try await rig.queue == ["1|2"]
    #expect(count == 1 && report.sent == 1 || isArchived)
    if isArchived { #expect(try await rig.store.conflict(1)?.mine?["Name"] == .string("mine")) }
  }

  @Test("A merge does not send a link again over another client's version, which does not show its links")
  func mergeOfLink() {
    let (base, theirs) = (EntityCells(["Name": .text("a")]), EntityCells(["Name": .text("b")]))
    for changesLink in [false, true] {
      let decision = ConflictDecision.of(
        .mergeDisjoint, .patch, mine: ["Note"], base: base, theirs: theirs, changesLink: changesLink)
      #expect(decision == (changesLink ? .archive : .sendAgain))
    }
  }
}

private enum ConflictText {
  /// The name of an order.
  static func name(_ entity: ODataEntity?) -> String {
    if case .string(let name)? = entity?["Name"] { name } else { "" }
  }
}
