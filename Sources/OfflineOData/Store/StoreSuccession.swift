import Locking

/// The open store behind live answers: after a suspension, the one that it was opened again as.
final class StoreSuccession: Sendable {
  private struct State {
    var phase = Phase.suspended
    var waiting: [Int: CheckedContinuation<OpenStore?, Never>] = [:]
    var nextWaiter = 0
  }

  private enum Phase {
    case open(Held)
    case suspended
    case closed
  }

  /// The store holds its succession.
  private struct Held {
    weak var store: OpenStore?
  }

  private let state = Locked(State())

  /// The store is open: who waits goes on with it, unless it was closed meanwhile.
  func goOn(with store: OpenStore) { enter(.open(Held(store: store)), store) }

  /// Who asks waits from now on.
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
          case .open(let held): return .some(held.store)
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
