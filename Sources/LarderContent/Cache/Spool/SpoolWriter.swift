@_spi(Stores) import LarderCore

/// The writer for caches without a writer of their own: collects the content and stores it at the end.
final class SpoolWriter: CacheWriter {
  private let cache: any Cache
  private let limit: Int
  private let spool: Spool
  private let phase = Locked(WriterPhase.open)

  /// - Parameter limit: the maximum number of bytes that it accepts.
  init(for cache: any Cache, limit: Int = .max, spool: Spool = Spool()) {
    self.cache = cache
    self.limit = limit
    self.spool = spool
  }

  func append(_ bytes: [UInt8]) async throws(CacheError) {
    try phase.withLock { (phase) throws(CacheError) in try phase.requireOpen() }
    do throws(CacheError) {
      guard bytes.count <= limit - spool.length else { throw CacheError.tooLarge(limit: limit) }
      try spool.append(bytes)
    } catch {
      phase.withLock { $0 = .failed(error) }
      throw error
    }
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] { try spool.read(range) }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    try phase.withLock { (phase) throws(CacheError) in try phase.beginCommit() }
    let entry = spool.entry(metadata)
    try await cache.store(entry, forKey: key)
    return entry
  }
}
