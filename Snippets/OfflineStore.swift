//! Uses a service without a network: downloads its orders to a file, queries them with OData URLs, and updates the copy later.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: OfflineStore SERVICE-ROOT FOLDER")
  exit(2)
}

// The properties of an order that the application uses.
struct Order: Decodable, Sendable {
  var number: String
  var currency: String?

  enum CodingKeys: String, CodingKey {
    case number = "SalesOrder"
    case currency = "TransactionCurrency"
  }
}

let provider = try OfflineODataProvider(
  serviceRoot: root, transport: try PlatformTransport(),
  parameters: OfflineODataParameters(storeName: "orders", path: CommandLine.arguments[2]))

// A defining query says what is downloaded: the orders with their items. Queries can be added and removed at any time.
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder?$expand=to_Item"))

// The first call downloads the metadata and the rows. Later calls need no network.
try await provider.open()

// Reads use the same URLs as the service, and return the same results.
let newest = try await provider.read([Order].self, "A_SalesOrder?$orderby=SalesOrder desc&$top=5") ?? []
for order in newest { print(order.number, order.currency ?? "-") }
let expensive = try await provider.readJSON(
  "A_SalesOrderItem?$filter=NetAmount gt 1000M&$select=SalesOrderItem,NetAmount")
print(String(decoding: expensive.bytes, as: UTF8.self))

// With a network: downloads the changes, with the best method that the service supports.
do {
  for outcome in try await provider.download().queries {
    print("\(outcome.name): \(outcome.strategy?.rawValue ?? "-"), \(outcome.rows) rows")
  }
} catch OfflineODataError.communicationError(_, let message) {
  print("not updated: \(message)")
}
try await provider.close()
