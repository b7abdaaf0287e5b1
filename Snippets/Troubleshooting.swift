//! Errors by their stable names, and how to find out more.

import Foundation
import Larder

/// What an application does about an error of its offline store.
enum Action {
  case showMessage(String)
  case tryLater
  case downloadFirst
  case logIn
  case askForKey
  case waitForOtherProcess
  case freeSpace
}

func action(for error: OfflineODataError) -> Action {
  switch error.name {
  case .neverDownloaded, .notDownloaded: .downloadFirst
  case .authenticationFailed: .logIn
  case .wrongEncryptionKey, .encryptionKeyMissing: .askForKey
  case .storeInUse, .downloadRunning, .uploadRunning: .waitForOtherProcess
  case .diskFull: .freeSpace
  default: error.category == .communicationError ? .tryLater : .showMessage(error.errorMessage)
  }
}

/// Shows each rejected change, and what the service said.
func printRejected(_ provider: OfflineODataProvider) async throws {
  for rejected in try await provider.errorArchive.orderBy(\.requestID).all() {
    print(rejected.requestID, rejected.httpStatus ?? 0, rejected.message ?? "")
  }
}

/// Puts a change that met a conflict back into the queue, unless the server has deleted the entity.
func resolve(_ requestID: Int64, _ provider: OfflineODataProvider) async throws {
  guard let conflict = try await provider.conflict(requestID) else { return }
  if conflict.theirs == nil, conflict.isTheirsKnown {
    try await provider.discard(requestID)  // the server has deleted the entity
  } else {
    try await provider.retry(requestID)  // the next upload sends this device's values, with the new ETag
  }
}

/// The requests that the next upload would send, and those whose response was lost.
func printPlan(_ provider: OfflineODataProvider) async throws {
  for request in try await provider.plan() {
    print(request.method, request.url, request.isUncertain ? "(sent before, response lost)" : "")
  }
}

/// Trusts the certificate authority of a test server, and uses a proxy.
func testTransport() throws -> CurlTransport {
  var options = CurlTransport.Options()
  options.certificateAuthorities = [.file("test-ca.pem")]
  options.proxy = .url("http://proxy.example.com:8080", except: ["localhost"])
  return try CurlTransport(options)
}

/// Says why content was not taken from the cache (RFC 9211).
func printCacheStatus(_ manager: ContentManager, _ url: URL) async throws {
  let response = try await manager.content(of: ContentQuery<Data>(url))
  print(response.origin, response.cacheStatus ?? "-")
  print(response.fields["Cache-Control"] ?? "no Cache-Control", response.fields["Vary"] ?? "no Vary")
}

/// Opens a cache again whose key is lost. Its content comes from the server again.
func openCache(_ path: String, key: StorageKey) throws -> FileCache {
  do {
    return try FileCache(path: path, encryptionKey: key)
  } catch CacheError.wrongKey {
    try FileCache.clear(path: path)
    return try FileCache(path: path, encryptionKey: key)
  }
}

/// Any error of Larder has a text for people and a number for reports.
func report(_ error: any Error) {
  guard let error = error as? any LarderError else { return print(error) }
  print(error.explanation.message, error.explanation.cure, "(\(type(of: error)) \(error.errorCode))")
}
