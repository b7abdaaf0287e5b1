//! The offline store for those who know Microsoft's Datasync client.

import Foundation
import Larder

struct TodoItem: Decodable, Sendable {
  var id: String
  var text: String
  var complete: Bool
}

/// InitializeAsync: the store, and what it contains.
func openStore(_ root: URL, user: String, token: @escaping @Sendable () async throws -> String) async throws
  -> OfflineODataProvider
{
  let provider = try OfflineODataProvider(
    serviceRoot: root, transport: try PlatformTransport(),
    authentication: BearerAuthentication(identity: user) { _ in try await token() },
    parameters: OfflineODataParameters(storeName: "todo", currentUser: user))
  try await provider.add(OfflineODataDefiningQuery("open", "TodoItems?$filter=complete eq false"))
  try await provider.open()
  return provider
}

/// ToListAsync, InsertAsync, UpdateAsync, DeleteAsync: nothing is sent.
func change(_ provider: OfflineODataProvider) async throws {
  let items = try await provider.read([TodoItem].self, "TodoItems?$orderby=text") ?? []
  print(items.map(\.text))

  let item = ODataEntity(properties: [
    ODataProperty("id", .string(UUID().uuidString)), ODataProperty("text", .string("Buy milk")),
    ODataProperty("complete", .boolean(false)),
  ])
  try await provider.create(item, in: "TodoItems")
  if let first = items.first {
    let done = ODataEntity(properties: [ODataProperty("complete", .boolean(true))])
    try await provider.update("TodoItems('\(first.id)')", to: done)
  }
  if let last = items.last, items.count > 1 { try await provider.delete("TodoItems('\(last.id)')") }
}

/// PushAsync, then PullAsync. The conflict handler is a policy of the upload.
func synchronize(_ provider: OfflineODataProvider) async throws {
  let options = OfflineODataUploadOptions(
    conflictPolicy: .resolver { conflict in
      // `mine`, `theirs` and `base`: the item here, the item of the server, and the item that both changed.
      guard let theirs = conflict.theirs, theirs["text"] == conflict.base?["text"] else { return .useTheirs }
      return .useMine
    })
  let report = try await provider.upload(options)
  print("pushed \(report.sent), rejected \(report.failed)")

  try await provider.download(["open"])
}

/// PushResult.Errors: the rejected changes stay in the store.
func handleErrors(_ provider: OfflineODataProvider) async throws {
  for rejected in try await provider.errorArchive.filter({ !$0.isHeld }).all() {
    if rejected.httpStatus == 404 {
      try await provider.discard(rejected.requestID)  // CancelAndDiscardItemAsync
    } else {
      try await provider.retry(rejected.requestID)  // sent again by the next upload
    }
  }
}

/// PurgeAsync: the rows of one query, or everything.
func purge(_ provider: OfflineODataProvider, everything: Bool) async throws {
  if everything {
    try await provider.close()
    try await provider.clear()
  } else {
    try await provider.removeDefiningQuery("open")
  }
}
