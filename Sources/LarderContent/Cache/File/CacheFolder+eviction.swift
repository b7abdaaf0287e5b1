import Synchronization

// Which entry was used last is written on its file: the time it was last modified. So no index is in memory, and a hit
// costs no write where the recorded time is recent enough. When the files take more than the limit, some shelves are
// looked through until a thousand entries were seen; of these, those go that were not used for longest. The next sample
// begins with the shelf behind the last one's, like the hand of a clock, so that each shelf has its turn before any has a
// second. Where the hand stands when a folder is opened is chance. A small folder is looked through as a whole, so there
// the order is exact.
extension CacheFolder {
  /// So many entries are looked at before some go.
  private static let sampleSize = 1024
  /// So many go at most at once. Of a large shelf more are looked at than a sample needs, and as much more may go: else
  /// its entries would be looked at again and again for few of them.
  private static let victimCount = 1024

  /// Below the limit by this, so that the next entries find room.
  private var slack: Int { limit / 64 }

  /// Removes entries until the files take no more than the limit. Answers true where more has to go: call again.
  ///
  /// `kept` stays: it was stored just now.
  func evict(keeping kept: String) -> Bool {
    guard let usage = try? usage(), usage.bytes > limit else { return false }
    guard isEvicting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
      return false
    }
    defer { isEvicting.store(false, ordering: .releasing) }
    do throws(CacheError) {
      let name = try name(of: kept)
      if try removeOldest(usage.shelves, besides: name) > 0 { return true }
      // Nothing went, so the numbers are wrong, or all that is left was used meanwhile.
      for shelf in 0..<EntryName.shelves { try recount(shelf) }
      guard let now = try? self.usage(), now.bytes > limit else { return false }
      return try removeOldest(now.shelves, besides: name) > 0
    } catch {
      diagnose(error)
      return false
    }
  }

  /// Removes the oldest of a sample; answers the bytes that are free then.
  private func removeOldest(_ shelves: [ShelfUsage?], besides kept: EntryName) throws(CacheError) -> Int {
    var sample = EvictionSample(capacity: CacheFolder.victimCount)
    let start = hand.load(ordering: .relaxed)
    var isAll = true
    for step in 0..<EntryName.shelves {
      let shelf = (start + step) % EntryName.shelves
      // A damaged slot may stand for anything.
      if let usage = shelves[shelf], usage.entries == 0 { continue }
      if sample.seen >= CacheFolder.sampleSize {
        isAll = false
        hand.store(shelf, ordering: .relaxed)
        break
      }
      let seen = look(through: shelf, besides: kept, &sample)
      // Files were deleted by hand, or stored at this moment.
      if let usage = shelves[shelf], usage.entries != seen { try recount(shelf) }
    }
    var freed = 0
    for victim in sample.victims(isAll: isAll) {
      guard let usage = try? usage(), usage.bytes > limit - (freed > 0 ? slack : 0) else { break }
      freed += try remove(victim)
    }
    return freed
  }

  /// Answers how many entries are on the shelf.
  private func look(through shelf: Int, besides kept: EntryName, _ sample: inout EvictionSample) -> Int {
    var seen = 0
    try? unsafe disk.list(root.number, FolderNames.shelf(shelf)) { bytes in
      guard case .entry(let name)? = unsafe ShelfItem(shelf: shelf, name: bytes),
        let status = try? disk.status(root.number, name.path), status.kind == .file
      else { return true }
      seen += 1
      if name != kept {
        sample.add(.init(name: name, time: clock.seen(status.time), recorded: status.time))
      }
      return !isStopped
    }
    return seen
  }

  /// Removes one, unless it was used or replaced since it was looked at.
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
