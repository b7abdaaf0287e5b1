//! Two users share a device. The pending changes of one user are kept encrypted until that user returns; the other user cannot
//! read them.

import Foundation
import Larder

guard CommandLine.arguments.count == 4, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: UserSwitch SERVICE-ROOT FOLDER USER, with a passphrase in USER_KEY")
  exit(2)
}

// A key that only this user has. An application gets it from the platform's key store.
let secret = ProcessInfo.processInfo.environment["USER_KEY"] ?? ""
var parameters = OfflineODataParameters(
  storeName: "orders", path: CommandLine.arguments[2],
  encryptionKey: try StorageKey(passphrase: secret.utf8), currentUser: CommandLine.arguments[3])
// Another user's store in this folder is kept unchanged. This needs neither that user's key nor a network.
parameters.onUserSwitch = .setAside()

let provider = try OfflineODataProvider(serviceRoot: root, transport: try PlatformTransport(), parameters: parameters)
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder"))
do {
  try await provider.open()
  print(
    try await provider.readCount("A_SalesOrder"), "orders;", try await provider.readCount("RequestQueue"), "pending")
  try await provider.close()
} catch OfflineODataError.preconditionFailed(let errorCode, let errorMessage) {
  switch OfflineODataErrorName(rawValue: errorCode) {
  case .wrongEncryptionKey: print("That is not your key.")
  case .storeInUse: print("The store is in use.")
  default: print(errorMessage)
  }
}
