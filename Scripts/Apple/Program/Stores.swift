import Foundation
import Larder

/// One store of each kind, over one transport.
struct Stores: Sendable {
  let orders: OfflineODataProvider
  let articles: OnlineODataStore
  let images: ContentManager
  let drafts: ObjectStore

  /// Opens what can be opened without a network.
  init(service: URL, folder: String) async throws {
    let transport = try URLSessionTransport()
    orders = try OfflineODataProvider(serviceRoot: service, transport: transport)
    articles = try OnlineODataStore(
      serviceRoot: service, transport: transport, options: OnlineStoreOptions(useCache: true))
    images = ContentManager(cache: try FileCache(path: folder + "/images"), transport: transport)
    drafts = try await ObjectStore(path: folder + "/drafts.store")
  }

  /// The first time this reads the service; later it needs no network.
  func open() async throws {
    try await orders.add(OfflineODataDefiningQuery("orders", "A_SalesOrder"))
    try await orders.open()
    try await articles.open()
  }

  /// Brings the changes of this device home, then those of the others here.
  func synchronize() async throws -> Int {
    let report = try await orders.upload()
    try await orders.download()
    return report.sent
  }

  /// Changes an order here at once; the change waits for the next upload.
  func rename(_ order: Order, to note: String) async throws {
    let change = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string(note))])
    try await orders.update("A_SalesOrder('\(order.id)')", to: change)
  }

  /// The articles in a response of the online store; nil if it has no rows.
  static func articles(_ response: ODataResponse?) -> [Article]? {
    guard case .collection(let rows)? = try? response?.single?.payload() else { return nil }
    return rows.entities.map { Article(id: "\($0["ID"] ?? .null)", title: "\($0["Title"] ?? .null)") }
  }

  /// The latest content of an image: what is kept at once, then the server's.
  func image(_ url: URL, show: @escaping @MainActor @Sendable (Data) -> Void) async throws {
    for try await response in images.responses(to: ContentQuery<Data>(url)) {
      let content = response.value
      await MainActor.run { show(content) }
    }
  }

  func keep(_ draft: Draft) async throws { try await drafts.put(draft, forKey: draft.id, labels: ["draft"]) }

  func draft(_ id: String) async throws -> Draft? { try await drafts.value(Draft.self, forKey: id) }
}
