import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Four requests, the first of which is rejected", .timeLimit(.minutes(1)))
struct ArchiveExampleTests {
  /// 1 creates order A, 2 updates it, 3 creates item B linked to A, 4 updates B; 5 is independent. The creation of A is rejected.
  private func rig(isV2: Bool = false, sends: Bool = true) async throws -> UploadRig {
    let rig = try await UploadRig(.init(isV2: isV2))
    let name = ODataProperty("Name", .string("poison"))
    let created = try await rig.store.execute(single: .create(ODataEntity(properties: [name]), in: "Orders"))
    let path = try #require(created.fields[.location]?.components("/s/"))
    try await rig.store.update(path, to: ODataEntity(properties: [ODataProperty("Total", .int32(1))]))
    let item = try await rig.store.execute(
      single: .create(ODataEntity(properties: [ODataProperty("Text", .string("b"))]), in: path + "/Items"))
    let itemPath = try #require(item.fields[.location]?.components("/s/"))
    try await rig.store.update(itemPath, to: ODataEntity(properties: [ODataProperty("Text", .string("c"))]))
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Note", .string("other"))]))
    guard sends else { return rig }
    let report = try await rig.store.upload()
    #expect(report.failed == 4 && report.sent == 1 && report.pending == 0)
    return rig
  }

  private func archive(_ rig: UploadRig) async throws -> [String] {
    try await rig.rows(
      "SELECT id || CASE state WHEN 2 THEN '' WHEN 3 THEN ' held' ELSE ' ' || state END FROM larder_request")
  }

  private func rows(_ rig: UploadRig) async throws -> [String] {
    try await rig.rows(
      "SELECT Name || ',' || coalesce(Total, '-') FROM {Orders} WHERE ID < 0 UNION ALL SELECT Text FROM {Items}")
  }

  @Test(
    "The rejected request is in the archive, its dependents are held, and the others were sent",
    arguments: [false, true])
  func heldRequests(isV2: Bool) async throws {
    let rig = try await rig(isV2: isV2)
    #expect(try await archive(rig) == ["1", "2 held", "3 held", "4 held"])
    #expect(try await rows(rig) == ["poison,1", "c"])
    #expect(rig.service.entities("Orders")[1]?.values["Note"] == "\"other\"")
    // None of them is sent again automatically.
    let sent = rig.service.requests.count
    #expect(try await rig.store.upload() == OfflineODataUploadReport())
    #expect(rig.service.requests.count == sent)
  }

  @Test(
    "Deleting one of them undoes exactly that request and its dependents",
    arguments: [
      (1, [], []), (2, ["1", "3 held", "4 held"], ["poison,-", "c"]), (3, ["1", "2 held"], ["poison,1"]),
      (4, ["1", "2 held", "3 held"], ["poison,1", "b"]),
    ] as [(Int, [String], [String])])
  func delete(id: Int, left: [String], shown: [String]) async throws {
    let rig = try await rig()
    try await rig.store.delete("ErrorArchive(\(id))")
    #expect(try await archive(rig) == left)
    #expect(try await rows(rig) == shown)
    if left.isEmpty {
      #expect(try await rig.isClean())
    } else {
      // The remaining requests are sent after the order is corrected.
      let path = try await rig.rows("SELECT 'Orders(' || ID || ')' FROM {Orders} WHERE ID < 0")[0]
      try await rig.store.update(path, to: ODataEntity(properties: [ODataProperty("Name", .string("good"))]))
      let report = try await rig.store.upload()
      #expect(report.failed == 0 && report.pending == 0)
      #expect(rig.service.entities("Orders")[1000]?.values["Name"] == "\"good\"")
      #expect(rig.service.entities("Orders")[1000]?.values["Total"] == (id == 2 ? nil : "1"))
      #expect(
        rig.service.entities("Items").values.map { $0.values["Text"] } == (id == 3 ? [] : [id == 4 ? "\"b\"" : "\"c\""])
      )
      #expect(try await rig.isClean())
    }
  }

  @Test(
    "Two after another",
    arguments: [([4, 3], ["1", "2 held"]), ([2, 4], ["1", "3 held"]), ([3, 2], ["1"]), ([2, 1], [])])
  func combinations(ids: [Int], left: [String]) async throws {
    let rig = try await rig()
    for id in ids { try await rig.store.discard(Int64(id)) }
    #expect(try await archive(rig) == left)
  }

  @Test(
    "Deleting from the queue, before anything is sent",
    arguments: [(1, ["5 0"]), (2, ["1 0", "3 0", "4 0", "5 0"]), (3, ["1 0", "2 0", "5 0"])])
  func queue(id: Int, left: [String]) async throws {
    let rig = try await rig(sends: false)
    try await rig.store.delete("RequestQueue(\(id))")
    #expect(try await archive(rig) == left)
  }

  @Test("An entity that is only linked to another waits for its creation, not for its changes")
  func linked() async throws {
    let rig = try await ChangeMakingTests.filled()
    let created = try await rig.create("Orders", [ODataProperty("Total", .int32(1))])
    let path = try #require(created.fields[.location]?.components("/s/"))
    try await rig.update(path, [ODataProperty("Total", .int32(2))])
    try await rig.create(path + "/Tags", [ODataProperty("Name", .string("t"))])
    try await rig.change(.delete("Tags('t')"))
    let queue = try await rig.queue()
    #expect(
      queue.count == 4 && queue[1].hasSuffix(" <1") && queue[2].hasSuffix(" <1") && queue[3].hasSuffix(" <3"),
      "\(queue)")
  }

  @Test("All are sent after the rejected request is corrected by another change", arguments: [false, true])
  func repaired(isV2: Bool) async throws {
    let rig = try await rig(isV2: isV2)
    let path = try await rig.rows("SELECT 'Orders(' || ID || ')' FROM {Orders} WHERE ID < 0")[0]
    try await rig.store.update(path, to: ODataEntity(properties: [ODataProperty("Name", .string("good"))]))
    #expect(try await archive(rig) == ["1 0", "3 0", "4 0"])
    let report = try await rig.store.upload()
    #expect(report.sent == 3 && report.failed == 0)
    #expect(rig.service.entities("Orders")[1000]?.values == ["ID": "1000", "Name": "\"good\"", "Total": "1"])
    #expect(rig.service.entities("Items")[1001]?.values["Text"] == "\"c\"")
    #expect(rig.service.entities("Items")[1001]?.values["Order_ID"] == "1000")
    #expect(
      rig.service.log == [
        "\(isV2 ? "MERGE" : "PATCH") Orders(1)", "POST Orders(1000)", "POST Items(1001)",
        "\(isV2 ? "MERGE" : "PATCH") Items(1001)",
      ])
    #expect(try await rig.isClean())
  }
}

extension String {
  /// The text after a part.
  fileprivate func components(_ part: String) -> String? {
    ranges(of: part).first.map { String(self[$0.upperBound...]) }
  }
}
