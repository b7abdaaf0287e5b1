@_spi(Stores) import LarderCore
@_spi(Stores) import LarderStorage

/// Stores the most recently used responses in memory, up to a number of bytes.
///
/// The cost of an entry is its content, its key and about the size of its metadata. The entries are lost when the
/// process ends.
public final class MemoryCache: Cache {
  /// The maximum number of bytes of all entries together.
  public let byteLimit: Int
  /// The maximum number of bytes of one entry's content.
  public let entryByteLimit: Int

  private let entries = Locked(RecentlyUsed<String, CacheEntry>())

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - byteLimit: the maximum number of bytes of all entries together; 64 MiB by default.
  ///   - entryByteLimit: the maximum number of bytes of one entry's content; a quarter of `byteLimit` by default.
  public init(byteLimit: Int = 64 << 20, entryByteLimit: Int? = nil) {
    self.byteLimit = max(0, byteLimit)
    self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 4), self.byteLimit)
  }

  /// The number of entries.
  public var count: Int { entries.withLock { $0.count } }
  /// The cost of all entries in bytes.
  public var usedBytes: Int { entries.withLock { $0.total } }

  /// The entry under a key, at the cost of a dictionary lookup.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { entryInMemory(forKey: key) }

  /// The entry under a key. It is always available at once, because all entries are in memory.
  public func entryInMemory(forKey key: String) -> CacheEntry? { entries.withLock { $0.use(key) } }

  /// Stores an entry, and removes the least recently used ones if it needs their space.
  ///
  /// Content that is not in memory is read into it. Throws `tooLarge` without a change.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= entryByteLimit else { throw .tooLarge(limit: entryByteLimit) }
    let cost = MemoryCache.cost(entry.length, entry.metadata, key)
    guard cost <= byteLimit else { throw .tooLarge(limit: byteLimit) }
    let entryInMemory = try await MemoryCache.inMemory(entry)
    put(entryInMemory, cost, key)
  }

  /// Removes one entry.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    // The removed entry is released outside of the lock.
    _ = entries.withLock { $0.remove(key) }
  }

  /// Removes all entries.
  public func removeAll() async throws(CacheError) {
    _ = entries.withLock { entries in
      defer { entries = RecentlyUsed() }
      return entries
    }
  }

  /// Replaces the metadata if the given entry is still under the key, in one step.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    // Compared outside of the lock. If another entry was stored in the meantime, that one is compared.
    while let present = entries.withLock({ $0.peek(key) }), present.isSame(as: entry) {
      let renewed = present.with(metadata)
      let cost = MemoryCache.cost(present.length, metadata, key)
      guard cost <= byteLimit else { throw .tooLarge(limit: byteLimit) }
      if put(renewed, cost, key, inPlaceOf: present) { return }
    }
  }

  /// A writer that holds the content in memory and rejects more than an entry may have.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    SpoolWriter(for: self, limit: entryByteLimit, spool: Spool(memoryLimit: .max))
  }

  // MARK: Inside

  /// The keys, most recently used first.
  var keys: [String] { entries.withLock { $0.keys } }

  static func cost(_ length: Int, _ metadata: CacheMetadata, _ key: String) -> Int {
    length + metadata.memoryCost + 2 * key.utf8.count
  }

  private static func inMemory(_ entry: CacheEntry) async throws(CacheError) -> CacheEntry {
    if entry.bytesInMemory != nil { return entry.tier == .memory ? entry : entry.moved(to: .memory) }
    return entry.moved(to: .memory, bytes: try await entry.read(0..<entry.length))
  }

  /// Stores an entry. Returns false if the existing entry is not `expected`.
  @discardableResult
  private func put(_ entry: CacheEntry, _ cost: Int, _ key: String, inPlaceOf expected: CacheEntry? = nil) -> Bool {
    let dropped: [CacheEntry]? = entries.withLock { entries in
      if let expected, entries.peek(key) !== expected { return nil }
      var dropped: [CacheEntry] = []
      if let old = entries.set(entry, cost: cost, for: key) { dropped.append(old) }
      // The new entry is the last in the order of eviction, and fits on its own.
      while entries.total > byteLimit, let old = entries.removeOldest() { dropped.append(old) }
      return dropped
    }
    return dropped != nil
  }
}
