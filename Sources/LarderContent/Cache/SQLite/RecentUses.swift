import LarderCore

/// When rows were used, as far as the file does not know it yet: a look-up writes nothing to the disk.
///
/// Moments are numbers that only rise; no clock is asked, so none that jumps can change the order.
final class RecentUses: Sendable {
  private struct State {
    var last: Int64
    var uses: [Int64: Int64] = [:]
    var isFlushing = false
  }

  /// Uses held before some are written in the background.
  static let limit = 16_384
  /// Uses written by one such transaction.
  static let slice = 2048

  private let state: Locked<State>

  init(after last: Int64) { state = Locked(State(last: last)) }

  /// Notes a use; true where it is time to write some.
  func note(_ row: Int64) -> Bool {
    state.withLock { state in
      state.last &+= 1
      state.uses[row] = state.last
      guard state.uses.count >= RecentUses.limit, !state.isFlushing else { return false }
      state.isFlushing = true
      return true
    }
  }

  /// The next moment, later than all that were seen; `seen` is the last in the file, which other processes write too.
  func next(after seen: Int64) -> Int64 {
    state.withLock { state in
      state.last = max(state.last, seen) &+ 1
      return state.last
    }
  }

  /// The noted use of a row, which is not noted any more.
  func take(_ row: Int64) -> Int64? { state.withLock { $0.uses.removeValue(forKey: row) } }

  /// Some of the uses, which are not noted any more.
  func takeSlice() -> [(row: Int64, moment: Int64)] {
    state.withLock { state in
      let slice = state.uses.prefix(RecentUses.slice).map { (row: $0.key, moment: $0.value) }
      for use in slice { state.uses[use.row] = nil }
      return slice
    }
  }

  /// True where enough are noted for another slice; else the writing in the background has ended.
  func goesOn() -> Bool {
    state.withLock { state in
      state.isFlushing = state.uses.count >= RecentUses.limit / 2
      return state.isFlushing
    }
  }
}
