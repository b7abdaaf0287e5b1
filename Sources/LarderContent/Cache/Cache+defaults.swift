// What a cache need not write itself.
extension Cache {
  /// Nil: every entry is asked for with ``entry(forKey:)``.
  public func entryAtHand(forKey key: String) -> CacheEntry? { nil }

  /// Stores the entry again with the metadata, where the one under the key is still the one seen.
  ///
  /// Between the look and the storing another task may replace it; a cache that knows better does both at once.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    guard let present = try await self.entry(forKey: key), present.isSame(as: entry) else { return }
    try await store(present.with(metadata), forKey: key)
  }

  /// A writer that holds up to 256 KiB in memory, more in a temporary file without a name, and then stores an entry that
  /// reads from there.
  ///
  /// A cache that keeps the entry itself keeps that file open; one that copies the content does not.
  public func makeWriter() async throws(CacheError) -> any CacheWriter { SpoolWriter(for: self) }

  /// Does nothing: a cache in memory has no files.
  public func suspend() async throws(CacheError) {}

  /// Does nothing.
  public func resume() async throws(CacheError) {}
}
