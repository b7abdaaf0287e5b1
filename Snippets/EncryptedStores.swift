//! Each of the four stores under a key: nothing of theirs on the disk can be read without it.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]), let words = readLine() else {
  print("usage: EncryptedStores SERVICE-ROOT FOLDER, with a passphrase on standard input")
  exit(2)
}
let folder = CommandLine.arguments[2]

// 32 random bytes out of the platform's key store open at once: StorageKey(bytes:). A passphrase costs a tenth of a second.
let key = try StorageKey(passphrase: words.utf8)

// Values by key and label.
let objects = try await ObjectStore(path: folder + "/social.store", key: key)
try await objects.put(["Ada", "Grace"], forKey: "friends")

// Resources of any kind: in files, or in SQLite.
let files = try FileCache(path: folder + "/pictures", key: key)
let pages = try await SQLiteCache(path: folder + "/pages.sqlite", key: key)

// A service online: the last answers.
let online = try OnlineODataStore(
  serviceRoot: root, transport: try CurlTransport(),
  options: OnlineStoreOptions(useCache: true, cachePath: folder, cacheEncryptionKey: key))

// A service offline: rows, media, changes that wait to be sent.
var parameters = OfflineODataParameters(storeName: "shop", storePath: folder, storeEncryptionKey: key)
let offline = try OfflineODataProvider(serviceRoot: root, transport: try CurlTransport(), parameters: parameters)
do {
  try await online.open()
  try await online.close()
  try await offline.open()
  try await offline.close()
} catch OnlineStoreError.storage(let error) where error.category == .wrongKey {
  print("the cache has another key: resetCache() makes it anew")
} catch let error as OfflineODataError where error.name == .wrongEncryptionKey {
  print("the store has another key: ask again, or clear() it with all that is in it")
}

// A closed store gets another key; nothing in it is lost, whenever that is cut off.
let new = try StorageKey(bytes: (0..<StorageKey.byteCount).map { _ in UInt8.random(in: 0...255) })
try await objects.close()
try await ObjectStore.changeKey(path: objects.path, from: key, to: new)
await files.close()
try await pages.close()
try await SQLiteCache.changeKey(path: pages.path, from: key, to: new)
try await OfflineODataProvider.changeKey(of: parameters, to: new)
parameters.storeEncryptionKey = new
