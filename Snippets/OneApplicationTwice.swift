//! An application on an offline store with generated types: no string has the name of a property.

import Foundation
import Larder

/// Orders without a network: a list of late ones, changes, and what the service rejected.
struct OrderDesk: Sendable {
  let provider: OfflineODataProvider
  let shop: Shop
  let pageSize = 20

  init(root: URL, folder: String) throws {
    provider = try OfflineODataProvider(
      serviceRoot: root, transport: try PlatformTransport(),
      parameters: OfflineODataParameters(storeName: "orders", path: folder))
    shop = Shop(provider)
  }

  func open() async throws {
    try await provider.add(OfflineODataDefiningQuery("orders", shop.orders.expand(\.items).query.text()))
    try await provider.open()
  }

  // MARK: Reading

  var late: ODataEntitySet<Order> {
    shop.orders.filter { $0.due < .now && $0.delivered == false }
      .expand(\.items) { $0.orderBy(\.position) }.orderBy(\.due)
  }

  func lateOrders(page: Int) async throws -> [Order] {
    try await late.skip(page * pageSize).top(pageSize).all()
  }

  func order(_ id: Int32) async throws -> Order { try await shop.orders[id].expand(\.items).get() }

  func line(_ order: Order) -> String {
    let items = (order.items ?? []).map { "\($0.quantity) of \($0.product)" }.joined(separator: ", ")
    return "\(order.id): \(order.customer), due \(order.due?.description ?? "-"), \(items), \(order.note ?? "-")"
  }

  func followLateOrders() async throws {
    for try await orders in late.top(pageSize).live() { print(orders.map(line).joined(separator: "\n")) }
  }

  // MARK: Changing

  func setNote(_ id: Int32, _ note: String) async throws {
    var order = try await order(id)
    order.note = note.isEmpty ? nil : note
    try await shop.orders.update(order)
  }

  func create(_ customer: String, _ products: [(product: Int32, quantity: ODataDecimal)]) async throws -> Order {
    let items = products.enumerated().map {
      Item.Create(position: Int32($0 + 1), product: $1.product, quantity: $1.quantity)
    }
    let due = ODataDateTimeOffset(Date(timeIntervalSinceNow: 7 * 86_400))
    return try await shop.orders.create(.init(customer: customer, due: due, items: .new(items)))
  }

  func delete(_ id: Int32) async throws { try await shop.orders.delete(order(id)) }

  // MARK: Uploads, downloads and conflicts

  func synchronize() async throws -> [OfflineODataArchivedRequest] {
    // Conflicts of different properties are merged. The others go to the error archive.
    let report = try await provider.upload(OfflineODataUploadOptions(conflictPolicy: .mergeDisjoint))
    try await provider.download()
    print("\(report.sent) changes sent, \(report.failed) rejected")
    return try await problems()
  }

  func problems() async throws -> [OfflineODataArchivedRequest] {
    try await provider.errorArchive.filter { $0.isHeld == false }.orderBy(\.requestID).all()
  }

  func line(_ problem: OfflineODataArchivedRequest) -> String {
    let kind = problem.isConflict ? "changed by another user" : problem.message ?? "rejected"
    return "\(problem.requestID): \(problem.entityPath ?? "-"): \(kind)"
  }

  func keepMine(_ requestID: Int64) async throws { try await provider.retry(requestID) }

  func takeTheirs(_ requestID: Int64) async throws { try await provider.discard(requestID) }
}

let usage = """
  usage: OneApplicationTwice SERVICE-ROOT FOLDER COMMAND
  late PAGE | follow | note ORDER TEXT | create NAME PRODUCT… | delete ORDER | sync | mine REQUEST | theirs REQUEST
  """
let arguments = CommandLine.arguments
guard arguments.count > 3, let root = URL(string: arguments[1]) else {
  print(usage)
  exit(2)
}
let desk = try OrderDesk(root: root, folder: arguments[2])
try await desk.open()
let words = arguments.dropFirst(4)
let number = Int32(words.first ?? "") ?? 0
switch arguments[3] {
case "late": for order in try await desk.lateOrders(page: Int(number)) { print(desk.line(order)) }
case "follow": try await desk.followLateOrders()
case "note": try await desk.setNote(number, words.dropFirst().joined(separator: " "))
case "create":
  let products = words.dropFirst().compactMap { Int32($0) }.map { (product: $0, quantity: ODataDecimal(1)) }
  print(desk.line(try await desk.create(words.first ?? "", products)))
case "delete": try await desk.delete(number)
case "sync": for problem in try await desk.synchronize() { print(desk.line(problem)) }
case "mine": try await desk.keepMine(Int64(number))
case "theirs": try await desk.takeTheirs(Int64(number))
default: print(usage)
}
try await desk.provider.close()

// snippet.hide
// swift-format-ignore-file

/// The entity type `Orders.Item`.
struct Item: ODataTracked, Identifiable, ODataCreatable, Codable, Hashable, Sendable {
  /// The name of the type in the service.
  static let odataTypeName = "Orders.Item"
  /// The property `Position`.
  let position: Int32
  /// The property `Product`.
  var product: Int32 { didSet { odataState.assign(0) } }
  /// The property `Quantity`.
  var quantity: ODataDecimal { didSet { odataState.assign(1) } }
  /// The version that was read, and the properties that have been assigned since.
  var odataState = ODataEntityState()

  /// Creates a value.
  init(
    position: Int32,
    product: Int32,
    quantity: ODataDecimal
  ) {
    self.position = position
    self.product = product
    self.quantity = quantity
  }

  /// The key: it identifies an entity in its set.
  struct Key: ODataSingleKey {
    /// The property `Position`.
    let position: Int32

    /// Creates a key.
    init(
      position: Int32
    ) {
      self.position = position
    }

    /// Creates a key.
    init(_ value: Int32) { self.position = value }

    /// The properties with their names in the service.
    var odataParts: [(name: String, value: any ODataPrimitive)] { [("Position", self.position)] }

    private enum CodingKeys: String, CodingKey {
      case position = "Position"
    }
  }

  /// The entity's key.
  var odataKey: Key { Key(position: self.position) }
  /// The entity's key.
  var id: Key { odataKey }

  private enum CodingKeys: String, CodingKey {
    case odataState = "@odata.etag"
    case position = "Position"
    case product = "Product"
    case quantity = "Quantity"
  }

  /// The properties that have been assigned since the entity was read.
  var odataChanges: [ODataProperty] {
    var odataList = ODataPropertyList()
    odataList.setIfAssigned(0, "Product", self.product, in: odataState)
    odataList.setIfAssigned(1, "Quantity", self.quantity, in: odataState)
    return odataList.properties
  }

  /// The properties in queries.
  struct Fields: ODataFields {
    /// Creates the fields.
    init() {}
    /// The property `Position`.
    var position: Field<Int32> { .init("Position") }
    /// The property `Product`.
    var product: Field<Int32> { .init("Product") }
    /// The property `Quantity`.
    var quantity: Field<ODataDecimal> { .init("Quantity") }
  }

  /// The properties of a new entity. The service sets those that are nil.
  struct Create: ODataChange {
    /// The property `Position`.
    var position: Int32?
    /// The property `Product`.
    var product: Int32
    /// The property `Quantity`.
    var quantity: ODataDecimal

    /// Creates the properties.
    init(
      position: Int32? = nil,
      product: Int32,
      quantity: ODataDecimal
    ) {
      self.position = position
      self.product = product
      self.quantity = quantity
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("Position", self.position)
      odataList.setIfGiven("Product", self.product)
      odataList.setIfGiven("Quantity", self.quantity)
      return odataList.properties
    }
  }

  /// The properties to change. Those that are nil stay as they are; `.some(nil)` sets one to null.
  struct Update: ODataChange {
    /// The property `Product`.
    var product: Int32?
    /// The property `Quantity`.
    var quantity: ODataDecimal?

    /// Creates the properties.
    init(
      product: Int32? = nil,
      quantity: ODataDecimal? = nil
    ) {
      self.product = product
      self.quantity = quantity
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("Product", self.product)
      odataList.setIfGiven("Quantity", self.quantity)
      return odataList.properties
    }
  }
}

/// The entity type `Orders.Order`.
struct Order: ODataTracked, Identifiable, ODataCreatable, Codable, Hashable, Sendable {
  /// The name of the type in the service.
  static let odataTypeName = "Orders.Order"
  /// The property `ID`.
  let id: Int32
  /// The property `Customer`.
  let customer: String
  /// The property `Due`.
  var due: ODataDateTimeOffset? { didSet { odataState.assign(0) } }
  /// The property `Delivered`.
  var delivered: Bool { didSet { odataState.assign(1) } }
  /// The property `Note`.
  var note: String? { didSet { odataState.assign(2) } }
  /// The property `Items`.
  let items: [Item]?
  /// The version that was read, and the properties that have been assigned since.
  var odataState = ODataEntityState()

  /// Creates a value.
  init(
    id: Int32,
    customer: String,
    due: ODataDateTimeOffset? = nil,
    delivered: Bool,
    note: String? = nil,
    items: [Item]? = nil
  ) {
    self.id = id
    self.customer = customer
    self.due = due
    self.delivered = delivered
    self.note = note
    self.items = items
  }

  /// The key: it identifies an entity in its set.
  struct Key: ODataSingleKey {
    /// The property `ID`.
    let id: Int32

    /// Creates a key.
    init(
      id: Int32
    ) {
      self.id = id
    }

    /// Creates a key.
    init(_ value: Int32) { self.id = value }

    /// The properties with their names in the service.
    var odataParts: [(name: String, value: any ODataPrimitive)] { [("ID", self.id)] }

    private enum CodingKeys: String, CodingKey {
      case id = "ID"
    }
  }

  /// The entity's key.
  var odataKey: Key { Key(id: self.id) }

  private enum CodingKeys: String, CodingKey {
    case odataState = "@odata.etag"
    case id = "ID"
    case customer = "Customer"
    case due = "Due"
    case delivered = "Delivered"
    case note = "Note"
    case items = "Items"
  }

  /// The properties that have been assigned since the entity was read.
  var odataChanges: [ODataProperty] {
    var odataList = ODataPropertyList()
    odataList.setIfAssigned(0, "Due", self.due, in: odataState)
    odataList.setIfAssigned(1, "Delivered", self.delivered, in: odataState)
    odataList.setIfAssigned(2, "Note", self.note, in: odataState)
    return odataList.properties
  }

  /// The properties in queries.
  struct Fields: ODataFields {
    /// Creates the fields.
    init() {}
    /// The property `ID`.
    var id: Field<Int32> { .init("ID") }
    /// The property `Customer`.
    var customer: Field<String> { .init("Customer") }
    /// The property `Due`.
    var due: Field<ODataDateTimeOffset> { .init("Due") }
    /// The property `Delivered`.
    var delivered: Field<Bool> { .init("Delivered") }
    /// The property `Note`.
    var note: Field<String> { .init("Note") }
    /// The property `Items`.
    var items: NavigationCollection<Item> { .init("Items") }
  }

  /// The properties of a new entity. The service sets those that are nil.
  struct Create: ODataChange {
    /// The property `Customer`.
    var customer: String
    /// The property `Due`.
    var due: ODataDateTimeOffset?
    /// The property `Delivered`.
    var delivered: Bool?
    /// The property `Note`.
    var note: String?
    /// The property `Items`.
    var items: ODataRelatedEntities<Item, ODataAllowed>?

    /// Creates the properties.
    init(
      customer: String,
      due: ODataDateTimeOffset? = nil,
      delivered: Bool? = nil,
      note: String? = nil,
      items: ODataRelatedEntities<Item, ODataAllowed>? = nil
    ) {
      self.customer = customer
      self.due = due
      self.delivered = delivered
      self.note = note
      self.items = items
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("Customer", self.customer)
      odataList.setIfGiven("Due", self.due)
      odataList.setIfGiven("Delivered", self.delivered)
      odataList.setIfGiven("Note", self.note)
      return odataList.properties
    }

    /// The related entities, new or existing, by the names of their navigation properties in the service.
    var odataLinks: [ODataNavigationLink] {
      var odataList: [ODataNavigationLink] = []
      if let items = self.items { odataList.append(ODataNavigationLink("Items", to: items)) }
      return odataList
    }
  }

  /// The properties to change. Those that are nil stay as they are; `.some(nil)` sets one to null.
  struct Update: ODataChange {
    /// The property `Due`.
    var due: ODataDateTimeOffset??
    /// The property `Delivered`.
    var delivered: Bool?
    /// The property `Note`.
    var note: String??

    /// Creates the properties.
    init(
      due: ODataDateTimeOffset?? = nil,
      delivered: Bool? = nil,
      note: String?? = nil
    ) {
      self.due = due
      self.delivered = delivered
      self.note = note
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("Due", self.due)
      odataList.setIfGiven("Delivered", self.delivered)
      odataList.setIfGiven("Note", self.note)
      return odataList.properties
    }
  }
}

/// The entity container `Orders.Shop`, accessed through a store.
struct Shop: Sendable {
  /// The store that is read and changed.
  let store: any ODataStore

  /// Accesses the service through an online or offline store.
  init(_ store: any ODataStore) { self.store = store }

  /// The entity set `Orders`.
  var orders: ODataEntitySet<Order> { .init(self.store, ODataQuery<Order>("Orders")) }
}
