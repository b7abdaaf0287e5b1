/// The least recently used of the scanned entries. It holds only a few of them, however many were scanned.
struct EvictionSample {
  /// An entry that may be removed.
  struct Candidate: Hashable {
    let name: EntryName
    /// Its last recorded use.
    let time: Int64
    /// The time in its file's status. If the time has changed, the entry was used or replaced.
    let recorded: Int64
  }

  /// How many entries are held at the end.
  let capacity: Int
  /// How many entries were scanned.
  private(set) var scannedCount = 0
  private var candidates: [Candidate] = []

  init(capacity: Int) {
    self.capacity = capacity
    candidates.reserveCapacity(capacity * 2)
  }

  /// Adds an entry, or ignores it if enough others were used longer ago.
  mutating func add(_ candidate: Candidate) {
    scannedCount += 1
    candidates.append(candidate)
    if candidates.count >= capacity * 2 { prune() }
  }

  private mutating func prune() {
    candidates.sort { ($0.time, $0.name.high, $0.name.low) < ($1.time, $1.name.high, $1.name.low) }
    if candidates.count > capacity { candidates.removeSubrange(capacity...) }
  }

  /// The entries that may be removed, least recently used first. If only a part of the folder was scanned, only a
  /// sixteenth of the scanned entries is returned: these are likely to be among the oldest of the whole folder too.
  mutating func victims(isAll: Bool) -> [Candidate] {
    prune()
    return isAll ? candidates : Array(candidates.prefix(max(1, scannedCount / 16)))
  }
}
