//! The offline store for those who know SAP's SDK.

import Foundation
import Larder

// snippet.hide
struct Order: ODataDescribed {
  static let odataTypeName = "Shop.Order"
  struct Fields: ODataFields {
    let status = Field<String>("Status")
  }
}

struct OrderRow: Decodable, Sendable {
  var status: String

  enum CodingKeys: String, CodingKey { case status = "Status" }
}
// snippet.show

func openStore(_ url: URL, login: any HTTPAuthentication, parameters: OfflineODataParameters) async throws {
  let provider = try OfflineODataProvider(
    serviceRoot: url, transport: try PlatformTransport(), authentication: login, parameters: parameters)
  try await provider.add(OfflineODataDefiningQuery("orders", "Orders"))
  try await provider.open()
}

func read(_ provider: OfflineODataProvider) async throws {
  let query = ODataQuery<Order>("Orders").filter { $0.status == "Open" }.top(20)
  let orders = try await provider.read([OrderRow].self, query) ?? []
  print(orders.map(\.status))
}

func change(_ provider: OfflineODataProvider) async throws {
  let note = ODataEntity(properties: [ODataProperty("Note", .string("seen"))])
  var change = ODataSingleRequest.update("Orders(5)", to: note)
  change.customTag = "visit"
  _ = try await provider.execute(single: change)
}

func discard(_ provider: OfflineODataProvider) async throws {
  let failed = try await provider.readEntitySet("ErrorArchive?$expand=AffectedEntity")
  try await provider.delete("ErrorArchive(7)")
  print(failed.entities.count)
}

func upload(_ provider: OfflineODataProvider) async throws {
  let options = OfflineODataUploadOptions(
    conflictPolicy: .resolver { conflict in
      conflict.mine?["Note"] == conflict.base?["Note"] ? .useTheirs : .archive
    })
  let report = try await provider.upload(options)
  print(report.sent, report.failed, report.pending)
}
