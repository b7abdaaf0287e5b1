//! A news feed: shows the cached articles at once, then those of the server.

import Foundation
import Larder

/// Shows the articles of each call. One listener can serve any number of requests.
final class NewsFeed: ODataRequestListener {
  func requestCacheResponse(_ execution: ODataRequestExecution) {
    // nil if the cache has no response for this request.
    if let cached = execution.response?.single { show(cached, as: "cached") }
  }

  func requestServerResponse(_ execution: ODataRequestExecution) {
    guard let current = execution.response?.single else { return }
    if current.isNotModified { print("nothing new") } else { show(current, as: "new") }
  }

  func requestFailed(_ execution: ODataRequestExecution) {
    // The cached articles stay on the screen.
    print("not refreshed:", execution.error.map { "\($0)" } ?? "")
  }

  private func show(_ response: ODataSingleResponse, as kind: String) {
    guard case .collection(let articles)? = try? response.payload() else { return }
    for article in articles.entities { print(kind, article["Title"] ?? .null) }
  }
}

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: NewsFeed SERVICE-ROOT CACHE-FOLDER")
  exit(2)
}
let store = try OnlineODataStore(
  serviceRoot: root, transport: PlatformTransport(),
  options: OnlineStoreOptions(useCache: true, path: CommandLine.arguments[2]))
try await store.open()

let feed = NewsFeed()
let refresh = store.schedule(.read("Articles('myuserid')?$top=30&$orderby=Date"), listener: feed)
_ = try? await refresh.finalResponse()
try await store.close()
