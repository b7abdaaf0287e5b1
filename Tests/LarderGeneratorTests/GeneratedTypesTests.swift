import Foundation
import LarderOData
import LarderService
import Testing

/// The types in `Generated`, which the generator wrote.
@Suite("Generated types", .timeLimit(.minutes(1)))
struct GeneratedTypesTests {
  private func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  private let json = ##"""
    {"ID": 7, "Due": "2026-11-27T08:30:00.123456789+05:30", "Total": "12345678901234567890.0123456789", "Note": null,
     "Customer": "ACME", "Status": "Delayed", "Tags": ["a", "b"], "Options": "Gift,Later", "in": "AQI=",
     "ShipTo": {"City": "Bonn", "Former": {"City": "Ulm", "Former": null}},
     "Items": [{"ID": "01234567-89AB-CDEF-0123-456789ABCDEF", "Line": 1, "OrderID": 7, "Order": {"ID": 7, "Total": 1.5,
       "Customer": "ACME", "Status": "Open", "Tags": []}}],
     "_Customer": {"@odata.type": "#Shop.Bank", "Code": "B1", "Employees": 9007199254740993}}
    """##

  @Test("values are decoded without loss, also members and types that the model does not declare")
  func decoding() throws {
    let order = try decode(Order.self, json)
    #expect(order.id == 7 && order.odataKey == Order.Key(id: 7))
    #expect(order.due?.description == "2026-11-27T08:30:00.123456789+05:30")
    #expect(order.total?.description == "12345678901234567890.0123456789")
    #expect(order.note == nil && order.status.rawValue == "Delayed" && order.tags == ["a", "b"])
    #expect(order.in == Data([1, 2]))
    #expect(order.options?.contains(.gift) == true && order.options?.contains(.fast) == false)
    #expect(order.shipTo?.former?.city == "Ulm" && order.shipTo?.former?.former == nil)
    #expect(order.items?.first?.order?.total == 1.5)
    #expect(order.items?.first?.id.line == 1)
    #expect(order.predecessor == nil)
    let unknown = try decode(Party.self, ##"{"@odata.type": "#Shop.Person", "Code": "P1"}"##)
    #expect(unknown.odataDerived == nil && unknown.odataType == "#Shop.Person" && unknown.code == "P1")
  }

  @Test("an entity of a derived type is also its base types")
  func hierarchy() throws {
    let party = try #require(try decode(Order.self, json).toCustomer)
    #expect(party.code == "B1")
    #expect(party.as(Company.self)?.employees == 9_007_199_254_740_993)
    #expect(party.as(Bank.self)?.code == "B1")
    #expect(party.as(Order.self) == nil)
  }

  @Test("a value of a derived type is decoded once, and not again for each of its base types")
  func singleDecoding() throws {
    let decoder = CountingDecoder(["@odata.type": "#Shop.Bank", "Code": "B1"])
    let party = try Party(from: decoder)
    #expect(party.code == "B1" && party.as(Company.self)?.code == "B1" && party.as(Bank.self)?.code == "B1")
    #expect(decoder.counts["Code"] == 1)
  }

  @Test("an entity of each type with a key knows the version that was read, also as its base type")
  func versions() throws {
    let json = ##"{"@odata.type": "#Shop.Bank", "@odata.etag": "W/\"7\"", "Code": "B1"}"##
    let party = try decode(Party.self, json)
    func etag(_ entity: some ODataVersioned) -> String? { entity.odataState.etag }
    #expect(etag(party) == "W/\"7\"")
    #expect(party.as(Company.self).map(etag) == "W/\"7\"" && party.as(Bank.self).map(etag) == "W/\"7\"")
    #expect(etag(try decode(Party.self, ##"{"@odata.etag": "a", "Code": "P1"}"##)) == "a")
    let copy = try decode(Party.self, String(decoding: JSONEncoder().encode(party), as: UTF8.self))
    #expect(etag(copy) == "W/\"7\"" && copy == party)
    #expect(etag(Item(idProperty: UUID(), line: 1, orderID: 7)) == nil)
  }

  @Test("a base type without the key has the members of its derived types, also complex ones that contain themselves")
  func hierarchies() throws {
    let json = ##"""
      {"@odata.type": "#Shop.Reply", "@odata.etag": "1", "ID": 4, "Text": "x",
       "Shape": {"@odata.type": "#Shop.Circle", "Name": "c", "Radius": 1.5, "Outer": {"Name": "o"}}}
      """##
    let document = try decode(Document.self, json)
    #expect(document.idProperty == 4 && document.shape.name == "c" && document.shape.outer?.name == "o")
    let letter = try #require(document.as(Letter.self))
    #expect(letter.id == 4 && letter.odataState.etag == "1" && letter.as(Reply.self)?.text == "x")
    let circle = try #require(document.shape.as(Circle.self))
    #expect(circle.radius == 1.5 && circle.outer?.name == "o")
    #expect(document.shape.odataValue == circle.odataValue)
    #expect(try decode(Document.self, String(decoding: JSONEncoder().encode(document), as: UTF8.self)) == document)
    #expect(Letter.Update(shape: document.shape).odataProperties.map(\.value) == [circle.odataValue])
    #expect(try decode(Shape.self, #"{"Name": "s"}"#).odataDerived == nil)
  }

  @Test("encoded values decode as equal values")
  func encoding() throws {
    let order = try decode(Order.self, json)
    let copy = try JSONDecoder().decode(Order.self, from: JSONEncoder().encode(order))
    #expect(copy == order)
    #expect(copy.toCustomer?.as(Bank.self) == order.toCustomer?.as(Bank.self))
    #expect(Set([order, copy]).count == 1)
  }

  @Test("geometry and geography values keep their kind of coordinates, also in encoded values")
  func geoValues() throws {
    let json = #"""
      {"ID": 1, "Frame": {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 0]]]},
       "Place": {"type": "Point", "coordinates": [7.5, 50]}}
      """#
    let model = try model(shop)
    let type = ValueType.structure(try #require(model.structure("Shop.Picture")))
    let decoder = NodeDecoder(try JSONNode(Array(json.utf8)), type, codingPath: [], model: model)
    let picture = try decoder.value(Picture.self)
    #expect(picture.frame?.space == .geometry && picture.frame?.type == .geometryPolygon)
    #expect(picture.place == ODataGeo(.geography, shape: .point(.init(x: 7.5, y: 50))))
    #expect(try JSONDecoder().decode(Picture.self, from: JSONEncoder().encode(picture)) == picture)
  }

  @Test("a required property that is missing is an error that names it")
  func missing() throws {
    let error = #expect(throws: DecodingError.self) { try decode(Order.self, #"{"ID": 7}"#) }
    guard case .keyNotFound(let key, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(key.stringValue == "Customer")
  }

  @Test("an entity that has not been uploaded has no value where the service sets one")
  func notUploaded() throws {
    let order = try decode(
      Order.self, #"{"ID": -1, "Total": null, "Customer": "ACME", "Status": "Open", "Tags": []}"#)
    #expect(order.total == nil && order.customer == "ACME")
  }

  @Test("the fields are those of the query builder")
  func queries() throws {
    let query = ODataQuery<Order>("Orders")
      .filter { $0.due < .now && $0.status == .open && $0.shipTo.city == "Bonn" && $0.items.any { $0.line > 1 } }
      .orderBy { [$0.total.descending, $0.predecessor.customer.ascending] }
      .expand { $0.items.top(3) }
      .select { $0.note }
    let text = try query.text().removingPercentEncoding ?? ""
    let parts = text.split(separator: "?").flatMap { $0.split(separator: "&") }
    #expect(
      Set(parts) == [
        "Orders", "$select=Note", "$expand=Items($top=3)", "$orderby=Total desc,Predecessor/Customer",
        "$filter=Due lt now() and Status eq Shop.Status'Open' and ShipTo/City eq 'Bonn' and Items/any(x:x/Line gt 1)",
      ])
    #expect(try ODataQuery<Order>("Orders").key(Order.Key(id: 5)).text() == "Orders(5)")
    let item = Item.Key(idProperty: try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")), line: 2)
    #expect(
      try ODataQuery<Item>("Items").key(item).text().lowercased()
        == "items(id=01234567-89ab-cdef-0123-456789abcdef,line=2)")
  }

  @Test("a property that cannot be filtered or sorted by has no operators there")
  func restrictions() {
    let fields = Order.Fields()
    let path = ODataPath([])
    let filtered: ODataNotFilterable = fields.note.operand(at: path)
    let sorted: ODataNotSortable = fields.due.ordering(at: path)
    let isAllowed: ODataOperand<ODataDateTimeOffset> = fields.due.operand(at: path)
    _ = (filtered, sorted, isAllowed)
  }

  @Test("navigation properties that the service restricts can be expanded")
  func restrictedNavigation() throws {
    let query = ODataQuery<Order>("Orders").expand(\.items).expand(\.predecessor)
    #expect(try query.text() == "Orders?$expand=Items,Predecessor")
  }

  @Test("a navigation property that cannot be expanded can be filtered by, selected and followed")
  func unexpandable() throws {
    let field: ODataNavigation<Party, ODataForbidden> = Order.Fields().toCustomer
    let query = ODataQuery<Order>("Orders").filter { $0.toCustomer.code == "B1" }.select { $0.toCustomer }
    #expect(try query.text().removingPercentEncoding == "Orders?$filter=_Customer/Code eq 'B1'&$select=_Customer")
    func path(_ order: ODataEntityReference<Order>) -> ODataEntityReference<Party> { order.toCustomer }
    _ = (path, field)
  }

  @Test("entities of types that are written by hand can be deleted, those that the service protects cannot")
  func deletions() {
    struct Own: ODataDescribed {
      static let odataTypeName = "Own"
      struct Fields: ODataFields {}
    }
    #expect(Own.ODataDeletion.self == ODataAllowed.self && Order.ODataDeletion.self == ODataAllowed.self)
    #expect(Party.ODataDeletion.self == ODataForbidden.self && Bank.ODataDeletion.self == ODataForbidden.self)
  }

  @Test("the bytes of media entities and stream properties have paths; media entities are created from bytes alone")
  func media() throws {
    func paths(_ picture: ODataEntityReference<Picture>, _ order: ODataEntityReference<Order>) throws -> [String] {
      [try picture.mediaPath(), try picture.mediaPath(\.thumbnail), try order.mediaPath(\.scan)]
    }
    #expect(Picture.ODataMediaCreation.self == ODataAllowed.self)
    #expect(Drawing.ODataMediaCreation.self == ODataForbidden.self)
    let (picture, order): (Any.Type, Any.Type) = (Picture.self, Order.self)
    #expect(!(picture is any ODataCreatable.Type) && picture is any ODataUpdatable.Type)
    #expect(!(order is any ODataMediaEntity.Type))
    #expect(try ODataQuery<Picture>("Pictures").select { $0.thumbnail }.text() == "Pictures?$select=Thumbnail")
  }

  @Test("navigation properties that are named like a member of the typed stores can be followed")
  func followedNavigation() {
    func path(_ item: ODataEntityReference<Item>) -> ODataEntityReference<Order> { item.toQuery.predecessor }
    let field = Item.Fields().toQuery
    #expect(ODataQuery<Item>("Items").expand { $0.toQuery }.expand(\.order).options.expand.count == 2)
    _ = (path, field)
  }

  @Test("a creation has the properties that are given")
  func creation() {
    let create = Order.Create(note: "x", customer: "ACME", shipTo: Address(city: "Bonn"), tags: ["a"])
    #expect(create.odataProperties.map(\.name) == ["Note", "Customer", "ShipTo", "Tags"])
    #expect(create.odataProperties[1].value == .string("ACME"))
    #expect(
      create.odataProperties[2].value
        == .complex(ODataComplexValue(properties: [.init("City", .string("Bonn")), .init("Former", .null)])))
    #expect(create.odataProperties[3].value == .collection([.string("a")]))
  }

  @Test("a creation does not need foreign keys: a deep insert sets them")
  func deepInsert() {
    let create = Order.Create(customer: "ACME", items: [Item.Create(line: 1)])
    #expect(create.odataLinks.map(\.name) == ["Items"])
    #expect(Item.Create(line: 1, orderID: 7).odataProperties.map(\.name) == ["Line", "OrderID"])
  }

  // OData Protocol 4.01 §11.4.2.1, §11.4.2.2
  @Test("a creation is bound to entities that exist, and contains new ones")
  func related() throws {
    let url = "http://host/Orders(3)"
    var create = Order.Create(
      customer: "ACME", items: [.init(line: 1, order: .new(.init(customer: "B"))), .init(line: 2)],
      predecessor: ODataRelated(existing: url))
    #expect(create.odataLinks.map(\.name) == ["Items", "Predecessor"])
    #expect(create.odataLinks[0].entities?.count == 2 && create.odataLinks[0].bindings.isEmpty)
    let order = try #require(create.odataLinks[0].entities?.first?.navigationLink("Order"))
    #expect(order.entity?["Customer"] == .string("B") && order.bindings.isEmpty)
    #expect(create.odataLinks[1].bindings == [url] && create.odataLinks[1].content == nil)

    create.items = [.init(line: 3)] + ODataRelatedEntities(existing: ["http://host/Items(1)"])
    #expect(create.odataLinks[0].entities?.count == 1)
    #expect(create.odataLinks[0].bindings == ["http://host/Items(1)"])
    // An empty collection is no content beside bindings: a service could read it as the whole collection.
    create.items = ODataRelatedEntities(existing: [url, url])
    #expect(create.odataLinks[0].content == nil && create.odataLinks[0].bindings == [url, url])
    create.items = .new([])
    #expect(create.odataLinks[0].entities?.isEmpty == true)
    create.predecessor = nil
    #expect(create.odataLinks.map(\.name) == ["Items"])
    #expect(create == Order.Create(customer: "ACME", items: []))
  }

  @Test("a member of a complex value can be assigned: the entity that contains the value sends the whole value")
  func complexMembers() throws {
    var order = try decode(Order.self, json)
    order.shipTo?.city = "Rom"
    let sent = { (city: String, former: ODataValue) in
      ODataProperty(
        "ShipTo", .complex(ODataComplexValue(properties: [.init("City", .string(city)), .init("Former", former)])))
    }
    let ulm = ODataValue.complex(
      ODataComplexValue(properties: [.init("City", .string("Ulm")), .init("Former", .null)]))
    #expect(order.odataChanges == [sent("Rom", ulm)])
    order.shipTo?.former = nil
    #expect(order.odataChanges == [sent("Rom", .null)] && order.shipTo?.former == nil)
    var key = KeyValue()
    key.update = KeyValue()
    #expect(key.update == KeyValue() && key.update?.update == nil)
  }

  @Test("several flags are written as a literal")
  func flags() {
    let update = Order.Update(options: [.gift, .fast])
    #expect(update.odataProperties == [.init("Options", .enumeration("Gift,Fast"))])
    let none: Options = []
    #expect(none.rawValue == "0" && Options(.gift, .fast) == [.gift, .fast])
  }

  @Test("an update tells null from unchanged, and has no computed, immutable or key property")
  func update() {
    var update = Order.Update(note: .some(nil), status: Status(rawValue: "Delayed"))
    #expect(update.odataProperties == [.init("Note", .null), .init("Status", .enumeration("Delayed"))])
    update.note = "x"
    update.options = Options(.gift, .fast)
    #expect(
      update.odataProperties
        == [
          .init("Note", .string("x")), .init("Status", .enumeration("Delayed")),
          .init("Options", .enumeration("Gift,Fast")),
        ])
  }
}

/// Counts how often the strings of an object are decoded.
private final class CountingDecoder: Decoder {
  let values: [String: String]
  var counts: [String: Int] = [:]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  init(_ values: [String: String]) { self.values = values }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Container<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unsupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw unsupported }

  var unsupported: DecodingError {
    DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "only an object with strings"))
  }

  private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: CountingDecoder
    let codingPath: [any CodingKey] = []
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { decoder.values[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      decoder.counts[key.stringValue, default: 0] += 1
      guard let value = decoder.values[key.stringValue] as? Value else { throw decoder.unsupported }
      return value
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw decoder.unsupported }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.unsupported }
    func superDecoder() throws -> any Decoder { throw decoder.unsupported }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.unsupported }
  }
}
