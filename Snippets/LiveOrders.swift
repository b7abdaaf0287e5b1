//! The orders of a service on a screen: the list is updated after each download and each change.

import Foundation
import Larder

// The properties that the screen shows. `nonisolated`: new Xcode projects isolate types to the main actor by default.
nonisolated struct Order: Decodable, Sendable, Identifiable {
  var id: String
  var note: String

  enum CodingKeys: String, CodingKey {
    case id = "SalesOrder"
    case note = "PurchaseOrderByCustomer"
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  // The initializer creates the live result, because a default value of the property cannot use the provider.
  struct OrderList: View {
    @State private var orders: OfflineODataLiveResult<[Order]>

    init(_ provider: OfflineODataProvider) throws {
      let live = try provider.live([Order].self, "A_SalesOrder?$orderby=SalesOrder desc")
      _orders = State(initialValue: OfflineODataLiveResult(live))
    }

    var body: some View {
      List(orders.value ?? []) { order in Text(order.note) }.task { await orders.run() }
    }
  }
#endif

guard CommandLine.arguments.count == 2, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: LiveOrders SERVICE-ROOT")
  exit(2)
}

// Without a folder, the file is in the folder of the platform for the data of applications.
let provider = try OfflineODataProvider(serviceRoot: root, transport: try PlatformTransport())
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder"))
try await provider.open()

// Without views: each element is the complete result. The type is optional if the entity may not exist.
for try await order in try provider.live(Order?.self, "A_SalesOrder('1')") {
  print(order?.note ?? "there is no such order")
  break
}
for try await orders in try provider.live([Order].self, "A_SalesOrder?$orderby=SalesOrder desc&$top=20") {
  print(orders.map(\.note))
}
