import LarderStorage
import Synchronization

/// Two caches as one: a fast one before a lasting one.
///
/// What the first has is answered from there. What only the second has is answered from there, and kept in the first too
/// where its content is in memory anyway. Changes are made in the second, then in the first, one at a time under a key:
/// what this object's second cache has replaced or removed, the first does not hold. Over a ``FileCache`` or an ``SQLiteCache``
/// the same is true of what others do to its files, in this process and in others: an entry in memory counts as long as nobody
/// has changed its part of the files, one of about five hundred, and is compared with theirs once afterwards. A deleted folder
/// is noticed within a second. Nothing but this object should change a second cache of another type.
///
/// Where the second fails (a full or read-only disk) the error is thrown, and the first has the change all the same; what
/// the second still holds under that key is not used any more. So the memory goes on while the disk cannot.
public final class TieredCache: Cache {
  let memory: any Cache
  let disk: any Cache
  /// The most bytes of content that are kept in the first.
  let promotionLimit: Int
  /// The second, where other processes may change it.
  let shared: (any SharedCache)?
  let stripes = KeyStripes()
  let distrust = SuspectKeys()
  private let isSuspended = Atomic(false)
  private let calls = SerialCalls()

  /// Joins two caches.
  ///
  /// - Parameters:
  ///   - memory: asked first.
  ///   - disk: holds everything.
  ///   - promotionLimit: the most bytes of content of one entry that are kept in `memory`; 256 KiB by default.
  public init(memory: any Cache, disk: any Cache, promotionLimit: Int = 256 << 10) {
    self.memory = memory
    self.disk = disk
    shared = disk as? any SharedCache
    self.promotionLimit = max(0, promotionLimit)
  }

  /// The first cache's entry, else the second's.
  public func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    try checkUse()
    // A failing first cache is no reason not to ask the second.
    let held = try? await memory.entry(forKey: key)
    if let held, isCurrent(held) { return held }
    // What only the first could take is used where nobody can tell whether others have changed the second.
    guard !distrust.contains(key) else { return held?.mark == nil ? held : nil }
    let mark = stripes.mark(key)
    let change = shared?.changeMark(forKey: key)
    let found = try await disk.entry(forKey: key)
    // A change that began meanwhile may have failed for the second.
    guard let found, !distrust.contains(key) else { return nil }
    if let mark, let kept = kept(found, or: held) {
      // Kept out by a change or refused for its size, it is read from the second again.
      await stripes.unlessChanged(since: mark) { try? await memory.store(kept.copied(at: change), forKey: key) }
      return kept
    }
    return found
  }

  /// The first cache's entry, where that has it at hand, and nobody may have changed what the second has.
  public func entryAtHand(forKey key: String) -> CacheEntry? {
    guard !isSuspended.load(ordering: .acquiring), let held = memory.entryAtHand(forKey: key), isCurrent(held) else {
      return nil
    }
    return held
  }

  private func isCurrent(_ held: CacheEntry) -> Bool {
    if let mark = held.mark { return mark.isCurrent }
    return shared == nil
  }

  /// What the first keeps of an entry that the second has: with the content that the first holds already, where the second
  /// would have to read it; nil where it is too large.
  private func kept(_ found: CacheEntry, or held: CacheEntry?) -> CacheEntry? {
    guard found.length <= promotionLimit else { return nil }
    if found.bytesInMemory != nil { return found }
    return held.flatMap { $0.isSame(as: found) ? $0 : nil }
  }

  /// Keeps an entry in the second, and in the first where its content is in memory and small enough.
  public func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      let (failure, mark) = await changeDisk(key) { () throws(CacheError) in try await disk.store(entry, forKey: key) }
      if failure == .suspended { throw .suspended }
      await keepInMemory(entry, forKey: key, mark)
      if let failure { throw failure }
    }
  }

  /// Forgets an entry in both.
  public func removeEntry(forKey key: String) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      let (failure, _) = await changeDisk(key) { () throws(CacheError) in try await disk.removeEntry(forKey: key) }
      try await memory.removeEntry(forKey: key)
      if let failure { throw failure }
    }
  }

  /// Forgets everything in both.
  public func removeAll() async throws(CacheError) {
    try checkUse()
    try await stripes.changeAll { () throws(CacheError) in
      var failure: CacheError?
      do throws(CacheError) {
        try await disk.removeAll()
        distrust.clear()
      } catch {
        distrust.addAll()
        failure = error
      }
      try await memory.removeAll()
      if let failure { throw failure }
    }
  }

  /// Replaces an entry's metadata in both.
  ///
  /// Where the second fails, the old metadata stay in both; those that only say that the entry must be validated are
  /// taken into the first, and the second's are not used any more.
  public func update(
    _ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String
  ) async throws(CacheError) {
    try checkUse()
    try await stripes.change(key) { () throws(CacheError) in
      if distrust.contains(key) {
        // Only the first has what the caller can have seen.
        try await memory.update(entry, to: metadata, forKey: key)
        return
      }
      do throws(CacheError) {
        try await disk.update(entry, to: metadata, forKey: key)
      } catch {
        if metadata.isInvalidated {
          distrust.add(key)
          try? await memory.update(entry, to: metadata, forKey: key)
        }
        throw error
      }
      try await follow(entry, forKey: key)
    }
  }

  /// The second's writer; at the commit the first gets the content too where it is small enough.
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

  /// Resumes both. What the first holds is compared with what the second then has, once, before it is used again. Where
  /// one cannot be resumed, both stay suspended.
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

  /// Changes the second, and notes whether what it holds under the key can be used.
  ///
  /// The mark is for a copy of what the second then has; without one the copy is compared when it is next asked for. What the
  /// second refused counts as long as nobody else changes something.
  func changeDisk(
    _ key: String, _ change: () async throws(CacheError) -> Void
  ) async -> (failure: CacheError?, mark: ChangeMark?) {
    let before = shared?.changeMark(forKey: key)
    do throws(CacheError) {
      try await change()
      distrust.remove(key)
      return (nil, shared?.changeMark(forKey: key)?.following(before))
    } catch {
      // What memory has is compared with the second when both are resumed.
      if error == .suspended { return (error, nil) }
      distrust.add(key)
      return (error, shared?.changeMark(forKey: key))
    }
  }

  /// Puts an entry into the first where it fits there; else what the first has under the key goes.
  func keepInMemory(_ entry: CacheEntry, forKey key: String, _ mark: ChangeMark?) async {
    if entry.bytesInMemory != nil, entry.length <= promotionLimit {
      do throws(CacheError) {
        try await memory.store(entry.copied(at: mark), forKey: key)
        return
      } catch {}  // Too large for it: as below.
    }
    try? await memory.removeEntry(forKey: key)
  }

  /// Brings the first to what the second has after an update, which may have found something else there.
  private func follow(_ seen: CacheEntry, forKey key: String) async throws(CacheError) {
    let present: CacheEntry?
    let mark = shared?.changeMark(forKey: key)
    do throws(CacheError) { present = try await disk.entry(forKey: key) } catch {
      try await memory.removeEntry(forKey: key)
      throw error
    }
    guard let present else { return try await memory.removeEntry(forKey: key) }
    if present.bytesInMemory == nil, present.length == seen.length, present.length <= promotionLimit,
      let held = try await memory.entry(forKey: key), held.isSame(as: seen)
    {
      // The second would have to read what the first holds already.
      return await keepInMemory(held.with(present.metadata), forKey: key, mark)
    }
    await keepInMemory(present, forKey: key, mark)
  }
}
