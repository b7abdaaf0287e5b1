import LarderCore

/// The uses of rows that are not written to the file yet: a lookup writes nothing to the disk.
///
/// A use is recorded as a number that only rises. It does not depend on a clock, so a clock that jumps cannot change
/// the order.
final class RecentUses: Sendable {
  private struct State {
    var last: Int64
    var uses: [Int64: Int64] = [:]
    var isFlushing = false
  }

  /// The number of uses that are held before some are written in the background.
  static let limit = 16_384
  /// The number of uses that one background transaction writes.
  static let slice = 2048

  private let state: Locked<State>

  init(after last: Int64) { state = Locked(State(last: last)) }

  /// Records a use. Returns true if some uses must be written now.
  func note(_ row: Int64) -> Bool {
    state.withLock { state in
      state.last &+= 1
      state.uses[row] = state.last
      guard state.uses.count >= RecentUses.limit, !state.isFlushing else { return false }
      state.isFlushing = true
      return true
    }
  }

  /// The next use number, greater than all before; `lastInFile` is the last one in the file, which other processes write too.
  func next(after lastInFile: Int64) -> Int64 {
    state.withLock { state in
      state.last = max(state.last, lastInFile) &+ 1
      return state.last
    }
  }

  /// Removes the recorded use of a row and returns it.
  func remove(_ row: Int64) -> Int64? { state.withLock { $0.uses.removeValue(forKey: row) } }

  /// Removes some of the recorded uses and returns them.
  func removeSlice() -> [(row: Int64, useNumber: Int64)] {
    state.withLock { state in
      let slice = state.uses.prefix(RecentUses.slice).map { (row: $0.key, useNumber: $0.value) }
      for use in slice { state.uses[use.row] = nil }
      return slice
    }
  }

  /// True if there are enough uses for another slice. Otherwise the background write ends.
  func continuesFlushing() -> Bool {
    state.withLock { state in
      state.isFlushing = state.uses.count >= RecentUses.limit / 2
      return state.isFlushing
    }
  }
}
