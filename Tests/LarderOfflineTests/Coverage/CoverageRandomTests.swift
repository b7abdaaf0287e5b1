import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Random copies of a service, read by random queries: the result is that of a complete copy with the same rows, or an error
/// for missing data.
@Suite("Offline store: random queries over random defining queries", .timeLimit(.minutes(5)))
struct CoverageRandomTests {
  private static let queries: [[String]] = [
    [
      "Customers", "Customers?$select=ID,Name", "Customers?$filter=ID le 2", "Customers?$expand=Orders",
      "Customers?$expand=Boss", "Customers?$filter=ID ge 3&$expand=Boss", "Customers(1)?$expand=Reports($levels=2)",
      "Customers(2)?$expand=Reports", "Customers?$select=ID,City", "Customers?$expand=*", "Customers?$top=2",
      "Customers?$filter=ID ge 2&$expand=Boss($select=ID)", "Customers?$filter=ID eq 1&$expand=Reports($levels=max)",
    ],
    [
      "Orders", "Orders?$select=ID,Status", "Orders?$select=CustomerID,Note",
      "Orders?$filter=Status eq 1&$expand=Items",
      "Orders?$filter=Status eq 2", "Orders?$expand=Items($expand=Notes)", "Orders?$expand=Tags",
      "Orders(3)?$expand=Tags",
      "Orders?$expand=Customer($select=ID)", "Orders?$expand=Items($select=No,Text),Tags", "Orders(2)",
      "Orders?$select=ID&$expand=Tags($select=ID)", "Orders?$filter=Note ne null&$expand=Customer($expand=Orders,Boss)",
      "Orders?$filter=CustomerID eq 2&$expand=*", "Orders?$expand=Tags($expand=Orders($select=ID))",
    ],
    ["Products", "Products?$select=ID", "Products?$expand=N.Special/Best", "Products/N.Special", "Products(2)"],
    ["Tags", "Tags?$expand=Orders", "Tags?$filter=ID le 2&$expand=Orders($select=ID,Status)", "Tags?$select=ID"],
    ["Me", "Me?$expand=Boss", "Me?$select=ID"],
  ]

  private static let filters: [String: [String]] = [
    "Customers": [
      "Name eq 'C2'", "not (Name eq 'C2')", "City/Zip gt 10", "City/Street ne 'S1'", "City eq null", "Orders/any()",
      "Orders/any(o:o/Status eq 1)", "Boss eq null", "Boss/Name eq 'C1'", "Boss/City/Zip eq 5", "Reports/$count gt 0",
      "Orders/all(o:o/Note eq 'n1')", "ID gt 1 and Name ne null", "Reports/any(r:r/Orders/any())", "Boss/Boss/ID eq 1",
    ],
    "Orders": [
      "Status eq 1", "Note eq 'n1'", "Note ne 'n1'", "not (Note eq 'n1')", "Note eq null", "Customer/Name eq 'C1'",
      "Customer/City/Zip lt 100", "Customer/Boss/ID eq 1", "Customer eq null", "Items/any()", "not Items/any()",
      "Items/all(i:i/Text ne 'x')", "Items/any(i:i/Notes/any())", "Items/any(i:i/Product/Price gt 5)",
      "Tags/any(t:t/Name eq 'T1')", "not Tags/any()", "Tags/$count eq 0", "Items/$count($filter=No gt 1) eq 0",
      "Status eq 1 and Items/any()", "Status eq 2 or Note eq 'n1'", "Total gt 5", "length(Note) eq 2",
      "Note in ('n1','n3')",
      "Tags/any(t:t/Orders/$count eq 1)", "$root/Tags(2)/Name eq 'T2'", "contains(concat(Note,'x'),'n')",
    ],
    "Products": ["Price gt 5", "N.Special/Discount eq 5", "N.Special/Best/ID eq 1", "isof(N.Special)", "Name ne 'P1'"],
    "Tags": [
      "Name eq 'T2'", "Orders/any()", "Orders/all(o:o/Status eq 1)", "Orders/$count eq 2",
      "Orders/any(o:o/Items/any())",
    ],
  ]

  private static let orders: [String: [String]] = [
    "Customers": ["Name", "Boss/Name", "Orders/$count desc", "City/Zip"],
    "Orders": ["Note", "Total desc", "Customer/Name", "Items/$count desc", "Tags/$count"],
    "Products": ["Price desc", "N.Special/Best/Name"], "Tags": ["Name desc", "Orders/$count"],
  ]

  private static let expands: [String: [String]] = [
    "Customers": ["Orders", "Boss", "Reports", "Boss($expand=Boss)", "Orders($expand=Items)", "Orders/$count", "*"],
    "Orders": [
      "Items", "Items($expand=Notes)", "Customer", "Customer($expand=Boss)", "Tags", "Tags/$ref", "Items/$count", "*",
      "Items($filter=Text ne null)", "Tags($expand=Orders)", "Items($expand=Product)", "Customer($filter=Name ne 'C2')",
    ],
    "Products": ["N.Special/Best"], "Tags": ["Orders", "Orders($select=ID;$expand=Items)", "Orders($orderby=Note)"],
  ]

  private static let paths: [String] = [
    "Orders(1)", "Orders(1)/Items", "Orders(1)/Items(1)", "Orders(1)/Items(9)", "Orders(3)/Items(1)/Notes",
    "Orders(1)/Items/$count",
    "Orders(1)/Note", "Orders(3)/Note/$value", "Orders(2)/Customer", "Orders(1)/Customer/Name", "Orders(4)/Customer",
    "Orders(1)/Tags", "Orders(1)/Tags(1)", "Orders(3)/Tags(1)", "Orders(1)/Tags/$ref", "Customers(2)/Boss",
    "Customers(1)/Boss",
    "Customers(2)/Reports", "Customers(2)/Orders", "Customers(2)/City", "Customers(4)/City/Street", "Me", "Me/Boss",
    "Me/Name",
    "Products(2)/N.Special/Best", "$crossjoin(Orders,Tags)", "$entity?$id=Orders(1)", "Orders/$count",
    "Orders?$count=true&$top=1",
    "Tags(2)/Orders", "Tags(2)/Orders/$count", "Tags(2)/Orders(1)/Items", "Orders(3)/Items(1)/Product/Name",
    "Orders?$search=n1",
    "Orders?$apply=groupby((Note),aggregate($count as N))", "Orders?$apply=aggregate(Total with sum as T)",
    "Orders?$apply=filter(Tags/any())/aggregate($count as N)",
    "Orders?$apply=groupby((Customer/Name),aggregate($count as N))",
    "Orders?$apply=aggregate(Items/$count as N)", "Orders?$apply=concat(identity,aggregate($count as N))",
    "Orders?$compute=length(Note) as L&$select=ID,L", "Customers?$apply=groupby((Boss/ID),aggregate($count as N))",
    "Orders?$apply=filter(Status eq 1)/groupby((Note))", "Orders?$apply=compute(Tags/$count as N)/filter(N gt 0)",
    "Customers?$filter=Orders/any(o:o/Tags/any(t:t/ID eq 2))", "Orders/$filter(@f)/$count?@f=Note eq 'n1'",
    "Orders?$apply=topcount(2,Total)", "Orders?$apply=join(Items as I)/aggregate($count as N)",
  ]

  private static func query(_ random: inout PrintedSeed) -> String {
    func pick(_ from: [String]?) -> String { from?.randomElement(using: &random) ?? "" }
    if Bool.random(using: &random) { return pick(paths) }
    let set = pick(["Customers", "Orders", "Orders", "Products", "Tags"])
    var options: [String] = []
    if Int.random(in: 0..<3, using: &random) > 0 {
      let one = pick(filters[set])
      let joined = Int.random(in: 0..<4, using: &random) == 0 ? "(\(one)) and (\(pick(filters[set])))" : one
      options.append("$filter=\(joined)")
    }
    if Int.random(in: 0..<3, using: &random) == 0 { options.append("$orderby=\(pick(orders[set])),ID") }
    if Int.random(in: 0..<3, using: &random) == 0 { options.append("$expand=\(pick(expands[set]))") }
    if Int.random(in: 0..<6, using: &random) == 0 { options.append("$top=2&$count=true") }
    return set + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
  }

  private enum Outcome {
    case json(JSONNode?)
    case error(OfflineODataError)
  }

  private func read(_ store: OfflineODataProvider, _ path: String) async -> Outcome {
    do {
      let bytes = try await store.readJSON(path).bytes
      return .json((try? JSONNode(bytes)) ?? .string(String(decoding: bytes, as: UTF8.self)))
    } catch { return .error(OfflineODataError(below: error)) }
  }

  private static let plain: Set<String> = [
    "Name", "City", "Street", "Zip", "Note", "Total", "CustomerID", "Status", "Text", "ProductID", "Price", "Discount",
  ]

  /// Whether two results are equal, except for properties that the first one omits.
  private func isSame(_ partial: JSONNode?, _ whole: JSONNode?) -> Bool {
    switch (partial, whole) {
    case (.object(let some)?, .object(let all)?):
      let known = Dictionary(all.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
      for member in some where member.name != "@odata.context" {
        guard let other = known[member.name], isSame(member.value, other) else { return false }
      }
      let shown = Set(some.map(\.name))
      return all.allSatisfy { member in
        shown.contains(member.name) || Self.plain.contains(member.name) || member.name.hasPrefix("@odata.")
      }
    case (.array(let some)?, .array(let all)?):
      return some.count == all.count && zip(some, all).allSatisfy { one, other in isSame(one, other) }
    default: return partial == whole
    }
  }

  @Test("the result is that of a complete copy of the same rows, or an error for missing data")
  func random() async throws {
    var random = PrintedSeed(for: "CoverageRandomTests")
    let copies = ProcessInfo.processInfo.environment["LARDER_QUERIES"].flatMap { Int($0) }.map { $0 / 40 } ?? 24
    var counts = (succeeded: 0, rejected: 0, other: 0)
    for number in 1...max(1, copies) {
      var chosen: [String] = []
      for set in Self.queries {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          if let query = set.randomElement(using: &random), !chosen.contains(query) { chosen.append(query) }
        }
      }
      if chosen.contains("Orders"), Bool.random(using: &random) {
        chosen += ["Orders(1)/Items", "Orders(3)/Items?$expand=Notes"]
      }
      let rig = try await CoverageRig(chosen)
      let (folder, same) = try await CoverageData.whole.present(in: rig.store).store()
      for _ in 0..<40 {
        let path = Self.query(&random)
        let (partial, whole) = (await read(rig.store, path), await read(same, path))
        switch (partial, whole) {
        case (.error(let error), _) where error.name == .notDownloaded: counts.rejected += 1
        case (.error(let one), .error(let other)):
          #expect(one.name == other.name, "copy \(number) \(chosen): \(path): \(one) instead of \(other)")
          counts.other += 1
        case (.json(let one), .json(let other)):
          #expect(
            isSame(one, other),
            "copy \(number) \(chosen): \(path): \(one.debugDescription) instead of \(other.debugDescription)")
          counts.succeeded += 1
        case (.error(let error), .json): Issue.record("copy \(number) \(chosen): \(path): \(error)")
        case (.json(let one), .error(let error)):
          // The complete copy lacks a singleton that this one lacks too.
          Issue.record("copy \(number) \(chosen): \(path): \(one.debugDescription) instead of \(error)")
        }
      }
      try await same.close()
      try await rig.close()
      _ = folder
    }
    print("CoverageRandomTests: \(counts)")
    #expect(counts.succeeded > counts.rejected / 4)
  }

  /// The result of a store that does not check what was downloaded.
  private func silent(_ provider: OfflineODataProvider, _ path: String) async throws -> JSONNode? {
    let store = try provider.openStore()
    let bytes = try await store.read { snapshot in
      let model = snapshot.plan.model
      let url = try store.binder(snapshot.plan).bind(try ODataParser(model.version).relativeURL(path), text: path)
      let plan = try QueryWriter(plan: snapshot.plan, state: snapshot.state).plan(url)
      let form = store.form(OfflineODataResultOptions(), model)
      return try ResultRun(plan: plan, url: url, form: form, model: model).json(snapshot.connection).bytes
    }
    return (try? JSONNode(bytes)) ?? .string(String(decoding: bytes, as: UTF8.self))
  }

  @Test("the comparison detects a store that returns incomplete results")
  func silence() async throws {
    let rig = try await CoverageRig([
      "Orders?$select=ID,Status,CustomerID", "Customers?$filter=ID ge 3&$expand=Boss", "Tags",
    ])
    let (folder, same) = try await CoverageData.whole.present(in: rig.store).store()
    var random = PrintedSeed(for: "CoverageRandomTests, silence")
    var paths: Set<String> = []
    for _ in 0..<300 {
      let path = Self.query(&random)
      guard case .json(let truth) = await read(same, path), let stored = try? await silent(rig.store, path) else {
        continue
      }
      if !isSame(stored, truth) {
        paths.insert(path)
        switch await read(rig.store, path) {
        case .json(let storedJSON): #expect(isSame(storedJSON, truth), "\(path)")
        case .error(let error): #expect(error.name == .notDownloaded, "\(path): \(error)")
        }
      }
    }
    #expect(paths.count > 10, "\(paths)")
    try await same.close()
    try await rig.close()
    _ = folder
  }

  @Test("a complete copy rejects no query")
  func whole() async throws {
    var random = PrintedSeed(for: "CoverageRandomTests, whole")
    let rig = try await CoverageRig([
      "Customers?$expand=Boss,Reports", "Orders?$expand=Items($expand=Notes),Tags", "Products?$expand=N.Special/Best",
      "Tags?$expand=Orders", "Me?$expand=Boss,Reports",
    ])
    for _ in 0..<400 {
      let path = Self.query(&random)
      let (stored, truth) = (await read(rig.store, path), await read(rig.service, path))
      switch (stored, truth) {
      case (.json(let one), .json(let other)): #expect(isSame(one, other), "\(path)")
      case (.error(let one), .error(let other)): #expect(one.name == other.name, "\(path): \(one)")
      default: Issue.record("\(path): \(stored) instead of \(truth)")
      }
    }
    try await rig.close()
  }
}
