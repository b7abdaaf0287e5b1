//! The object store: opening with a key, values by key and label, and values that an older version of the application stored.

import Foundation
import Larder

struct Profile: Codable, Sendable {
  var id: Int
  var givenName: String
  var familyName: String
  /// Added later: older values have none.
  var city: String?
}

func openStore(_ path: String, key: StorageKey) async throws -> ObjectStore {
  var options = ObjectStoreOptions()
  options.memory = .init(countLimit: 1000, byteLimit: 8 << 20)
  options.disk = .init(byteLimit: 50 << 20, eviction: .leastRecentlyUsed)
  do {
    return try await ObjectStore(path: path, encryptionKey: key, options: options)
  } catch {
    guard case .storage(let cause) = error.category, cause.category == .notEncrypted else { throw error }
    // The file of a version that did not encrypt it.
    try await ObjectStore.changeEncryptionKey(path: path, from: nil, to: key)
    return try await ObjectStore(path: path, encryptionKey: key, options: options)
  }
}

func save(_ profile: Profile, in store: ObjectStore) async throws {
  try await store.put(
    profile, forKey: "profile/\(profile.id)", labels: ["profile", "family/\(profile.familyName)"])
}

func printProfiles(_ store: ObjectStore) async throws {
  if let first = try await store.value(Profile.self, forKey: "profile/1") { print(first.givenName) }
  print(try await store.values(Profile.self, label: "profile").count)

  var place: ObjectCursor?
  repeat {
    let page = try await store.page(Profile.self, .labels(prefix: "family/"), limit: 50, after: place)
    for entry in page.items { print(entry.key, entry.value.familyName) }
    place = page.next
  } while place != nil
}

/// `put` replaces the labels and the expiry date, so they are passed again.
func move(_ id: Int, to city: String, in store: ObjectStore) async throws {
  let key = "profile/\(id)"
  guard var profile = try await store.value(Profile.self, forKey: key),
    let metadata = try await store.metadata(forKey: key)
  else { return }
  profile.city = city
  try await store.put(profile, forKey: key, labels: metadata.labels, expires: metadata.expires)
}

/// What the first version of the application stored.
struct FirstProfile: Codable, Sendable {
  var id: Int
  var name: String
}

/// Converts a value of the first version; other values stay as they are.
func convertProfile(_ key: String, in store: ObjectStore) async throws {
  do {
    _ = try await store.value(Profile.self, forKey: key)
    return
  } catch {
    switch error.category {
    case .undecodable, .typeMismatch: break
    default: throw error
    }
  }
  guard let first = try await store.value(FirstProfile.self, forKey: key),
    let metadata = try await store.metadata(forKey: key)
  else { return }
  let names = first.name.split(separator: " ", maxSplits: 1).map(String.init)
  let profile = Profile(id: first.id, givenName: names.first ?? "", familyName: names.dropFirst().first ?? "")
  try await store.put(profile, forKey: key, labels: metadata.labels, expires: metadata.expires)
}

func convertProfiles(_ store: ObjectStore) async throws {
  for key in try await store.keys(.label("profile")) { try await convertProfile(key, in: store) }
}

func show(_ store: ObjectStore) async {
  do {
    try await printProfiles(store)
  } catch let error as ObjectStoreError {
    switch error.category {
    case .undecodable, .typeMismatch: print("stored by another version of the application: \(error.key ?? "")")
    case .storage(let cause) where cause.category == .full: print("the disk is full")
    default: print(error.localizedDescription)
    }
  } catch { print(error) }
}

// snippet.hide
guard CommandLine.arguments.count == 2 else {
  print("usage: TheObjectStore FILE")
  exit(2)
}
let path = CommandLine.arguments[1]
let plain = try await ObjectStore(path: path)
try await plain.put(
  FirstProfile(id: 1, name: "Ada Lovelace"), forKey: "profile/1", labels: ["profile", "family/Lovelace"])
try await plain.close()
let store = try await openStore(path, key: try StorageKey(bytes: Array(repeating: 7, count: StorageKey.byteCount)))
await show(store)
try await convertProfiles(store)
try await move(1, to: "London", in: store)
try await save(Profile(id: 2, givenName: "Grace", familyName: "Hopper"), in: store)
await show(store)
print(try await store.metadata(forKey: "profile/1")?.labels ?? [])
try await store.close()
