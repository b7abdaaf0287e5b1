//! The steps of a request to an online store, as an AsyncSequence of events.

import Foundation
import Larder

guard CommandLine.arguments.count == 4, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: Events SERVICE-ROOT CACHE-FOLDER PATH")
  exit(2)
}
let store = try OnlineODataStore(
  serviceRoot: root, transport: PlatformTransport(),
  options: OnlineStoreOptions(useCache: true, path: CommandLine.arguments[2]))
try await store.open()

for await event in store.schedule(.read(CommandLine.arguments[3])).events {
  switch event {
  case .requestCacheResponse(let step): print("cached:", step.response?.single?.payloadBytes.count ?? 0, "bytes")
  case .requestServerResponse(let step): print("server:", step.response?.single?.payloadBytes.count ?? 0, "bytes")
  case .requestFailed(let step): print("failed:", step.error.map { "\($0)" } ?? "")
  case .requestStarted, .requestFinished: break
  }
}
try await store.close()
