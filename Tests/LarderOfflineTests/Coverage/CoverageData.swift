import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport

@testable import LarderOffline

/// A service of customers, orders, products and tags in this process: constraints, links, containment, derived types, a
/// singleton. Its responses are the results of a complete store.
struct CoverageData: Sendable {
  struct Customer: Sendable {
    var id: Int
    var name: String?
    var zip: Int?
    var boss: Int?
  }

  struct Item: Sendable {
    var no: Int
    var text: String?
    var product: Int?
    var notes: [Int: String]
  }

  struct Order: Sendable {
    var id: Int
    var status: Int
    var note: String?
    var total: String
    var customer: Int?
    var items: [Item]
    var tags: Set<Int>
  }

  struct Product: Sendable {
    var id: Int
    var name: String
    var price: Int
    var discount: Int?
    var best: Int?
  }

  var customers: [Customer]
  var orders: [Order]
  var products: [Product]
  var tags: [Int: String]
  var me: Customer?

  /// All of it.
  static let whole = CoverageData(
    customers: [
      Customer(id: 1, name: "C1", zip: 5, boss: nil), Customer(id: 2, name: "C2", zip: 50, boss: 1),
      Customer(id: 3, name: "C3", zip: nil, boss: 1), Customer(id: 4, name: nil, zip: 500, boss: 2),
    ],
    orders: [
      Order(
        id: 1, status: 1, note: "n1", total: "10.5", customer: 1,
        items: [
          Item(no: 1, text: "a", product: 1, notes: [1: "x", 2: "y"]), Item(no: 2, text: nil, product: 2, notes: [:]),
        ], tags: [1, 2]),
      Order(id: 2, status: 2, note: nil, total: "3", customer: 2, items: [], tags: []),
      Order(
        id: 3, status: 1, note: "n3", total: "7", customer: 2,
        items: [Item(no: 1, text: "x", product: 3, notes: [1: "z"])],
        tags: [2]),
      Order(
        id: 4, status: 2, note: "n1", total: "1", customer: nil,
        items: [Item(no: 5, text: "e", product: nil, notes: [:])],
        tags: [3]),
    ],
    products: [
      Product(id: 1, name: "P1", price: 3), Product(id: 2, name: "P2", price: 30, discount: 5, best: 1),
      Product(id: 3, name: "P3", price: 7, discount: nil, best: nil),
    ], tags: [1: "T1", 2: "T2", 3: "T3", 4: "T4"], me: Customer(id: 9, name: "M", zip: 1, boss: 2))

  // MARK: As JSON

  private func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
  private func number(_ value: Int?) -> String { value.map(String.init) ?? "null" }

  private func plain(_ customer: Customer) -> String {
    "\"ID\":\(customer.id),\"Name\":\(text(customer.name)),\"City\":{\"Street\":\"S\(customer.id)\",\"Zip\":\(number(customer.zip))}"
  }

  private func plain(_ order: Order) -> String {
    "\"ID\":\(order.id),\"Status\":\(order.status),\"Note\":\(text(order.note)),\"Total\":\(order.total),\"CustomerID\":\(number(order.customer))"
  }

  private func plain(_ product: Product) -> String {
    let isSpecial = product.discount != nil || product.best != nil
    return (isSpecial ? "\"@odata.type\":\"#N.Special\"," : "")
      + "\"ID\":\(product.id),\"Name\":\"\(product.name)\",\"Price\":\(product.price)"
      + (isSpecial ? ",\"Discount\":\(number(product.discount))" : "")
  }

  private func plain(_ tag: Int) -> String { "\"ID\":\(tag),\"Name\":\"\(tags[tag] ?? "")\"" }

  private func many(_ rows: [String]) -> String { "[" + rows.map { "{\($0)}" }.joined(separator: ",") + "]" }
  private func one(_ row: String?) -> String { row.map { "{\($0)}" } ?? "null" }

  private func customer(_ id: Int?) -> String? { customers.first { $0.id == id }.map(plain) }
  private func product(_ id: Int?) -> String? { products.first { $0.id == id }.map(plain) }

  /// The rows of a defining query of ``store()``, with all links.
  private func rows(_ set: String) -> String {
    switch set {
    case "Customers":
      many(
        customers.map { one in
          plain(one) + ",\"Boss\":\(self.one(customer(one.boss)))"
            + ",\"Reports\":\(many(customers.filter { $0.boss == one.id }.map(plain)))"
        })
    case "Orders":
      many(
        orders.map { order in
          let items = order.items.map { item in
            "\"No\":\(item.no),\"Text\":\(text(item.text)),\"ProductID\":\(number(item.product)),\"Notes\":"
              + many(item.notes.sorted { $0.key < $1.key }.map { "\"No\":\($0.key),\"Text\":\"\($0.value)\"" })
          }
          return plain(order) + ",\"Items\":\(many(items))"
            + ",\"Tags\":\(many(order.tags.filter { tags[$0] != nil }.sorted().map(plain)))"
        })
    case "Products":
      many(
        products.map { one in
          let isSpecial = one.discount != nil || one.best != nil
          return plain(one) + (isSpecial ? ",\"Best\":\(self.one(product(one.best)))" : "")
        })
    default:
      many(
        tags.keys.sorted().map { tag in
          plain(tag) + ",\"Orders\":\(many(orders.filter { $0.tags.contains(tag) }.map(plain)))"
        })
    }
  }

  fileprivate func result(_ path: String) -> String? {
    let set = path.prefix { $0 != "?" }
    if set == "Me" { return me.map { "{" + plain($0) + ",\"Boss\":\(one(customer($0.boss))),\"Reports\":[]}" } }
    return "{\"value\":\(rows(String(set)))}"
  }

  // MARK: Stores

  static let everything: KeyValuePairs = [
    "customers": "Customers?$expand=Boss,Reports", "orders": "Orders?$expand=Items($expand=Notes),Tags",
    "products": "Products?$expand=N.Special/Best", "tags": "Tags?$expand=Orders",
  ]

  /// A store with a complete copy of these data.
  func store() async throws -> (StoreRig, OfflineODataProvider) {
    let rig = try StoreRig("http://h/s/")
    let provider = try rig.provider(transport: Written(data: self))
    for (name, query) in Self.everything { try await provider.add(OfflineODataDefiningQuery(name, query)) }
    if me != nil { try await provider.add(OfflineODataDefiningQuery("me", "Me?$expand=Boss,Reports")) }
    try await provider.open()
    return (rig, provider)
  }

  /// Responds with the JSON of the data, whatever the options are.
  private struct Written: HTTPTransport {
    let data: CoverageData

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let path = CoverageData.path(request)
      if path == "$metadata" { return CoverageData.response(request, CoverageData.metadata, "application/xml") }
      guard let text = data.result(path) else { return CoverageData.response(request, "", "text/plain", 404) }
      return CoverageData.response(request, text, "application/json")
    }
  }

  /// A service whose responses come from a store.
  struct Service: HTTPTransport {
    let store: OfflineODataProvider

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let path = CoverageData.path(request)
      if path == "$metadata" { return CoverageData.response(request, CoverageData.metadata, "application/xml") }
      guard let result = try? await store.readJSON(path) else {
        return CoverageData.response(
          request, "{\"error\":{\"code\":\"404\",\"message\":\"\"}}", "application/json", 404)
      }
      return CoverageData.response(request, String(decoding: result.bytes, as: UTF8.self), result.contentType)
    }
  }

  private static func path(_ request: HTTPRequest) -> String {
    let path = request.url.absoluteString.components(separatedBy: "/s/").last ?? ""
    return path.removingPercentEncoding ?? path
  }

  private static func response(_ request: HTTPRequest, _ text: String, _ type: String, _ status: Int = 200)
    -> HTTPResponse
  {
    HTTPResponse(
      status: status, fields: ["Content-Type": type, "OData-Version": "4.0"], url: request.url,
      body: HTTPBodyStream(Array(text.utf8)))
  }

  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/></ComplexType>
    <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    <Property Name="City" Type="N.Address"/>
    <NavigationProperty Name="Orders" Type="Collection(N.Order)" Partner="Customer"/>
    <NavigationProperty Name="Boss" Type="N.Customer" Partner="Reports"/>
    <NavigationProperty Name="Reports" Type="Collection(N.Customer)" Partner="Boss"/></EntityType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Status" Type="Edm.Int32"/>
    <Property Name="Note" Type="Edm.String"/><Property Name="Total" Type="Edm.Decimal" Scale="variable"/>
    <Property Name="CustomerID" Type="Edm.Int32"/>
    <NavigationProperty Name="Customer" Type="N.Customer" Partner="Orders">
    <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true"/>
    <NavigationProperty Name="Tags" Type="Collection(N.Tag)" Partner="Orders"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Text" Type="Edm.String"/><Property Name="ProductID" Type="Edm.Int32"/>
    <NavigationProperty Name="Product" Type="N.Product">
    <ReferentialConstraint Property="ProductID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Notes" Type="Collection(N.Note)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Note"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityType Name="Product"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
    <Property Name="Price" Type="Edm.Int32"/></EntityType>
    <EntityType Name="Special" BaseType="N.Product"><Property Name="Discount" Type="Edm.Int32"/>
    <NavigationProperty Name="Best" Type="N.Product"/></EntityType>
    <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/>
    <NavigationProperty Name="Orders" Type="Collection(N.Order)" Partner="Tags"/></EntityType>
    <EntityContainer Name="C">
    <EntitySet Name="Customers" EntityType="N.Customer"><NavigationPropertyBinding Path="Orders" Target="Orders"/>
    <NavigationPropertyBinding Path="Boss" Target="Customers"/><NavigationPropertyBinding Path="Reports" Target="Customers"/></EntitySet>
    <EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
    <NavigationPropertyBinding Path="Tags" Target="Tags"/><NavigationPropertyBinding Path="Items/Product" Target="Products"/></EntitySet>
    <EntitySet Name="Products" EntityType="N.Product"><NavigationPropertyBinding Path="N.Special/Best" Target="Products"/></EntitySet>
    <EntitySet Name="Tags" EntityType="N.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
    <Singleton Name="Me" Type="N.Customer"><NavigationPropertyBinding Path="Orders" Target="Orders"/>
    <NavigationPropertyBinding Path="Boss" Target="Customers"/><NavigationPropertyBinding Path="Reports" Target="Customers"/></Singleton>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}

extension CoverageData {
  /// The part of the data that consists of the rows of a store.
  func present(in store: OfflineODataProvider) async throws -> CoverageData {
    let keys = try await store.openStore().read { snapshot in
      func ints(_ sql: String) throws -> Set<[Int64]> {
        var all: Set<[Int64]> = []
        try snapshot.connection.forEachRow(sql) { (row) throws(StorageError) in
          all.insert((0..<Int32(row.columnCount)).map { row.integer($0) })
          return true
        }
        return all
      }
      func table(_ name: String) -> String { snapshot.plan.table(name).map { snapshot.state.tables[$0.number] } ?? "" }
      var keys: [String: Set<[Int64]>] = [:]
      for set in ["Customers", "Orders", "Products", "Tags", "Me"] {
        keys[set] = try ints("SELECT ID FROM \(table(set))")
      }
      keys["Items"] = try ints(
        "SELECT o.ID, i.No FROM \(table("Orders/Items")) AS i JOIN \(table("Orders")) AS o ON o.\"@id\" = i.\"@parent\""
      )
      keys["Notes"] = try ints(
        """
        SELECT o.ID, i.No, n.No FROM \(table("Orders/Items/Notes")) AS n
        JOIN \(table("Orders/Items")) AS i ON i."@id" = n."@parent" JOIN \(table("Orders")) AS o ON o."@id" = i."@parent"
        """)
      return keys
    }
    func has(_ set: String, _ key: Int...) -> Bool { keys[set]?.contains(key.map(Int64.init)) == true }
    var data = self
    data.customers = customers.filter { has("Customers", $0.id) }
    data.products = products.filter { has("Products", $0.id) }
    data.tags = tags.filter { has("Tags", $0.key) }
    if keys["Me"]?.isEmpty != false { data.me = nil }
    data.orders = orders.filter { has("Orders", $0.id) }.map { order in
      var order = order
      order.items = order.items.filter { has("Items", order.id, $0.no) }.map { item in
        var item = item
        item.notes = item.notes.filter { has("Notes", order.id, item.no, $0.key) }
        return item
      }
      return order
    }
    return data
  }
}
