//! A generated service on any store: filters, expansions, pages, changes under ETags, and actions, without strings.

import Foundation
import Larder

// snippet.hide
// The types below the code are those that `larder generate` writes.
func show(_ orders: [Order]) { print(orders.count) }
// snippet.show

struct Note: Decodable, Sendable {
  var id: Int32
  var note: String?

  enum CodingKeys: String, CodingKey {
    case id = "ID"
    case note = "Note"
  }
}

func read(_ store: any ODataStore) async throws {
  let shop = Shop(store)
  let late = try await shop.orders
    .filter { $0.due < .now && $0.customer == "ACME" }
    .expand(\.items) { $0.orderBy(\.position).top(5) }
    .orderBy(\.due).top(20).all()
  let order = try await shop.orders[4712].get()
  let items = try await shop.orders[4712].items.filter { $0.quantity > 10 }.all()
  let count = try await shop.orders.filter { $0.note.contains("urgent") }.count()
  let notes = try await shop.orders.all(as: Note.self) {
    $0.id
    $0.note
  }
  // snippet.hide
  print(late, order, items, count, notes)
  // snippet.show
}

func readAll(_ store: any ODataStore) async throws -> [Order] {
  let shop = Shop(store, selectsDeclared: true)
  return try await shop.orders.all()
}

/// The code of README.md.
func showAndChange(_ store: any ODataStore) async throws {
  let shop = Shop(store)  // generated from $metadata by `larder generate`, or in each build by a plugin
  let late = try await shop.orders
    .filter { $0.due < .now && $0.customer == "ACME" }.expand(\.items).orderBy(\.due).top(20).all()
  var order = try await shop.orders[4712].get()
  order.note = "mine"
  try await shop.orders.update(order)  // sends only the note, with the ETag that was read
  show(late)
}

func due(before date: Date, _ shop: Shop) async throws -> [Order] {
  // Nil only for a date that no calendar has.
  guard let end = ODataDateTimeOffset(date) else { return [] }
  return try await shop.orders.filter { $0.due < end }.all()
}

func follow(_ shop: Shop) async throws {
  for try await orders in shop.orders.filter({ $0.due < .now }).live() { show(orders) }
}

func createWithNumber(_ number: String, _ shop: Shop) async throws -> Order? {
  let properties = Order.Create(customer: "ACME").odataProperties + [ODataProperty("Number", .string(number))]
  var request = ODataSingleRequest.create(ODataEntity(properties: properties), in: "Orders")
  request.allowedProperties = ["Number"]  // the stores check the metadata
  return try await shop.store.execute(single: request).decoded(Order.self)
}

func change(_ shop: Shop) async throws {
  var order = try await shop.orders[4712].get()
  order.note = "mine"
  order = try await shop.orders.update(order)  // sends only the note, with the ETag that was read

  try await shop.orders[4713].update(.init(note: .some(nil)))  // without reading; nil in `.some` sets null

  let created = try await shop.orders.create(
    .init(customer: "ACME", items: [.init(position: 1, product: 7, quantity: 2)]))
  try await shop.orders.delete(created)

  try await shop.orders.create(.init(customer: "ACME", predecessor: .existing(shop.orders[4712])))

  let scan = try await shop.orders[4712].media(\.scan)
  try await shop.orders[4713].updateMedia(\.scan, .bytes(scan, contentType: "image/png"))

  try await shop.orders[4712].approve(comment: "ok")

  try await shop.orders[4713].link(\.predecessor, to: shop.orders[4712])
  try await shop.orders[4713].unlink(\.predecessor)

  let (changed, _) = try await shop.store.changeSet(shop.orders.updating(order), shop.orders[17].deleting())
  let (first, open) = try await shop.store.batch(shop.orders[1].reading(), shop.orders.top(20).reading())
  show(try open.get() + [first.get(), changed])
}

// snippet.hide
// swift-format-ignore-file

/// The entity type `Orders.Item`.
struct Item: ODataTracked, Identifiable, ODataCreatable, Codable, Hashable, Sendable {
  /// The name of the type in the service.
  static let odataTypeName = "Orders.Item"
  /// The names for `$select` that read all declared properties.
  static let odataSelection = [
    "Position",
    "Product",
    "Quantity",
  ]
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

extension ODataEntityReference where Entity == Order {
  /// Calls the action `Orders.Approve`.
  func approve(comment: String? = nil) async throws {
    var odataList = ODataPropertyList()
    odataList.setIfGiven("comment", comment)
    try await self.odataCall("Orders.Approve").action(odataList)
  }
}

/// The entity type `Orders.Order`.
struct Order: ODataTracked, Identifiable, ODataCreatable, Codable, Hashable, Sendable {
  /// The name of the type in the service.
  static let odataTypeName = "Orders.Order"
  /// The names for `$select` that read all declared properties.
  static let odataSelection = [
    "ID",
    "Customer",
    "Due",
    "Note",
  ]
  /// The property `ID`.
  let id: Int32
  /// The property `Customer`.
  var customer: String { didSet { odataState.assign(0) } }
  /// The property `Due`.
  var due: ODataDateTimeOffset? { didSet { odataState.assign(1) } }
  /// The property `Note`.
  var note: String? { didSet { odataState.assign(2) } }
  /// The property `Items`.
  let items: [Item]?
  /// The property `Predecessor`.
  var predecessor: Order? { _predecessor?.value }
  private let _predecessor: ODataIndirect<Order>?
  /// The version that was read, and the properties that have been assigned since.
  var odataState = ODataEntityState()

  /// Creates a value.
  init(
    id: Int32,
    customer: String,
    due: ODataDateTimeOffset? = nil,
    note: String? = nil,
    items: [Item]? = nil,
    predecessor: Order? = nil
  ) {
    self.id = id
    self.customer = customer
    self.due = due
    self.note = note
    self.items = items
    self._predecessor = ODataIndirect(predecessor)
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
    case note = "Note"
    case items = "Items"
    case _predecessor = "Predecessor"
  }

  /// The properties that have been assigned since the entity was read.
  var odataChanges: [ODataProperty] {
    var odataList = ODataPropertyList()
    odataList.setIfAssigned(0, "Customer", self.customer, in: odataState)
    odataList.setIfAssigned(1, "Due", self.due, in: odataState)
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
    /// The property `Note`.
    var note: Field<String> { .init("Note") }
    /// The property `Scan`.
    var scan: StreamField { .init("Scan") }
    /// The property `Items`.
    var items: NavigationCollection<Item> { .init("Items") }
    /// The property `Predecessor`.
    var predecessor: Navigation<Order> { .init("Predecessor") }
  }

  /// The properties of a new entity. The service sets those that are nil.
  struct Create: ODataChange {
    /// The property `ID`.
    var id: Int32?
    /// The property `Customer`.
    var customer: String
    /// The property `Due`.
    var due: ODataDateTimeOffset?
    /// The property `Note`.
    var note: String?
    /// The property `Items`.
    var items: ODataRelatedEntities<Item, ODataAllowed>?
    /// The property `Predecessor`.
    var predecessor: ODataRelated<Order, ODataAllowed>?

    /// Creates the properties.
    init(
      id: Int32? = nil,
      customer: String,
      due: ODataDateTimeOffset? = nil,
      note: String? = nil,
      items: ODataRelatedEntities<Item, ODataAllowed>? = nil,
      predecessor: ODataRelated<Order, ODataAllowed>? = nil
    ) {
      self.id = id
      self.customer = customer
      self.due = due
      self.note = note
      self.items = items
      self.predecessor = predecessor
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("ID", self.id)
      odataList.setIfGiven("Customer", self.customer)
      odataList.setIfGiven("Due", self.due)
      odataList.setIfGiven("Note", self.note)
      return odataList.properties
    }

    /// The related entities, new or existing, by the names of their navigation properties in the service.
    var odataLinks: [ODataNavigationLink] {
      var odataList: [ODataNavigationLink] = []
      if let items = self.items { odataList.append(ODataNavigationLink("Items", to: items)) }
      if let predecessor = self.predecessor { odataList.append(ODataNavigationLink("Predecessor", to: predecessor)) }
      return odataList
    }
  }

  /// The properties to change. Those that are nil stay as they are; `.some(nil)` sets one to null.
  struct Update: ODataChange {
    /// The property `Customer`.
    var customer: String?
    /// The property `Due`.
    var due: ODataDateTimeOffset??
    /// The property `Note`.
    var note: String??

    /// Creates the properties.
    init(
      customer: String? = nil,
      due: ODataDateTimeOffset?? = nil,
      note: String?? = nil
    ) {
      self.customer = customer
      self.due = due
      self.note = note
    }

    /// The properties with their names in the service.
    var odataProperties: [ODataProperty] {
      var odataList = ODataPropertyList()
      odataList.setIfGiven("Customer", self.customer)
      odataList.setIfGiven("Due", self.due)
      odataList.setIfGiven("Note", self.note)
      return odataList.properties
    }
  }
}

/// The entity container `Orders.Shop`, accessed through a store.
struct Shop: Sendable {
  /// The store that is read and changed.
  let store: any ODataStore
  /// Whether reads name the declared properties in `$select`.
  let selectsDeclared: Bool

  /// Accesses the service through an online or offline store. `selectsDeclared`: whether reads name the
  /// declared properties in `$select`, for a service that otherwise returns only some of them.
  init(_ store: any ODataStore, selectsDeclared: Bool = false) {
    self.store = store
    self.selectsDeclared = selectsDeclared
  }

  /// The entity set `Orders`.
  var orders: ODataEntitySet<Order> {
    .init(self.store, ODataQuery<Order>("Orders"), selectsDeclared: self.selectsDeclared)
  }
}
