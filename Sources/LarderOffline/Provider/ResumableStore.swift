import LarderCore

/// The open store behind live results; after a suspension, the one that was opened in its place.
///
/// Live results hold it, and it holds the open store: they continue when nobody else has the store.
final class ResumableStore: Sendable {
  private struct State {
    var phase = Phase.suspended
    var waiting: [Int: CheckedContinuation<OpenStore?, Never>] = [:]
    var nextWaiter = 0
  }

  private enum Phase {
    case open(OpenStore)
    case suspended
    case closed
  }

  private let state = Locked(State())

  /// The store is open: who waits gets it, unless it was closed meanwhile.
  func open(_ store: OpenStore) { enter(.open(store), store) }

  /// From now on ``current()`` waits.
  func suspend() {
    _ = state.withLock { state -> Phase? in
      if case .closed = state.phase { return nil }
      return exchange(&state.phase, with: .suspended)
    }
  }

  /// The store is closed: there is none any more.
  func end() { enter(.closed, nil) }

  private func enter(_ phase: Phase, _ store: OpenStore?) {
    let (waiting, _) = state.withLock { state -> ([CheckedContinuation<OpenStore?, Never>], Phase?) in
      if case .closed = state.phase { return ([], nil) }
      defer { state.waiting = [:] }
      return (Array(state.waiting.values), exchange(&state.phase, with: phase))
    }
    for waiter in waiting { waiter.resume(returning: store) }
  }

  /// The store that is open; waits while it is suspended. Nil where it is closed, or the task cancelled.
  func current() async -> OpenStore? {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<OpenStore?, Never>) in
        let known = state.withLock { state -> OpenStore?? in
          switch state.phase {
          case .open(let store): return .some(store)
          case .closed: return .some(nil)
          case .suspended:
            // Cancelled before the waiter was there: the handler found none.
            if Task.isCancelled { return .some(nil) }
            state.waiting[number] = waiter
            return nil
          }
        }
        if let known { waiter.resume(returning: known) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiting.removeValue(forKey: number) }
      waiter?.resume(returning: nil)
    }
  }
}
