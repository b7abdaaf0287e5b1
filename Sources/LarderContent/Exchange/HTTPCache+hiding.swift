import LarderHTTP

// A 404, 410 or redirect that may be stored lies beside the success that it hides: under a key made of the success's key,
// while the success's own metadata say that it is hidden. A look-up meets the success first, so that a hit of one that
// nothing hides costs nothing more. Either record may be lost: then the server is asked.
extension HTTPCache {
  /// Forgets a record, and what hides it.
  func forget(_ key: String) async throws(CacheError) {
    try await cache.removeEntry(forKey: key)
    try await cache.removeEntry(forKey: ResourceKey.hiding(key))
  }

  /// What an answer to a request, no success itself, leaves in its place: the success that the request selects, with its
  /// key. An answer that does not vary concerns all variants of the URL, and gets their index.
  func success(
    _ inquiry: CacheRequest, isVaried: Bool
  ) async throws(CacheError) -> (entry: CacheEntry, key: String)? {
    guard let first = try await cache.entry(forKey: inquiry.key) else { return nil }
    guard first.rules.isIndex else { return first.rules.isSuccess ? (first, inquiry.key) : nil }
    guard isVaried else { return (first, inquiry.key) }
    for variant in VariantIndex.matching(first.metadata.variants, inquiry.request.fields) {
      if let entry = try await cache.entry(forKey: variant.key), entry.rules.isSuccess { return (entry, variant.key) }
    }
    return nil
  }

  /// Stores an answer beside a success, or beside an index, that it hides; nil where it changes nothing.
  ///
  /// The success is marked first: where only that is done, the server is asked, and nobody gets it for current.
  func hide(
    _ success: CacheEntry, _ key: String, behind metadata: CacheMetadata, _ writer: any CacheWriter
  ) async throws(CacheError) -> CacheEntry? {
    guard Succession(status: metadata.status) == .hides, metadata.responseTime >= success.metadata.responseTime else {
      return nil
    }
    if success.metadata.hiddenBy != metadata.status {
      try await cache.update(success, to: success.metadata.hidden(by: metadata.status), forKey: key)
    }
    return try await writer.commit(metadata, forKey: ResourceKey.hiding(key))
  }

  /// The server has shown a success again: what hid it goes.
  ///
  /// - Parameter keys: those of the records that said that they are hidden.
  func show(_ keys: [String], _ resource: String) async {
    for key in keys {
      if let entry = await entry(key, resource), entry.rules.isHidden {
        await update(entry, to: entry.metadata.hidden(by: nil), forKey: key, resource)
      }
      await remove(ResourceKey.hiding(key), resource)
    }
  }
}
