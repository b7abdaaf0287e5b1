import Synchronization

/// Entries of which it is known that their last use need not be recorded yet: a thousand at most, so that a hit of one of
/// them asks nothing of its file's time.
struct RecordedUses: ~Copyable, Sendable {
  struct Use: Sendable {
    var low: UInt64 = 0
    var until = Int64.min
  }

  private static let count = 1024
  // What is at a place was noted last of all that have it.
  private let table = Mutex([Use](repeating: Use(), count: RecordedUses.count))

  /// True where nothing need be recorded now.
  func isRecent(_ name: EntryName, _ now: Int64) -> Bool {
    table.withLock { uses in
      let use = uses[RecordedUses.place(name)]
      return use.low == name.low && now < use.until
    }
  }

  /// Notes that nothing need be recorded before a moment; forgets whatever had the same place.
  func note(_ name: EntryName, until: Int64) {
    table.withLock { uses in uses[RecordedUses.place(name)] = Use(low: name.low, until: until) }
  }

  private static func place(_ name: EntryName) -> Int { Int(name.high % UInt64(count)) }
}
