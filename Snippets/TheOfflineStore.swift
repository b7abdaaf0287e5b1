//! The offline store: what its article shows, from the first download to rejected changes and several users.

import Foundation
import Larder

// snippet.hide
func show(_ values: Any?...) { print(values) }
func show(_ query: String, _ rows: Int64, of total: Int64?) { print(query, rows, total ?? 0) }

struct Order: Decodable, Sendable {
  var note: String?

  enum CodingKeys: String, CodingKey { case note = "Note" }
}

struct Draft: Decodable, Sendable {
  var note: String?

  enum CodingKeys: String, CodingKey { case note = "Note" }
}
// snippet.show

func openStore(_ url: URL) async throws {
  let provider = try OfflineODataProvider(serviceRoot: url, transport: try PlatformTransport())
  try await provider.add(OfflineODataDefiningQuery("orders", "Orders?$filter=Status eq 'Open'&$expand=Items"))
  try await provider.open()
  let late = try await provider.read([Order].self, "Orders?$filter=Due lt 2026-11-21&$orderby=Due&$top=20")
  show(late)
}

func changeQueries(_ provider: OfflineODataProvider) async throws {
  try await provider.add(OfflineODataDefiningQuery("customers", "Customers"))
  try await provider.download(["customers"])  // only this query
  try await provider.removeDefiningQuery("orders")  // also removes the rows that no other query returns
}

func readDrafts(_ provider: OfflineODataProvider) async throws {
  let drafts = try await provider.read([Draft].self, "Drafts", localRowsOnly: true)
  show(drafts)
}

func follow(_ provider: OfflineODataProvider) async throws {
  for try await orders in try provider.live([Order].self, "Orders?$orderby=Due&$top=20") { show(orders) }
  for try await order in try provider.live(Order?.self, "Orders(1)") { show(order) }  // nil while there is none
}

// MARK: Changes

struct NewItem: Encodable, Sendable {
  var product: String

  enum CodingKeys: String, CodingKey {
    case product = "Product"
  }
}

struct NewOrder: Encodable, Sendable {
  var customer: String
  var items: [NewItem]?
  /// The paths of tags that exist.
  var tags: [String]?

  enum CodingKeys: String, CodingKey {
    case customer = "Customer"
    case items = "Items"
    case tags = "Tags@odata.bind"
  }
}

func change(_ provider: OfflineODataProvider) async throws {
  let order = NewOrder(customer: "ACME", items: [NewItem(product: "Tea")], tags: ["Tags(1)"])
  let made = try await provider.create(order, in: "Orders")
  let name = ODataEntity(properties: [ODataProperty("Name", .string("Ada"))])
  try await provider.update("Customers(3)", to: name)
  let report = try await provider.upload()  // sent, failed, pending
  show(made, report)
}

func changeCreated(_ made: ODataEntity, in provider: OfflineODataProvider) async throws {
  guard case .int32(let id)? = made["ID"] else { return }
  let note = ODataEntity(properties: [ODataProperty("Note", .string("urgent"))])
  try await provider.update("Orders(\(id))", to: note)
}

func createEntity(_ provider: OfflineODataProvider) async throws {
  let item = ODataEntity(properties: [ODataProperty("Product", .string("Tea"))])
  var tags = ODataNavigationLink(name: "Tags")
  tags.bindings = ["Tags(1)"]
  let order = ODataEntity(
    properties: [ODataProperty("Customer", .string("ACME"))],
    navigationLinks: [
      ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: [item]))), tags,
    ])
  let made = try await provider.create(order, in: "Orders")
  show(made)
}

func showRejected(_ provider: OfflineODataProvider) async throws {
  for rejected in try await provider.errorArchive.filter({ !$0.isHeld }).orderBy(\.requestID).all() {
    show(rejected.requestID, rejected.message)
    if let conflict = try await provider.conflict(rejected.requestID) {
      show(conflict.base, conflict.mine, conflict.theirs)
    }
  }
}

func readArchive(_ provider: OfflineODataProvider) async throws {
  let rejected = try await provider.readEntitySet(
    "ErrorArchive?$filter=not Held&$expand=AffectedEntity,DependentRequests&$orderby=RequestID")
  show(rejected)
}

// MARK: Events

func openWithProgress(_ provider: OfflineODataProvider) async throws {
  let events = provider.events
  let progress = Task {
    for await event in events {
      guard case .downloadProgress(let progress) = event, let query = progress.query else { continue }
      show(query, progress.rows, of: progress.totalRows)  // the total is nil if the service does not count
    }
  }
  defer { progress.cancel() }
  try await provider.open()
}

// MARK: Keys and users

func openEncrypted(_ url: URL, transport: any HTTPTransport, fromTheKeychain: [UInt8]) async throws {
  var parameters = OfflineODataParameters()
  parameters.encryptionKey = try StorageKey(bytes: fromTheKeychain)  // 32 bytes, or: StorageKey(passphrase:)
  let provider = try OfflineODataProvider(serviceRoot: url, transport: transport, parameters: parameters)
  try await provider.open()
}

func switchUser(
  _ parameters: inout OfflineODataParameters, adasKey: StorageKey, bobsKey: StorageKey,
  adasProvider: OfflineODataProvider
) {
  parameters.currentUser = "bob"
  parameters.encryptionKey = bobsKey
  parameters.onUserSwitch = .setAside(encryptionKey: adasKey)  // keep it for Ada, next to Bob's
  parameters.onUserSwitch = .uploadFirst(as: adasProvider)  // upload as Ada, then start a new store
}
