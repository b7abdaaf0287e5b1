import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// A service need not use 412 for a condition that fails: some respond with 409, 428, 400, 403 or 422 (RFC 9110 §13.1.1,
/// §15.5.10; RFC 6585 §3).
@Suite("Old ETags that the service rejects with other statuses than 412", .timeLimit(.minutes(5)))
struct UploadRejectedETagTests {
  enum Form: String, CaseIterable, Sendable { case single, batch, changeSet }

  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var form: Form
    var isV2: Bool
    var testDescription: String { "\(status), \(form.rawValue)\(isV2 ? ", V2" : "")" }
    /// Whether the status alone shows that the ETag is the reason.
    var isCertain: Bool { [409, 412, 428].contains(status) }
    var changes: Int { form == .changeSet ? 2 : 1 }
  }

  static let rows = [409, 412, 428, 400, 403, 422].flatMap { status in
    Form.allCases.flatMap { form in [false, true].map { Row(status: status, form: form, isV2: $0) } }
  }

  private func entity(_ name: String, _ value: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(value))])
  }

  /// A store with a pending change of order 1, which another client has changed; in a transaction with a change of
  /// order 2 if the row says so.
  private func rig(
    _ row: Row, isChanged: Bool = true, theirs: String = "Name", readsChangeETags: Bool = false,
    _ rejects: (@Sendable (String, Bool) -> Int?)? = nil
  ) async throws -> UploadRig {
    let status = row.status
    let rejectsOld: @Sendable (String, Bool) -> Int? = { _, isCurrent in isCurrent ? nil : status }
    let rig = try await UploadRig(
      .init(isV2: row.isV2, rejectsChange: rejects ?? rejectsOld, readsChangeETags: readsChangeETags))
    if row.form == .changeSet {
      _ = try await rig.store.execute(
        batch: ODataBatchRequest([
          .changeSet([
            .update("Orders(1)", to: entity("Name", "mine")), .update("Orders(2)", to: entity("Name", "two")),
          ])
        ]))
    } else {
      try await rig.store.update("Orders(1)", to: entity("Name", "mine"))
    }
    if isChanged { edit(rig, theirs) }
    return rig
  }

  private func edit(_ rig: UploadRig, _ name: String = "Name") {
    rig.service.change { state in
      state.sets["Orders"]?[1]?.values[name] = "\"theirs\""
      state.sets["Orders"]?[1]?.version = 9
    }
  }

  private func upload(
    _ rig: UploadRig, _ row: Row, _ policy: OfflineODataConflictPolicy = .archive
  ) async throws -> OfflineODataUploadReport {
    try await rig.store.upload(
      OfflineODataUploadOptions(changesPerBatch: row.form == .single ? 0 : 100, conflictPolicy: policy))
  }

  /// The conditions with which changes of order 1 arrived.
  private func conditions(_ rig: UploadRig) -> [String] {
    rig.service.attempts.filter { $0.contains("Orders(1)") }.map {
      $0.split(separator: " ").last.map(String.init) ?? ""
    }
  }

  private func name(_ rig: UploadRig) -> String? { rig.service.entities("Orders")[1]?.values["Name"] }

  private func archived(_ rig: UploadRig) async throws -> String {
    let entry = try await rig.store.readEntity("ErrorArchive(1)")
    func text(_ name: String) -> String {
      switch entry?[name] {
      case .string(let text)?: text
      case .int32(let number)?: "\(number)"
      case .boolean(let flag)?: "\(flag)"
      default: "-"
      }
    }
    return ["Reason", "Conflict", "HTTPStatusCode", "Message"].map(text).joined(separator: " ")
  }

  @Test(
    "Another client has changed the entity: a conflict with its three versions, and a retry sends it", arguments: rows)
  func archive(row: Row) async throws {
    let rig = try await rig(row)
    let report = try await upload(rig, row)
    #expect(report.failed == row.changes && report.sent == 0 && report.pending == 0, "\(report)")
    #expect(try await archived(rig) == "Conflict true \(row.status) rejected")
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.base?["Name"] == .string("n1") && conflict.mine?["Name"] == .string("mine"))
    #expect(conflict.theirs?["Name"] == .string("theirs") && name(rig) == "\"theirs\"")
    #expect(conditions(rig) == ["W/\"1\""])
    try await rig.store.retry(1)
    #expect(try await upload(rig, row).sent == row.changes)
    #expect(conditions(rig) == ["W/\"1\"", "W/\"9\""] && name(rig) == "\"mine\"")
    #expect(try await rig.isClean())
  }

  @Test("The policies decide; the server does not win if there may be another reason", arguments: rows)
  func policies(row: Row) async throws {
    let policies: [(String, OfflineODataConflictPolicy)] = [
      ("client", .clientWins), ("server", .serverWins), ("disjoint", .mergeDisjoint), ("merge", .mergeDisjoint),
      ("mine", .resolver { _ in .useMine }), ("theirs", .resolver { _ in .useTheirs }),
    ]
    for (way, policy) in policies {
      let rig = try await rig(row, theirs: way == "disjoint" ? "Note" : "Name")
      let report = try await upload(rig, row, policy)
      let counts = [report.sent, report.failed, report.discarded, report.pending]
      switch way {
      case "client", "disjoint", "mine":
        #expect(counts == [row.changes, 0, 0, 0], "\(way): \(report)")
        #expect(conditions(rig) == ["W/\"1\"", "W/\"9\""] && name(rig) == "\"mine\"")
      case "server" where row.isCertain, "theirs":
        #expect(counts == [0, 0, row.changes, 0], "\(way): \(report)")
        #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["theirs"])
      default:
        #expect(counts == [0, row.changes, 0, 0], "\(way): \(report)")
        #expect(try await archived(rig) == "Conflict true \(row.status) rejected")
        #expect(conditions(rig) == ["W/\"1\""] && name(rig) == "\"theirs\"")
      }
    }
  }

  @Test("With the same ETag it is a rejection", arguments: rows.filter { $0.status != 412 })
  func sameETag(row: Row) async throws {
    let status = row.status
    for policy in [OfflineODataConflictPolicy.archive, .clientWins, .serverWins] {
      let rig = try await rig(row, isChanged: false) { resource, _ in resource == "Orders(1)" ? status : nil }
      let report = try await upload(rig, row, policy)
      #expect(report.failed == row.changes && report.sent == 0 && report.discarded == 0, "\(report)")
      #expect(try await archived(rig) == "Rejected false \(row.status) rejected")
      #expect(conditions(rig) == ["W/\"1\""])
    }
  }

  @Test(
    "A second rejection under the new ETag is a rejection, also if the ETag has changed again",
    arguments: rows.filter { $0.status != 412 }, [false, true])
  func secondRejection(row: Row, readsChangeETags: Bool) async throws {
    guard !readsChangeETags || !row.isCertain else { return }
    let status = row.status
    let rig = try await rig(row, readsChangeETags: readsChangeETags) { resource, _ in
      resource == "Orders(1)" ? status : nil
    }
    let report = try await upload(rig, row, .clientWins)
    #expect(report.failed == row.changes && report.sent == 0 && report.pending == 0, "\(report)")
    #expect(try await archived(rig) == "Rejected false \(row.status) rejected")
    #expect(conditions(rig).count == 2 && conditions(rig).first == "W/\"1\"")
    // The content is the reason, and another content is accepted.
    rig.service.change { $0.behavior.rejectsChange = nil }
    try await rig.store.retry(1)
    #expect(try await upload(rig, row, .clientWins).sent == row.changes)
    #expect(name(rig) == "\"mine\"")
  }

  enum WayOut: String, CaseIterable, Sendable { case retry, update, download, downloadAndUpdate, anyVersion, deletion }

  @Test(
    "A retry, another change, and a download before either of them lead out of the archive",
    arguments: WayOut.allCases, [409, 428, 400])
  func waysOut(way: WayOut, status: Int) async throws {
    let row = Row(status: status, form: .single, isV2: false)
    let rig = try await rig(row)
    #expect(try await upload(rig, row).failed == 1)
    if way == .download || way == .downloadAndUpdate { try await rig.store.download() }
    switch way {
    case .retry, .download: try await rig.store.retry(1)
    case .update, .downloadAndUpdate: try await rig.store.update("Orders(1)", to: entity("Name", "mine"))
    case .anyVersion:
      var update = ODataSingleRequest.update("Orders(1)", to: entity("Name", "mine"))
      update.ifMatch = "*"
      rig.service.change { $0.behavior.rejectsChange = nil }
      _ = try await rig.store.execute(single: update)
    case .deletion: try await rig.store.delete("Orders(1)")
    }
    let report = try await upload(rig, row)
    #expect(report.sent == 1 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(name(rig) == (way == .deletion ? nil : "\"mine\""))
    #expect(conditions(rig) == ["W/\"1\"", way == .anyVersion ? "*" : "W/\"9\""])
    #expect(try await rig.isClean())
  }

  @Test(
    "A deletion of an entity that another client has changed is a conflict", arguments: [409, 428, 400, 403, 422],
    [100, 0])
  func deletion(status: Int, changesPerBatch: Int) async throws {
    let rig = try await UploadRig(.init(rejectsChange: { _, isCurrent in isCurrent ? nil : status }))
    try await rig.store.delete("Orders(1)")
    edit(rig)
    let options = OfflineODataUploadOptions(changesPerBatch: changesPerBatch)
    #expect(try await rig.store.upload(options).failed == 1)
    let conflict = try #require(try await rig.store.conflict(1))
    #expect(conflict.isDeletion && conflict.theirs?["Name"] == .string("theirs") && conflict.mine == nil)
    try await rig.store.retry(1)
    #expect(try await rig.store.upload(options).sent == 1)
    #expect(rig.service.entities("Orders")[1] == nil)
  }

  @Test(
    "A change that an own change of the entity has made outdated is sent with the new ETag", arguments: [409, 428, 400])
  func ownChange(status: Int) async throws {
    let rig = try await UploadRig(.init(rejectsChange: { _, isCurrent in isCurrent ? nil : status }))
    let order = try await rig.row("Orders", 1)
    let id = try await rig.update(order, ["Name": .string("mine")])
    try await rig.open.changeRows { rows in try rows.queue.noteOldETag(order.row) }
    rig.service.change { $0.sets["Orders"]?[1]?.version = 9 }
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 1 && report.failed == 0, "\(id): \(report)")
    #expect(conditions(rig) == ["W/\"1\"", "W/\"9\""])
  }

  enum Part: CaseIterable, Sendable { case link, bytes, stream }

  @Test("Links and streams are checked with their own ETags", arguments: Part.allCases, [409, 428, 400, 403, 422])
  func parts(part: Part, status: Int) async throws {
    for policy in [OfflineODataConflictPolicy.archive, .clientWins, .serverWins] {
      let service = MediaService { $0.conflictStatus = status }
      let folder = try TemporaryFolder()
      let store = try await service.store(folder)
      let content = ODataRequestBody.bytes(Array("mine".utf8), contentType: "image/x")
      switch part {
      case .link: try await store.updateLink("Photos(1)/Album/$ref", to: "Albums(7)")
      case .bytes: _ = try await store.execute(single: .init(.updateMedia, "Photos(1)/$value", body: content))
      case .stream: _ = try await store.execute(single: .init(.updateMedia, "Photos(1)/Icon", body: content))
      }
      service.edit(1) { photo in
        (photo.title, photo.version) = ("theirs", 9)
        (photo.mediaVersion, photo.iconVersion) = (9, 9)
      }
      let report = try await store.upload(OfflineODataUploadOptions(conflictPolicy: policy))
      let counts = [report.sent, report.failed, report.discarded]
      let conditions = service.now.requests.filter { $0.hasPrefix("PUT") }.map { $0.split(separator: " ").last ?? "" }
      let name = ["link": "W/\"p", "bytes": "\"m", "stream": "\"i"]["\(part)"] ?? ""
      switch policy {
      case .clientWins:
        #expect(counts == [1, 0, 0] && conditions == ["\(name)1\"", "\(name)9\""], "\(report) \(conditions)")
      case .serverWins where [409, 428].contains(status): #expect(counts == [0, 0, 1], "\(report)")
      default:
        #expect(counts == [0, 1, 0] && conditions == ["\(name)1\""], "\(report) \(conditions)")
        #expect(try await store.readCount("ErrorArchive?$filter=Conflict") == 1)
      }
    }
  }
}
