import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Media, links, properties and actions on a service of 4.01 that others have written, over a network that breaks.
@Suite("Changes of every kind reach a real service", .odataPy(), .serialized, .timeLimit(.minutes(5)))
struct RealKindsTests {
  /// How it is uploaded, and where the network breaks.
  struct Scenario: Sendable, CustomTestStringConvertible {
    let batch: Int
    let interruption: InterruptingTransport.Interruption?
    var testDescription: String {
      "\(batch == 0 ? "singles" : "batches"), \(interruption?.description ?? "no interruption")"
    }

    static let changes = 12
    static let all: [Scenario] =
      [
        Scenario(batch: 0, interruption: nil), Scenario(batch: 100, interruption: nil),
        Scenario(batch: 100, interruption: .behind(1)),
      ]
      + [2, 4, 9].map { Scenario(batch: 0, interruption: .before($0)) }
      + (1...changes).map { Scenario(batch: 0, interruption: .behind($0)) }
  }

  private static let queries: KeyValuePairs<String, String> = [
    "products": "Products?$expand=Category,Supplier,Shelves", "documents": "Documents", "categories": "Categories",
    "suppliers": "Suppliers", "shelves": "Shelves",
  ]

  /// What is compared on both sides.
  private static let readQueries = [
    "Products?$orderby=ID&$expand=Category,Supplier,Shelves($orderby=Code)", "Documents?$orderby=ID",
    "Suppliers?$orderby=Country,Number", "Shelves?$orderby=Code",
  ]

  private func open(_ rig: StoreRig, _ transport: InterruptingTransport) async throws -> OfflineODataProvider {
    let store = try rig.provider(transport: transport)
    for (name, query) in Self.queries {
      let isMedia = name == "documents"
      try await store.add(OfflineODataDefiningQuery(name, query, automaticallyRetrievesStreams: isMedia))
    }
    try await store.open()
    return store
  }

  private func plain(_ store: OfflineODataProvider, _ path: String) async throws -> String {
    let options = OfflineODataResultOptions(metadata: .none)
    return String(decoding: try await store.readJSON(path, options: options).bytes, as: UTF8.self)
  }

  /// A shelf that a product lies on, or does not.
  private func shelf(_ store: OfflineODataProvider, of product: Int, isThere: Bool) async throws -> String {
    let filter = "$filter=\(isThere ? "" : "not ")Products/any(p:p/ID eq \(product))&$orderby=Code&$top=1"
    let entity = try #require(try await store.readEntitySet("Shelves?\(filter)").entities.first)
    guard case .guid(let code)? = entity["Code"] else { throw RealKindsError.noShelf }
    return "Shelves(\(code))"
  }

  private enum RealKindsError: Error { case noShelf }

  /// Twelve changes, each of a kind of its own.
  private func change(_ store: OfflineODataProvider) async throws {
    let text = "text/plain"
    try await store.createMedia(.bytes(Array("new list".utf8), contentType: text), in: "Documents")
    try await store.updateMedia("Documents(1)/$value", to: .bytes(Array("other list".utf8), contentType: text))
    // Its service gives it no ETag: what it was before shows whether the change arrived.
    try await store.downloadMedia("Products(1)/Photo")
    try await store.updateMedia("Products(1)/Photo", to: .bytes([1, 2, 3], contentType: "image/png"))
    try await store.updateLink("Products(2)/Category/$ref", to: "Categories(3)")
    let free = try await shelf(store, of: 3, isThere: false)
    try await store.createLink("Products(3)/Shelves/$ref", to: free)
    let full = try await shelf(store, of: 13, isThere: true)
    try await store.deleteLink("Products(13)/Shelves/$ref?$id=\(full)")
    let stock = ODataRequestBody.properties([ODataProperty("Stock", .int64(66))])
    _ = try await store.execute(single: ODataSingleRequest(.update(.replace), "Products(6)/Stock", body: stock))
    let name = ODataRequestBody.bytes(Array("Renamed".utf8), contentType: text)
    _ = try await store.execute(single: ODataSingleRequest(.update(.replace), "Products(7)/Name/$value", body: name))
    try await store.delete("Products(3)/Color")
    let city = ODataRequestBody.properties([ODataProperty("City", .string("Modena"))])
    let path = "Suppliers(Country='IT',Number=1)/Address/City"
    _ = try await store.execute(single: ODataSingleRequest(.update(.replace), path, body: city))
    try await store.invokeAction("Products(4)/Larder.Shop.Restock", parameters: [ODataProperty("amount", .int64(5))])
    try await store.invokeAction("Discontinue", parameters: [ODataProperty("ids", .collection([.int32(10)]))])
  }

  @Test(
    "Media, links, properties and actions arrive once, whatever change the network breaks at; both sides are equal then",
    arguments: Scenario.all)
  func kinds(scenario: Scenario) async throws {
    try ODataPyService.ofSuite.restart()
    let (rig, transport) = (try StoreRig(try ODataPyService.ofSuite.root), try InterruptingTransport())
    let store = try await open(rig, transport)
    try await change(store)
    #expect(transport.heard.allSatisfy { $0.hasSuffix("Photo") })
    transport.arm(scenario.interruption)
    let options = OfflineODataUploadOptions(changesPerBatch: scenario.batch, lanes: 1, settlingTime: .zero)
    var report = OfflineODataUploadReport()
    do { report = try await store.upload(options) } catch let error as OfflineODataError {
      #expect(scenario.interruption != nil && error.category == .communicationError, "\(error)")
      transport.arm(nil)
      report = try await store.upload(options)
    }
    #expect(report.pending == 0)
    let failures = try await store.readEntitySet("ErrorArchive?$orderby=RequestID").entities
    let reasons = failures.map {
      "\($0["RequestMethod"] ?? .null) \($0["RequestURL"] ?? .null) \($0["Message"] ?? .null)"
    }
    // Whether a change that cannot be looked up was done is unknown; it is not done twice.
    #expect(failures.allSatisfy { $0["Reason"] == .string("UnknownOutcome") }, "\(reasons)")
    #expect(failures.count == Self.unknown(transport.lost), "\(transport.lost ?? "") \(reasons)")
    _ = try await store.discardAll()
    try await compare(store, rig)
    try await store.close()
  }

  /// How many changes have an unknown outcome: those without a resource that shows them.
  private static func unknown(_ lost: String?) -> Int {
    guard let lost else { return 0 }
    // Media go beside the batch, and either may be first. Both actions are in it.
    if lost.hasSuffix("$batch") { return 2 }
    return ["Documents", "Restock", "Discontinue"].contains { lost.hasSuffix($0) } ? 1 : 0
  }

  private func compare(_ store: OfflineODataProvider, _ rig: StoreRig) async throws {
    try await store.download()
    let there = try await open(try StoreRig(rig.root), try InterruptingTransport())
    for query in Self.readQueries {
      let (here, there) = (try await plain(store, query), try await plain(there, query))
      #expect(here == there, "\(query)")
    }
    let documents = try await there.readEntitySet("Documents?$orderby=ID").entities
    #expect(documents.count == 2)
    for (number, content) in ["other list", "new list"].enumerated() {
      let path = "Documents(\(number + 1))/$value"
      #expect(try await there.readMedia(path) == Array(content.utf8))
      #expect(try await store.readMedia(path) == Array(content.utf8))
    }
    try await there.downloadMedia("Products(1)/Photo")
    #expect(try await there.readMedia("Products(1)/Photo") == [1, 2, 3])
    let product = try #require(try await there.readEntity("Products(4)"))
    #expect(product["Stock"] == .int64(45))
    #expect(try await there.readCount("Products") == 39)
    #expect(try await there.text("Products(7)/Name/$value") == "Renamed")
    #expect(try await there.text("Products(6)/Stock/$value") == "66")
    #expect(try await there.text("Suppliers(Country='IT',Number=1)/Address/City/$value") == "Modena")
    #expect(try await there.text("Products(2)/Category/ID/$value") == "3")
    try await there.close()
  }
}

/// Links of a service of V2 that others have written; what it does not take goes to the archive while the others arrive.
@Suite("Links reach a real service of V2", .mockSAP(), .serialized, .timeLimit(.minutes(3)))
struct RealLinksTests {
  private static let cuts: [InterruptingTransport.Interruption?] = [nil, .before(2)] + (1...3).map { .behind($0) }

  private func open(_ rig: StoreRig, _ transport: InterruptingTransport) async throws -> OfflineODataProvider {
    let store = try rig.provider(transport: transport)
    for (name, query) in [
      ("products", "ProductSet"), ("partners", "BusinessPartnerSet"), ("contacts", "ContactSet"),
      ("orders", "SalesOrderSet"),
    ] { try await store.add(OfflineODataDefiningQuery(name, query)) }
    try await store.open()
    return store
  }

  private func keys(_ store: OfflineODataProvider, _ set: String, _ key: String) async throws -> [String] {
    try await store.readEntitySet("\(set)?$orderby=\(key)").entities.compactMap { entity in
      if case .string(let text)? = entity[key] { text } else { nil }
    }
  }

  @Test(
    "Links are changed although the network fails at any change; a change of one property is rejected, and fails alone",
    arguments: cuts, [0, 100])
  func links(interruption: InterruptingTransport.Interruption?, batch: Int) async throws {
    try MockSAP.ofSuite.reset()
    let (rig, transport) = (try StoreRig(try MockSAP.ofSuite.gatewaySample), try InterruptingTransport())
    let store = try await open(rig, transport)
    let products = try await keys(store, "ProductSet", "ProductID")
    let partners = try await keys(store, "BusinessPartnerSet", "BusinessPartnerID")
    let contacts = try await keys(store, "ContactSet", "ContactGuid")
    try #require(products.count > 2 && partners.count > 2 && contacts.count > 1)
    let last = "BusinessPartnerSet('\(partners[partners.count - 1])')"
    try await store.updateLink("ProductSet('\(products[0])')/$links/ToSupplier", to: last)
    try await store.createLink("\(last)/$links/ToContacts", to: "ContactSet('\(contacts[0])')")
    try await store.deleteLink("ProductSet('\(products[1])')/$links/ToSupplier")
    let note = ODataRequestBody.properties([ODataProperty("Note", .string("by itself"))])
    let order = try #require(try await keys(store, "SalesOrderSet", "SalesOrderID").first)
    _ = try await store.execute(
      single: ODataSingleRequest(.update(.replace), "SalesOrderSet('\(order)')/Note", body: note))
    transport.arm(interruption)
    let options = OfflineODataUploadOptions(changesPerBatch: batch, lanes: 1, settlingTime: .zero)
    var report = OfflineODataUploadReport()
    do { report = try await store.upload(options) } catch let error as OfflineODataError {
      #expect(interruption != nil && error.category == .communicationError, "\(error)")
      transport.arm(nil)
      report = try await store.upload(options)
    }
    #expect(report.pending == 0)
    let failures = try await store.readEntitySet("ErrorArchive").entities
    #expect(failures.count == 1 && failures.first?["HTTPStatusCode"] == .int32(405), "\(failures)")
    _ = try await store.discardAll()
    try await store.download()
    let there = try await open(try StoreRig(rig.root), try InterruptingTransport())
    for set in [
      "ProductSet?$orderby=ProductID", "ContactSet?$orderby=ContactGuid", "SalesOrderSet?$orderby=SalesOrderID",
    ] {
      let (here, there) = (try await store.text(set), try await there.text(set))
      #expect(here == there, "\(set)")
    }
    let product = try #require(try await there.readEntity("ProductSet('\(products[0])')"))
    #expect(product["SupplierID"] == .string(partners[partners.count - 1]))
    let owner = try #require(try await there.readEntity("ContactSet('\(contacts[0])')"))
    #expect(owner["BusinessPartnerID"] == .string(partners[partners.count - 1]))
    try await store.close()
    try await there.close()
  }
}
