import Foundation
import Larder
import LarderTesting
import Testing

/// The types come from the build plugin, which generates them from the document beside this file in each build.
@Suite("A service that the build plugin generated", .timeLimit(.minutes(2)))
struct GeneratedServiceTests {
  private func makeService() throws -> ODataTestService {
    let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "shop.xml")
    return try ODataTestService(
      metadata: Array(Data(contentsOf: document)),
      rows: [
        "Customers": [["ID": 3, "Country": "DE"], ["ID": 4, "Country": "FR"]],
        "Orders": [
          [
            "ID": 4712, "Due": "2026-01-01T00:00:00Z", "CustomerID": 3,
            "Items": [["Position": 2, "Product": 7, "Quantity": 1.5], ["Position": 1, "Product": 8, "Quantity": 1]],
          ],
          ["ID": 4713, "Due": "2026-01-02T00:00:00Z", "CustomerID": 4],
        ],
      ])
  }

  private func isRight(_ store: any ODataStore) async throws {
    let shop = ShopService(store)
    let late = try await shop.orders.filter { $0.due < .now && $0.customer.country == "DE" }
      .expand(\.items) { $0.orderBy(\.position).top(5) }.orderBy(\.due).top(20).all()
    #expect(late.map(\.id) == [4712] && late.first?.items?.map(\.product) == [8, 7])
    var order = try await shop.orders[4712].get()
    order.note = "mine"
    try await shop.orders.update(order)
    #expect(try await shop.orders[4712].get().note == "mine")
    let created = try await shop.orders.create(.init(customerID: 3, items: [.init(product: 7, quantity: 2)]))
    #expect(created.items?.map(\.product) == [7])
    for try await rows in shop.orders.filter({ $0.note == "mine" }).live() {
      #expect(rows.map(\.id) == [4712])
      break
    }
  }

  @Test("an online store reads and changes it")
  func online() async throws {
    let store = try await makeService().onlineStore()
    try await isRight(store)
    try await store.close()
  }

  @Test("live results that were created before the store was opened are delivered")
  func earlyLiveResults() async throws {
    let store = try await makeService().offlineStore()
    try await store.close()
    let results = ShopService(store).orders.orderBy(\.id).live()
    let error = await #expect(throws: OfflineODataError.self) { for try await _ in results {} }
    #expect(error?.name == .storeNotOpen)
    try await store.open()
    var iterator = results.makeAsyncIterator()
    #expect(try await iterator.next()?.map(\.id) == [4712, 4713])
    try await store.close()
  }

  @Test("an offline store with all sets reads and changes it without a network")
  func offline() async throws {
    let service = try makeService()
    let store = try await service.offlineStore()
    service.isOffline = true
    try await isRight(store)
    service.isOffline = false
    let report = try await store.upload()
    #expect(report.failed == 0 && report.pending == 0 && service.rows("Orders").count == 3, "\(report)")
    try await store.close()
  }
}
