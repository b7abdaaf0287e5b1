import LarderCore

/// Counts the uses of bodies by entries and writers of this process, so that no chunk is deleted while it is in use.
final class BodyHolds: Sendable {
  private struct State {
    var counts: [Int64: Int] = [:]
    /// Bodies that are doomed but still in use.
    var doomed: Set<Int64> = []
    /// Bodies that are doomed and no longer in use: their chunks can be deleted.
    var deletable: [Int64] = []
    var isDeleting = false
  }

  private let state = Locked(State())

  /// True if no deletion is running.
  var isIdle: Bool { state.withLock { !$0.isDeleting } }

  func add(_ body: Int64) { state.withLock { $0.counts[body, default: 0] += 1 } }

  /// Ends a use of a body. Returns true if a deletion must be started.
  func release(_ body: Int64) -> Bool {
    state.withLock { state in
      let remaining = (state.counts[body] ?? 1) - 1
      state.counts[body] = remaining > 0 ? remaining : nil
      guard remaining <= 0, state.doomed.remove(body) != nil else { return false }
      return BodyHolds.add([body], &state)
    }
  }

  /// Called after bodies were marked as doomed in the file. Returns true if a deletion must be started.
  func doom(_ bodies: [Int64]) -> Bool {
    state.withLock { state in
      var free: [Int64] = []
      for body in bodies {
        if state.counts[body] == nil { free.append(body) } else { state.doomed.insert(body) }
      }
      return BodyHolds.add(free, &state)
    }
  }

  private static func add(_ bodies: [Int64], _ state: inout State) -> Bool {
    state.deletable += bodies
    guard !state.isDeleting, !state.deletable.isEmpty else { return false }
    state.isDeleting = true
    return true
  }

  /// Some of the bodies whose chunks can be deleted. An empty result ends the deletion.
  func deletable(_ count: Int) -> [Int64] {
    state.withLock { state in
      if state.deletable.isEmpty { state.isDeleting = false }
      return Array(state.deletable.suffix(count))
    }
  }

  /// Removes bodies that were deleted, or cannot be deleted now. The next process that opens the file alone tries
  /// again.
  func finish(_ bodies: [Int64]) {
    let bodies = Set(bodies)
    state.withLock { $0.deletable.removeAll(where: bodies.contains) }
  }
}

/// A use of a body: its chunks are kept as long as this object.
final class BodyHold: Sendable {
  let body: Int64
  private let store: SQLiteStore

  init(_ body: Int64, in store: SQLiteStore) {
    self.body = body
    self.store = store
    store.holds.add(body)
  }

  deinit { store.release(body) }

  /// Reads bytes of the body's content, which has `length` bytes so far.
  func read(_ range: Range<Int>, length: Int) throws(CacheError) -> [UInt8] {
    try store.read(range, ofBody: body, length: length)
  }
}
