//! Reads JSON of an API with a listener. Without a network, it uses the cached content, however old it is.

import Foundation
import Larder

struct Article: Decodable, Sendable {
  let title: String
}

guard CommandLine.arguments.count >= 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: Articles URL CACHE-FOLDER [offline]")
  exit(2)
}
let manager = ContentManager(
  cache: try FileCache(path: CommandLine.arguments[2]), transport: try PlatformTransport())

var query = ContentQuery<[Article]>.json(url)
query.ttl = .seconds(300)
query.policy = CommandLine.arguments.last == "offline" ? .cacheOnly : .staleWhenUnreachable

let execution = manager.schedule(
  query,
  listener: ContentListener(
    intermediate: { print("cached:", $0.value.map(\.title)) },
    final: { response in
      let age = response.age.map { ", \($0) old" } ?? ""
      print("current:", response.value.map(\.title), "from \(response.origin)\(age)")
    },
    failed: { error in
      if case .notCached = error.category { print("never read before") } else { print("failed:", error) }
    }))
// An application does not wait here. It calls `execution.cancel()` when the screen closes.
await execution.finished()
await manager.close()
