import LarderCore

/// The bodies that entries or writers of this process are reading, so that no chunk goes away under them.
final class BodyHolds: Sendable {
  private struct State {
    var counts: [Int64: Int] = [:]
    /// Doomed while they are held.
    var doomed: Set<Int64> = []
    /// Doomed and held by nobody: their chunks are to be deleted.
    var deletable: [Int64] = []
    var isDeleting = false
  }

  private let state = Locked(State())

  /// True where no deletion is under way.
  var isIdle: Bool { state.withLock { !$0.isDeleting } }

  func take(_ body: Int64) { state.withLock { $0.counts[body, default: 0] += 1 } }

  /// True where a deletion is to be begun.
  func release(_ body: Int64) -> Bool {
    state.withLock { state in
      let left = (state.counts[body] ?? 1) - 1
      state.counts[body] = left > 0 ? left : nil
      guard left <= 0, state.doomed.remove(body) != nil else { return false }
      return BodyHolds.add([body], &state)
    }
  }

  /// Called once the file says that they are doomed; true where a deletion is to be begun.
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

  /// Some of the bodies to delete chunks of; none ends the deletion.
  func deletable(_ count: Int) -> [Int64] {
    state.withLock { state in
      if state.deletable.isEmpty { state.isDeleting = false }
      return Array(state.deletable.suffix(count))
    }
  }

  /// Bodies are gone, or cannot be deleted now: the next one that opens the file alone tries again.
  func finish(_ bodies: [Int64]) {
    let bodies = Set(bodies)
    state.withLock { $0.deletable.removeAll(where: bodies.contains) }
  }
}

/// A hold on a body: its chunks stay as long as this.
final class BodyHold: Sendable {
  let body: Int64
  private let store: SQLiteStore

  init(_ body: Int64, in store: SQLiteStore) {
    self.body = body
    self.store = store
    store.holds.take(body)
  }

  deinit { store.release(body) }

  /// Bytes of the body's content, which has `length` bytes so far.
  func read(_ range: Range<Int>, length: Int) throws(CacheError) -> [UInt8] {
    try store.read(range, ofBody: body, length: length)
  }
}
