@_spi(Stores) import LarderCore

/// Runs requests that claim the same resources in the order in which they entered: a shell around ``RequestOrder``.
///
/// A turn is reserved when a request is scheduled, before any task begins. It is held while the request is carried out,
/// never while a listener is called.
package final class RequestTurns: Sendable {
  private struct State {
    var order = RequestOrder()
    var waiting: [RequestOrder.Ticket: CheckedContinuation<Bool, Never>] = [:]

    /// Removes a request; returns the continuations to resume, and whether their requests may run.
    mutating func leave(_ ticket: RequestOrder.Ticket) -> [(CheckedContinuation<Bool, Never>, canRun: Bool)] {
      let cancelled = waiting.removeValue(forKey: ticket).map { [($0, canRun: false)] } ?? []
      return cancelled
        + order.leave(ticket).compactMap { next in waiting.removeValue(forKey: next).map { ($0, canRun: true) } }
    }
  }

  private let state = Locked(State())

  package init() {}

  /// Whether no request runs or waits.
  package var isEmpty: Bool { state.withLock { $0.order.isEmpty && $0.waiting.isEmpty } }

  /// Reserves a turn behind all that have entered. It must be taken or ended.
  package func enter(_ claims: RequestClaim...) -> Turn { enter(claims) }

  /// Reserves a turn behind all that have entered. It must be taken or ended.
  package func enter(_ claims: [RequestClaim]) -> Turn {
    Turn(turns: self, ticket: state.withLock { $0.order.enter(claims) })
  }

  /// A request's place in the order.
  package struct Turn: Sendable {
    fileprivate let turns: RequestTurns
    fileprivate let ticket: RequestOrder.Ticket

    /// Waits for this request's turn, does the work, and lets the following requests run.
    ///
    /// - Returns: nil if the task was cancelled before its turn: the work was not done.
    package func take<Value, Failure: Error>(
      _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
      guard await turns.waitForTurn(ticket) else { return nil }
      defer { end() }
      return try await work()
    }

    /// Lets the following requests run. Has no effect on a turn that has ended.
    package func end() { turns.leave(ticket) }
  }

  /// Waits for the turn; returns false if the task is cancelled before.
  private func waitForTurn(_ ticket: RequestOrder.Ticket) async -> Bool {
    if state.withLock({ $0.order.canRun(ticket) }) { return true }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRunnable: Bool? = state.withLock { state in
          guard state.order.contains(ticket), !state.order.canRun(ticket) else { return state.order.canRun(ticket) }
          state.waiting[ticket] = continuation
          return nil
        }
        if let isRunnable { continuation.resume(returning: isRunnable) }
      }
    } onCancel: {
      resume(state.withLock { $0.order.canRun(ticket) ? [] : $0.leave(ticket) })
    }
  }

  private func leave(_ ticket: RequestOrder.Ticket) { resume(state.withLock { $0.leave(ticket) }) }

  /// Called outside the lock, because a resumed task may run at once.
  private func resume(_ waiting: [(CheckedContinuation<Bool, Never>, canRun: Bool)]) {
    for (continuation, canRun) in waiting { continuation.resume(returning: canRun) }
  }
}
