//! JSON of an API by a listener; offline whatever is stored, however old.

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
  cache: try FileCache(path: CommandLine.arguments[2]), transport: try CurlTransport())

var query = ContentQuery<[Article]>.json(url)
query.ttl = .seconds(300)
query.policy = CommandLine.arguments.last == "offline" ? .cacheOnly : .staleWhenUnreachable

let execution = manager.load(
  query,
  listener: ContentListener(
    intermediate: { print("known:", $0.value.map(\.title)) },
    final: { response in
      let age = response.age.map { ", \($0) seconds old" } ?? ""
      print("now:", response.value.map(\.title), "from \(response.origin)\(age)")
    },
    failed: { error in
      if case .notCached = error.kind { print("never read before") } else { print("failed:", error) }
    }))
// In an application nobody waits here; `execution.cancel()` ends the query when its screen closes.
await execution.finished()
await manager.close()
