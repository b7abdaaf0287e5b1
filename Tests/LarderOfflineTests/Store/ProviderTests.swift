import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: real services", .timeLimit(.minutes(1)))
struct ProviderServiceTests {
  @Test("a V4 service is downloaded once and queried while it is unreachable")
  func v4() async throws {
    let service = try await onDedicatedThread { try MockSAP() }
    defer { service.stop() }
    let rig = try StoreRig(service.salesOrdersV4)
    let store = try await rig.open(["orders": "SalesOrder?$expand=to_Item"])
    let status = try await store.definingQueries()
    #expect(status.first?.rows ?? 0 > 0)
    let count = try await store.size("SalesOrder")
    #expect(count == status.first?.rows)
    try await store.close()
    service.stop()
    let again = try rig.provider()
    try await again.open()
    #expect(try await again.size("SalesOrder") == count)
    let top = try await again.readEntitySet("SalesOrder?$top=3&$orderby=SalesOrder desc")
    #expect(top.entities.count == 3)
    try await again.close()
  }

  @Test("a V2 service is downloaded and queried in its own dialect")
  func v2() async throws {
    let service = try await onDedicatedThread { try MockSAP() }
    defer { service.stop() }
    let rig = try StoreRig(service.salesOrdersV2)
    let store = try await rig.open(["orders": "A_SalesOrder", "items": "A_SalesOrderItem"])
    let status = try await store.definingQueries()
    #expect(status.allSatisfy { $0.rows > 0 })
    let some = try await store.readEntitySet("A_SalesOrder?$top=2&$inlinecount=allpages")
    #expect(some.entities.count == 2)
    #expect(some.count == status.first { $0.definingQuery.name == "orders" }?.rows)
    try await store.close()
  }

  @Test("deltas of SAP's V2 and V4 bring changes and deletions", arguments: [true, false])
  func sapDelta(isV2: Bool) async throws {
    let service = try await onDedicatedThread { try MockSAP(["--no-csrf"]) }
    defer { service.stop() }
    let root = isV2 ? service.salesOrdersV2 : service.salesOrdersV4
    let set = isV2 ? "A_SalesOrder" : "SalesOrder"
    let rig = try StoreRig(root)
    let store = try await rig.open(["orders": set])
    let before = try await store.size(set)
    let first = try await store.readEntitySet("\(set)?$top=2&$orderby=SalesOrder&$select=SalesOrder").entities
    let keys = first.compactMap { if case .string(let key)? = $0["SalesOrder"] { key } else { nil } }
    let path = String(root.dropFirst(service.origin.count)) + "/\(set)"
    let responses = try await onDedicatedThread {
      [
        try service.process.send("\(path)('\(keys[0])')", method: "DELETE", fields: ["If-Match": "*"]).status,
        try service.process.send(
          "\(path)('\(keys[1])')", method: "PATCH", fields: ["If-Match": "*", "Content-Type": "application/json"],
          body: Array("{\"PurchaseOrderByCustomer\":\"changed here\"}".utf8)
        ).status,
      ]
    }
    #expect(responses.allSatisfy { (200..<300).contains($0) })
    let report = try await store.download()
    #expect(report.queries.first?.strategy == .changes, "\(report)")
    #expect(try await store.size(set) == before - 1)
    #expect(try await store.size("\(set)?$filter=PurchaseOrderByCustomer eq 'changed here'") == 1)
    try await store.close()
  }

  @Test("a row that leaves a query's filter goes, unless another query brings it")
  func filters() async throws {
    let service = try await onDedicatedThread { try ODataPyService([]) }
    defer { service.stop() }
    let rig = try StoreRig(service.root)
    let store = try await rig.open(["cheap": "Products?$filter=Price lt 5", "suppliers": "Suppliers"])
    let before = try await store.size("Products")
    #expect(before > 1)
    let first = try await store.readEntitySet("Products?$orderby=ID&$top=1").entities.first
    let id = try #require(first?["ID"])
    guard case .int32(let number) = id else {
      Issue.record("\(id)")
      return
    }
    let status = try await onDedicatedThread {
      try service.process.send(
        "/shop/Products(\(number))", method: "PATCH",
        fields: ["If-Match": "*", "Content-Type": "application/json"], body: Array("{\"Price\":100}".utf8)
      ).status
    }
    #expect((200..<300).contains(status))
    try await store.download()
    #expect(try await store.size("Products") == before - 1)
    try await store.add(OfflineODataDefiningQuery("all", "Products"))
    try await store.download(["all"])
    let all = try await store.size("Products")
    #expect(all == (try await rig.count("Products")))
    try await store.removeDefiningQuery("all")
    #expect(try await store.size("Products") == before - 1)
    try await store.close()
  }

  @Test("odatapy's service is downloaded page by page, and the event log records it")
  func shop() async throws {
    let service = try await onDedicatedThread { try ODataPyService(["--page-size", "7"]) }
    defer { service.stop() }
    let rig = try StoreRig(service.root)
    let store = try await rig.open(["products": "Products", "categories": "Categories?$expand=Products"])
    try await store.add(OfflineODataDefiningQuery("items", "Orders(1)/Items"))
    let alone = await #expect(throws: OfflineODataError.self) { try await store.download(["items"]) }
    #expect(alone?.name == .entityNotFound)
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.download()
    #expect(try await store.size("Orders(1)/Items") == (try await rig.count("Orders(1)/Items")))
    for name in ["items", "orders"] { try await store.removeDefiningQuery(name) }
    let applied = await #expect(throws: OfflineODataError.self) {
      try await store.add(OfflineODataDefiningQuery("sums", "Products?$apply=aggregate($count as N)"))
    }
    #expect(applied?.name == .invalidDefiningQuery)
    let log = try await store.readEntitySet("EventLog?$orderby=EventID desc&$top=5")
    #expect(log.entities.count >= 3)
    let online = try await rig.count("Products")
    #expect(try await store.size("Products") == online)
    let report = try await store.download()
    #expect(
      report.queries.map(\.strategy) == [.changes, .whole] || report.queries.map(\.strategy) == [.changes, .changes])
    try await store.close()
  }
}

extension StoreRig {
  /// What the service itself counts.
  func count(_ set: String) async throws -> Int64 {
    guard let url = URL(string: root) else { return -1 }
    let conversation = try ODataConversation(root: url, transport: transport)
    guard case .count(let count) = try await conversation.send(.read(set + "/$count")).payload() else { return -1 }
    return count
  }
}
