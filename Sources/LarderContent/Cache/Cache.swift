/// Stores responses under string keys. Implement this protocol to provide your own cache.
///
/// Four functions are required; the others have default implementations based on them. `Snippets/OwnCache.swift` is a
/// complete cache in thirty lines. A cache may drop any entry at any time, but it must never return anything else: an
/// entry is complete, with its own metadata, or absent. A change that throws leaves the previous entry in place. Calls
/// arrive concurrently from many tasks.
///
/// Provided: ``MemoryCache``, ``FileCache``, ``TieredCache`` and ``NoCache``.
public protocol Cache: Sendable {
  /// The entry under a key, or nil if there is none (any more).
  ///
  /// It should return without waiting if possible: a hit costs as much as this call.
  func entry(forKey key: String) async throws(CacheError) -> CacheEntry?
  /// The entry under a key, if it is available at once with all of its content in memory. Nil if ``entry(forKey:)``
  /// must be called.
  ///
  /// This is called first for every request, and must neither block nor read. The default returns nil.
  func entryInMemory(forKey key: String) -> CacheEntry?
  /// Stores an entry in place of the previous one under that key. Other tasks see either the complete entry or none of
  /// it.
  ///
  /// The entry's content may have to be read. It may be in a temporary file that is removed when the entry is released.
  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError)
  /// Removes one entry. Does nothing if there is none.
  func removeEntry(forKey key: String) async throws(CacheError)
  /// Removes all entries.
  func removeAll() async throws(CacheError)
  /// Replaces an entry's metadata and leaves its content: after a 304 or a HEAD.
  ///
  /// `entry` is the entry that the caller has read. If another entry is under the key by now
  /// (``CacheEntry/isSame(as:)``), nothing happens. The default stores the whole entry again.
  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError)
  /// Creates a writer for content whose length may be unknown; readers can read the content while it is being written.
  ///
  /// By default the content is kept in memory, from 256 KiB on in a temporary file, and then passed to
  /// ``store(_:forKey:)``.
  func makeWriter() async throws(CacheError) -> any CacheWriter
  /// Releases every lock and closes every locked file, so that the system may suspend the process. Calls throw
  /// `suspended` until ``resume()``. The default does nothing, which is right for a cache in memory.
  func suspend() async throws(CacheError)
  /// Opens a suspended cache again; a cache that is not suspended stays as it is. The default does nothing.
  func resume() async throws(CacheError)
}

/// Content that is being written into a cache: appended by one task, read by any number of others.
///
/// Nothing of it is visible in the cache before ``commit(_:forKey:)``. A writer that is released without a commit
/// leaves nothing behind.
public protocol CacheWriter: AnyObject, Sendable {
  /// Appends bytes. Throws `tooLarge` if the cache would never store that much.
  ///
  /// After an error, the bytes appended before can still be read, but not committed.
  func append(_ bytes: [UInt8]) async throws(CacheError)
  /// Reads bytes that were appended before; `range` lies within them.
  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8]
  /// Stores the content as an entry under a key, in place of the previous one, and returns the new entry.
  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry
}
