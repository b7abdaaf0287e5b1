// Default implementations of cache functions.
extension Cache {
  /// Returns nil, so that ``entry(forKey:)`` is called for every entry.
  public func entryInMemory(forKey key: String) -> CacheEntry? { nil }

  /// Stores the entry again with the metadata, if the one under the key is still `entry`.
  ///
  /// Between the check and the storing another task may replace the entry. A cache that can do both in one step should
  /// implement this function.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    guard let present = try await self.entry(forKey: key), present.isSame(as: entry) else { return }
    try await store(present.with(metadata), forKey: key)
  }

  /// A writer that holds up to 256 KiB in memory, and more in a temporary file without a name. It then stores an entry
  /// that reads from there.
  ///
  /// A cache that keeps the entry itself keeps that file open; a cache that copies the content does not.
  public func makeWriter() async throws(CacheError) -> any CacheWriter { SpoolWriter(for: self) }

  /// Does nothing: a cache in memory has no files.
  public func suspend() async throws(CacheError) {}

  /// Does nothing.
  public func resume() async throws(CacheError) {}
}
