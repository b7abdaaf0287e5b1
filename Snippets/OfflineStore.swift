//! A service used without a network: a copy of its orders in a file, asked by OData URLs, brought up to date when there is one.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: OfflineStore SERVICE-ROOT FOLDER")
  exit(2)
}

// What the application has of an order.
struct Order: Decodable, Sendable {
  var number: String
  var currency: String?

  enum CodingKeys: String, CodingKey {
    case number = "SalesOrder"
    case currency = "TransactionCurrency"
  }
}

let provider = try OfflineODataProvider(
  serviceRoot: root, transport: try CurlTransport(),
  parameters: OfflineODataParameters(storeName: "orders", storePath: CommandLine.arguments[2]))

// What is copied: the orders with their items. Any number of such queries, added and removed at any time.
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder?$expand=to_Item"))

// The first time metadata and rows are fetched; later this needs no network.
try await provider.open()

// Questions are those of the service, and so are the answers.
let newest = try await provider.read([Order].self, "A_SalesOrder?$orderby=SalesOrder desc&$top=5") ?? []
for order in newest { print(order.number, order.currency ?? "-") }
let dear = try await provider.readJSON("A_SalesOrderItem?$filter=NetAmount gt 1000M&$select=SalesOrderItem,NetAmount")
print(String(decoding: dear.bytes, as: UTF8.self))

// With a network: what has changed, by the best way that the service offers.
do {
  for outcome in try await provider.download().queries {
    print("\(outcome.name): \(outcome.way?.rawValue ?? "-"), \(outcome.rows) rows")
  }
} catch OfflineODataError.communicationError(_, let message) {
  print("not brought up to date: \(message)")
}
try await provider.close()
