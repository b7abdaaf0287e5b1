import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// A store with some defining queries, over a service with all of ``CoverageData``.
final class CoverageRig: Sendable {
  let service: OfflineODataProvider
  private let rig: StoreRig
  private let folder: StoreRig
  private let opened: Mutex<OfflineODataProvider>

  var store: OfflineODataProvider { opened.withLock { $0 } }

  init(_ queries: [String]) async throws {
    (folder, service) = try await CoverageData.whole.store()
    rig = try StoreRig("http://h/s/")
    opened = Mutex(try await Self.open(queries, rig, service))
  }

  private static func open(
    _ queries: [String], _ rig: StoreRig, _ service: OfflineODataProvider
  ) async throws -> OfflineODataProvider {
    let store = try rig.provider(transport: CoverageData.Service(store: service))
    for (number, query) in queries.enumerated() {
      try await store.add(OfflineODataDefiningQuery("q\(number + 1)", query))
    }
    try await store.open()
    return store
  }

  /// Opens the same file with changed defining queries.
  func reopen(_ queries: [String]) async throws {
    try await store.close()
    let store = try await Self.open(queries, rig, service)
    opened.withLock { $0 = store }
  }

  func close() async throws {
    try await store.close()
    try await service.close()
  }

  /// The error of a read; nil if it succeeds.
  func error(_ path: String) async -> OfflineODataError? {
    do {
      _ = try await store.readJSON(path)
      return nil
    } catch { return error as? OfflineODataError ?? OfflineODataError(below: error) }
  }
}

@Suite("Offline store: reads of missing data", .timeLimit(.minutes(2)))
struct CoverageReadTests {
  /// Reads with certain defining queries: a part of each result, or of the error's message.
  struct Example: Sendable, CustomStringConvertible {
    let queries: [String]
    /// Reads that fail with `notDownloaded`, and a part of the message.
    var missing: [(path: String, words: String)] = []
    /// Reads that succeed, and a part of the result.
    var successes: [(path: String, words: String)] = []

    var description: String { queries.joined(separator: " & ") }
  }

  static let examples: [Example] = [
    // A set that no defining query covers.
    Example(
      queries: ["Orders"],
      missing: [
        ("Tags", "'Tags' would"), ("Tags/$count", "'Tags'"), ("Tags(1)", "'Tags'"), ("Me", "'Me'"), ("Me/Name", "'Me'"),
        ("Products?$filter=ID eq 1", "'Products'"), ("$crossjoin(Orders,Tags)", "'Tags'"),
        ("Orders?$filter=$root/Tags(1)/Name eq 'T1'", "'Tags'"), ("Tags?$apply=aggregate($count as N)", "'Tags'"),
        ("Orders(1)/Customer", "'Customers'"), ("Orders?$expand=Customer", "'Customers'"),
        ("Orders?$filter=Customer/Name eq 'C1'", "'Customers'"), ("$entity?$id=Tags(1)", "'Tags'"),
      ],
      successes: [
        ("Orders(4)/Customer", ""), ("Orders/$count", "4"),
        ("Orders?$filter=CustomerID eq 2&$count=true", "@odata.count\":2"),
      ]),
    // A link that was never downloaded.
    Example(
      queries: ["Orders", "Tags", "Customers", "Products"],
      missing: [
        ("Orders(1)/Items", "'Orders?$expand=Items' would"), ("Orders(1)/Items(1)", "Orders?$expand=Items"),
        ("Orders(1)/Items/$count", "Orders?$expand=Items"), ("Orders?$expand=Items", "Orders?$expand=Items"),
        ("Orders?$filter=Items/any()", "Orders?$expand=Items"),
        ("Orders?$filter=Items/all(i:i/No gt 5)", "$expand=Items"),
        ("Orders?$orderby=Items/$count", "$expand=Items"), ("Orders?$filter=Items/$count eq 0", "$expand=Items"),
        ("Orders?$apply=aggregate(Items/$count as N)", "$expand=Items"), ("Orders?$expand=*", "$expand="),
        ("Orders?$compute=Tags/$count as N&$select=ID,N", "$expand=Tags"), ("Orders(1)/Tags/$ref", "$expand=Tags"),
        ("Orders?$expand=Tags/$count", "$expand=Tags"), ("Orders?$expand=Tags/$ref", "$expand=Tags"),
        ("Tags(1)/Orders", "Tags?$expand=Orders"), ("Customers(2)/Boss", "Customers?$expand=Boss"),
        ("Customers?$filter=Boss/Name eq 'C1'", "$expand=Boss"), ("Customers?$filter=Boss eq null", "$expand=Boss"),
        ("Customers(1)?$expand=Reports($levels=2)", "$expand=Reports"), ("Customers?$orderby=Boss/ID", "$expand=Boss"),
        ("Products(2)/N.Special/Best", "Products?$expand=N.Special/Best"),
        ("Products?$filter=N.Special/Best/ID eq 1", "N.Special/Best"), ("Tags(1)/Orders(1)", "Tags?$expand=Orders"),
        ("Orders?$filter=Tags/any(t:t/Name eq 'T1')", "$expand=Tags"), ("Orders(1)/Tags(1)/Name", "$expand=Tags"),
      ],
      successes: [
        ("Orders(1)/Customer", "C1"), ("Customers(2)/Orders?$orderby=ID", "n3"),
        ("Orders?$filter=Customer/Name eq 'C1'", "n1"),
        ("Customers?$filter=Orders/any(o:o/ID eq 3)", "C2"), ("Products(2)/N.Special/Discount", "5"),
        ("Customers?$filter=Orders/$count eq 2", "C2"), ("Orders(99)/Items", "404"),
      ]),
    // Downloaded, and empty.
    Example(
      queries: ["Orders?$expand=Items($expand=Notes),Tags", "Customers?$expand=Boss"],
      missing: [("Customers(1)/Orders(9)/Items", "404")],
      successes: [
        ("Orders(2)/Items", "[]"), ("Orders(2)/Tags", "[]"), ("Orders(2)/Items/$count", "0"), ("Customers(1)/Boss", ""),
        ("Customers(1)/Reports?$orderby=ID", "C3"), ("Tags(1)/Orders", "n1"), ("Orders(1)/Items(2)/Notes", "[]"),
        ("Tags", "T1"), ("Orders(1)/Items(7)", "404"),
      ]),
    // A property that the `$select` leaves out.
    Example(
      queries: ["Orders?$select=ID,Status", "Customers?$select=ID,City/Zip", "Tags?$expand=Orders($select=ID)"],
      missing: [
        ("Orders?$filter=Note eq 'n1'", "add 'Note' to it"), ("Orders?$filter=not (Note eq 'n1')", "q1"),
        ("Orders?$orderby=Note", "Note"), ("Orders?$compute=length(Note) as L", "Note"), ("Orders(1)/Note", "Note"),
        ("Orders(1)/Note/$value", "Note"), ("Orders?$apply=groupby((Note))", "Note"),
        ("Orders?$filter=Note eq null", "Note"),
        ("Orders?$apply=aggregate(Total with sum as T)", "Total"), ("Orders?$search=n1", "Note"),
        ("Tags?$filter=Orders/any(o:o/Note eq 'n1')", "Note"), ("Orders(1)/Customer", "CustomerID"),
        ("Customers?$filter=City/Street eq 'S1'", "City/Street"), ("Customers(1)/City/Street", "City/Street"),
        ("Customers?$filter=Name eq 'C1'", "Name"), ("Customers(1)/Orders", "CustomerID"),
        ("Orders?$apply=concat(identity,aggregate($count as N))", "Orders/"),
      ],
      successes: [
        ("Orders?$filter=Status eq 1&$orderby=ID", #"[{"ID":1,"Status":1},{"ID":3,"Status":1}]"#),
        ("Orders(2)", #""ID":2,"Status":2}"#), ("Orders?$select=ID,Note&$top=1", #"[{"ID":1}]"#),
        ("Customers(2)", #""ID":2,"City":{"Zip":50}}"#), ("Customers(2)/City", #""Zip":50}"#),
        ("Customers?$filter=City/Zip gt 40&$orderby=ID&$select=ID", #"[{"ID":2},{"ID":4}]"#),
        ("Tags(1)?$expand=Orders", #""Orders":[{"ID":1,"Status":1}]"#),
        ("Orders?$filter=CustomerID eq 1", "CustomerID"),
      ].filter { $0.0 != "Orders?$filter=CustomerID eq 1" }),
    // Some rows have the property and others do not: the rows that are read decide.
    Example(
      queries: ["Orders?$filter=Status eq 1&$expand=Items", "Orders?$filter=Status eq 2&$select=ID,Status"],
      missing: [
        ("Orders(2)/Items", "$expand=Items"), ("Orders?$expand=Items", "$expand=Items"),
        ("Orders?$filter=Items/any()", "Items"),
        ("Orders?$filter=Note eq 'n1'", "q2"), ("Orders(4)/Note", "Note"), ("Orders?$orderby=Note", "Note"),
      ],
      successes: [
        ("Orders(1)/Items?$select=No", #"{"No":1},{"No":2}"#), ("Orders(1)/Note", "n1"),
        (
          "Orders?$filter=Status eq 1&$expand=Items($select=No)&$orderby=Note desc&$select=ID",
          #"{"ID":3,"Items":[{"No":1}]}"#
        ),
        ("Orders?$filter=Status eq 1 and Items/any(i:i/Text eq 'x')&$select=ID", #"[{"ID":3}]"#),
        ("Orders?$filter=Items/any(i:i/Text eq 'x') and Status eq 1&$select=ID", #"[{"ID":3}]"#),
        ("Orders?$orderby=ID&$select=ID,Note", #"[{"ID":1,"Note":"n1"},{"ID":2},{"ID":3,"Note":"n3"},{"ID":4}]"#),
      ]),
    // One query reaches the rows of a set by two routes.
    Example(
      queries: ["Customers?$filter=ID ge 3&$expand=Boss", "Products(2)?$expand=N.Special/Best"],
      missing: [
        ("Customers(1)/Boss", "Boss"), ("Customers?$expand=Boss", "Boss"), ("Customers?$filter=Boss eq null", "Boss"),
      ],
      successes: [
        ("Customers(3)/Boss", "C1"), ("Customers?$filter=ID ge 3&$expand=Boss", "C1"),
        ("Products(2)/N.Special/Best", "P1"),
        ("Customers(3)?$expand=Boss($select=ID)&$select=ID", #""ID":3,"Boss":{"ID":1}}"#),
      ]),
    Example(
      queries: ["Customers(1)?$expand=Reports($levels=2)", "Me"],
      missing: [("Customers(4)/Reports", "Reports"), ("Me/Boss", "Me?$expand=Boss")],
      successes: [
        ("Customers(1)/Reports?$orderby=ID&$select=ID", #"[{"ID":2},{"ID":3}]"#), ("Me/Name", "M"),
        ("Customers(2)/Boss", "C1"),
        ("Customers(1)?$expand=Reports($levels=2;$select=ID)&$select=ID", #"{"ID":4}"#),
      ].filter { $0.0 != "Customers(1)?$expand=Reports($levels=2;$select=ID)&$select=ID" }),
    Example(
      queries: ["Customers(1)?$expand=Reports($levels=max)"],
      successes: [
        ("Customers(4)/Reports", "[]"), ("Customers?$filter=Reports/any(r:r/ID eq 4)&$select=ID", #"[{"ID":2}]"#),
      ]),
    // Contained entities of one entity only.
    Example(
      queries: ["Orders", "Orders(1)/Items"],
      missing: [
        ("Orders(3)/Items", "Items"), ("Orders?$expand=Items", "Items"), ("Orders(1)/Items(1)/Notes", "Notes"),
      ],
      successes: [("Orders(1)/Items?$select=No", #"[{"No":1},{"No":2}]"#), ("Orders(1)/Items(1)/Text", "a")]),
    // References, and counts.
    Example(
      queries: ["Tags", "Orders?$expand=Tags/$ref", "Customers?$expand=*"],
      missing: [("Orders(1)/Items", "Items")],
      successes: [
        ("Orders(1)/Tags?$orderby=ID&$select=ID", #"[{"ID":1},{"ID":2}]"#), ("Tags(4)/Orders", "[]"),
        ("Customers(4)/Boss", "C2"),
        ("Tags?$filter=Orders/$count eq 2&$select=ID", #"[{"ID":2}]"#),
      ]),
  ]

  @Test(
    "downloaded data is returned, other data is an error that names it",
    arguments: examples.indices)
  func example(_ number: Int) async throws {
    let example = Self.examples[number]
    let rig = try await CoverageRig(example.queries)
    for (path, words) in example.missing {
      let error = await rig.error(path)
      let name: OfflineODataErrorName = words == "404" ? .entityNotFound : .notDownloaded
      #expect(error?.name == name, "\(example): \(path): \(error.debugDescription)")
      if words != "404" { #expect(error?.errorMessage.contains(words) == true, "\(path): \(error.debugDescription)") }
    }
    for (path, words) in example.successes {
      if words == "404" {
        let error = await rig.error(path)
        #expect(error?.name == .entityNotFound, "\(example): \(path): \(error.debugDescription)")
        continue
      }
      do {
        let text = try await rig.store.text(path)
        #expect(words.isEmpty ? text.isEmpty : text.contains(words), "\(example): \(path): \(text)")
      } catch { Issue.record("\(example): \(path): \(error)") }
    }
    try await rig.close()
  }

  // MARK: Created here

  private func tag(_ id: Int32) -> ODataEntity {
    ODataEntity(properties: [ODataProperty("ID", .int32(id)), ODataProperty("Name", .string("own"))])
  }

  @Test(
    "a change that needs missing data fails like a read of its path, and names a query that would include it",
    arguments: [
      (["Orders", "Tags", "Customers", "Products"], "Orders(1)/Items(1)", "'Orders?$expand=Items' would"),
      (["Orders", "Tags", "Customers", "Products"], "Customers(2)/Boss", "Customers?$expand=Boss"),
      (["Orders", "Tags", "Customers", "Products"], "Customers(2)/Boss/Name", "Customers?$expand=Boss"),
      (["Orders"], "Orders(1)/Customer", "'Customers'"), (["Orders"], "Tags(1)", "'Tags' would"),
      (["Orders?$select=ID,Status", "Customers"], "Orders(1)/Customer", "CustomerID"),
      (["Orders"], "Orders(99)", "404"), (["Customers?$expand=Boss"], "Customers(1)/Boss", "404"),
    ])
  func change(queries: [String], path: String, words: String) async throws {
    let rig = try await CoverageRig(queries)
    let entity = ODataEntity(properties: [ODataProperty("Name", .string("mine"))])
    let isRight = { @Sendable (error: any Error) -> Bool in
      let error = error as? OfflineODataError
      guard words != "404" else { return error?.name == .entityNotFound }
      return error?.name == .notDownloaded && error?.errorMessage.contains(words) == true
    }
    await #expect { _ = try await rig.store.update(path, to: entity) } throws: { isRight($0) }
    await #expect { _ = try await rig.store.delete(path) } throws: { isRight($0) }
    #expect(try await rig.store.hasPendingChanges() == false)
    try await rig.close()
  }

  @Test("parts of a complex value that different queries select are merged", arguments: [false, true])
  func partsOfComplexValue(isAgain: Bool) async throws {
    let rig = try await CoverageRig(["Customers?$select=ID,City/Zip", "Customers?$select=ID,City/Street"])
    if isAgain { try await rig.store.download(whole: true) }
    let text = try await rig.store.text("Customers(1)/City")
    #expect(text.contains("\"Zip\":5") && text.contains("\"Street\":\"S1\""), "\(text)")
    try await rig.close()
  }

  @Test("local entities of a set that no query covers can be read by key, and as local rows only")
  func createdHere() async throws {
    let rig = try await CoverageRig(["Orders"])
    try await rig.store.create(tag(77), in: "Tags")
    #expect(try await rig.store.text("Tags(77)/Name").contains("own"))
    #expect(try await rig.store.text("Tags(77)/Orders").contains("[]"))
    #expect(await rig.error("Tags(1)")?.name == .notDownloaded)
    for path in ["Tags", "Tags/$count", "Tags?$filter=ID eq 77", "$crossjoin(Tags)"] {
      let error = await rig.error(path)
      #expect(error?.name == .notDownloaded, "\(path)")
      let local = try await rig.store.readJSON(path, options: OfflineODataResultOptions(localRowsOnly: true))
      #expect(!local.bytes.isEmpty, "\(path)")
    }
    #expect(try await rig.store.read([KeyOnly].self, "Tags", localRowsOnly: true) == [KeyOnly(id: 77)])
    #expect(try await rig.store.read([KeyOnly].self, "Orders?$select=ID", localRowsOnly: true) == [])
    #expect(try await rig.store.read(Int.self, "Tags/$count", localRowsOnly: true) == 1)
    let explanation = try await rig.store.explain("Tags", localRowsOnly: true)
    #expect(explanation.isOfLocalRowsOnly)
    #expect(explanation.statements[0].sql.contains("\"@state\" & 1 <> 0"))
    await #expect(throws: OfflineODataError.self) { try await rig.store.explain("Tags") }
    try await rig.close()
  }

  @Test("everything is known of local entities: links that no query downloads, properties that the queries omit")
  func knownHere() async throws {
    let rig = try await CoverageRig(["Orders?$select=ID,Status"])
    var order = ODataEntity(properties: [
      ODataProperty("ID", .int32(50)), ODataProperty("Status", .int32(9)), ODataProperty("Note", .string("mine")),
    ])
    order.navigationLinks = []
    try await rig.store.create(order, in: "Orders")
    try await rig.store.create(
      ODataEntity(properties: [ODataProperty("No", .int32(1)), ODataProperty("Text", .string("own"))]),
      in: "Orders(50)/Items")
    #expect(try await rig.store.text("Orders(50)/Items").contains("own"))
    #expect(try await rig.store.text("Orders(50)/Tags").contains("[]"))
    #expect(try await rig.store.text("Orders(50)").contains("mine"))
    #expect(try await rig.store.text("Orders?$filter=Status eq 9 and Note eq 'mine'").contains("mine"))
    #expect(await rig.error("Orders?$filter=Note eq 'mine'")?.name == .notDownloaded)
    #expect(await rig.error("Orders(1)/Items")?.name == .notDownloaded)
    // A value that a change has set is shown, whatever was downloaded.
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Note", .string("changed"))]))
    #expect(try await rig.store.text("Orders(1)").contains("changed"))
    try await rig.close()
  }

  // MARK: Queries come and go

  @Test("a changed query takes effect once its rows have been downloaded")
  func changedQuery() async throws {
    let rig = try await CoverageRig(["Orders"])
    #expect(await rig.error("Orders(1)/Items")?.name == .notDownloaded)
    try await rig.reopen(["Orders?$expand=Items"])
    #expect(await rig.error("Orders(1)/Items")?.name == .notDownloaded)
    try await rig.store.download()
    #expect(try await rig.store.text("Orders(1)/Items?$select=No").contains(#"[{"No":1},{"No":2}]"#))
    try await rig.store.removeDefiningQuery("q1")
    #expect(await rig.error("Orders")?.name == .notDownloaded)
    try await rig.store.add(OfflineODataDefiningQuery("q2", "Tags"))
    #expect(await rig.error("Tags")?.name == .neverDownloaded)
    #expect(await rig.error("Tags(1)")?.name == .neverDownloaded)
    try await rig.store.create(tag(77), in: "Tags")
    #expect(try await rig.store.text("Tags(77)/Name").contains("own"))
    #expect(await rig.error("Tags?$filter=ID eq 77")?.name == .neverDownloaded)
    try await rig.store.undoAllPendingChanges()
    try await rig.store.download()
    #expect(try await rig.store.text("Tags/$count") == "4")
    try await rig.close()
  }

  @Test("typed values: an omitted property is missing, and missing data fails the read")
  func typed() async throws {
    let rig = try await CoverageRig(["Orders?$select=ID"])
    #expect(try await rig.store.read([NotedOrder].self, "Orders")?.allSatisfy { $0.note == nil } == true)
    await #expect(throws: (any Error).self) { try await rig.store.read([StrictOrder].self, "Orders") }
    let error = await #expect(throws: OfflineODataError.self) {
      try await rig.store.read([FullOrder].self, "Orders?$expand=Items")
    }
    #expect(error?.name == .notDownloaded)
    try await rig.close()
  }

  @Test("a live result waits for the first download, and fails for a set that no query covers")
  func live() async throws {
    let rig = try await CoverageRig(["Orders"])
    var uncovered = try rig.store.live([KeyOnly].self, "Tags").makeAsyncIterator()
    await #expect(throws: OfflineODataError.self) { _ = try await uncovered.next() }
    try await rig.store.add(OfflineODataDefiningQuery("tags", "Tags?$filter=ID gt 99"))
    var live = try rig.store.live([KeyOnly].self, "Tags").makeAsyncIterator()
    async let downloaded = rig.store.download()
    let first = try await live.next()
    #expect(first == .some([]))
    _ = try await downloaded
    try await rig.close()
  }
}

private struct KeyOnly: Decodable, Sendable, Equatable {
  let id: Int
  enum CodingKeys: String, CodingKey { case id = "ID" }
}

private struct NotedOrder: Decodable, Sendable {
  let note: String?
  enum CodingKeys: String, CodingKey { case note = "Note" }
}

private struct StrictOrder: Decodable, Sendable {
  let note: String
  enum CodingKeys: String, CodingKey { case note = "Note" }
}

private struct FullOrder: Decodable, Sendable {
  struct Item: Decodable, Sendable {
    let number: Int
    enum CodingKeys: String, CodingKey { case number = "No" }
  }
  let items: [Item]
  enum CodingKeys: String, CodingKey { case items = "Items" }
}
