//! Encrypts each of the four stores with a key: their files cannot be read without it.

import Foundation
import Larder

guard CommandLine.arguments.count == 3, let root = URL(string: CommandLine.arguments[1]), let passphrase = readLine()
else {
  print("usage: EncryptedStores SERVICE-ROOT FOLDER, with a passphrase on standard input")
  exit(2)
}
let folder = CommandLine.arguments[2]

// Deriving the key from a passphrase takes a tenth of a second. StorageKey(bytes:) with 32 random bytes from the platform's
// key store takes no time.
let key = try StorageKey(passphrase: passphrase.utf8)

// The object store: values with keys and labels.
let objects = try await ObjectStore(path: folder + "/social.store", encryptionKey: key)
try await objects.put(["Ada", "Grace"], forKey: "friends")

// The content cache: resources of any kind, in files.
let files = try FileCache(path: folder + "/pictures", encryptionKey: key)

// The online store: the last responses of a service.
let online = try OnlineODataStore(
  serviceRoot: root, transport: try PlatformTransport(),
  options: OnlineStoreOptions(useCache: true, path: folder, encryptionKey: key))

// The offline store: rows, media and pending changes.
var parameters = OfflineODataParameters(storeName: "shop", path: folder, encryptionKey: key)
let offline = try OfflineODataProvider(serviceRoot: root, transport: try PlatformTransport(), parameters: parameters)
do {
  try await online.open()
  try await online.close()
  try await offline.open()
  try await offline.close()
} catch let error as ODataServiceError where (error.cause as? StorageError)?.category == .wrongKey {
  print("the cache has another key: clearCache() creates a new one")
} catch let error as OfflineODataError where error.name == .wrongEncryptionKey {
  print("the store has another key: enter the passphrase again, or delete the store with clear()")
}

// Changes the keys of closed stores. No data is lost if this is interrupted.
let new = try StorageKey(bytes: (0..<StorageKey.byteCount).map { _ in UInt8.random(in: 0...255) })
try await objects.close()
try await ObjectStore.changeEncryptionKey(path: objects.path, from: key, to: new)
await files.close()
try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: new)
parameters.encryptionKey = new
