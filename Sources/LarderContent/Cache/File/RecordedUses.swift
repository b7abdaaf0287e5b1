import LarderCore

/// What the files of some thousand entries say of their last use, so that a hit of one of them need not ask.
struct RecordedUses: ~Copyable, Sendable {
  struct Use: Sendable {
    var low: UInt64 = 0
    var recorded = Int64.min
  }

  private static let count = 8192
  // What is at a place was noted last of all that have it.
  private let table = Locked([Use](repeating: Use(), count: RecordedUses.count))

  /// When an entry's use was recorded last, where that is known.
  func recorded(_ name: EntryName) -> Int64? {
    table.withLock { uses in
      let use = uses[RecordedUses.place(name)]
      return use.low == name.low && use.recorded > .min ? use.recorded : nil
    }
  }

  /// Notes when an entry's use was recorded; forgets whatever had the same place.
  func note(_ name: EntryName, recorded: Int64) {
    table.withLock { uses in uses[RecordedUses.place(name)] = Use(low: name.low, recorded: recorded) }
  }

  private static func place(_ name: EntryName) -> Int { Int(name.high % UInt64(count)) }
}
