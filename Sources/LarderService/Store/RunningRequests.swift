@_spi(Stores) import LarderCore

/// The running requests of a store. Closing the store cancels them and waits for their end.
package final class RunningRequests: Sendable {
  private let state = Locked(State())

  private struct State {
    var executions: [ObjectIdentifier: ODataRequestExecution] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  package init() {}

  package func add(_ execution: ODataRequestExecution) {
    state.withLock { $0.executions[ObjectIdentifier(execution)] = execution }
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

  /// Cancels all running requests and waits until their work has ended.
  package func endAll() async {
    for execution in state.withLock({ Array($0.executions.values) }) { execution.cancel() }
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
