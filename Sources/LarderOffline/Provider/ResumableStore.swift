@_spi(Stores) import LarderCore

/// The open store used by live results. After a suspension, it is replaced by the newly opened store.
///
/// Live results hold this object, and it holds the open store, so they continue even if nothing else holds the store.
final class ResumableStore: Sendable {
  private struct State {
    var phase = Phase.suspended
    var waiters: [Int: CheckedContinuation<OpenStore?, Never>] = [:]
    var nextWaiter = 0
  }

  private enum Phase {
    case open(OpenStore)
    case suspended
    case closed
  }

  private let state = Locked(State())

  /// Sets the open store and passes it to the waiting callers, unless the store was closed meanwhile.
  func open(_ store: OpenStore) { enter(.open(store), store) }

  /// Suspends the store: from now on ``current()`` waits.
  func suspend() {
    _ = state.withLock { state -> Phase? in
      if case .closed = state.phase { return nil }
      return exchange(&state.phase, with: .suspended)
    }
  }

  /// Closes the store: from now on ``current()`` returns nil.
  func end() { enter(.closed, nil) }

  private func enter(_ phase: Phase, _ store: OpenStore?) {
    let (waiters, _) = state.withLock { state -> ([CheckedContinuation<OpenStore?, Never>], Phase?) in
      if case .closed = state.phase { return ([], nil) }
      defer { state.waiters = [:] }
      return (Array(state.waiters.values), exchange(&state.phase, with: phase))
    }
    for waiter in waiters { waiter.resume(returning: store) }
  }

  /// The open store. Waits while the store is suspended. Nil if it is closed, or the task is cancelled.
  func current() async -> OpenStore? {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<OpenStore?, Never>) in
        let settled = state.withLock { state -> OpenStore?? in
          switch state.phase {
          case .open(let store): return .some(store)
          case .closed: return .some(nil)
          case .suspended:
            // The task was cancelled before the waiter was registered, so the cancellation handler did not find it.
            if Task.isCancelled { return .some(nil) }
            state.waiters[number] = waiter
            return nil
          }
        }
        if let settled { waiter.resume(returning: settled) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(returning: nil)
    }
  }
}
