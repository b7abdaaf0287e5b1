import LarderHTTP

// Hidden successes. A storable 404, 410 or redirect is stored beside the success that it hides, under a key derived
// from the success's key. The success's own metadata marks it as hidden. A lookup finds the success first, so that a
// hit of a success that is not hidden costs nothing more. If either record is lost, the request is sent to the server.
extension HTTPCache {
  /// Removes a record, and the response that hides it.
  func forget(_ key: String) async throws(CacheError) {
    try await cache.removeEntry(forKey: key)
    try await cache.removeEntry(forKey: ResourceKey.hiding(key))
  }

  /// The success that a response without success affects: the success that the request selects, with its key. A
  /// response without `Vary` affects all variants of the URL, and gets their index.
  func success(
    _ cacheRequest: CacheRequest, isVaried: Bool
  ) async throws(CacheError) -> (entry: CacheEntry, key: String)? {
    guard let first = try await cache.entry(forKey: cacheRequest.key) else { return nil }
    guard first.rules.isIndex else { return first.rules.isSuccess ? (first, cacheRequest.key) : nil }
    guard isVaried else { return (first, cacheRequest.key) }
    for variant in VariantIndex.matching(first.metadata.variants, cacheRequest.request.fields) {
      if let entry = try await cache.entry(forKey: variant.key), entry.rules.isSuccess { return (entry, variant.key) }
    }
    return nil
  }

  /// True if a success is stored that a new one would replace.
  func hasSuccess(for originRequest: OriginRequest, rules: StoredRules?) async -> Bool {
    do throws(CacheError) {
      return try await success(originRequest.cacheRequest, isVaried: rules?.vary?.isEmpty == false) != nil
    } catch {
      return true
    }
  }

  /// Stores a response beside a success, or beside an index, that it hides. Returns nil if it changes nothing.
  ///
  /// The success is marked first: if only that is done, requests are sent to the server, and no caller gets the success
  /// as current.
  func hide(
    _ success: CacheEntry, _ key: String, behind metadata: CacheMetadata, _ writer: any CacheWriter
  ) async throws(CacheError) -> CacheEntry? {
    guard Succession(status: metadata.status) == .hides,
      metadata.responseMilliseconds >= success.metadata.responseMilliseconds
    else {
      return nil
    }
    if success.metadata.hiddenBy != metadata.status {
      try await cache.update(success, to: success.metadata.hidden(by: metadata.status), forKey: key)
    }
    return try await writer.commit(metadata, forKey: ResourceKey.hiding(key))
  }

  /// Makes a success visible again after the server has returned it, and removes the response that hid it.
  ///
  /// - Parameter keys: the keys of the records that are marked as hidden.
  func show(_ keys: [String], _ resource: String) async {
    for key in keys {
      if let entry = await entry(key, resource), entry.rules.isHidden {
        await update(entry, to: entry.metadata.hidden(by: nil), forKey: key, resource)
      }
      await remove(ResourceKey.hiding(key), resource)
    }
  }
}
