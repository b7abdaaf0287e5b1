import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

@testable import LarderOffline

/// A V4 service of orders with items, products, customers, regions and tags, which serves queries with `$expand` and
/// returns their changes as OData 4.01 does (Protocol §11.3, JSON Format §15).
final class SharedRowsService: Sendable {
  /// The entities by set and key; their properties but the key.
  struct Content: Sendable, Equatable {
    var sets: [String: [Int: [String: Int?]]] = [
      "Orders": [:], "Items": [:], "Products": [:], "Customers": [:], "Regions": [:], "Tags": [:], "Notes": [:],
    ]
    /// Orders and tags.
    var links: Set<[Int]> = []

    subscript(set: String, id: Int, property: String) -> Int? { sets[set]?[id]?[property] ?? nil }

    /// The entities that a navigation property leads to.
    func related(_ set: String, _ id: Int, _ navigation: String) -> [Int] {
      func of(_ set: String, where property: String) -> [Int] {
        (sets[set] ?? [:]).filter { $0.value[property] == .some(id) }.keys.sorted()
      }
      func to(_ target: String, _ property: String) -> [Int] {
        self[set, id, property].flatMap { sets[target]?[$0] == nil ? nil : [$0] } ?? []
      }
      switch (set, navigation) {
      case ("Orders", "Items"): return of("Items", where: "OrderID")
      case ("Orders", "Customer"): return to("Customers", "CustomerID")
      case ("Orders", "Tags"): return links.filter { $0[0] == id }.map { $0[1] }.sorted()
      case ("Tags", "Orders"): return links.filter { $0[1] == id }.map { $0[0] }.sorted()
      case ("Items", "Order"): return to("Orders", "OrderID")
      case ("Items", "Product"): return to("Products", "ProductID")
      case ("Items", "Notes"): return of("Notes", where: "item")
      case ("Customers", "Region"): return to("Regions", "RegionID")
      default: return []
      }
    }

    mutating func remove(_ set: String, _ id: Int) {
      sets[set]?[id] = nil
      switch set {
      case "Orders": links = links.filter { $0[0] != id }
      case "Tags": links = links.filter { $0[1] != id }
      case "Items": for note in related(set, id, "Notes") { sets["Notes"]?[note] = nil }
      default: break
      }
    }

    mutating func change(_ random: inout PrintedSeed) {
      func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
      for _ in 0..<number(0...5) {
        let order = number(1...6)
        let item = number(1...12)
        switch number(0...13) {
        case 0: remove("Orders", order)
        case 1, 2: sets["Orders"]?[order, default: ["CustomerID": 1]]["Total"] = number(1...9)
        case 3: if sets["Orders"]?[order] != nil { sets["Orders"]?[order]?["CustomerID"] = number(0...3) }
        case 4: remove("Items", item)
        case 5, 6, 7:
          sets["Items"]?[item] = ["OrderID": number(1...6), "ProductID": number(0...4), "Kind": number(1...3)]
        case 8: if sets["Items"]?[item] != nil { sets["Items"]?[item]?["OrderID"] = order }
        case 9: if sets["Items"]?[item] != nil { sets["Items"]?[item]?["ProductID"] = number(0...4) }
        case 10:
          let set = ["Products", "Customers", "Regions", "Tags"][number(0...3)]
          let id = number(1...4)
          if sets[set]?[id] == nil { sets[set]?[id] = ["RegionID": number(1...3)] } else { remove(set, id) }
        case 11: if sets["Customers"]?[order] != nil { sets["Customers"]?[order]?["RegionID"] = number(1...3) }
        case 12:
          let tag = number(1...4)
          guard sets["Orders"]?[order] != nil, sets["Tags"]?[tag] != nil else { continue }
          if links.remove([order, tag]) == nil { links.insert([order, tag]) }
        default:
          guard sets["Items"]?[item] != nil else { continue }
          let note = item * 10 + number(1...3)
          if sets["Notes"]?[note] == nil { sets["Notes"]?[note] = ["item": item] } else { remove("Notes", note) }
        }
      }
    }
  }

  indirect enum Expand: Sendable {
    case navigation(String, String, isMany: Bool, [Expand])
  }

  struct Query: Sendable {
    let name: String
    let set: String
    var options = ""
    var filter: @Sendable ([String: Int?]) -> Bool = { _ in true }
    var expand: [Expand] = []

    var url: String { "\(set)?\(options.isEmpty ? "" : options + "&")q=\(name)" }
  }

  private struct State {
    var content = Content()
    var stamps: [Content] = []
    var usesNestedDeltas = false
  }

  let queries: [String: Query]
  private let state = Mutex(State())

  init(_ queries: [Query]) { self.queries = Dictionary(uniqueKeysWithValues: queries.map { ($0.name, $0) }) }

  func change(_ body: (inout Content) -> Void) { state.withLock { body(&$0.content) } }
  func useNestedDeltas(_ uses: Bool) { state.withLock { $0.usesNestedDeltas = uses } }

  func serve() throws -> ScriptedServer {
    try ScriptedServer { [self] request in
      if request.path == "/s/$metadata" {
        return .response(200, fields: [.contentType: "application/xml"], body: Self.metadata)
      }
      let options = Dictionary(
        (request.query ?? "").split(separator: "&").map { option in
          let parts = option.split(separator: "=", maxSplits: 1)
          return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }, uniquingKeysWith: { first, _ in first })
      guard let query = options["q"].flatMap({ queries[$0] }), !request.path.hasSuffix("$count") else {
        return .response(404)
      }
      return .response(
        200, fields: [.contentType: "application/json", .odataVersion: "4.01"],
        body: body(query, since: options["since"].flatMap { Int($0) }))
    }
  }

  // MARK: Responses

  private func body(_ query: Query, since: Int?) -> String {
    state.withLock { state in
      state.stamps.append(state.content)
      let link = "\(query.url.replacingOccurrences(of: " ", with: "%20"))&since=\(state.stamps.count - 1)"
      let content = state.content
      func roots(_ content: Content) -> [Int] {
        (content.sets[query.set] ?? [:]).filter { query.filter($0.value) }.keys.sorted()
      }
      guard let since else {
        let rows = roots(content).map { entity(query.set, $0, query.expand, content, nil) }
        return
          "{\"@context\":\"$metadata#\(query.set)\",\"value\":[\(rows.joined(separator: ","))],\"@deltaLink\":\"\(link)\"}"
      }
      let old = state.stamps[since]
      let before = roots(old)
      var rows: [String] = []
      for id in before where !roots(content).contains(id) { rows.append(removed(query.set, id, content)) }
      for id in roots(content) {
        let now = entity(query.set, id, query.expand, content, nil)
        guard !before.contains(id) || now != entity(query.set, id, query.expand, old, nil) else { continue }
        let nested = state.usesNestedDeltas && before.contains(id) ? old : nil
        rows.append(entity(query.set, id, query.expand, content, nested))
      }
      return
        "{\"@context\":\"$metadata#\(query.set)/$delta\",\"value\":[\(rows.joined(separator: ","))],\"@deltaLink\":\"\(link)\"}"
    }
  }

  private func removed(_ set: String, _ id: Int, _ content: Content) -> String {
    let reason = content.sets[set]?[id] == nil ? "deleted" : "changed"
    return "{\"@removed\":{\"reason\":\"\(reason)\"},\"ID\":\(id)}"
  }

  /// An entity with what is expanded; collections as changes since older content, if given.
  private func entity(_ set: String, _ id: Int, _ expand: [Expand], _ content: Content, _ old: Content?) -> String {
    var members = ["\"ID\":\(id)"]
    for (name, value) in (content.sets[set]?[id] ?? [:]).sorted(by: { $0.key < $1.key }) where name != "item" {
      members.append("\"\(name)\":\(value.map(String.init) ?? "null")")
    }
    for case .navigation(let name, let target, let isMany, let inner) in expand {
      let ids = content.related(set, id, name)
      let entities = ids.map { child in
        let isOld = old.map { $0.related(set, id, name).contains(child) } ?? false
        return entity(target, child, inner, content, isOld ? old : nil)
      }
      guard isMany else {
        members.append("\"\(name)\":\(entities.first ?? "null")")
        continue
      }
      if let old {
        let gone = old.related(set, id, name).filter { !ids.contains($0) }.map { removed(target, $0, content) }
        members.append("\"\(name)@delta\":[\((gone + entities).joined(separator: ","))]")
      } else {
        members.append("\"\(name)\":[\(entities.joined(separator: ","))]")
      }
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func type(_ name: String, _ content: String) -> String {
    """
    <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    \(content)</EntityType>
    """
  }

  private static func to(_ name: String, _ type: String, _ partner: String = "") -> String {
    """
    <Property Name="\(name)ID" Type="Edm.Int32"/><NavigationProperty Name="\(name)" Type="N.\(type)"\(partner)>
    <ReferentialConstraint Property="\(name)ID" ReferencedProperty="ID"/></NavigationProperty>
    """
  }

  static let metadata = OddService.v4(
    type(
      "Order",
      "<Property Name=\"Total\" Type=\"Edm.Int32\"/>" + to("Customer", "Customer")
        + """
        <NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/>
        <NavigationProperty Name="Tags" Type="Collection(N.Tag)" Partner="Orders"/>
        """)
      + type(
        "Item",
        "<Property Name=\"Kind\" Type=\"Edm.Int32\"/>" + to("Order", "Order", " Partner=\"Items\"")
          + to("Product", "Product")
          + "<NavigationProperty Name=\"Notes\" Type=\"Collection(N.Note)\" ContainsTarget=\"true\"/>")
      + type("Product", "<Property Name=\"RegionID\" Type=\"Edm.Int32\"/>") + type("Customer", to("Region", "Region"))
      + type("Region", "<Property Name=\"RegionID\" Type=\"Edm.Int32\"/>") + type("Note", "")
      + type(
        "Tag",
        "<Property Name=\"RegionID\" Type=\"Edm.Int32\"/>"
          + "<NavigationProperty Name=\"Orders\" Type=\"Collection(N.Order)\" Partner=\"Tags\"/>"),
    ["Order", "Item", "Product", "Customer", "Region", "Tag"].map {
      "<EntitySet Name=\"\($0)s\" EntityType=\"N.\($0)\"/>"
    }.joined())

  // MARK: The store

  /// What a store holds: the rows of each table, and links.
  static func outline(_ store: OfflineODataProvider) async throws -> [String] {
    guard let open = store.store else { return [] }
    return try await open.read { snapshot in
      var lines: [String] = []
      for table in snapshot.plan.tables {
        let columns = table.columns.map { "\"\($0.name)\"" } + (table.isContained ? ["\"@parent\" IS NULL"] : [])
        let sql = "SELECT \(columns.joined(separator: " || '|' || ")) FROM \(snapshot.state.tables[table.number])"
        let plain = sql.replacingOccurrences(of: " || '|' || ", with: ",")
        try snapshot.connection.forEachRow(plain, []) { (row) throws(StorageError) in
          lines.append("\(table.name) " + (0..<Int32(columns.count)).map { "\(row.value($0))" }.joined(separator: " "))
          return true
        }
      }
      for link in snapshot.plan.links {
        let sql = """
          SELECT s.ID, t.ID FROM \(snapshot.state.links[link.number]) l JOIN \(snapshot.state.tables[link.source]) s ON s."@id" = l.source
          JOIN \(snapshot.state.tables[link.target]) t ON t."@id" = l.target
          """
        try snapshot.connection.forEachRow(sql, []) { (row) throws(StorageError) in
          lines.append("\(link.name) \(row.integer(0)) \(row.integer(1))")
          return true
        }
      }
      return lines.sorted()
    }
  }
}
