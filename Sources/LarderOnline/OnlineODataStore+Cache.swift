@_spi(Stores) import LarderCore
import LarderService
public import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Closes, reopens and clears the technical cache while the store stays open.
extension OnlineODataStore {
  /// Whether the cache can be read: the store is open, and its cache was not closed.
  public var isCacheOpen: Bool { state.withLock { $0.isOpen && $0.cache != nil } }

  /// Closes the cache. The store continues without it. Has no effect on a closed cache.
  public func closeCache() async throws { try await calls.run { [self] in try await performClosingOfCache() } }

  private func performClosingOfCache() async throws {
    let cache = try state.withLock { state throws -> TechnicalCache? in
      guard state.suspension == nil else { throw ODataServiceError(.suspended, operation: "closeCache") }
      guard state.options.useCache else { throw ODataServiceError(.cacheNotEnabled, operation: "closeCache") }
      guard !state.cacheIsBusy else { throw ODataServiceError(.cacheNotClosed, operation: "closeCache") }
      guard state.cache != nil else { return nil }
      defer { state.cache = nil }
      state.cacheIsBusy = true
      return state.cache
    }
    guard let cache else { return }
    defer { state.withLock { $0.cacheIsBusy = false } }
    do throws(StorageError) { try await cache.close() } catch {
      throw ODataServiceError(error, operation: "closeCache")
    }
  }

  /// Reopens the cache of an open store.
  ///
  /// Throws an `ODataServiceError`: before the file is read `storage` with a `StorageError` of the category `wrongKey`
  /// for a key that differs from that of the options, `encrypted` for a missing key, and `notEncrypted` for a key if
  /// the options have none; `cacheNotClosed` for a cache that is open, and `notOpen` for a closed store.
  ///
  /// - Parameter encryptionKey: the key of the options, ``OnlineStoreOptions/encryptionKey``: code that only has the
  ///   store cannot reopen a closed cache.
  public func reopenCache(encryptionKey: StorageKey? = nil) async throws {
    try await calls.run { [self] in try await performReopening(encryptionKey) }
  }

  private func performReopening(_ key: StorageKey?) async throws {
    let (options, opening) = try state.withLock { state throws -> (OnlineStoreOptions, UInt64) in
      guard state.options.useCache else { throw ODataServiceError(.cacheNotEnabled, operation: "reopenCache") }
      guard state.isOpen else { throw ODataServiceError(state.whyNotOpen, operation: "reopenCache") }
      guard state.cache == nil, !state.cacheIsBusy else {
        throw ODataServiceError(.cacheNotClosed, operation: "reopenCache")
      }
      state.cacheIsBusy = true
      return (state.options, state.opening)
    }
    defer { state.withLock { $0.cacheIsBusy = false } }
    let cache: TechnicalCache
    do throws(StorageError) {
      let place = try options.place(root)
      // The options decide, not the file: a cache that was cleared is created again with its key, or not at all.
      switch (options.givenKey.key, key) {
      case (nil, nil): break
      case (let storedKey?, let key?): if storedKey != key { throw .wrongKey(place.file) }
      case (_?, nil): throw .encrypted(place.file)
      case (nil, _?): throw .notEncrypted(place.file)
      }
      cache = try await openCacheFile(place, options)
    } catch {
      throw ODataServiceError(error, operation: "reopenCache")
    }
    let isTaken = state.withLock { state in
      let isSame = state.isOpen && state.opening == opening
      if isSame { state.cache = cache }
      return isSame
    }
    guard isTaken else {
      // The store was closed meanwhile.
      try? await cache.close()
      throw ODataServiceError(.notOpen, operation: "reopenCache")
    }
  }

  /// Removes everything from the cache by deleting its file. This works for an encrypted file whose key is lost, and
  /// for a plain one that is to be encrypted from now on. The cache, or the whole store, must be closed.
  ///
  /// Throws an `ODataServiceError`: `cacheNotClosed`, and `cacheInUse` if another store has the file open.
  public func clearCache() async throws { try await calls.run { [self] in try await performClearing() } }

  private func performClearing() async throws {
    let (options, hasClaim) = try state.withLock { state throws -> (OnlineStoreOptions, Bool) in
      guard state.suspension == nil else { throw ODataServiceError(.suspended, operation: "clearCache") }
      guard state.options.useCache else { throw ODataServiceError(.cacheNotEnabled, operation: "clearCache") }
      guard state.cache == nil, !state.cacheIsBusy else {
        throw ODataServiceError(.cacheNotClosed, operation: "clearCache")
      }
      switch state.phase {
      case .closed, .open: break
      case .opening, .closing: throw ODataServiceError(.cacheNotClosed, operation: "clearCache")
      }
      state.cacheIsBusy = true
      return (state.options, state.claim != nil)
    }
    defer { state.withLock { $0.cacheIsBusy = false } }
    let place = try cachePlace(options, "clearCache")
    do throws(StorageError) {
      try place.makeFolder()
      let claim = hasClaim ? nil : try CacheClaim(place)
      defer { claim?.release() }
      try CachePlace.removeDatabase(place.file)
    } catch { throw ODataServiceError(error, path: place.file, operation: "clearCache") }
  }
}
