import LarderCore
@_spi(Stores) import LarderStorage

/// Keeps responses in memory, those used last, up to a number of bytes.
///
/// What an entry costs is its content, its key and about what its metadata take. It is gone with the process.
public final class MemoryCache: Cache {
  /// The most bytes that all entries take together.
  public let limit: Int
  /// The most bytes of content that one entry may have.
  public let entryLimit: Int

  private let entries = Locked(RecentlyUsed<String, CacheEntry>())

  /// An empty cache.
  ///
  /// - Parameters:
  ///   - limit: the most bytes that all entries take together; 64 MiB by default.
  ///   - entryLimit: the most bytes of content of one entry; a quarter of `limit` by default.
  public init(limit: Int = 64 << 20, entryLimit: Int? = nil) {
    self.limit = max(0, limit)
    self.entryLimit = min(max(0, entryLimit ?? limit / 4), self.limit)
  }

  /// How many entries there are.
  public var count: Int { entries.withLock { $0.count } }
  /// What they cost together, in bytes.
  public var usedBytes: Int { entries.withLock { $0.total } }

  /// The entry under a key, at the cost of a look into a dictionary.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { entryAtHand(forKey: key) }

  /// The same: everything is at hand here.
  public func entryAtHand(forKey key: String) -> CacheEntry? { entries.withLock { $0.use(key) } }

  /// Keeps an entry and forgets those that were not used for longest, as far as it needs their room.
  ///
  /// Content that is not in memory is read into it. Throws `tooLarge`, which changes nothing.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= entryLimit else { throw .tooLarge(limit: entryLimit) }
    let cost = MemoryCache.cost(entry.length, entry.metadata, key)
    guard cost <= limit else { throw .tooLarge(limit: limit) }
    let kept = try await MemoryCache.inMemory(entry)
    put(kept, cost, key)
  }

  /// Forgets one entry.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    // What is taken out dies outside of the lock.
    _ = entries.withLock { $0.remove(key) }
  }

  /// Forgets everything.
  public func removeAll() async throws(CacheError) {
    _ = entries.withLock { entries in
      defer { entries = RecentlyUsed() }
      return entries
    }
  }

  /// Replaces the metadata where the entry under the key is the one seen, as one step.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    // Compared outside of the lock; where another has been put there meanwhile, that one is compared.
    while let present = entries.withLock({ $0.peek(key) }), present.isSame(as: entry) {
      let renewed = present.with(metadata)
      let cost = MemoryCache.cost(present.length, metadata, key)
      guard cost <= limit else { throw .tooLarge(limit: limit) }
      if put(renewed, cost, key, inPlaceOf: present) { return }
    }
  }

  /// A writer that holds the content in memory and refuses more than an entry may have.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    SpoolWriter(for: self, limit: entryLimit, spool: Spool(memoryLimit: .max))
  }

  // MARK: Inside

  /// The keys, the one used last first.
  var keys: [String] { entries.withLock { $0.keys } }

  static func cost(_ length: Int, _ metadata: CacheMetadata, _ key: String) -> Int {
    length + metadata.memoryCost + 2 * key.utf8.count
  }

  private static func inMemory(_ entry: CacheEntry) async throws(CacheError) -> CacheEntry {
    if entry.bytesInMemory != nil { return entry.tier == .memory ? entry : entry.moved(to: .memory) }
    return entry.moved(to: .memory, bytes: try await entry.read(0..<entry.length))
  }

  /// False where something else than `expected` is there.
  @discardableResult
  private func put(_ entry: CacheEntry, _ cost: Int, _ key: String, inPlaceOf expected: CacheEntry? = nil) -> Bool {
    let dropped: [CacheEntry]? = entries.withLock { entries in
      if let expected, entries.peek(key) !== expected { return nil }
      var dropped: [CacheEntry] = []
      if let old = entries.set(entry, cost: cost, for: key) { dropped.append(old) }
      // What was just put there is the last to go, and fits by itself.
      while entries.total > limit, let old = entries.removeOldest() { dropped.append(old) }
      return dropped
    }
    return dropped != nil
  }
}
