/// Stores nothing: every request goes to the network.
public struct NoCache: Cache {
  /// Creates a cache that is always empty.
  public init() {}

  /// Returns nil.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { nil }
  /// Does nothing.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {}
  /// Does nothing.
  public func removeEntry(forKey key: String) async throws(CacheError) {}
  /// Does nothing.
  public func removeAll() async throws(CacheError) {}
  /// Does nothing.
  public func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {}
  /// A writer that rejects the first byte with `tooLarge`, so that no content is buffered for nothing.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    SpoolWriter(for: self, limit: 0)
  }
}
