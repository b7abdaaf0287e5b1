internal import LarderHTTP
internal import LarderOnline
internal import LarderService
internal import LarderStorage

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The technical cache in a folder, as the verbs use it: one file for each origin, with entries by absolute URL.
struct CacheAccess: Sendable {
  let folder: String
  private let key: StorageKey?
  private let context: CommandContext

  /// How long the verbs wait for another process that uses the cache before they fail.
  static let busyTimeout = Duration.seconds(10)

  init(folder: String, key: StorageKey?, _ context: CommandContext) {
    self.folder = context.path(folder)
    self.key = key
    self.context = context
  }

  /// Opens a store on the cache; waits if another process uses it. A passive store reads beside that process, which may
  /// itself wait for its server.
  func open(
    origin: URL, access: ServiceAccess, isPassive: Bool, busyTimeout: Duration = busyTimeout
  ) async throws -> OnlineODataStore {
    let context = context
    var options = OnlineStoreOptions(
      useCache: true, path: folder, encryptionKey: key, conversation: access.options
    ) {
      // Diagnostics of level debug, such as clean-ups, are not shown.
      if $0.level > .debug { context.warn($0.message) }
    }
    options.loadsMetadata = false
    options.readsUnclaimedCache = isPassive
    options.credentialFields = access.credentialFields
    let authentication = try await access.authentication(root: origin, isOffline: isPassive, context)
    let store = try OnlineODataStore(
      serviceRoot: origin, transport: access.transport, authentication: authentication, options: options)
    if isPassive { try store.setPassive(true) }
    let deadline = ContinuousClock.now + busyTimeout
    while true {
      do {
        try await store.open()
        return store
      } catch let error as ODataServiceError {
        guard case .cacheInUse(let path) = error.category else { throw error }
        guard ContinuousClock.now < deadline else {
          throw CommandFailure(
            .storage, "another process has used the cache \(path) for \(Int(busyTimeout.components.seconds)) seconds",
            hint: "Wait for it to end, or use another --cache DIR.")
        }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
