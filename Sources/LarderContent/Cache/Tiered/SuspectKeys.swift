import LarderCore
import Synchronization

/// Keys under which a tier may hold what should have been replaced or removed, because a change of it failed.
///
/// Bounded: past a number of keys all of them count.
final class SuspectKeys: Sendable {
  private enum State {
    case some(Set<String>)
    case all
  }

  private static let limit = 10_000
  /// Read at every miss, nearly always false.
  private let isAny = Atomic(false)
  private let state = Locked(State.some([]))

  /// True where what is under the key must not be used.
  func contains(_ key: String) -> Bool {
    guard isAny.load(ordering: .acquiring) else { return false }
    return state.withLock { state in
      switch state {
      case .some(let keys): keys.contains(key)
      case .all: true
      }
    }
  }

  /// A change under a key failed.
  func add(_ key: String) {
    state.withLock { state in
      if case .some(var keys) = state {
        state = .all  // Given up at once, so that the set is not copied.
        keys.insert(key)
        if keys.count <= SuspectKeys.limit { state = .some(keys) }
      }
      isAny.store(true, ordering: .releasing)
    }
  }

  /// A change of everything failed.
  func addAll() {
    state.withLock { state in
      state = .all
      isAny.store(true, ordering: .releasing)
    }
  }

  /// What is under the key is as it should be again; once all keys count, only ``clear()`` helps.
  func remove(_ key: String) {
    guard isAny.load(ordering: .acquiring) else { return }
    state.withLock { state in
      guard case .some(var keys) = state else { return }
      state = .all
      keys.remove(key)
      state = .some(keys)
      isAny.store(!keys.isEmpty, ordering: .releasing)
    }
  }

  /// Everything is as it should be again.
  func clear() {
    state.withLock { state in
      state = .some([])
      isAny.store(false, ordering: .releasing)
    }
  }
}
