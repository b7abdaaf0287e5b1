/// The least recently used of the entries that were looked at; holds few of them, however many they are.
struct EvictionSample {
  /// An entry that may go.
  struct Candidate: Hashable {
    let name: EntryName
    /// Its last recorded use.
    let time: Int64
    /// Its file's time as it stands: another by now means that it was used or replaced.
    let recorded: Int64
  }

  /// How many are held at the end.
  let capacity: Int
  /// How many were looked at.
  private(set) var seen = 0
  private var held: [Candidate] = []

  init(capacity: Int) {
    self.capacity = capacity
    held.reserveCapacity(capacity * 2)
  }

  /// Takes one in, or leaves it where others were used longer ago.
  mutating func add(_ candidate: Candidate) {
    seen += 1
    held.append(candidate)
    if held.count >= capacity * 2 { prune() }
  }

  private mutating func prune() {
    held.sort { ($0.time, $0.name.high, $0.name.low) < ($1.time, $1.name.high, $1.name.low) }
    if held.count > capacity { held.removeSubrange(capacity...) }
  }

  /// Those that may go, longest unused first. Where only some of the folder was looked at, a sixteenth of that: among
  /// so many, those were not used for long in the whole folder either.
  mutating func victims(isAll: Bool) -> [Candidate] {
    prune()
    return isAll ? held : Array(held.prefix(max(1, seen / 16)))
  }
}
