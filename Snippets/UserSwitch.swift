//! Two users share a device: what the one has changed waits, encrypted, until that user comes back; the other never sees it.

import Foundation
import Larder

guard CommandLine.arguments.count == 4, let root = URL(string: CommandLine.arguments[1]) else {
  print("usage: UserSwitch SERVICE-ROOT FOLDER USER, with a passphrase in USER_KEY")
  exit(2)
}

// A key of this user's alone, as the platform's key store would give it.
let secret = ProcessInfo.processInfo.environment["USER_KEY"] ?? ""
var parameters = OfflineODataParameters(
  storeName: "orders", storePath: CommandLine.arguments[2],
  storeEncryptionKey: try StorageKey(passphrase: secret.utf8), currentUser: CommandLine.arguments[3])
// Another's store in the place is kept for him as it is. It needs neither his key nor a network.
parameters.onUserSwitch = .setAside()

let provider = try OfflineODataProvider(serviceRoot: root, transport: try CurlTransport(), parameters: parameters)
try await provider.add(OfflineODataDefiningQuery("orders", "A_SalesOrder"))
do {
  try await provider.open()
  print(
    try await provider.readCount("A_SalesOrder"), "orders;", try await provider.readCount("RequestQueue"), "waiting")
  try await provider.close()
} catch OfflineODataError.preconditionFailed(let errorCode, let errorMessage) {
  switch OfflineODataErrorName(rawValue: errorCode) {
  case .wrongEncryptionKey: print("That is not your key.")
  case .storeInUse: print("Somebody is still at work.")
  default: print(errorMessage)
  }
}
