@_spi(Stores) import LarderCore

/// The running requests of a store. Closing the store cancels them and waits for their end.
package final class RunningRequests: Sendable {
  private let state = Locked(State())

  private struct State {
    /// The running requests, numbered in the order in which they were scheduled.
    var executions: [ObjectIdentifier: (number: UInt64, execution: ODataRequestExecution)] = [:]
    var last: UInt64 = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  package init() {}

  package func add(_ execution: ODataRequestExecution) {
    state.withLock { state in
      state.last += 1
      state.executions[ObjectIdentifier(execution)] = (state.last, execution)
    }
  }

  package func remove(_ execution: ODataRequestExecution) {
    let resumable = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.executions[ObjectIdentifier(execution)] = nil
      guard state.executions.isEmpty else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in resumable { waiter.resume() }
  }

  /// Cancels all running requests, the last one first, and waits until their work has ended. A request that gets its
  /// turn meanwhile is carried out, as all before it were: no change takes effect behind one that was cancelled.
  package func endAll() async {
    let latest = state.withLock { $0.executions.values.sorted { $0.number > $1.number } }
    for (_, execution) in latest { execution.cancel() }
    await withCheckedContinuation { waiter in
      let isDone = state.withLock { state in
        if state.executions.isEmpty { return true }
        state.waiters.append(waiter)
        return false
      }
      if isDone { waiter.resume() }
    }
  }
}
