import LarderStorage
import Synchronization

/// Combines two caches: a fast one in front of a persistent one.
///
/// A lookup uses the first cache's entry if there is one, otherwise the second's. The second's entry is also stored in
/// the first if its content is in memory anyway. Changes are applied to the second, then to the first, one at a time
/// for each key: the first never holds an entry that this object has replaced or removed in the second. Over a
/// ``FileCache`` this also holds for changes by other users of its files, in this process and in
/// others. An entry in memory is current as long as its part of the files, one of about five hundred, is unchanged;
/// after a change it is compared with the files once. A deleted folder is detected within a second. A second cache of
/// another type must be changed through this object only.
///
/// If the second fails (a full or read-only disk), the error is thrown, and the first has the change all the same. The
/// entry that the second still holds under that key is not used any more. So the memory continues to work while the
/// disk fails.
public final class TieredCache: Cache {
  let memory: any Cache
  let disk: any Cache
  /// The maximum size in bytes of content that is stored in the first cache.
  let promotionByteLimit: Int
  /// The second cache, if other processes may change it.
  let shared: (any SharedCache)?
  let stripes = KeyStripes()
  let suspectKeys = SuspectKeys()
  private let isSuspended = Atomic(false)
  private let calls = SerialCalls()

  /// Creates a cache from two caches.
  ///
  /// - Parameters:
  ///   - memory: the first cache.
  ///   - disk: the second cache, which holds everything.
  ///   - promotionByteLimit: the maximum size in bytes of an entry's content that is stored in `memory`; 256 KiB by
  ///     default.
  public init(memory: any Cache, disk: any Cache, promotionByteLimit: Int = 256 << 10) {
    self.memory = memory
    self.disk = disk
    shared = disk as? any SharedCache
    self.promotionByteLimit = max(0, promotionByteLimit)
  }

  /// The first cache's entry, or else the second's.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    try checkUse()
    // If the first cache fails, the second is still used.
    let memoryEntry = try? await memory.entry(forKey: key)
    if let memoryEntry, isCurrent(memoryEntry) { return memoryEntry }
    // An entry that only the first could store is used if changes of the second by others cannot be detected.
    guard !suspectKeys.contains(key) else { return memoryEntry?.mark == nil ? memoryEntry : nil }
    let mark = stripes.mark(key)
    let change = shared?.changeMark(forKey: key)
    let diskEntry = try await disk.entry(forKey: key)
    // A change that began in the meantime may have failed in the second.
    guard let diskEntry, !suspectKeys.contains(key) else { return nil }
    if let mark, let copy = copyForMemory(of: diskEntry, or: memoryEntry) {
      // If a change prevents this, or the entry is too large, it is read from the second again.
      await stripes.unlessChanged(since: mark) { try? await memory.store(copy.copied(at: change), forKey: key) }
      return copy
    }
    return diskEntry
  }

  /// The first cache's entry, if it is available at once and the second cache cannot have changed.
  public func entryInMemory(forKey key: String) -> CacheEntry? {
    guard !isSuspended.load(ordering: .acquiring), let memoryEntry = memory.entryInMemory(forKey: key),
      isCurrent(memoryEntry)
    else {
      return nil
    }
    return memoryEntry
  }

  private func isCurrent(_ memoryEntry: CacheEntry) -> Bool {
    if let mark = memoryEntry.mark { return mark.isCurrent }
    return shared == nil
  }

  /// The entry to store in the first for an entry of the second. It uses the content that the first already holds if
  /// the second would have to read it. Nil if it is too large.
  private func copyForMemory(of diskEntry: CacheEntry, or memoryEntry: CacheEntry?) -> CacheEntry? {
    guard diskEntry.length <= promotionByteLimit else { return nil }
    if diskEntry.bytesInMemory != nil { return diskEntry }
    return memoryEntry.flatMap { $0.isSame(as: diskEntry) ? $0 : nil }
  }

  /// Stores an entry in the second, and in the first if its content is in memory and small enough.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      let (failure, mark) = await changeDisk(key) { () throws(CacheError) in try await disk.store(entry, forKey: key) }
      if failure == .suspended { throw .suspended }
      await storeInMemory(entry, forKey: key, mark)
      if let failure { throw failure }
    }
  }

  /// Removes an entry from both.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      let (failure, _) = await changeDisk(key) { () throws(CacheError) in try await disk.removeEntry(forKey: key) }
      try await memory.removeEntry(forKey: key)
      if let failure { throw failure }
    }
  }

  /// Removes all entries from both.
  public func removeAll() async throws(CacheError) {
    try checkUse()
    try await stripes.changeAll { () throws(CacheError) in
      var failure: CacheError?
      do throws(CacheError) {
        try await disk.removeAll()
        suspectKeys.clear()
      } catch {
        suspectKeys.addAll()
        failure = error
      }
      try await memory.removeAll()
      if let failure { throw failure }
    }
  }

  /// Replaces an entry's metadata in both.
  ///
  /// If the second fails, both keep the old metadata. But metadata that only mark the entry for validation are stored
  /// in the first, and the second's entry is not used any more.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      if suspectKeys.contains(key) {
        // Only the first can have the entry that the caller has read.
        try await memory.update(entry, to: metadata, forKey: key)
        return
      }
      do throws(CacheError) {
        try await disk.update(entry, to: metadata, forKey: key)
      } catch {
        if metadata.isInvalidated {
          suspectKeys.add(key)
          try? await memory.update(entry, to: metadata, forKey: key)
        }
        throw error
      }
      try await follow(entry, forKey: key)
    }
  }

  /// The second's writer. At the commit, the content is also stored in the first if it is small enough.
  public func makeWriter() async throws(CacheError) -> any CacheWriter {
    try checkUse()
    do throws(CacheError) { return TieredWriter(for: self, disk: try await disk.makeWriter()) } catch {
      return TieredWriter(for: self, failed: error)
    }
  }

  // MARK: Suspension

  /// Suspends both, even if one fails. Calls throw `suspended` until ``resume()``.
  public func suspend() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      isSuspended.store(true, ordering: .releasing)
      var failure: CacheError?
      do throws(CacheError) { try await disk.suspend() } catch { failure = error }
      do throws(CacheError) { try await memory.suspend() } catch { failure = failure ?? error }
      if let failure { throw failure }
    }
  }

  /// Resumes both. Before an entry of the first is used again, it is compared with the second's, once. If one cannot be
  /// resumed, both stay suspended.
  public func resume() async throws(CacheError) {
    try await calls.run { [self] () throws(CacheError) in
      try await memory.resume()
      do throws(CacheError) { try await disk.resume() } catch {
        try? await memory.suspend()
        throw error
      }
      isSuspended.store(false, ordering: .releasing)
    }
  }

  private func checkUse() throws(CacheError) {
    if isSuspended.load(ordering: .acquiring) { throw .suspended }
  }

  // MARK: Inside, with the key's stripe held

  /// Changes the second, and records whether its entry under the key can be used.
  ///
  /// The returned mark is for a copy of the second's new entry; a copy without a mark is compared at its next use. An
  /// entry that the second rejected stays usable in the first as long as there are no changes by others.
  func changeDisk(
    _ key: String, _ change: () async throws(CacheError) -> Void
  ) async -> (failure: CacheError?, mark: ChangeMark?) {
    let before = shared?.changeMark(forKey: key)
    do throws(CacheError) {
      try await change()
      suspectKeys.remove(key)
      return (nil, shared?.changeMark(forKey: key)?.following(before))
    } catch {
      // Entries in memory are compared with the second when both are resumed.
      if error == .suspended { return (error, nil) }
      suspectKeys.add(key)
      return (error, shared?.changeMark(forKey: key))
    }
  }

  /// Stores an entry in the first if it fits. Otherwise removes the first's entry under the key.
  func storeInMemory(_ entry: CacheEntry, forKey key: String, _ mark: ChangeMark?) async {
    if entry.bytesInMemory != nil, entry.length <= promotionByteLimit {
      do throws(CacheError) {
        try await memory.store(entry.copied(at: mark), forKey: key)
        return
      } catch {}  // Too large for it: continue below.
    }
    try? await memory.removeEntry(forKey: key)
  }

  /// Makes the first equal to the second after an update, which may have found another entry there.
  private func follow(_ oldEntry: CacheEntry, forKey key: String) async throws(CacheError) {
    let present: CacheEntry?
    let mark = shared?.changeMark(forKey: key)
    do throws(CacheError) { present = try await disk.entry(forKey: key) } catch {
      try await memory.removeEntry(forKey: key)
      throw error
    }
    guard let present else { return try await memory.removeEntry(forKey: key) }
    if present.bytesInMemory == nil, present.length == oldEntry.length, present.length <= promotionByteLimit,
      let memoryEntry = try await memory.entry(forKey: key), memoryEntry.isSame(as: oldEntry)
    {
      // The second would have to read content that the first already holds.
      return await storeInMemory(memoryEntry.with(present.metadata), forKey: key, mark)
    }
    await storeInMemory(present, forKey: key, mark)
  }
}
