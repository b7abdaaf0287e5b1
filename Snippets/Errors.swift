//! Handles errors: of all stores in one way, and of each store by its type.

import Foundation
import Larder

// snippet.hide
guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: Errors SERVICE-ROOT FOLDER")
  exit(2)
}

let provider = try OfflineODataProvider(
  serviceRoot: root, transport: try PlatformTransport(),
  parameters: OfflineODataParameters(path: CommandLine.arguments[2]))

func show(_ message: String, _ cure: String = "") { print(message, cure) }
func showOffline() { print("offline") }
func tryLater() { print("trying again later") }
func log(_ line: String) { print("log:", line) }
// snippet.show

func handle(_ error: any Error) {
  guard let error = error as? any LarderError else { return show("\(error)") }
  if error.isCancelled { return }
  log(logLine(error))
  if error.isOffline { showOffline() } else { show(error.explanation.message, error.explanation.cure) }
  if error.isTransient { tryLater() }
}

func logLine(_ error: any LarderError) -> String {
  var fields = ["\(type(of: error)) \(error.errorCode)", error.errorName, error.errorCategory.rawValue]
  if let exchange = error.exchange {
    fields += [exchange.method, exchange.status.map(String.init)].compactMap { $0 }
  }
  return fields.joined(separator: " ")
}

func download() async throws {
  do {
    try await provider.download()
  } catch let error as OfflineODataError where error.isTransient {
    tryLater()
  } catch let error as OfflineODataError where error.name == .downloadRunning {
    show("Another download is running.")
  }
}

func newestOrders(_ count: Int) async throws -> [ODataEntity] {
  do {
    return try await provider.readEntitySet("A_SalesOrder?$orderby=SalesOrder desc&$top=\(count)").entities
  } catch OfflineODataError.invalidInput(let errorCode, let errorMessage) {
    switch OfflineODataErrorName(rawValue: errorCode) {
    case .notPositiveTop: show("The number of orders must not be negative.")
    case .duplicateKeyProperty: show("A key property occurs twice: \(errorMessage)")
    default: show(errorMessage)
    }
    return []
  }
}

func update(_ order: String, to change: ODataEntity, in store: OnlineODataStore) async throws {
  do {
    try await store.open()
    try await store.update(order, to: change)
  } catch let error as ODataServiceError {
    switch error.category {
    case .http(412, _): show("Somebody else has changed the order.")
    case .authentication: show("Sign in again.")
    case .cacheInUse: show("Another process uses the cache.")
    default: throw error
    }
  }
}

func text(of url: URL, _ manager: ContentManager) async -> String? {
  do {
    return try await manager.content(of: ContentQuery<String>(url)).value
  } catch {
    switch error.category {
    case .notCached: show("This page was never read with a network.")
    case .status(404): show("There is no such page.")
    default: handle(error)
    }
    return nil
  }
}

func save(_ draft: String, in store: ObjectStore) async {
  do {
    try await store.put(draft, forKey: "draft")
  } catch {
    switch error.category {
    case .tooLarge: show("The draft is too long.")
    case .storage(let cause) where cause.category == .full: show("The disk is full.")
    default: handle(error)
    }
  }
}

func send(_ requests: [ODataSingleRequest]) async throws {
  let response = try await provider.execute(batch: ODataBatchRequest(requests.map { .single($0) }))
  for slot in response.slots {
    if let error: DataServiceError = slot?.failure { handle(error) }
  }
}

// snippet.hide
do {
  try await provider.open()
  print(try await newestOrders(-1).count)
  try await send([.read("A_SalesOrder?$top=1"), .read("A_SalesOrder('nowhere')")])
  try await download()
  try await provider.close()
} catch {
  handle(error)
}
