import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("A transaction stays whole", .timeLimit(.minutes(2)))
struct TransactionUnitTests {
  private func entity(_ values: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) })
  }

  private func change(_ rig: UploadRig, _ requests: ODataSingleRequest...) async throws {
    _ = try await rig.store.execute(batch: ODataBatchRequest([.changeSet(requests)]))
  }

  private func update(_ key: Int, _ name: String, _ text: String) -> ODataSingleRequest {
    .update("Orders(\(key))", to: entity((name, .string(text))))
  }

  /// Request 1 changes order 1 and is rejected; requests 2 and 3 are a transaction of orders 2 and 1, created before or after
  /// that.
  private func touching(isCreatedBefore: Bool) async throws -> (UploadRig, OfflineODataUploadReport) {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    if isCreatedBefore { try await change(rig, update(2, "Name", "b"), update(1, "Note", "a")) }
    let report = try await rig.store.upload()
    if !isCreatedBefore { try await change(rig, update(2, "Name", "b"), update(1, "Note", "a")) }
    return (rig, report)
  }

  @Test(
    "A transaction that touches a rejected entity is held as a whole, and sent as a whole after the correction",
    arguments: [true, false])
  func touchesRejected(isCreatedBefore: Bool) async throws {
    let (rig, report) = try await touching(isCreatedBefore: isCreatedBefore)
    #expect(report.failed == (isCreatedBefore ? 3 : 1) && report.pending == 0 && rig.service.log.isEmpty, "\(report)")
    #expect(try await rig.queue == ["1|2", "2|3", "3|3"])
    // Changes that depend on the other member of the transaction are held too.
    try await rig.store.update("Orders(2)", to: entity(("Note", .string("c"))))
    #expect(try await rig.queue == ["1|2", "2|3", "3|3", "4|3"])
    #expect(try await rig.rows("SELECT ID, \"@state\" FROM {Orders} ORDER BY ID") == ["1|6", "2|6", "3|0"])
    try await rig.store.retry(4)
    #expect(try await rig.queue == ["1|0", "2|0", "3|0", "4|0"])
    _ = try await rig.store.upload()
    #expect(try await rig.queue == ["1|2", "2|3", "3|3", "4|3"])
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await rig.queue.allSatisfy { $0.hasSuffix("|0") })
    let sent = try await rig.store.upload()
    #expect(sent.failed == 0 && sent.pending == 0, "\(sent)")
    #expect(
      rig.service.entities("Orders")[1]?.values == ["ID": "1", "Name": "\"good\"", "Note": "\"a\"", "Total": "1"])
    #expect(
      rig.service.entities("Orders")[2]?.values == ["ID": "2", "Name": "\"b\"", "Note": "\"c\"", "Total": "2"])
    #expect(try await rig.isClean())
  }

  @Test("A change that corrects a rejected request takes no member out of a later transaction")
  func repairBesideHead() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    // The transaction has the number of its first request.
    try await change(rig, update(1, "Note", "a"), update(2, "Note", "b"))
    _ = try await rig.store.upload()
    #expect(try await rig.queue == ["1|2", "2|3", "3|3"])
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await rig.rows("SELECT count(*) FROM larder_request WHERE unit = 2") == ["2"])
    _ = try await rig.store.upload()
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"good\"")
    #expect(rig.service.entities("Orders")[2]?.values["Note"] == "\"b\"")
    #expect(try await rig.isClean())
  }

  @Test("Undoing a transaction by one of its entities or rows undoes all of it", arguments: [0, 1, 2])
  func undo(undoing: Int) async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "a"), update(2, "Name", "b"))
    try await rig.store.update("Orders(2)", to: entity(("Note", .string("behind"))))
    try await change(rig, update(2, "Note", "x"), update(3, "Name", "c"))
    switch undoing {
    case 0: #expect(try await rig.store.undoPendingChanges(of: "Orders(1)") == 5)
    case 1: _ = try await rig.store.delete("RequestQueue(1)")
    default:
      // Only the request for order 3 depends on the others.
      #expect(try await rig.store.undoPendingChanges(of: "Orders(3)") == 2)
      #expect(try await rig.queue == ["1|0", "2|0", "3|0"])
      return
    }
    #expect(try await rig.isClean())
    #expect(try await rig.rows("SELECT Name FROM {Orders} ORDER BY ID") == ["n1", "n2", "n3"])
  }

  @Test("A rejected transaction is discarded or retried as a whole, by any of its IDs", arguments: [1, 2])
  func archived(id: Int64) async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "a"), update(2, "Name", "poison"))
    #expect(try await rig.store.upload().failed == 2)
    try await rig.store.retry(id)
    #expect(try await rig.queue == ["1|0", "2|0"])
    #expect(try await rig.store.upload().failed == 2)
    #expect(try await rig.store.discard(id) == 2)
    #expect(try await rig.isClean())
  }

  @Test("An entity that a rejected transaction creates cannot be deleted alone: the error names the rest")
  func deletesCreated() async throws {
    let rig = try await UploadRig()
    try await change(rig, .create(entity(("Name", .string("poison"))), in: "Orders"), update(2, "Name", "b"))
    #expect(try await rig.store.upload().failed == 2)
    let path = try await rig.rows("SELECT 'Orders(' || ID || ')' FROM {Orders} WHERE ID < 0")[0]
    let error = await #expect(throws: OfflineODataError.self) { try await rig.store.delete(path) }
    #expect(error?.name == .changesPending)
    #expect(try await rig.queue == ["1|2", "2|2"])
  }

  @Test("Deleting an entity takes no rejected update out of its transaction")
  func deletesChanged() async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "poison"), update(2, "Name", "b"))
    #expect(try await rig.store.upload().failed == 2)
    try await rig.store.delete("Orders(1)")
    #expect(try await rig.queue == ["1|2", "2|2", "3|3"])
    try await rig.store.discard(2)
    #expect(try await rig.isClean())
  }

  @Test("A change of one entity does not resend requests of its transaction that may have taken effect")
  func unknownPartner() async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "a"), update(2, "Name", "poison"))
    #expect(try await rig.store.upload().failed == 2)
    try await rig.open.write { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      var failure = try queue.entry(1)?.failure
      failure?.kind = .unknownOutcome
      try queue.set(failure: failure, of: 1)
    }
    try await rig.store.update("Orders(2)", to: entity(("Name", .string("good"))))
    #expect(try await rig.queue == ["1|2", "2|2", "3|3"])
    try await rig.store.retry(1)
    #expect(try await rig.queue == ["1|0", "2|0", "3|0"])
  }

  @Test("A request that no longer fits the model moves its whole transaction to the archive", arguments: [1, 2])
  func unfitting(id: Int64) async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "a"), update(2, "Name", "b"))
    try await rig.open.changeRows { rows in
      try rows.connection.run("UPDATE larder_effect SET name = 'Gone' WHERE request = ?1", .integer(id))
      _ = try rows.fit(to: ModelTransition(within: rows.plan))
    }
    #expect(try await rig.queue == (id == 1 ? ["1|2", "2|3"] : ["1|3", "2|2"]))
  }

  @Test("A request with an uncertain outcome is uncertain again when its transaction is released")
  func uncertain() async throws {
    let rig = try await UploadRig()
    try await change(rig, update(1, "Name", "a"), update(2, "Name", "b"))
    try await rig.open.write { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      try queue.set(.sent, of: 1)
      try queue.set(attempt: #"{"id":"1","firstSent":1,"method":"PATCH","url":"Orders(1)","digest":""}"#, of: 1)
      guard let second = try queue.entry(2) else { return }
      let failure = ArchivedFailure(kind: .rejected, message: "m", method: "", url: "", time: 0)
      let journal = UploadJournal(store: try rig.open, options: OfflineODataUploadOptions())
      _ = try journal.archive([(second, failure)], snapshot)
    }
    #expect(try await rig.queue == ["1|3", "2|2"])
    try await rig.store.retry(2)
    #expect(try await rig.queue == ["1|1", "2|0"])
    #expect(
      try await rig.rows("SELECT attempt FROM larder_request WHERE id = 1") == [
        #"{"id":"1","firstSent":1,"method":"PATCH","url":"Orders(1)","digest":""}"#
      ])
  }

  // MARK: By chance

  @Test(
    "After any operations, all requests of a transaction are pending or none is, and all have taken effect or none has")
  func byChance() async throws {
    var random = PrintedSeed(for: "Transactions by chance")
    for round in 0..<12 {
      let rig = try await UploadRig(.init(rollsBack: true, respondsToEach: round % 2 == 0), orders: 4)
      var run = TransactionRun(rig: rig)
      for step in 0..<25 {
        let what = try await run.step(&random)
        let faults = try await run.faults()
        #expect(faults.isEmpty, "round \(round), step \(step), \(what): \(faults)")
        guard faults.isEmpty else { return }
      }
      // An uncertain request is looked up, and may move to the archive, before it can be undone.
      _ = try? await rig.store.undoAllPendingChanges()
      _ = try? await rig.store.discardAll()
      _ = try await rig.store.undoAllPendingChanges()
      #expect(try await rig.isClean())
    }
  }
}

/// Random changes, uploads and corrections of one store.
private struct TransactionRun {
  let rig: UploadRig
  /// The number of texts that each transaction sends to the service.
  private var texts: [Int: Int] = [:]
  private var count = 0

  init(rig: UploadRig) { self.rig = rig }

  /// Runs an operation; an error changes nothing.
  mutating func step(_ random: inout PrintedSeed) async throws -> String {
    let ids = try await rig.queue.compactMap { Int64($0.prefix { $0 != "|" }) }
    let id = ids.randomElement(using: &random) ?? 1
    let keys = try await rig.rows("SELECT ID FROM {Orders}").compactMap { Int($0) }
    let key = keys.randomElement(using: &random) ?? 1
    count += 1
    let (kind, number) = (Int.random(in: 0..<14, using: &random), count)
    var draft: [ODataSingleRequest] = []
    if kind < 5 { draft = transaction(number, keys, &random) }
    do {
      switch kind {
      case 0..<5:
        _ = try await rig.store.execute(batch: ODataBatchRequest([.changeSet(draft)]))
        return "\(number) \(draft.map { "\($0.operationName) \($0.path)" })"
      case 5:
        let name = ODataProperty("Name", .string("single\(number)"))
        try await rig.store.update("Orders(\(key))", to: ODataEntity(properties: [name]))
        return "update \(key)"
      case 6:
        try await rig.store.delete("Orders(\(key))")
        return "delete \(key)"
      case 7, 8, 9:
        if kind == 9 { rig.service.fail(.lost) { $0.contains("$batch") } }
        let report = try? await rig.store.upload()
        rig.service.change { $0.fault = nil }
        return "upload \(report.map { "\($0)" } ?? "cut")"
      case 10:
        try await rig.store.retry(id)
        return "retry \(id)"
      case 11:
        try await rig.store.discard(id)
        return "discard \(id)"
      case 12:
        try await rig.store.undoPendingChanges(of: "Orders(\(key))")
        return "undo \(key)"
      default:
        rig.service.change { state in
          guard state.sets["Orders"]?[key] != nil else { return }
          state.sets["Orders"]?[key]?.values["Note"] = "\"theirs\(number)\""
          state.sets["Orders"]?[key]?.version += 1
        }
        if Bool.random(using: &random) { try await rig.store.download() }
        return "colleague \(key)"
      }
    } catch let error as OfflineODataError {
      if kind < 5 { texts[number] = nil }
      return "\(kind) refused: \(error)"
    }
  }

  private mutating func transaction(
    _ number: Int, _ keys: [Int], _ random: inout PrintedSeed
  ) -> [ODataSingleRequest] {
    var requests: [ODataSingleRequest] = []
    var left = keys.shuffled(using: &random)
    var marks = 0
    for member in 0..<Int.random(in: 1...4, using: &random) {
      let isPoison = Int.random(in: 0..<5, using: &random) == 0
      let text = ODataProperty("Note", .string("t\(number).\(member)"))
      let named = ODataEntity(properties: isPoison ? [ODataProperty("Name", .string("poison")), text] : [text])
      switch Int.random(in: 0..<4, using: &random) {
      case 0: requests.append(.create(named, in: "Orders"))
      case 1:
        guard let key = left.first else { continue }
        let item = ODataEntity(properties: [ODataProperty("Text", text.value)])
        requests.append(.create(item, in: "Orders(\(key))/Items"))
      default:
        guard let key = left.popLast() else { continue }
        requests.append(.update("Orders(\(key))", to: named))
      }
      marks += 1
    }
    texts[number] = marks
    return requests
  }

  // MARK: What must be so

  func faults() async throws -> [String] {
    let lines = try await rig.rows("SELECT unit, id, state FROM larder_request ORDER BY id")
    let rows = lines.map { $0.split(separator: "|").compactMap { Int64($0) } }
    let needs = try await rig.rows("SELECT request, earlier FROM larder_dependency")
      .map { $0.split(separator: "|").compactMap { Int64($0) } }
    let unit = Dictionary(uniqueKeysWithValues: rows.map { ($0[1], $0[0]) })
    var isStuck: [Int64: Bool] = [:]
    var faults: [String] = []
    for row in rows {
      if isStuck[row[0]].map({ $0 != (row[2] >= 2) }) == true { faults.append("\(row[0]) is torn: \(lines)") }
      isStuck[row[0]] = row[2] >= 2
    }
    var before: [Int64: Set<Int64>] = [:]
    for need in needs {
      guard let later = unit[need[0]], let earlier = unit[need[1]], later != earlier else { continue }
      before[later, default: []].insert(earlier)
    }
    // Each held request depends on a failed one, and all requests that depend on a failed one are held.
    var stuck = Set(rows.filter { $0[2] == 2 }.map { $0[0] })
    while let next = before.first(where: { !stuck.contains($0.key) && !stuck.isDisjoint(with: $0.value) }) {
      stuck.insert(next.key)
    }
    for (unit, isHeld) in isStuck where isHeld != stuck.contains(unit) {
      faults.append("\(unit) is \(isHeld ? "held for nothing" : "waiting behind a rejected one"): \(lines) \(needs)")
    }
    // No request depends on itself.
    var left = before
    while let free = left.first(where: { $0.value.allSatisfy { left[$0] == nil } }) { left[free.key] = nil }
    if !left.isEmpty { faults.append("a circle: \(left)") }
    return faults + halves()
  }

  /// Transactions of which the service has executed only a part.
  private func halves() -> [String] {
    var done: [Int: Set<String>] = [:]
    for mark in rig.service.now.marks {
      guard let text = mark.split(separator: " ").last, text.hasPrefix("t"), let dot = text.firstIndex(of: "."),
        let number = Int(text[text.index(after: text.startIndex)..<dot])
      else { continue }
      done[number, default: []].insert(String(text))
    }
    return done.compactMap { number, marks in
      marks.count == texts[number] ? nil : "the service has \(marks) of \(texts[number] ?? 0) of transaction \(number)"
    }
  }
}
