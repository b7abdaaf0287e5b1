import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// RFC 9110 §15.3.3 (202), §15.4 (redirects), §15.6 (5xx).
@Suite("Creations whose response does not say whether they took effect", .timeLimit(.minutes(5)))
struct UploadUnfinishedResponseTests {
  /// A response to the creation alone, to the creation in a batch, beside a change in a change set, or to the whole batch.
  enum Form: String, CaseIterable, Sendable { case single, batch, changeSet, wholeBatch }

  struct Redirect: Sendable, CustomTestStringConvertible {
    var status: Int
    var location: String
    /// Whether the creation may have been executed.
    var isUncertain: Bool
    var testDescription: String { "\(status) \(location)" }
  }

  static let redirects = [
    Redirect(status: 303, location: "http://h/s/Orders(1000)", isUncertain: true),
    Redirect(status: 303, location: "http://other/results/17", isUncertain: true),
    Redirect(status: 302, location: "/s/Orders(1000)", isUncertain: true),
    Redirect(status: 301, location: "http://h/s/Orders(1000)", isUncertain: true),
    Redirect(status: 302, location: "http://other/login", isUncertain: false),
    Redirect(status: 301, location: "https://h/s/Orders", isUncertain: false),
    Redirect(status: 307, location: "http://h/s/Orders/", isUncertain: false),
    Redirect(status: 308, location: "http://h/s/Orders/", isUncertain: false),
  ]

  private func entity(_ name: String, _ value: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(value))])
  }

  /// A store with a new order, and a change of order 1 that is in a transaction with it if the form says so.
  private func rig(
    _ form: Form, _ status: Int, _ fields: HTTPFields = [:], isDone: Bool, isV2: Bool = false
  ) async throws -> UploadRig {
    let rig = try await UploadRig(.init(isV2: isV2))
    let new = entity("Name", "new")
    if form == .changeSet {
      _ = try await rig.store.execute(
        batch: ODataBatchRequest([
          .changeSet([.create(new, in: "Orders"), .update("Orders(1)", to: entity("Name", "one"))])
        ]))
    } else {
      _ = try await rig.store.create(new, in: "Orders")
      try await rig.store.update("Orders(1)", to: entity("Name", "one"))
    }
    if form == .wholeBatch {
      rig.service.fail(isDone ? .response(status, fields) : .status(status, fields)) { $0.contains("$batch") }
    } else {
      rig.service.change { $0.behavior.createsWith = (status, fields, isDone) }
    }
    return rig
  }

  private func upload(_ rig: UploadRig, _ form: Form) async throws -> OfflineODataUploadReport {
    try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: form == .single ? 0 : 100, lanes: 1))
  }

  /// The service responds as usual again.
  private func mend(_ rig: UploadRig) {
    rig.service.change { ($0.behavior.createsWith, $0.fault) = (nil, nil) }
  }

  private func creations(_ rig: UploadRig) -> Int { rig.service.log.filter { $0.hasPrefix("POST") }.count }

  private func text(_ name: String, _ rig: UploadRig) async throws -> String {
    if case .string(let text)? = try await rig.store.readEntity("ErrorArchive(1)")?[name] { text } else { "" }
  }

  private func isWhole(_ rig: UploadRig) async throws {
    #expect(creations(rig) == 1, "\(rig.service.log)")
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID") == ["1|one", "2|n2", "3|n3", "1000|new"])
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} ORDER BY ID") == ["1|one", "2|n2", "3|n3", "1000|new"])
  }

  @Test(
    "A redirect stops the upload. If the creation may have been executed, the next upload looks it up",
    arguments: redirects,
    Form.allCases)
  func redirected(redirect: Redirect, form: Form) async throws {
    for (isDone, isV2) in [(true, false), (true, true), (false, false), (false, true)]
    where redirect.isUncertain || !isDone {
      let rig = try await rig(form, redirect.status, [.location: redirect.location], isDone: isDone, isV2: isV2)
      let error = try await #require(throws: OfflineODataError.self) { try await upload(rig, form) }
      #expect(error.category == .communicationError && error.name == .transportFailed, "\(error)")
      #expect(try await rig.queue.first == (redirect.isUncertain ? "1|1" : "1|0"))
      mend(rig)
      let report = try await upload(rig, form)
      #expect(report.failed == 0 && report.pending == 0, "\(report)")
      try await isWhole(rig)
    }
  }

  @Test(
    "If the service fails, the creation goes to the archive, the others are sent, and a retry looks it up first",
    arguments: [500, 507, 520, 524], [Form.single, .batch])
  func failures(status: Int, form: Form) async throws {
    for (isDone, isV2) in [(true, false), (true, true), (false, false), (false, true)] {
      let rig = try await rig(form, status, isDone: isDone, isV2: isV2)
      let report = try await upload(rig, form)
      #expect(report.failed == 1 && report.sent == 1 && report.pending == 0, "\(report)")
      #expect(try await text("Reason", rig) == "UnknownOutcome")
      mend(rig)
      // A change that may have been done can only be discarded by a person.
      #expect(try await rig.store.undoAllPendingChanges() == 0)
      try await rig.store.retry(1)
      #expect(try await rig.queue == ["1|1"])
      #expect(try await upload(rig, form).sent == 1)
      try await isWhole(rig)
    }
  }

  @Test(
    "A failure that says that nothing was executed is a rejection", arguments: [501, 505, 400], [Form.single, .batch])
  func rejections(status: Int, form: Form) async throws {
    let rig = try await rig(form, status, isDone: false)
    let report = try await upload(rig, form)
    #expect(report.failed == 1 && report.sent == 1, "\(report)")
    #expect(try await text("Reason", rig) == "Rejected")
    mend(rig)
    try await rig.store.retry(1)
    #expect(try await rig.queue == ["1|0"])
    #expect(try await upload(rig, form).sent == 1)
    try await isWhole(rig)
  }

  @Test("A change set or batch that fails is looked up at once", arguments: [500, 520], [Form.changeSet, .wholeBatch])
  func failedChangeSet(status: Int, form: Form) async throws {
    for isDone in [true, false] {
      let rig = try await rig(form, status, isDone: isDone)
      rig.service.change { $0.behavior.rollsBack = !isDone }
      _ = try await upload(rig, form)
      mend(rig)
      try await rig.store.retryAll()
      _ = try await upload(rig, form)
      try await isWhole(rig)
    }
  }

  @Test(
    "A change that corrects a failed creation is merged into it only if a look-up shows that it was not executed",
    arguments: [true, false], [true, false])
  func repair(isDone: Bool, isV2: Bool) async throws {
    let rig = try await rig(.single, 500, isDone: isDone, isV2: isV2)
    #expect(try await upload(rig, .single).failed == 1)
    mend(rig)
    let path = "Orders(\(try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)))"
    try await rig.store.update(path, to: entity("Note", "corrected"))
    #expect(try await rig.queue.map { $0.suffix(1) } == ["1", "0"])
    rig.service.change { $0.attempts = [] }
    let report = try await upload(rig, .single)
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.entities("Orders")[1000]?.values["Note"] == "\"corrected\"")
    #expect(rig.service.entities("Orders")[1001] == nil)
    #expect(rig.service.attempts.count == (isDone ? 1 : 0))
    try await isWhole(rig)
  }

  @Test("An entity whose creation may have been done is deleted only after a look-up", arguments: [true, false])
  func deletion(isDone: Bool) async throws {
    let rig = try await rig(.single, 500, isDone: isDone)
    #expect(try await upload(rig, .single).failed == 1)
    mend(rig)
    let path = "Orders(\(try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first)))"
    try await rig.store.delete(path)
    let report = try await upload(rig, .single)
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    #expect(Set(rig.service.entities("Orders").keys) == [1, 2, 3])
    #expect(try await rig.isClean())
  }

  @Test("An update and a deletion that fail are looked up before they are sent again", arguments: [true, false])
  func otherChanges(isDone: Bool) async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity("Name", "mine"))
    try await rig.store.delete("Orders(2)")
    rig.service.fail(isDone ? .response(500) : .status(500), times: 2) { !$0.hasPrefix("GET") }
    let report = try await upload(rig, .single)
    #expect(report.failed == 2 && report.pending == 0, "\(report)")
    mend(rig)
    try await rig.store.retryAll()
    rig.service.change { $0.attempts = [] }
    #expect(try await upload(rig, .single).sent == 2)
    #expect(rig.service.attempts.count == (isDone ? 0 : 2), "\(rig.service.attempts)")
    #expect(rig.service.log == ["PATCH Orders(1)", "DELETE Orders(2)"])
    #expect(try await rig.isClean())
  }

  @Test("An action that fails cannot be looked up: a retry sends it")
  func action() async throws {
    let rig = try await UploadRig()
    try await rig.record(QueuedRequest(.action, QueuedTarget(nil, "Orders")), [])
    rig.service.fail(.status(500)) { $0.hasPrefix("POST") }
    #expect(try await upload(rig, .single).failed == 1)
    try await rig.store.retry(1)
    #expect(try await rig.queue == ["1|0"])
  }

  @Test(
    "The URL of the set as Location says nothing of the created entity", arguments: [201, 204],
    [Form.single, .batch, .changeSet])
  func locationOfSet(status: Int, form: Form) async throws {
    for (location, isV2) in [("http://h/s/Orders", false), ("/s/Orders/", false), ("http://h/s/Orders", true)] {
      let rig = try await rig(form, status, [.location: location], isDone: true, isV2: isV2)
      let report = try await upload(rig, form)
      #expect(report.sent == 2 && report.failed == 0 && report.pending == 0, "\(report)")
      try await isWhole(rig)
    }
  }

  @Test(
    "A creation that the service has only accepted is uncertain; the next upload looks it up and never sends it again",
    arguments: [Form.single, .batch, .changeSet], [true, false])
  func accepted(form: Form, isV2: Bool) async throws {
    for isDone in [true, false] {
      let rig = try await rig(form, 202, isDone: isDone, isV2: isV2)
      let first = try await upload(rig, form)
      #expect(first.sent == 1 && first.failed == 0 && first.pending == 1, "\(first)")
      #expect(try await rig.queue == ["1|1"])
      #expect(creations(rig) == (isDone ? 1 : 0))
      mend(rig)
      let second = try await upload(rig, form)
      #expect(second.sent == (isDone ? 1 : 0) && second.failed == (isDone ? 0 : 1) && second.pending == 0, "\(second)")
      if !isDone {
        #expect(try await text("Reason", rig) == "UnknownOutcome")
        #expect(try await text("Message", rig).hasPrefix("The service has accepted the request (202)"))
        #expect(creations(rig) == 0)
        // A person decides.
        try await rig.store.retry(1)
        #expect(try await upload(rig, form).sent == 1)
      }
      try await isWhole(rig)
    }
  }
}
