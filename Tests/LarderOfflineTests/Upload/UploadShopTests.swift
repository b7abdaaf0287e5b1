import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Changes reach a service of 4.01", .odataPy(), .serialized, .timeLimit(.minutes(1)))
struct UploadShopTests {
  struct Product: Decodable, Hashable, Sendable {
    var id: Int
    var name: String
    var stock: Int
    var color: String?
    var tags: [String]
    enum CodingKeys: String, CodingKey {
      case id = "ID", name = "Name", stock = "Stock", color = "Color", tags = "Tags"
    }
  }

  private func archive(_ store: OfflineODataProvider) async throws -> [String] {
    try await store.openStore().read { snapshot in
      try ChangeQueue(snapshot.connection).entries().map {
        "\($0.state) \($0.failure?.method ?? "") \($0.failure?.message ?? "")"
      }
    }
  }

  struct Placed: Decodable, Hashable, Sendable {
    var id: Int
    var category: Category?
    struct Category: Decodable, Hashable, Sendable {
      var id: Int
      enum CodingKeys: String, CodingKey { case id = "ID" }
    }
    enum CodingKeys: String, CodingKey { case id = "ID", category = "Category" }
  }

  @Test("An entity is bound to others as services of 4.0 and 4.01 read it: none is made for it", arguments: [100, 0])
  func bindings(changesPerBatch: Int) async throws {
    let rig = try StoreRig(try ODataPyService.ofSuite.root)
    let store = try await rig.open(["products": "Products?$expand=Category", "categories": "Categories"])
    let count = try await store.readCount("Categories")
    let id = 91_000 + changesPerBatch
    var product = ODataEntity(properties: [
      ODataProperty("ID", .int32(Int32(id))), ODataProperty("Name", .string("bound")),
      ODataProperty("Price", .decimal(1)), ODataProperty("Stock", .int64(1)), ODataProperty("Tags", .collection([])),
    ])
    var link = ODataNavigationLink(name: "Category")
    link.bindings = ["Categories(2)"]
    product.navigationLinks = [link]
    try await store.create(product, in: "Products")
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    let rejected = try await archive(store)
    #expect(report.sent == 1 && report.failed == 0, "\(report) \(rejected)")
    let path = "Products(\(id))?$expand=Category"
    #expect(try await store.read(Placed.self, path)?.category?.id == 2)
    let other = try StoreRig(try ODataPyService.ofSuite.root)
    let there = try await other.open(["products": "Products?$expand=Category", "categories": "Categories"])
    #expect(try await there.read(Placed.self, path)?.category?.id == 2)
    #expect(try await there.readCount("Categories") == count)
    try await store.close()
    try await there.close()
  }

  @Test("Values of many types and a collection, made and changed", arguments: [100, 0])
  func products(changesPerBatch: Int) async throws {
    let rig = try StoreRig(try ODataPyService.ofSuite.root)
    let store = try await rig.open(["products": "Products", "categories": "Categories"])
    let id = 90_000 + changesPerBatch
    let product = ODataEntity(properties: [
      ODataProperty("ID", .int32(Int32(id))), ODataProperty("Name", .string("Ünïcode 'quoted'")),
      ODataProperty("Price", .decimal(12)), ODataProperty("Stock", .int64(3)),
      ODataProperty("Color", .enumeration("Red")),
      ODataProperty("Tags", .collection([.string("a"), .string("b")])),
    ])
    try await store.create(product, in: "Products")
    try await store.update("Products(\(id))", to: ODataEntity(properties: [ODataProperty("Stock", .int64(4))]))
    try await store.update("Products(1)", to: ODataEntity(properties: [ODataProperty("Stock", .int64(77))]))
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    let rejected = try await archive(store)
    #expect(report.sent == 3 && report.failed == 0 && report.pending == 0, "\(report) \(rejected)")
    let other = try StoreRig(try ODataPyService.ofSuite.root)
    let there = try await other.open(["products": "Products", "categories": "Categories"])
    for path in ["Products(\(id))", "Products(1)"] {
      let mine = try await store.read(Product.self, path)
      #expect(mine == (try await there.read(Product.self, path)))
    }
    #expect(try await there.read(Product.self, "Products(1)")?.stock == 77)
    try await store.close()
    try await there.close()
  }
}
