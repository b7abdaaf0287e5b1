//! Master data that rarely changes: read once with a network, then only from the cache.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: PassiveMasterData SERVICE-ROOT CACHE-FOLDER")
  exit(2)
}
let store = try OnlineODataStore(
  serviceRoot: root, transport: PlatformTransport(),
  options: OnlineStoreOptions(useCache: true, path: CommandLine.arguments[2]))
// Needs no server once the cache holds the service's metadata.
try await store.open()

let countries = "Countries?$select=Code,Name&$orderby=Name"

// With a network, each read updates the cache.
do {
  _ = try await store.readEntitySet(countries)
} catch {
  print("not refreshed: \(error)")
}

// From here on nothing is sent. A read that is not in the cache throws `notCached`.
try store.setPassive(true)
do {
  for country in try await store.readEntitySet(countries).entities {
    print(country["Code"] ?? .null, country["Name"] ?? .null)
  }
} catch let error as ODataServiceError {
  print(error)
}

// Sends requests again.
try store.setPassive(false)
try await store.close()
