import Foundation
import LarderCore
import LarderCurl
import LarderGenerator
import LarderHTTP
import LarderOData
import LarderODataXML
import LarderOffline
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// The types in `Generated`, which the generator made from the metadata of the shop, on both stores.
@Suite("Generated types on both stores", .odataPy(), .serialized, .timeLimit(.minutes(2)))
struct TypedStoreTests {
  enum Kind: CaseIterable { case online, offline }

  /// Runs a test with an open store. The offline store has downloaded all sets.
  private func withShop(
    _ kind: Kind, selectsDeclared: Bool = false, _ body: (Container) async throws -> Void
  ) async throws {
    let root = try #require(URL(string: try ODataPyService.ofSuite.root))
    let folder = try TemporaryFolder()
    switch kind {
    case .online:
      let store = try OnlineODataStore(
        serviceRoot: root, transport: try CurlTransport(), options: OnlineStoreOptions(path: folder.path))
      try await store.open()
      try await body(Container(store, selectsDeclared: selectsDeclared))
      try await store.close()
    case .offline:
      let store = try OfflineODataProvider(
        serviceRoot: root, transport: try CurlTransport(),
        parameters: OfflineODataParameters(path: folder.path, resultPageSize: 4))
      for query in [
        "Products?$expand=Category,Shelves", "Categories", "Orders?$expand=Items", "AllTypes", "Shelves", "Documents",
      ] {
        let name = String(query.prefix { $0 != "?" })
        try await store.add(
          OfflineODataDefiningQuery(name, query, automaticallyRetrievesStreams: name == "Documents"))
      }
      try await store.open()
      try await body(Container(store, selectsDeclared: selectsDeclared))
      try await store.close()
    }
  }

  @Test("the generated files are those that the generator makes from the service's metadata")
  func current() async throws {
    let root = try #require(URL(string: try ODataPyService.ofSuite.root))
    let conversation = try ODataConversation(root: root, transport: try CurlTransport())
    let bytes = try await conversation.send(.read("$metadata")).payloadBytes
    let model = try EdmModel.read(bytes)
    let generated = try SwiftGenerator.generate(model, options: GeneratorOptions(documentName: "shop.xml"))
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Generated")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == generated.files.map(\.name).sorted())
    for file in generated.files {
      let text = try String(contentsOf: folder.appending(path: file.name), encoding: .utf8)
      #expect(text == file.text, "\(file.name) differs: run larder generate again")
    }
  }

  @Test("filters, expansions, orders and pages select entities; their values are exact", arguments: Kind.allCases)
  func reading(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let products = try await shop.products
        .filter { $0.price < 3 && $0.category.id == 1 }.expand(\.category).orderBy(\.price, descending: true).all()
      #expect(products.map(\.name) == ["Flour", "Salt"])
      #expect(products.map(\.category?.id) == [1, 1])
      #expect(products.map(\.stock) == [120, 9_007_199_254_740_993])
      #expect(products.first?.tags == ["baking", "wheat"] && products.first?.labels?.contains(.local) == true)
      let milk = try #require(try await shop.products.filter { $0.name == "Milk" }.first())
      #expect(milk.as(Perishable.self)?.keepsFor?.description == "P7D")
      #expect(try await shop.products.filter { $0.price < 3 }.count() == 4)
      let order = try await shop.orders[1].expand(\.items) { $0.orderBy(\.position).top(1) }.get()
      #expect(order.customer == "Ada" && order.items?.map(\.quantity) == [2.5] && order.shipTo?.city == "Ely")
      #expect(try await shop.orders[1].items.filter { $0.position > 1 }.all().map(\.price) == [1.6])
      #expect(try await shop.orders[3].get().customer == nil)
      var pages: [Int] = []
      for try await page in shop.products.top(6).pages() { pages.append(page.count) }
      #expect(pages.reduce(0, +) == 6)
      struct Named: Decodable {
        let name: String
        private enum CodingKeys: String, CodingKey { case name = "Name" }
      }
      var names: [String] = []
      for try await page in shop.store.pages([Named].self, "Products?$orderby=ID&$top=6") {
        names += page.map(\.name)
      }
      #expect(names == (try await shop.products.orderBy(\.id).top(6).all().map(\.name)))
      let missing = await #expect(throws: (any Error).self) { try await shop.orders[99].get() }
      #expect((missing as? ODataServiceError)?.httpStatus == 404, "\(String(describing: missing))")
    }
  }

  @Test("reads that select the declared properties have the same entities", arguments: Kind.allCases)
  func declaredProperties(kind: Kind) async throws {
    var products: [[Product]] = []
    var orders: [[Order]] = []
    for selectsDeclared in [false, true] {
      try await withShop(kind, selectsDeclared: selectsDeclared) { shop in
        products.append(try await shop.products.expand(\.category).expand(\.shelves).orderBy(\.id).all())
        orders.append(try await shop.orders.expand(\.items).orderBy(\.id).all())
        #expect(try await shop.orders[1].expand(\.items).get() == orders[0].first { $0.id == 1 })
        #expect(try await shop.products[1].category.get() == products[0].first { $0.id == 1 }?.category)
        #expect(try await shop.allTypes[1].get().decimal != nil)
        let query = selectsDeclared ? "Orders(1)?$select=" : "Orders(1)"
        #expect(try shop.orders[1].query.text().hasPrefix(query))
      }
    }
    #expect(products[0] == products[1] && orders[0] == orders[1] && !orders[0].isEmpty)
    #expect(products[1].contains { $0.as(Perishable.self)?.keepsFor != nil })
  }

  @Test("every primitive type keeps every digit", arguments: Kind.allCases)
  func exactValues(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let all = try await shop.allTypes[1].get()
      #expect(all.decimal?.description == "123456789012345678901234.0123456789")
      #expect(all.int64 == .max && all.byte == .max && all.sByte == .max && all.int16 == .max && all.int32 == .max)
      #expect(all.double == .greatestFiniteMagnitude && all.single == 3.402_823_4e38)
      #expect(all.dateTimeOffset?.description == "2026-01-15T10:00:00.123456+05:30")
      #expect(all.timeOfDay?.description == "23:59:59.999999" && all.date?.description == "2024-02-29")
      #expect(all.duration?.description == "P12DT23H59M59.999999S")
      #expect(all.binary == Data([0, 1, 2, 254, 255]))
      #expect(all.geometryPoint == ODataGeo(.geometry, shape: .point(.init(x: 1.5, y: -2.5))))
      #expect(all.geographyPoint?.space == .geography)
      #expect(all.int64s == [.min, 0, .max] && all.strings == ["a", "", "ü"])
      let other = try await shop.allTypes[2].get()
      #expect(other.double == -.infinity && other.single?.isNaN == true && other.int64 == .min)
      #expect(other.decimal?.description == "-0.0000000001" && other.boolean == false)
    }
  }

  @Test("an update sends what was assigned, under the ETag of what was read", arguments: Kind.allCases)
  func updating(kind: Kind) async throws {
    try await withShop(kind) { shop in
      var order = try await shop.orders[2].get()
      #expect(order.odataChanges.isEmpty)
      order.customer = "Grace H."
      order.shipTo = Address(street: "Lane 3", city: "Ely")
      #expect(order.odataChanges.map(\.name).sorted() == ["Customer", "ShipTo"])
      let changed = try await shop.orders.update(order)
      #expect(changed.customer == "Grace H." && changed.odataChanges.isEmpty)
      let again = try await shop.orders[2].get()
      #expect(again.customer == "Grace H." && again.shipTo?.city == "Ely" && again.placedAt == order.placedAt)
      var cleared = again
      cleared.shipTo = nil
      try await shop.orders.update(cleared)
      #expect(try await shop.orders[2].get().shipTo == nil)
      if kind == .online {
        // The first value has a former version's ETag.
        let stale = await #expect(throws: ODataServiceError.self) { try await shop.orders.update(order) }
        #expect(stale?.httpStatus == 412)
      }
      try await shop.orders[2].update(.init(customer: "Grace"), ifMatch: kind == .online ? "*" : nil)
      #expect(try await shop.orders[2].get().customer == "Grace")
    }
  }

  @Test("a creation contains related entities; deletions and links change what is read", arguments: Kind.allCases)
  func creating(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let created = try await shop.orders.create(
        .init(customer: "Joan", items: [.init(position: 1, productID: 2, quantity: 3)]))
      #expect(created.customer == "Joan")
      let read = try await shop.orders[created].expand(\.items).get()
      #expect(read == created || read.items?.map(\.quantity) == [3])
      try await shop.orders.delete(read)
      #expect(try await shop.orders.filter { $0.customer == "Joan" }.all().isEmpty)
    }
  }

  // OData Protocol 4.01 §11.4.2.1
  @Test("a creation is bound to entities that exist, also that of a related entity", arguments: Kind.allCases)
  func binding(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let product = try await shop.products.create(
        .init(
          name: "Sugar", price: 2.5, stock: 1, tags: [], category: .existing(shop.categories[2]),
          shelves: .existing(try await shop.shelves.top(2).all().map { shop.shelves[$0] })))
      #expect(try await shop.products[product].category.get().id == 2)
      #expect(try await shop.products[product].shelves.all().count == 2)
      let order = try await shop.orders.create(
        .init(customer: "Joan", items: [.init(position: 5, quantity: 3, product: .existing(shop.products[3]))]))
      let items = try await shop.orders[order].items.expand(\.product).all()
      #expect(items.map(\.product?.id) == [3])
      try await shop.orders.delete(try await shop.orders[order].get())
      try await shop.products.delete(try await shop.products[product].get())
    }
  }

  // OData Protocol 4.01 §11.1.3, §11.4.7, §11.4.8
  @Test("the bytes of media entities and stream properties are read and replaced", arguments: Kind.allCases)
  func media(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let document = shop.documents[1]
      let before = try await document.media()
      #expect(String(decoding: before, as: UTF8.self).hasPrefix("Flour"))
      try await document.updateMedia(.bytes(Array("new".utf8), contentType: "text/plain"))
      #expect(try await document.media() == Array("new".utf8))
      try await document.updateMedia(.bytes(before, contentType: "text/plain"))
      let created = try await shop.documents.createMedia(.bytes([1, 2, 3], contentType: "application/octet-stream"))
      #expect(try await shop.documents[created].media() == [1, 2, 3])
      #expect(try shop.documents[1].mediaPath() == "Documents(1)/$value")
      try await shop.documents.delete(try await shop.documents[created].get())
      let photo = shop.products[1]
      #expect(try photo.mediaPath(\.photo) == "Products(1)/Photo")
      if kind == .online {
        try await photo.updateMedia(\.photo, .bytes([7, 8], contentType: "image/png"))
        #expect(try await photo.media(\.photo) == [7, 8])
      }
    }
  }

  // OData CSDL 4.01 §6.3
  @Test("undeclared properties of an open type are created, read and changed", arguments: Kind.allCases)
  func openType(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let created = try await shop.categories.create(
        .init(id: 81, name: "Tea", odataDynamic: ["Shade": .string("dark"), "IsNew": .boolean(true)]))
      #expect(created.odataDynamic["Shade"] == .string("dark"))
      var read = try await shop.categories[81].get()
      #expect(read.odataDynamic.properties == [.init("IsNew", .boolean(true)), .init("Shade", .string("dark"))])
      // The online service does not filter by undeclared properties.
      if kind == .offline {
        #expect(try await shop.categories.filter { $0["Shade"] == "dark" }.all().map(\.id) == [81])
      }
      read.odataDynamic["Shade"] = .string("light")
      let changed = try await shop.categories.update(read)
      #expect(changed.odataDynamic["Shade"] == .string("light") && changed.odataChanges.isEmpty)
      try await shop.categories[81].update(
        .init(odataDynamic: ["IsNew": .boolean(false)]), ifMatch: kind == .online ? "*" : nil)
      let last = try await shop.categories[81].get()
      #expect(last.odataDynamic == ["IsNew": .boolean(false), "Shade": .string("light")])
      // A value of a generated type, encoded.
      try await shop.store.create(Category(id: 82, name: "Mate", odataDynamic: last.odataDynamic), in: "Categories")
      #expect(try await shop.categories[82].get().odataDynamic == last.odataDynamic)
      for id in [81, 82] as [Int32] { try await shop.categories.delete(try await shop.categories[id].get()) }
    }
  }

  // OData Protocol 4.01 §11.4.6
  @Test("links change what is related; the entities stay", arguments: Kind.allCases)
  func links(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let product = shop.products[3]
      let before = try await product.shelves.all().map(\.code)
      let other = try #require(try await shop.shelves.all().first { !before.contains($0.code) })
      try await product.link(\.shelves, to: shop.shelves[other])
      #expect(Set(try await product.shelves.all().map(\.code)) == Set(before + [other.code]))
      try await product.unlink(\.shelves, from: shop.shelves[other])
      #expect(Set(try await product.shelves.all().map(\.code)) == Set(before))
      #expect(try await shop.shelves[other].get() == other)
      let category = try #require(try await product.expand(\.category).get().category)
      let another = try #require(try await shop.categories.all().first { $0.id != category.id })
      try await product.link(\.category, to: shop.categories[another])
      #expect(try await product.category.get().id == another.id)
      try await product.link(\.category, to: shop.categories[category])
      #expect(try await product.expand(\.category).get().category == category)
    }
  }

  @Test("a selection of fewer properties is decoded as a type with those", arguments: Kind.allCases)
  func selection(kind: Kind) async throws {
    struct Name: Decodable, Sendable, Equatable {
      let name: String
      private enum CodingKeys: String, CodingKey { case name = "Name" }
    }
    try await withShop(kind) { shop in
      let names = try await shop.products.filter { $0.price > 5 }.orderBy(\.name).top(1).all(as: Name.self) { $0.name }
      #expect(names == [Name(name: "Crème brûlée 🍮 'à l'ancienne'")])
    }
  }

  // OData Protocol 4.01 §11.7
  @Test(
    "a batch has a result of its type for each request; a change set changes all or nothing", arguments: Kind.allCases)
  func batches(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let (order, few, missing) = try await shop.store.batch(
        shop.orders[1].expand(\.items).reading(), shop.products.orderBy(\.id).top(2).reading(),
        shop.orders[99].reading())
      #expect(try order.get().items?.count == 2 && few.get().map(\.id) == [1, 2])
      let error = #expect(throws: (any Error).self) { try missing.get() }
      #expect((error as? ODataServiceError)?.httpStatus == 404, "\(String(describing: error))")

      let created = try await shop.store.changeSet(
        ["a", "b"].map { try shop.orders.creating(.init(customer: $0, items: [.init(position: 9, quantity: 1)])) })
      #expect(created.map(\.customer) == ["a", "b"])
      var first = created[0]
      first.customer = "c"
      let (changed, unchanged, _) = try await shop.store.changeSet(
        shop.orders.updating(first), shop.orders.updating(created[1]), shop.orders.deleting(created[1]))
      #expect(changed.customer == "c" && unchanged == created[1])
      let left = try await shop.orders.filter { $0.customer.in(["a", "b", "c"]) }.all()
      #expect(left.map(\.customer) == ["c"])
      first = try await shop.orders[first].get()
      first.customer = "d"
      await #expect(throws: (any Error).self) {
        try await shop.store.changeSet(shop.orders.updating(first), shop.orders[99].deleting())
      }
      #expect(try await shop.orders[first].get().customer == "c")
      try await shop.orders.delete(try await shop.orders[first].get())
      await #expect(throws: ODataServiceError.self) { try await shop.store.changeSet(shop.orders[1].reading()) }
    }
  }

  private struct NewOrder: Encodable {
    var customer: String?
    var placed = Date(timeIntervalSince1970: 1_768_435_200.25)
    var lines: [Line] = []

    struct Line: Encodable {
      var position: Int
      var product: String?
      var quantity = "2.50"
      private enum CodingKeys: String, CodingKey {
        case position = "Position"
        case product = "Product@odata.bind"
        case quantity = "Quantity"
      }
    }
    struct Change: Encodable {
      var customer: String?
      var placed: Date?
      private enum CodingKeys: String, CodingKey {
        case customer = "Customer"
        case placed = "PlacedAt"
      }
    }
    private enum CodingKeys: String, CodingKey {
      case customer = "Customer"
      case placed = "PlacedAt"
      case lines = "Items"
    }
  }

  @Test("values of hand-written types are created and updated by the declared types", arguments: Kind.allCases)
  func encoding(kind: Kind) async throws {
    struct Cleared: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeNil(forKey: .customer)
      }
      private enum Key: String, CodingKey { case customer = "Customer" }
    }
    struct Wrong: Encodable {
      let items: [Item]
      struct Item: Encodable {
        let position: String
        private enum CodingKeys: String, CodingKey { case position = "Position" }
      }
      private enum CodingKeys: String, CodingKey { case items = "Items" }
    }
    try await withShop(kind) { shop in
      let new = NewOrder(customer: "Edith", lines: [.init(position: 7)])
      let created = try #require(try await shop.store.create(new, in: "Orders"))
      let text = try #require(created["ID"]).text()
      let id = try #require(Int32(text))
      let read = try await shop.orders[id].expand(\.items).get()
      #expect(read.customer == "Edith" && read.placedAt?.description == "2026-01-15T00:00:00.25Z")
      #expect(read.items?.map(\.quantity) == [2.5])
      // What is not encoded stays, what is encoded as nil is null.
      try await shop.store.update(
        "Orders(\(id))", to: NewOrder.Change(placed: Date(timeIntervalSince1970: 1_768_435_300.5)),
        ifMatch: read.odataState.etag)
      #expect(try await shop.orders[id].get().customer == "Edith")
      let etag = try await shop.orders[id].get().odataState.etag
      try await shop.store.update("Orders(\(id))", to: Cleared(), ifMatch: etag)
      #expect(try await shop.orders[id].get().customer == nil)
      let error = await #expect(throws: ODataServiceError.self) {
        try await shop.store.create(Wrong(items: [.init(position: "one")]), in: "Orders")
      }
      #expect(error?.description.contains("'/Items[0]/Position'") == true, "\(String(describing: error))")
      try await shop.orders.delete(try await shop.orders[id].get())
    }
  }

  @Test("a value that does not fit its type is the error undecodableType on both stores", arguments: Kind.allCases)
  func undecodable(kind: Kind) async throws {
    struct Wrong: Decodable, Sendable {
      let items: [Item]
      struct Item: Decodable, Sendable {
        let position: Date
        private enum CodingKeys: String, CodingKey { case position = "Position" }
      }
      private enum CodingKeys: String, CodingKey { case items = "Items" }
    }
    try await withShop(kind) { shop in
      let error = await #expect(throws: (any Error).self) {
        try await shop.store.read([Wrong].self, "Orders?$expand=Items&$filter=ID eq 1")
      }
      let larder = try #require(error as? any LarderError)
      #expect(larder.errorName == "undecodableType")
      let text = String(describing: larder)
      for part in ["Items", "/Position'", "Edm.Int32", "Date"] { #expect(text.contains(part), "\(text)") }
    }
  }

  @Test("functions and actions are methods of what they are bound to")
  func operations() async throws {
    try await withShop(.online) { shop in
      #expect(try await shop.cheapest()?.name == "Salt")
      #expect(try await shop.below(price: 2).map(\.name).sorted() == ["Milk", "Salt"])
      #expect(try await shop.headOffice()?.city.isEmpty == false)
      #expect(try await shop.echo(text: "it's / 100%") == "it's / 100%")
      #expect(try await shop.echo(number: .max) == .max)
      #expect(try await shop.products[1].priceIn(factor: 2) == 5.9)
      #expect(try await shop.products.inStock().contains { $0.name == "Flour" })
      let stock = try await shop.products[6].get().stock
      #expect(try await shop.products[6].restock(amount: 5)?.stock == stock + 5)
      #expect(try await shop.orders[1].total().map { $0 > 0 } == true)
    }
  }

  @Test("live results: the present result, and another one after a change", arguments: Kind.allCases)
  func live(kind: Kind) async throws {
    try await withShop(kind) { shop in
      var results = shop.categories.orderBy(\.id).live().makeAsyncIterator()
      #expect(try await results.next()?.map(\.id).prefix(3) == [1, 2, 3])
      guard kind == .offline else { return }
      var category = try await shop.categories[3].get()
      category.name = "Summer"
      try await shop.categories.update(category)
      #expect(try await results.next()?.last?.name == "Summer")
    }
  }
  @Test("live results of a cancelled task end with an error, as if more were to come", arguments: Kind.allCases)
  func cancelledLive(kind: Kind) async throws {
    try await withShop(kind) { shop in
      let reading = Task {
        var results = shop.categories.live().makeAsyncIterator()
        _ = try await results.next()
        withUnsafeCurrentTask { $0?.cancel() }
        while try await results.next() != nil {}
      }
      await #expect(throws: CancellationError.self) { try await reading.value }
    }
  }
}
