@_spi(Stores) import LarderCore

/// The recorded last uses of some thousand entries, so that a hit of one of them need not read it from the file.
struct RecordedUses: ~Copyable, Sendable {
  struct Use: Sendable {
    var low: UInt64 = 0
    var recorded = Int64.min
  }

  private static let count = 8192
  // A slot holds the entry that was noted last among all that share the slot.
  private let table = Locked([Use](repeating: Use(), count: RecordedUses.count))

  /// When an entry's use was last recorded, if that is known.
  func recorded(_ name: EntryName) -> Int64? {
    table.withLock { uses in
      let use = uses[RecordedUses.slot(name)]
      return use.low == name.low && use.recorded > .min ? use.recorded : nil
    }
  }

  /// Stores when an entry's use was recorded. It replaces the previous entry in its slot.
  func note(_ name: EntryName, recorded: Int64) {
    table.withLock { uses in uses[RecordedUses.slot(name)] = Use(low: name.low, recorded: recorded) }
  }

  private static func slot(_ name: EntryName) -> Int { Int(name.high % UInt64(count)) }
}
