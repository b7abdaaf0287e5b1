//! The code of README.md: the four stores in a few lines each.

import Foundation
import Larder

// snippet.hide
struct Order: Decodable, Sendable {
  var note: String?

  enum CodingKeys: String, CodingKey { case note = "Note" }
}

struct Article: Decodable, Sendable {
  var title: String
}

struct Profile: Codable, Sendable {
  var id: Int
  var name: String
}

protocol SocialServer: Sendable {
  func friends() async throws -> [Profile]
}

func show(_ values: Any?...) { print(values) }

guard CommandLine.arguments.count == 2, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: ReadMe SERVICE-ROOT")
  exit(2)
}
// snippet.show
let store = try OnlineODataStore(
  serviceRoot: root,  // such as https://services.example.com/news/
  transport: PlatformTransport(),
  options: OnlineStoreOptions(useCache: true))
try await store.open()

for await event in store.schedule(.read("Articles('myuserid')?$top=30&$orderby=Date")).events {
  switch event {
  case .requestCacheResponse(let step): show(step.response)  // milliseconds; nil the first time
  case .requestServerResponse(let step): show(step.response)  // when the server has responded
  case .requestFailed(let step): show(step.error)  // the cached response stays on the screen
  default: break
  }
}

func useOffline(_ url: URL, change: ODataEntity) async throws {
  let provider = try OfflineODataProvider(serviceRoot: url, transport: try PlatformTransport())
  try await provider.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items"))
  try await provider.open()  // the first time downloads metadata and rows; later needs no network
  let open = try await provider.read([Order].self, "Orders?$filter=Items/any(i:i/Price gt 9.95)&$top=20")
  try await provider.download()  // updates: delta links, ETags, or a comparison by key
  try await provider.update("Orders(5)", to: change)  // applied to the copy and queued in one commit
  let report = try await provider.upload()  // in causal order; rejected changes go to ErrorArchive
  show(open, report)
}

func showArticles(_ url: URL, folder: String) async throws {
  let manager = ContentManager(cache: try FileCache(path: folder), transport: try PlatformTransport())
  var query = ContentQuery<[Article]>.json(url)
  query.softTTL = .seconds(60)  // older content is shown at once and renewed
  query.ttl = .seconds(86_400)  // content older than this is requested before it is shown
  for try await response in manager.responses(to: query) { show(response.value) }
}

func showFriend(_ friend: Profile, _ photo: Data, in folder: String, server: some SocialServer, until nextWeek: Date)
  async throws
{
  let key = "photo/\(friend.id)"
  let store = try await ObjectStore(path: folder + "/social.store")
  try await store.put(photo, forKey: key, labels: ["friend/\(friend.id)"], expires: nextWeek)
  if let photo = try await store.value(Data.self, forKey: key) { show(photo) }
  let steps = store.stream([Profile].self, forKey: "friends") { try await server.friends() }
  for try await step in steps { show(step) }
}
