//! The orders of a service on a screen: a list that follows each download and each change.

import Foundation
import Larder
import LarderURLSession

// What the screen shows of an order. `nonisolated`, for a new project of Xcode isolates to the main actor what does not say otherwise.
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

  // A view makes its live result when it is made itself: a default value of the property knows no provider.
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

// No folder is named: the file is where the platform keeps the data of applications.
let provider = try OfflineODataProvider(serviceRoot: root, transport: try URLSessionTransport())
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder"))
try await provider.open()

// Without views: each element is the whole answer. An optional type is for what may be missing.
for try await order in try provider.live(Order?.self, "A_SalesOrder('1')") {
  print(order?.note ?? "there is no such order")
  break
}
for try await orders in try provider.live([Order].self, "A_SalesOrder?$orderby=SalesOrder desc&$top=20") {
  print(orders.map(\.note))
}
