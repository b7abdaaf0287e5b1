import LarderCore

/// Lets requests take effect in the order in which they entered, where they claim the same resources: a shell around
/// ``RequestOrder``.
///
/// A turn is taken when a request is scheduled, before any task begins, and held while the request is carried out, never
/// while a listener is called.
package final class RequestTurns: Sendable {
  private struct State {
    var order = RequestOrder()
    var waiting: [RequestOrder.Ticket: CheckedContinuation<Bool, Never>] = [:]

    /// Lets a request out; gives those to resume, and whether they go.
    mutating func leave(_ ticket: RequestOrder.Ticket) -> [(CheckedContinuation<Bool, Never>, goes: Bool)] {
      let own = waiting.removeValue(forKey: ticket).map { [($0, goes: false)] } ?? []
      return own + order.leave(ticket).compactMap { next in waiting.removeValue(forKey: next).map { ($0, goes: true) } }
    }
  }

  private let state = Locked(State())

  package init() {}

  /// Whether nobody goes or waits.
  package var isEmpty: Bool { state.withLock { $0.order.isEmpty && $0.waiting.isEmpty } }

  /// Takes a place behind all that have entered. It must be taken or ended.
  package func enter(_ claims: RequestClaim...) -> Turn { enter(claims) }

  /// Takes a place behind all that have entered. It must be taken or ended.
  package func enter(_ claims: [RequestClaim]) -> Turn {
    Turn(turns: self, ticket: state.withLock { $0.order.enter(claims) })
  }

  /// A request's place in the order.
  package struct Turn: Sendable {
    fileprivate let turns: RequestTurns
    fileprivate let ticket: RequestOrder.Ticket

    /// Waits until it is this request's turn, does the work, and lets those behind go.
    ///
    /// - Returns: nil where the task was cancelled before the turn came: the work was not done.
    package func take<Value, Failure: Error>(
      _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
      guard await turns.comes(ticket) else { return nil }
      defer { end() }
      return try await work()
    }

    /// Lets those behind go; a turn that has ended already stays so.
    package func end() { turns.leave(ticket) }
  }

  /// Whether the turn comes; false where the task is cancelled before.
  private func comes(_ ticket: RequestOrder.Ticket) async -> Bool {
    if state.withLock({ $0.order.goes(ticket) }) { return true }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Bool? = state.withLock { state in
          guard state.order.contains(ticket), !state.order.goes(ticket) else { return state.order.goes(ticket) }
          state.waiting[ticket] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      resume(state.withLock { $0.order.goes(ticket) ? [] : $0.leave(ticket) })
    }
  }

  private func leave(_ ticket: RequestOrder.Ticket) { resume(state.withLock { $0.leave(ticket) }) }

  /// Outside the lock: what is resumed may run at once.
  private func resume(_ waiting: [(CheckedContinuation<Bool, Never>, goes: Bool)]) {
    for (continuation, goes) in waiting { continuation.resume(returning: goes) }
  }
}
