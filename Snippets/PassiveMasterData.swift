//! Master data that changes seldom: read once while there is a network, then from the cache alone.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: PassiveMasterData SERVICE-ROOT CACHE-FOLDER")
  exit(2)
}
let store = try OnlineODataStore(
  serviceRoot: root, transport: CurlTransport(),
  options: OnlineStoreOptions(useCache: true, cachePath: CommandLine.arguments[2]))
// Needs no server once the cache holds the service's metadata.
try await store.open()

let countries = "Countries?$select=Code,Name&$orderby=Name"

// While there is a network: each read refreshes what the cache holds.
do {
  _ = try await store.readEntitySet(countries)
} catch {
  print("not refreshed: \(error)")
}

// From here on nothing is sent. A miss is an answer too: `notCached`.
try store.setPassive(true)
do {
  for country in try await store.readEntitySet(countries).entities {
    print(country["Code"] ?? .null, country["Name"] ?? .null)
  }
} catch let error as ODataServiceError {
  print(error)
}

// Back on the network.
try store.setPassive(false)
try await store.close()
