import Synchronization

// Eviction. The last use of an entry is recorded as its file's modification time. So no index is in memory, and a hit
// needs no write if the recorded time is recent enough. If the files exceed the limit, shelves are scanned until about
// a thousand entries were seen, and the least recently used of them are removed. The next sample begins with the shelf
// after the last one, so that each shelf is scanned before any is scanned twice. When a
// folder is opened, the scan starts at a random shelf. A small folder is scanned completely, so its order of eviction
// is exact.
extension CacheFolder {
  /// The number of entries that are scanned before some are removed.
  private static let sampleSize = 1024
  /// The maximum number of entries that are removed at once. On a large shelf, more entries are scanned than a sample
  /// needs, and correspondingly more may be removed. Otherwise its entries would be scanned again and again to remove
  /// only a few of them.
  private static let victimCount = 1024

  /// How far eviction goes below the limit, so that the next entries have room.
  private var slack: Int { limit / 64 }

  /// Removes entries until the files are within the limit. Returns true if more must be removed: call it again.
  ///
  /// `storedKey` is not removed: it was stored just now.
  func evict(keeping storedKey: String) -> Bool {
    guard let usage = try? usage(), usage.bytes > limit else { return false }
    guard isEvicting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
      return false
    }
    let removed = Result { () throws(CacheError) in try removeOldest(keeping: storedKey, usage.shelves) }
    // Before the report: other threads must not wait for a user's code.
    isEvicting.store(false, ordering: .releasing)
    do throws(CacheError) { return try removed.get() } catch {
      report(.evictionFailed, error)
      return false
    }
  }

  private func removeOldest(keeping storedKey: String, _ shelves: [ShelfUsage?]) throws(CacheError) -> Bool {
    let name = try name(of: storedKey)
    if try removeOldest(shelves, besides: name) > 0 { return true }
    // Nothing was removed, so the numbers are wrong, or all remaining entries were used in the meantime.
    for shelf in 0..<EntryName.shelves { try recount(shelf) }
    guard let now = try? self.usage(), now.bytes > limit else { return false }
    return try removeOldest(now.shelves, besides: name) > 0
  }

  /// Removes the oldest entries of a sample. Returns the number of bytes that this freed.
  private func removeOldest(_ shelves: [ShelfUsage?], besides storedName: EntryName) throws(CacheError) -> Int {
    var sample = EvictionSample(capacity: CacheFolder.victimCount)
    let start = nextShelf.load(ordering: .relaxed)
    var isAll = true
    for step in 0..<EntryName.shelves {
      let shelf = (start + step) % EntryName.shelves
      // The contents of a shelf with a damaged slot are unknown.
      if let usage = shelves[shelf], usage.entries == 0 { continue }
      if sample.scannedCount >= CacheFolder.sampleSize {
        isAll = false
        nextShelf.store(shelf, ordering: .relaxed)
        break
      }
      let scannedCount = scan(shelf, besides: storedName, &sample)
      // Files were deleted by hand, or are being stored right now.
      if let usage = shelves[shelf], usage.entries != scannedCount { try recount(shelf) }
    }
    var freed = 0
    for victim in sample.victims(isAll: isAll) {
      guard let usage = try? usage(), usage.bytes > limit - (freed > 0 ? slack : 0) else { break }
      freed += try remove(victim)
    }
    return freed
  }

  /// Scans a shelf for the sample. Returns how many entries are on it.
  private func scan(_ shelf: Int, besides storedName: EntryName, _ sample: inout EvictionSample) -> Int {
    var scannedCount = 0
    try? unsafe disk.list(root.number, FolderNames.shelf(shelf)) { bytes in
      guard case .entry(let name)? = unsafe ShelfItem(shelf: shelf, name: bytes),
        let status = try? disk.status(root.number, name.path), status.kind == .file
      else { return true }
      scannedCount += 1
      if name != storedName {
        sample.add(.init(name: name, time: clock.observe(status.time), recorded: status.time))
      }
      return !isStopped
    }
    return scannedCount
  }

  /// Removes an entry, unless it was used or replaced since it was scanned.
  private func remove(_ victim: EvictionSample.Candidate) throws(CacheError) -> Int {
    try exclusively { () throws(CacheError) in
      guard let status = try? disk.status(root.number, victim.name.path), status.time == victim.recorded else {
        return 0
      }
      let freed = try remove(victim.name)
      if freed > 0 { _ = horizon.max(victim.time, ordering: .relaxed) }
      return freed
    }
  }
}
