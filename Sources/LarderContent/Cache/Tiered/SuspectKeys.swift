@_spi(Stores) import LarderCore
import Synchronization

/// Keys under which a tier may hold an outdated entry, because replacing or removing it failed.
///
/// The memory is bounded: past a number of keys, all keys are suspect.
final class SuspectKeys: Sendable {
  private enum State {
    case some(Set<String>)
    case all
  }

  private static let limit = 10_000
  /// Read at every miss; nearly always false.
  private let isAny = Atomic(false)
  private let state = Locked(State.some([]))

  /// True if the entry under the key must not be used.
  func contains(_ key: String) -> Bool {
    guard isAny.load(ordering: .acquiring) else { return false }
    return state.withLock { state in
      switch state {
      case .some(let keys): keys.contains(key)
      case .all: true
      }
    }
  }

  /// Adds a key whose change failed.
  func add(_ key: String) {
    state.withLock { state in
      if case .some(var keys) = state {
        state = .all  // Released first, so that the set is not copied.
        keys.insert(key)
        if keys.count <= SuspectKeys.limit { state = .some(keys) }
      }
      isAny.store(true, ordering: .releasing)
    }
  }

  /// Adds all keys, because a change of everything failed.
  func addAll() {
    state.withLock { state in
      state = .all
      isAny.store(true, ordering: .releasing)
    }
  }

  /// Removes a key whose entry is correct again. If all keys are suspect, only ``clear()`` helps.
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

  /// Removes all keys, because all entries are correct again.
  func clear() {
    state.withLock { state in
      state = .some([])
      isAny.store(false, ordering: .releasing)
    }
  }
}
