import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// A creation whose response was lost, and a download that contains its entity, or another client's like it.
@Suite("Creations recognized in downloads", .timeLimit(.minutes(1)))
struct RecognizedCreationTests {
  @Test("A creation that its transaction has changed is recognized in a download with the changed values")
  func changedInTransaction() async throws {
    let rig = try await UploadRig()
    let order = try await rig.create("Orders", key: -1, ["Name": .string("made")])
    try await rig.update(order.row, ["Name": .string("changed")], unit: order.id)
    try await rig.lose()
    let sent = rig.service.log
    try await rig.store.download()
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.pending == 0, "\(report)")
    #expect(try await rig.failures().contains(.unknownOutcome))
    #expect(rig.service.log == sent && sent.first == "POST Orders(1000)")
  }

  @Test(
    "A creation with a client-assigned key is not matched with a downloaded row of another creation with equal content")
  func clientKeyBeside() async throws {
    let rig = try await UploadRig()
    try await rig.create("Orders", key: 70, ["Name": .string("same")])
    try await rig.create("Orders", key: -1, ["Name": .string("same")])
    try await rig.lose()
    // The first did not reach the service.
    rig.service.change { $0.sets["Orders"]?[70] = nil }
    try await rig.store.download()
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    try await rig.store.download()
    _ = try await rig.store.upload()
    #expect(rig.service.log.filter { $0 == "POST Orders(1000)" || $0 == "POST Orders(1001)" } == ["POST Orders(1000)"])
    #expect(try await rig.failures() == [.unknownOutcome])
  }

  /// Whether a download has contained each of the creations in the queue.
  private func arrivals(_ rig: UploadRig) async throws -> [Bool] {
    try await rig.rows("SELECT json_extract(attempt, '$.arrived') IS NOT NULL FROM larder_request ORDER BY id").map {
      $0 == "1"
    }
  }

  @Test("A creation is recognized in a download in which the service spells its values differently")
  func otherSpelling() async throws {
    let rig = try await UploadRig(.init(hasDueAndWeight: true))
    let due = try #require(ODataDateTimeOffset("2026-05-01T12:00:00+02:00"))
    let weight = try #require(ODataDecimal("1.50"))
    try await rig.create(
      "Orders", key: -1, ["Name": .string("made"), "Due": .dateTimeOffset(due), "Weight": .decimal(weight)])
    try await rig.lose()
    rig.service.change { state in
      state.sets["Orders"]?[1000]?.values["Due"] = "\"2026-05-01T10:00:00.000Z\""
      state.sets["Orders"]?[1000]?.values["Weight"] = "1.5"
    }
    try await rig.store.download()
    #expect(try await arrivals(rig) == [true])
    rig.service.change { $0.sets["Orders"]?[1000] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect([report.sent, report.failed, report.pending] == [0, 1, 0], "\(report)")
    #expect(try await rig.failures() == [.unknownOutcome])
    #expect(rig.service.log == ["POST Orders(1000)"])
  }

  @Test(
    "Two spellings of one value are equal, and different values are not",
    arguments: [
      (ColumnStorage.decimal, "1.50", "1.5", true), (.decimal, "1e2", "100", true), (.decimal, "1.50", "1.51", false),
      (.decimal, "-0.0", "0", true), (.dateTimeOffset, "2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00.000Z", true),
      (.dateTimeOffset, "2026-05-01T12:00:00+02:00", "2026-05-01T12:00:00Z", false),
      (.dateTime, "2026-05-01T12:00", "2026-05-01T12:00:00.0", true),
      (.dateTime, "2026-05-01T12:00:00", "2026-05-01T12:00:01", false), (.duration, "PT60M", "PT1H", true),
      (.duration, "PT1.50S", "PT1.5S", true), (.duration, "PT60M", "-PT1H", false), (.string, "1.50", "1.5", false),
      (.string, "PT60M", "PT1H", false), (.decimal, "damaged", "damaged", true), (.decimal, "damaged", "other", false),
    ])
  func spellings(storage: ColumnStorage, one: String, other: String, isEqual: Bool) {
    #expect((ComparedValue(.text(one), storage) == ComparedValue(.text(other), storage)) == isEqual)
    // Unlike their texts, the NULLs of all columns are equal.
    #expect(ComparedValue(.null, storage) == ComparedValue(.null, nil))
  }

  @Test("A creation that sets a foreign key alone is recognized in a download")
  func foreignKeyAlone() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Order_ID", .int32(1))]), in: "Items")
    try await rig.lose()
    // An item of another order is not the one that was created.
    rig.service.change { $0.sets["Items"]?[900] = .init(values: ["ID": "900", "Order_ID": "2"]) }
    try await rig.store.download()
    #expect(try await arrivals(rig) == [true])
    rig.service.change { $0.sets["Items"]?[1000] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect([report.sent, report.failed, report.pending] == [0, 1, 0], "\(report)")
    #expect(try await rig.failures() == [.unknownOutcome])
    #expect(rig.service.log == ["POST Items(1000)"])
  }

  @Test(
    "A creation of a foreign key alone does not take a row that another client may have created",
    arguments: [true, false], [true, false])
  func foreignKeyOfAnother(isTheirs: Bool, hasText: Bool) async throws {
    let rig = try await UploadRig()
    var properties = [ODataProperty("Order_ID", .int32(1))]
    if hasText { properties.append(ODataProperty("Text", .string(""))) }
    try await rig.store.create(ODataEntity(properties: properties), in: "Items")
    try await rig.lose()
    // The creation did not reach the service.
    rig.service.change { state in
      let theirs = state.sets["Items"]?.removeValue(forKey: 1000)
      if isTheirs { state.sets["Items"]?[900] = theirs.map { .init(values: $0.values.merging(["ID": "900"]) { $1 }) } }
    }
    let report = try await rig.store.upload()
    #expect([report.sent, report.failed, report.pending] == (isTheirs ? [0, 1, 0] : [1, 0, 0]), "\(report)")
    #expect(try await rig.failures() == (isTheirs ? [.unknownOutcome] : []))
    #expect(rig.service.log == (isTheirs ? ["POST Items(1000)"] : ["POST Items(1000)", "POST Items(1001)"]))
  }

  @Test("A creation of a foreign key alone with a later text does not take a row that has the foreign key alone")
  func foreignKeyWithLaterText() async throws {
    let rig = try await UploadRig()
    // A filter for such a long text is not sent.
    let text = String(repeating: "distinctive ", count: 20)
    let item = try await rig.create("Items", key: -1, ["Order_ID": .int32(1)])
    try await rig.update(item.row, ["Text": .string(text)], unit: item.id)
    try await rig.lose()
    // The transaction did not reach the service.
    rig.service.change { state in
      state.sets["Items"]?[1000] = nil
      state.sets["Items"]?[900] = .init(values: ["ID": "900", "Order_ID": "1"])
    }
    let report = try await rig.store.upload()
    #expect(report.sent == 0 && report.failed == 2, "\(report)")
    #expect(try await rig.rows("SELECT ID FROM {Items} WHERE Text = '\(text)'") != ["900"])
  }

  @Test("Of two creations that differ in their foreign key alone, the one that has arrived is recognized in a download")
  func otherForeignKey() async throws {
    let rig = try await UploadRig()
    for order in [Int32(1), 2] {
      let properties = [ODataProperty("Order_ID", .int32(order)), ODataProperty("Text", .string("same"))]
      try await rig.store.create(ODataEntity(properties: properties), in: "Items")
    }
    try await rig.lose()
    // The first one did not reach the service.
    rig.service.change { $0.sets["Items"]?[1000] = nil }
    try await rig.store.download()
    #expect(try await arrivals(rig) == [false, true])
    rig.service.change { $0.sets["Items"]?[1001] = nil }
    try await rig.store.download()
    let report = try await rig.store.upload()
    #expect([report.sent, report.failed, report.pending] == [1, 1, 0], "\(report)")
    #expect(try await rig.failures() == [.unknownOutcome])
    #expect(rig.service.log == ["POST Items(1000)", "POST Items(1001)", "POST Items(1002)"])
    #expect(rig.service.entities("Items")[1002]?.values["Order_ID"] == "1")
  }

  @Test(
    "A creation is recognized in a download if its foreign key is a local key, but not if the client set another one",
    arguments: [-1, 70])
  func localForeignKey(orderKey: Int) async throws {
    let rig = try await UploadRig()
    let order = try await rig.create("Orders", key: orderKey, ["Name": .string("made")])
    try await rig.create(
      "Items", key: -2, ["Text": .string("made")], order: order.row, orderKey: orderKey, unit: order.id,
      after: [order.id])
    try await rig.lose()
    if orderKey > 0 {
      // The service has the item that is like it with another order.
      rig.service.change { state in
        for key in state.sets["Items"]?.keys.map(\.self) ?? [] { state.sets["Items"]?[key]?.values["Order_ID"] = "3" }
      }
    }
    try await rig.store.download()
    #expect(try await arrivals(rig) == (orderKey < 0 ? [true, true] : [false, false]))
  }

  @Test("Rows are found for many creations with a look-up for each set of columns, in the order of the rows")
  func arrivalIndex() {
    let (text, order) = (ComparedValue.cell(.text("same")), ComparedValue.cell(.integer(1)))
    func creation(
      _ request: Int64, newcomers: Int64, _ content: [String: ComparedValue]
    ) -> (creation: ArrivalIndex.Creation, contents: Set<[String: ComparedValue]>) {
      (ArrivalIndex.Creation(request: request, newcomers: newcomers), [content])
    }
    let equals = (Int64(1)...2000).map { creation($0, newcomers: 10 + $0, ["Text": text]) }
    var index = ArrivalIndex(equals + [creation(3000, newcomers: 5, ["Text": text, "Order_ID": order])])
    #expect(index.columns == ["Order_ID", "Text"] && !index.isDone)
    // It is older than all creations of its content.
    #expect(index.creation(of: 7, ["Text": text, "Order_ID": .cell(.null)]) == nil)
    // It has more in common with the last creation than with the others.
    #expect(index.creation(of: 2500, ["Text": text, "Order_ID": order])?.request == 3000)
    for request in Int64(1)...2000 {
      #expect(index.creation(of: 2500 + request, ["Text": text, "Order_ID": order])?.request == request)
    }
    #expect(index.isDone && index.creation(of: 9000, ["Text": text, "Order_ID": order]) == nil)
  }
}
