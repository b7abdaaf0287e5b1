//! The online store: each request returns the cached response, then the server's.

import Foundation
import Larder

/// Prints each call. One listener can serve any number of requests.
final class OrderListener: ODataRequestListener {
  func requestStarted(_ execution: ODataRequestExecution) {
    print("started")
  }

  func requestCacheResponse(_ execution: ODataRequestExecution) {
    // nil if the cache has no response for this request.
    guard let cached = execution.response?.single else { return }
    show(cached)
  }

  func requestServerResponse(_ execution: ODataRequestExecution) {
    guard let current = execution.response?.single else { return }
    // After a 304 the response has the cached content: the screen shows it already.
    if !current.isNotModified { show(current) }
  }

  func requestFailed(_ execution: ODataRequestExecution) {
    // The cached response stays on the screen.
    print("not refreshed: \(execution.error.map { "\($0)" } ?? "")")
  }

  func requestFinished(_ execution: ODataRequestExecution) {
    print(execution.status)
  }

  private func show(_ response: ODataSingleResponse) {
    guard case .collection(let orders)? = try? response.payload() else { return }
    print("\(orders.entities.count) orders")
  }
}

/// Gets access tokens from the application's login.
protocol Login: Sendable {
  var user: String { get }
  /// Gets another token if `rejected` is not nil: the service has rejected that one.
  func token(after rejected: String?) async throws -> String
}

func openStore(_ root: URL, folder: String, login: some Login, key: StorageKey) async throws -> OnlineODataStore {
  var options = OnlineStoreOptions(useCache: true, path: folder, encryptionKey: key)
  options.byteLimit = 32 << 20
  options.tracksChanges = true
  options.onDiagnostic = { diagnostic in print(diagnostic) }

  let store = try OnlineODataStore(
    serviceRoot: root, transport: try PlatformTransport(),
    authentication: BearerAuthentication(identity: login.user) { rejected in
      try await login.token(after: rejected)
    },
    options: options)
  do {
    try await store.open()
  } catch let error as ODataServiceError where (error.cause as? StorageError)?.category == .wrongKey {
    // The cache contains nothing that the server does not have.
    try await store.clearCache()
    try await store.open()
  }
  return store
}

func listen(to store: OnlineODataStore) async throws {
  let listener = OrderListener()
  let execution = store.schedule(.read("Orders?$top=20&$orderby=Date desc"), listener: listener)
  // Only if the caller needs the end of the request:
  _ = try await execution.finalResponse()
}

func follow(_ store: OnlineODataStore) async {
  for await event in store.schedule(.read("Orders?$top=20&$orderby=Date desc")).events {
    switch event {
    case .requestCacheResponse(let step): print("cached:", step.response?.single?.payloadBytes.count ?? 0, "bytes")
    case .requestServerResponse(let step): print("server:", step.response?.single?.payloadBytes.count ?? 0, "bytes")
    case .requestFailed(let step): print("failed:", step.error.map { "\($0)" } ?? "")
    case .requestStarted, .requestFinished: break
    }
  }
}

/// The properties of an order that a screen shows.
struct Order: Decodable, Sendable {
  var id: Int
  var note: String?

  enum CodingKeys: String, CodingKey {
    case id = "ID"
    case note = "Note"
  }
}

func showOrders(_ store: OnlineODataStore) async throws {
  for try await orders in try store.liveResults([Order].self, "Orders?$top=20&$orderby=Date desc") {
    for order in orders ?? [] { print(order.id, order.note ?? "") }
  }
}

func exportOrders(_ store: OnlineODataStore, to file: FileHandle) async throws {
  for try await page in store.pages([Order].self, "Orders?$select=ID,Note") {
    for order in page { try file.write(contentsOf: Data("\(order.id);\(order.note ?? "")\n".utf8)) }
  }
}

func readOnce(_ store: OnlineODataStore) async throws {
  let orders = try await store.readEntitySet("Orders?$top=20&$orderby=Date desc")
  for order in orders.entities { print(order["ID"] ?? .null, order["Note"] ?? .null) }
}

func readFromCache(_ store: OnlineODataStore) async throws {
  try store.setPassive(true)
  defer { try? store.setPassive(false) }
  do {
    let countries = try await store.readEntitySet("Countries?$orderby=Name")
    print(countries.entities.count)
  } catch let error as ODataServiceError {
    switch error.category {
    case .notCached: print("never read while there was a network")
    case .passive: print("the cache has no response for this kind of request")
    default: throw error
    }
  }
}

/// For code that cannot be asynchronous. It blocks its thread: never the main thread.
func countOrders(_ store: OnlineODataStore) throws -> String {
  let response = try store.executeBlocking(.read("Orders/$count"))
  return String(decoding: response.single?.payloadBytes ?? [], as: UTF8.self)
}

func change(_ store: OnlineODataStore) async {
  do {
    let note = ODataEntity(properties: [ODataProperty("Note", .string("paid"))])
    try await store.update("Orders(5)", to: note, ifMatch: "W/\"7\"")
  } catch let error as ODataServiceError {
    switch error.category {
    case .communication(let cause): print("no response: \(cause)")
    case .http(412, _): print("somebody else has changed the order")
    case .http(let status, let payload): print(status, payload?.message ?? "")
    case .authentication: print("log in again")
    default: print(error)
    }
  } catch {
    print(error)
  }
}
