import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Entities that are created with another entity stay", .timeLimit(.minutes(1)))
struct DeepInsertedEntityTests {
  private typealias Behavior = DeepService.Behavior

  /// A store of the service, and its service.
  private struct Rig {
    let service: DeepService
    let folder: TemporaryFolder
    let store: OfflineODataProvider

    init(
      _ behavior: DeepService.Behavior, sets: [String] = ["Orders", "Items", "Notes", "Tags"],
      queries: [OfflineODataDefiningQuery] = []
    ) async throws {
      service = DeepService(behavior)
      service.change { state in
        state.sets["Tags"] = [1: ["ID": "1"], 2: ["ID": "2"]]
        state.sets["Orders"] = [1: ["ID": "1", "Name": "\"known\""]]
        state.sets["Items"] = [2: ["ID": "2", "Order_ID": "1", "Text": "\"ONE\""]]
      }
      folder = try TemporaryFolder()
      store = try UploadRig.provider(folder, service)
      for set in sets {
        try await store.add(OfflineODataDefiningQuery(set.lowercased(), set))
      }
      for query in queries { try await store.add(query) }
      try await store.open()
    }

    func upload() async throws -> OfflineODataUploadReport {
      try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }

    func read(_ path: String) async throws -> JSONNode {
      var options = OfflineODataResultOptions(version: .v401)
      options.metadata = .none
      return try JSONNode(try await store.readJSON(path, options: options).bytes)
    }

    /// `text key foreign key` of each row that was not there from the beginning, by their texts.
    func rows(_ set: String, _ foreign: String) async throws -> [(text: String, key: Int, foreign: Int)] {
      try await read("\(set)?$filter=ID ne 2&$orderby=Text")["value"]?.items?.map { row in
        (
          row["Text"]?.string?.lowercased() ?? "", Int(row["ID"]?.text ?? "") ?? 0, Int(row[foreign]?.text ?? "") ?? 0
        )
      } ?? []
    }
  }

  private static func entity(_ name: String, _ text: String, _ links: [ODataNavigationLink] = []) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(name, .string(text))], navigationLinks: links)
  }

  private static func link(_ name: String, _ entities: [ODataEntity]) -> ODataNavigationLink {
    ODataNavigationLink(name: name, content: .collection(ODataEntityCollection(entities: entities)))
  }

  private static var order: ODataEntity {
    entity(
      "Name", "deep",
      [
        link(
          "Items",
          [
            entity("Text", "one", [link("Notes", [entity("Text", "a"), entity("Text", "b")])]),
            entity("Text", "two", [link("Notes", [entity("Text", "c")])]),
          ])
      ])
  }

  /// Services that return their keys in some form.
  private static let reporting: [Behavior] = [false, true].flatMap { isV2 -> [Behavior] in
    [
      Behavior(isV2: isV2, response: .whole), Behavior(isV2: isV2), Behavior(isV2: isV2, response: .nothing),
      Behavior(isV2: isV2, expands: false), Behavior(isV2: isV2, response: .nothing, expands: false),
      Behavior(isV2: isV2, capitalizes: true), Behavior(isV2: isV2, expands: false, capitalizes: true),
      Behavior(isV2: isV2, isElsewhere: true), Behavior(isV2: isV2, response: .nothing, isElsewhere: true),
    ]
  }

  @Test(
    "If the service shows them in any form, they have its keys, and the local paths lead to them",
    arguments: reporting)
  func reported(behavior: DeepService.Behavior) async throws {
    let rig = try await Rig(behavior)
    _ = try await rig.store.create(Self.order, in: "Orders")
    let before = (try await rig.rows("Items", "Order_ID"), try await rig.rows("Notes", "Item_ID"))
    #expect(before.0.map(\.text) == ["one", "two"] && before.1.map(\.text) == ["a", "b", "c"])
    let report = try await rig.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report) \(rig.service.now.requests)")
    let after = (try await rig.rows("Items", "Order_ID"), try await rig.rows("Notes", "Item_ID"))
    #expect(after.0.map(\.text) == ["one", "two"] && after.1.map(\.text) == ["a", "b", "c"])
    #expect(after.0.map(\.key) == [101, 104] && after.0.map(\.foreign) == [100, 100], "\(after.0)")
    #expect(after.1.map(\.key) == [102, 103, 105] && after.1.map(\.foreign) == [101, 101, 104], "\(after.1)")
    for (set, rows, now) in [("Items", before.0, after.0), ("Notes", before.1, after.1)] {
      for (old, new) in zip(rows, now) {
        #expect(try await rig.read("\(set)(\(old.key))")["ID"]?.text == "\(new.key)")
      }
    }
    try await rig.store.download()
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101, 104])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.key) == [102, 103, 105])
  }

  /// Services that do not show them before a download.
  private static let silent: [Behavior] =
    [false, true].flatMap { isV2 -> [Behavior] in
      [
        Behavior(isV2: isV2, expands: false, navigates: false),
        Behavior(isV2: isV2, response: .nothing, expands: false, navigates: false),
        Behavior(isV2: isV2, expands: false, navigates: false, capitalizes: true),
      ]
    } + [Behavior(expands: false, navigates: false, tracksChanges: true)]

  @Test(
    "Where the service shows them nowhere, they stay as they are here until a download brings them", arguments: silent)
  func unreported(behavior: DeepService.Behavior) async throws {
    let rig = try await Rig(behavior)
    _ = try await rig.store.create(Self.order, in: "Orders")
    let before = try await rig.rows("Items", "Order_ID")
    _ = try await rig.upload()
    let keys = try await rig.rows("Items", "Order_ID")
    #expect(keys.map(\.text) == ["one", "two"] && keys.map(\.key) == before.map(\.key), "\(keys)")
    #expect(keys.map(\.foreign) == [100, 100])
    #expect(try await rig.rows("Notes", "Item_ID").count == 3)
    #expect(try await rig.read("Orders(100)/Items/$count").text == "2")
    // A change of one waits until its key is known.
    try await rig.store.update("Items(\(before[1].key))", to: Self.entity("Text", "three"))
    let early = try await rig.upload()
    #expect(early.sent == 0 && early.failed == 0 && early.pending == 1, "\(early)")
    try await rig.store.download()
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101, 104])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.key) == [102, 103, 105])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.foreign) == [101, 101, 104])
    for (old, key) in zip(before, [101, 104]) {
      #expect(try await rig.read("Items(\(old.key))")["ID"]?.text == "\(key)")
    }
    #expect(try await rig.upload().sent == 1)
    #expect(rig.service.now.sets["Items"]?[104]?["Text"] == "\"three\"")
    try await rig.store.download()
    #expect(try await rig.rows("Items", "Order_ID").count == 2)
    #expect(try await rig.store.hasPendingChanges() == false)
  }

  @Test("One whose response was lost is found with the entities created with it", arguments: [true, false])
  func lost(expands: Bool) async throws {
    let rig = try await Rig(Behavior(expands: expands))
    _ = try await rig.store.create(Self.order, in: "Orders")
    let before = try await rig.rows("Items", "Order_ID")
    rig.service.change { $0.losesNext = true }
    await #expect(throws: OfflineODataError.self) { try await rig.upload() }
    let report = try await rig.upload()
    #expect(report.sent == 1 && rig.service.now.sets["Orders"]?.count == 2, "\(report)")
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101, 104])
    #expect(try await rig.read("Items(\(before[0].key))")["ID"]?.text == "101")
  }

  @Test(
    "One that was rejected with 406 and created is found with the entities created with it", arguments: [true, false])
  func notAcceptable(expands: Bool) async throws {
    let rig = try await Rig(Behavior(expands: expands))
    _ = try await rig.store.create(Self.order, in: "Orders")
    rig.service.change { $0.isNextUnacceptable = true }
    let report = try await rig.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101, 104])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.key) == [102, 103, 105])
  }

  @Test(
    "What another client deleted before its key was known goes with the next download", arguments: [true, false],
    [true, false])
  func deletedMeanwhile(expands: Bool, tracksChanges: Bool) async throws {
    let rig = try await Rig(Behavior(response: .nothing, expands: expands, tracksChanges: tracksChanges))
    _ = try await rig.store.create(Self.order, in: "Orders")
    rig.service.change { $0.losesNext = true }
    await #expect(throws: OfflineODataError.self) { try await rig.upload() }
    rig.service.change { state in
      state.sets["Items"]?[104] = nil
      state.sets["Notes"]?[105] = nil
    }
    let report = try await rig.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    try await rig.store.download()
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101])
    let notes = try await rig.rows("Notes", "Item_ID")
    #expect(notes.map(\.key) == [102, 103], "\(notes)")
  }

  @Test("What another client deleted before a query reads its set goes with the first download of the query")
  func deletedBeforeQuery() async throws {
    let rig = try await Rig(Behavior(expands: false, navigates: false), sets: ["Orders"])
    let items = [Self.entity("Text", "one"), Self.entity("Text", "two")]
    _ = try await rig.store.create(Self.entity("Name", "deep", [Self.link("Items", items)]), in: "Orders")
    #expect(try await rig.upload().sent == 1)
    try await rig.store.download()
    try await rig.store.add(OfflineODataDefiningQuery("orders again", "Orders"))
    try await rig.store.download()
    rig.service.change { $0.sets["Items"]?[102] = nil }
    try await rig.store.add(OfflineODataDefiningQuery("items", "Items"))
    try await rig.store.download()
    try await rig.store.download()
    let rows = try await rig.rows("Items", "Order_ID")
    #expect(rows.map(\.key) == [101] && rows.map(\.text) == ["one"], "\(rows)")
  }

  @Test(
    "What another client deleted before its key was known, and what has pending changes, fails with the next upload",
    arguments: [true, false], [true, false])
  func changedAndDeletedMeanwhile(isDeletion: Bool, tracksChanges: Bool) async throws {
    let rig = try await Rig(Behavior(expands: false, navigates: false, tracksChanges: tracksChanges))
    _ = try await rig.store.create(Self.order, in: "Orders")
    _ = try await rig.upload()
    let key = try await rig.rows("Items", "Order_ID")[1].key
    if isDeletion {
      try await rig.store.delete("Items(\(key))")
    } else {
      try await rig.store.update("Items(\(key))", to: Self.entity("Text", "three"))
    }
    #expect(try await rig.upload().pending == 1)
    rig.service.change { state in
      state.sets["Items"]?[104] = nil
      state.sets["Notes"]?[105] = nil
    }
    try await rig.store.download()
    let report = try await rig.upload()
    #expect([report.sent, report.failed, report.pending] == [0, 1, 0], "\(report)")
    let failure = try #require(try await rig.read("ErrorArchive")["value"]?.items?.first)
    #expect(failure["Message"]?.string?.contains("the service no longer has the entity") == true, "\(failure)")
    #expect(rig.service.now.requests.allSatisfy { $0.hasPrefix("GET ") || $0.hasPrefix("POST Orders") })
    let request = try #require(failure["RequestID"]?.text.flatMap { Int64($0) })
    #expect(try await rig.store.retry(request) == 1)
    #expect(try await rig.upload().failed == 1)
    try await rig.store.discard(request)
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.key) == [102, 103])
    #expect(try await rig.store.hasPendingChanges() == false)
  }

  @Test(
    "What a query does not contain stays until another query brings it, though it contains what was made with it",
    arguments: [true, false])
  func besideFiltered(isChanged: Bool) async throws {
    let query = OfflineODataDefiningQuery("mine", "Items?$filter=Text eq 'one'")
    let rig = try await Rig(Behavior(expandsFirst: true, navigates: false), queries: [query])
    let notes = Self.link("Notes", [Self.entity("Text", "a")])
    let items = [Self.entity("Text", "one"), Self.entity("Text", "two", [notes])]
    _ = try await rig.store.create(Self.entity("Name", "deep", [Self.link("Items", items)]), in: "Orders")
    #expect(try await rig.upload().sent == 1)
    let key = try await rig.rows("Items", "Order_ID")[1].key
    if isChanged { try await rig.store.update("Items(\(key))", to: Self.entity("Text", "two again")) }
    try await rig.store.download(["mine"])
    let keys = try await rig.rows("Items", "Order_ID")
    #expect(keys.map(\.key) == [101, key], "\(keys)")
    #expect(try await rig.rows("Notes", "Item_ID").map(\.foreign) == [key])
    let early = try await rig.upload()
    #expect([early.sent, early.failed, early.pending] == [0, 0, isChanged ? 1 : 0], "\(early)")
    try await rig.store.download()
    #expect(try await rig.rows("Items", "Order_ID").map(\.key) == [101, 102])
    #expect(try await rig.rows("Notes", "Item_ID").map(\.foreign) == [102])
    #expect(try await rig.read("Items(\(key))")["ID"]?.text == "102")
    #expect(try await rig.upload().sent == (isChanged ? 1 : 0))
    #expect(rig.service.now.sets["Items"]?[102]?["Text"] == (isChanged ? "\"two again\"" : "\"two\""))
  }

  @Test("What is bound in a deep insert stays bound", arguments: [true, false])
  func bound(expands: Bool) async throws {
    let rig = try await Rig(Behavior(expands: expands))
    var order = Self.order
    var tags = ODataNavigationLink(name: "Tags")
    tags.bindings = ["Tags(1)", "Tags(2)"]
    order.navigationLinks.append(tags)
    _ = try await rig.store.create(order, in: "Orders")
    _ = try await rig.upload()
    #expect(rig.service.now.tags[100] == [1, 2])
    let shown = try await rig.read("Orders(100)?$expand=Tags,Items")
    #expect(shown["Tags"]?.items?.count == 2 && shown["Items"]?.items?.count == 2)
  }

  @Test("A later change of the same transaction hides nothing that it has made")
  func changedLater() async throws {
    let rig = try await UploadRig(.init(isSilent: true))
    var create = ODataSingleRequest.create(
      Self.entity("Name", "deep", [Self.link("Items", [Self.entity("Text", "one")])]), in: "Orders")
    create.contentID = "o"
    let rename = ODataSingleRequest.update("$o", to: Self.entity("Name", "later"))
    _ = try await rig.store.execute(batch: ODataBatchRequest([.changeSet([create, rename])]))
    #expect(try await rig.store.upload().sent == 2)
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3") == ["1000|later"])
    #expect(try await rig.rows("SELECT ID, Order_ID, Text FROM {Items}") == ["1001|1000|one"])
    // Until then, the store remembers that the service did not return the last ETag.
    try await rig.store.download()
    #expect(try await rig.isClean())
  }
}
