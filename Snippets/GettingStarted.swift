//! Ten minutes: download data from a service, query it, change it, upload the change.

import Foundation
import Larder

// The properties of a product that this program uses.
struct Product: Decodable, Sendable {
  var id: Int
  var name: String
  var price: Double

  enum CodingKeys: String, CodingKey {
    case id = "ID"
    case name = "Name"
    case price = "Price"
  }
}

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: GettingStarted SERVICE-ROOT FOLDER")
  exit(2)
}

// The network: URLSession on Apple platforms, libcurl on Linux.
let transport = try PlatformTransport()

// The store is one file in this folder.
let provider = try OfflineODataProvider(
  serviceRoot: root, transport: transport,
  parameters: OfflineODataParameters(storeName: "shop", path: CommandLine.arguments[2]))

// A defining query says which rows the store contains.
try await provider.add(OfflineODataDefiningQuery("products", "Products"))

// The first call downloads the metadata and the rows. Later calls need no network.
try await provider.open()
for query in try await provider.definingQueries() {
  print("\(query.definingQuery.name): \(query.rows) rows")
}

// A read is an OData URL. It needs no network.
let expensive = try await provider.read([Product].self, "Products?$filter=Price gt 20&$orderby=Price desc&$top=3")
for product in expensive ?? [] { print("\(product.name): \(product.price)") }

// A change takes effect in the store at once, and is queued for the next upload.
let change = ODataEntity(properties: [ODataProperty("Price", .double(2.75))])
try await provider.update("Products(0)", to: change)
if let product = try await provider.read(Product.self, "Products(0)") {
  print("\(product.name) costs \(product.price) now")
}
print("pending changes: \(try await provider.hasPendingUpload())")

// With a network: send the changes, then get those of others.
do {
  let report = try await provider.upload()
  print("sent \(report.sent), failed \(report.failed), pending \(report.pending)")
  try await provider.download()
} catch OfflineODataError.communicationError(_, let message) {
  print("not synchronized: \(message)")
}
try await provider.close()
