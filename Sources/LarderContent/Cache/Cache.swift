/// Keeps responses under string keys: the one thing that a cache of your own must do.
///
/// Four functions are needed; the others have defaults that are made of them. `Snippets/OwnCache.swift` is a whole cache
/// in thirty lines. What a cache is told to keep it may forget at any time, but it must never give back anything else: an
/// entry is whole, with its own metadata, or absent. A change that throws leaves what was there. Calls come from many
/// tasks at once.
///
/// Provided: ``MemoryCache``, ``FileCache``, ``SQLiteCache``, ``TieredCache`` and ``NoCache``.
public protocol Cache: Sendable {
  /// The entry under a key, or nil where there is none (any more).
  ///
  /// It should answer without waiting where it can: a hit costs as much as this call.
  func entry(forKey key: String) async throws(CacheError) -> CacheEntry?
  /// The entry under a key, where it is at hand with all of its content in memory; nil where ``entry(forKey:)`` has to be
  /// asked.
  ///
  /// It is asked first at every request, and must neither block nor read. By default nil.
  func entryAtHand(forKey key: String) -> CacheEntry?
  /// Keeps an entry, in place of what was under that key; visible to others whole or not at all.
  ///
  /// The entry's content may have to be read; it may be in a temporary file that goes when the entry does.
  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError)
  /// Forgets one entry; nothing happens where there is none.
  func removeEntry(forKey key: String) async throws(CacheError)
  /// Forgets everything.
  func removeAll() async throws(CacheError)
  /// Replaces an entry's metadata and leaves its content: after a 304 or a HEAD.
  ///
  /// `entry` is what the caller has seen. Where something else is under the key by now
  /// (``CacheEntry/isSame(as:)``), nothing happens.
  /// By default the whole entry is stored again.
  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError)
  /// Begins to take in content whose length may be unknown, while others read what is there already.
  ///
  /// By default the content waits in memory, from 256 KiB on in a temporary file, and is then given to
  /// ``store(_:forKey:)``.
  func makeWriter() async throws(CacheError) -> any CacheWriter
  /// Gives back every lock and closes what is locked, so that the system may suspend the process. Calls throw `suspended` until
  /// ``resume()``. By default nothing happens, which is right for a cache in memory.
  func suspend() async throws(CacheError)
  /// Opens a suspended cache again; one that is not suspended stays as it is. By default nothing happens.
  func resume() async throws(CacheError)
}

/// Content on its way into a cache: appended by one task, read by any number of others.
///
/// Nothing of it is visible in the cache before ``commit(_:forKey:)``. A writer that is dropped without it leaves nothing
/// behind.
public protocol CacheWriter: AnyObject, Sendable {
  /// Takes in the next bytes; throws `tooLarge` where the cache would never keep that much.
  ///
  /// After an error what was appended before can still be read, but never be committed.
  func append(_ bytes: [UInt8]) async throws(CacheError)
  /// Bytes that were appended before; `range` lies within them.
  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8]
  /// Makes the content an entry under a key, in place of what was there, and answers that entry.
  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry
}
