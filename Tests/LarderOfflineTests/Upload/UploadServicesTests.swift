import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Changes made in the store, on services that others have written.
@Suite("Changes reach real services", .mockSAP("--require-if-match"), .serialized, .timeLimit(.minutes(1)))
struct UploadServicesTests {
  /// The same service in two versions.
  struct Sales: Sendable, CustomTestStringConvertible {
    let isV2: Bool
    var orders: String { isV2 ? "A_SalesOrder" : "SalesOrder" }
    var items: String { isV2 ? "A_SalesOrderItem" : "SalesOrderItem" }
    var root: String { get throws { isV2 ? try MockSAP.ofSuite.salesOrdersV2 : try MockSAP.ofSuite.salesOrdersV4 } }
    var testDescription: String { isV2 ? "V2" : "V4" }
  }

  struct Order: Decodable, Hashable, Sendable {
    var number: String
    var mark: String?
    var customer: String?
    var type: String?
    enum CodingKeys: String, CodingKey {
      case number = "SalesOrder", mark = "PurchaseOrderByCustomer", customer = "SoldToParty", type = "SalesOrderType"
    }
  }

  private func new(_ mark: String) -> ODataEntity {
    ODataEntity(properties: [
      ODataProperty("SalesOrderType", .string("OR")), ODataProperty("SalesOrganization", .string("1710")),
      ODataProperty("DistributionChannel", .string("10")), ODataProperty("OrganizationDivision", .string("00")),
      ODataProperty("SoldToParty", .string("1000006")), ODataProperty("PurchaseOrderByCustomer", .string(mark)),
    ])
  }

  private func mark(_ text: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string(text))])
  }

  /// What the service has, read by a store of its own.
  private func there(_ sales: Sales, _ path: String) async throws -> [Order] {
    let rig = try StoreRig(try sales.root)
    let store = try await rig.open(["orders": sales.orders])
    let all = try await store.read([Order].self, path) ?? []
    try await store.close()
    return all
  }

  @Test(
    "Created, changed, changed again and deleted while away; both sides are equal afterwards",
    arguments: [Sales(isV2: true), Sales(isV2: false)], [100, 0])
  func roundTrip(sales: Sales, changesPerBatch: Int) async throws {
    let rig = try StoreRig(try sales.root)
    let store = try await rig.open(["orders": sales.orders, "items": sales.items])
    let open = try store.openStore()
    let some = try await store.read([Order].self, "\(sales.orders)?$top=3&$orderby=SalesOrder desc") ?? []
    try #require(some.count == 3)
    let created = try await store.execute(single: .create(new("made"), in: sales.orders))
    let location = try #require(created.fields[.location])
    _ = try await store.execute(single: .update(location, to: mark("made, changed")))
    let first = "\(sales.orders)('\(some[0].number)')"
    _ = try await store.execute(single: .update(first, to: mark("changed")))
    _ = try await store.execute(single: .update(first, to: mark("changed again")))
    _ = try await store.execute(single: .delete("\(sales.orders)('\(some[1].number)')"))
    #expect(try await store.hasPendingUpload())
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: changesPerBatch))
    let archive = try await open.read { snapshot in
      try ChangeQueue(snapshot.connection).entries().map { "\($0.state) \($0.failure?.message ?? "")" }
    }
    #expect(report.sent == 5 && report.failed == 0 && report.pending == 0, "\(report) \(archive)")
    let query = "\(sales.orders)?$orderby=SalesOrder"
    let here = try await store.read([Order].self, query) ?? []
    #expect(here == (try await there(sales, query)))
    let matching = here.filter { $0.mark == "made, changed" }
    #expect(matching.count == 1 && matching[0].number.allSatisfy(\.isNumber))
    // The path that it had before it had a key still leads to it.
    #expect(try await store.read(Order.self, location) == matching[0])
    try await store.download()
    #expect(try await store.read([Order].self, query) == here)
    #expect(try await store.hasPendingUpload() == false)
    // Somebody has to clear up: the service is shared.
    _ = try await store.execute(single: .delete("\(sales.orders)('\(matching[0].number)')"))
    #expect(try await store.upload().sent == 1)
    try await store.close()
  }

  // In V2 this service's items have keys of six characters that it gives itself: too short for one of the store's own.
  @Test("An order and its item, on a service that knows no Content-IDs", arguments: [Sales(isV2: false)])
  func transaction(sales: Sales) async throws {
    let rig = try StoreRig(try sales.root)
    let store = try await rig.open(["orders": sales.orders, "items": sales.items])
    let open = try store.openStore()
    var order = ODataSingleRequest.create(new("with item"), in: sales.orders)
    order.contentID = "1"
    let material = ODataEntity(properties: [
      ODataProperty("SalesOrderItem", .string("000010")), ODataProperty("Material", .string("TG31")),
      ODataProperty("RequestedQuantity", .decimal(2)),
    ])
    let created = try await store.execute(
      batch: ODataBatchRequest([.changeSet([order, .create(material, in: "$1/to_Item")])]))
    #expect(created.slots.first??.failure == nil)
    let report = try await store.upload(OfflineODataUploadOptions(splitsTransactions: true))
    let archive = try await open.read { snapshot in
      try ChangeQueue(snapshot.connection).entries().map { "\($0.state) \($0.failure?.message ?? "")" }
    }
    #expect(report.sent == 2 && report.failed == 0, "\(report) \(archive)")
    let matching = try await there(sales, "\(sales.orders)?$filter=PurchaseOrderByCustomer eq 'with item'")
    #expect(matching.count == 1)
    try await store.close()
  }

  @Test(
    "Another changes the same order meanwhile: a conflict with its three versions",
    arguments: [Sales(isV2: true), Sales(isV2: false)])
  func conflict(sales: Sales) async throws {
    let rig = try StoreRig(try sales.root)
    let other = try StoreRig(try sales.root)
    let store = try await rig.open(["orders": sales.orders])
    let colleague = try await other.open(["orders": sales.orders])
    let some = try await store.read([Order].self, "\(sales.orders)?$top=1") ?? []
    let path = "\(sales.orders)('\(try #require(some.first).number)')"
    try await store.update(path, to: mark("mine"))
    try await colleague.update(path, to: mark("theirs"))
    #expect(try await colleague.upload().sent == 1)
    let report = try await store.upload()
    #expect(report.sent == 0 && report.failed == 1)
    let failure = try await store.openStore().read { snapshot in
      try ChangeQueue(snapshot.connection).entries().first?.failure
    }
    #expect(failure?.kind == .conflict)
    #expect(failure?.mine?["PurchaseOrderByCustomer"] == .text("mine"))
    #expect(failure?.theirs?["PurchaseOrderByCustomer"] == .text("theirs"))
    try await store.close()
    try await colleague.close()
  }
}
