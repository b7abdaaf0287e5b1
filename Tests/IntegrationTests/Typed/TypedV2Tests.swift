import Foundation
import LarderCurl
import LarderGenerator
import LarderOData
import LarderODataXML
import LarderOffline
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// The types in `GeneratedV2`, made from the metadata of a sales order service of V2, on both stores.
@Suite("Generated types of a V2 service on both stores", .mockSAP(), .serialized, .timeLimit(.minutes(2)))
struct TypedV2Tests {
  enum Kind: CaseIterable { case online, offline }
  typealias Sales = SAPApiSalesOrderSrvEntities

  /// Runs a test with an open store. The offline store has downloaded all orders with their items.
  private func withSales(_ kind: Kind, _ body: (Sales) async throws -> Void) async throws {
    let root = try #require(URL(string: try MockSAP.ofSuite.salesOrdersV2))
    let folder = try TemporaryFolder()
    switch kind {
    case .online:
      let store = try OnlineODataStore(
        serviceRoot: root, transport: try CurlTransport(), options: OnlineStoreOptions(path: folder.path))
      try await store.open()
      try await body(Sales(store))
      try await store.close()
    case .offline:
      let store = try OfflineODataProvider(
        serviceRoot: root, transport: try CurlTransport(), parameters: OfflineODataParameters(path: folder.path))
      try await store.add(OfflineODataDefiningQuery("orders", "A_SalesOrder?$expand=to_Item"))
      try await store.open()
      try await body(Sales(store))
      try await store.close()
    }
  }

  @Test("the generated files are those that the generator makes from the service's metadata")
  func current() async throws {
    let root = try #require(URL(string: try MockSAP.ofSuite.salesOrdersV2))
    let conversation = try ODataConversation(root: root, transport: try CurlTransport())
    let model = try EdmModel.read(try await conversation.send(.read("$metadata")).payloadBytes)
    let options = GeneratorOptions(
      prefix: "SAP", only: ["A_SalesOrder", "A_SalesOrderItem"].map(NamePattern.init),
      except: ["*PrElement*", "*Partner*", "*Text*"].map(NamePattern.init), documentName: "API_SALES_ORDER_SRV.xml")
    let generated = try SwiftGenerator.generate(model, options: options)
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "GeneratedV2")
    for file in generated.files {
      let text = try String(contentsOf: folder.appending(path: file.name), encoding: .utf8)
      #expect(text == file.text, "\(file.name) differs: run larder generate again")
    }
  }

  @Test(
    "decimals, times and keys of several properties are exact; filters and expansions work", arguments: Kind.allCases)
  func reading(kind: Kind) async throws {
    try await withSales(kind) { sales in
      let order = try await sales.salesOrder["0000004712"].expand(\.toItem).get()
      #expect(order.totalNetAmount?.description == "24786.720")
      #expect(order.salesOrderDate?.description == "2025-08-30T00:00:00")
      #expect(order.odataState.etag == "W/\"datetime'2025-08-31T00%3A00%3A00'\"")
      let items = try #require(order.toItem)
      let item = try #require(items.first)
      #expect(try await sales.salesOrderItem[item].get() == item)
      #expect(try await sales.salesOrder["0000004712"].toItem.all().map(\.id) == items.map(\.id))
      // The defining query of the offline store does not contain the link back.
      if kind == .online { #expect(try await sales.salesOrderItem[item].toSalesOrder.get().id == order.id) }

      let day = try #require(order.salesOrderDate)
      let amount = try #require(order.totalNetAmount)
      let same = try await sales.salesOrder.filter { $0.salesOrderDate == day && $0.totalNetAmount >= amount }.all()
      #expect(same.contains { $0.id == order.id })
      let all = try await sales.salesOrder.orderBy(\.totalNetAmount, descending: true).all()
      #expect(zip(all, all.dropFirst()).allSatisfy { ($0.totalNetAmount ?? 0) >= ($1.totalNetAmount ?? 0) })
      let count: Int64 = try await sales.salesOrder.filter { $0.transactionCurrency == "EUR" }.count()
      #expect(Int(count) == all.count { $0.transactionCurrency == "EUR" })
      var paged: [SAPSalesOrder] = []
      for try await page in sales.salesOrder.orderBy(\.salesOrder).top(7).pages() { paged += page }
      #expect(paged.count == 7)
    }
  }

  @Test("creations with items, updates under an ETag, deletions, change sets", arguments: Kind.allCases)
  func changing(kind: Kind) async throws {
    try await withSales(kind) { sales in
      var order = try await sales.salesOrder["0000004712"].get()
      let before = order.purchaseOrderByCustomer
      order.purchaseOrderByCustomer = "it's & mine"
      order = try await sales.salesOrder.update(order)
      #expect(try await sales.salesOrder[order].get().purchaseOrderByCustomer == "it's & mine")
      order = try await sales.salesOrder[order].get()
      order.purchaseOrderByCustomer = before
      var item = try #require(try await sales.salesOrder[order].toItem.first())
      item.requestedQuantity = 12.5
      let (changed, changedItem) = try await sales.store.changeSet(
        sales.salesOrder.updating(order), sales.salesOrderItem.updating(item))
      #expect(changed.purchaseOrderByCustomer == before)
      #expect(try await sales.salesOrderItem[changedItem].get().requestedQuantity == 12.5)

      let date = try #require(ODataDateTime("2026-02-01T00:00:00"))
      let created = try await sales.salesOrder.create(
        .init(
          salesOrderType: "OR", salesOrganization: "1710", distributionChannel: "10", organizationDivision: "00",
          soldToParty: "1000006", requestedDeliveryDate: date,
          toItem: [.init(material: "MZ-FG-C900", requestedQuantity: 2.5)]))
      #expect(created.requestedDeliveryDate == date)
      let items = try await sales.salesOrder[created].toItem.all()
      #expect(items.map(\.requestedQuantity) == [2.5])
      try await sales.salesOrder.delete(try await sales.salesOrder[created].get())
      let gone = await #expect(throws: ODataServiceError.self) { try await sales.salesOrder[created].get() }
      #expect(gone?.httpStatus == 404)
    }
  }
}
