import LarderCore

/// Hears of a query's responses: at most one intermediate, then either the final one or an error.
///
/// Its functions are called one after another, on a task of the ``ContentManager``.
public struct ContentListener<Value: Sendable>: Sendable {
  let intermediate: @Sendable (ContentResponse<Value>) -> Void
  let final: @Sendable (ContentResponse<Value>) -> Void
  let failed: @Sendable (ContentError) -> Void

  /// Joins three functions; without the first, intermediate responses go unheard.
  public init(
    intermediate: @escaping @Sendable (ContentResponse<Value>) -> Void = { _ in },
    final: @escaping @Sendable (ContentResponse<Value>) -> Void,
    failed: @escaping @Sendable (ContentError) -> Void
  ) {
    self.intermediate = intermediate
    self.final = final
    self.failed = failed
  }
}

/// A query under way for a ``ContentListener``.
public final class ContentExecution: Sendable {
  private struct State {
    var isCancelled = false
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())

  init() {}

  /// Ends the query: the listener is not called any more, except for a call that runs at this moment.
  ///
  /// Other queries for the same resource get their answers all the same.
  public func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// True after ``cancel()``.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Waits until the last call of the listener has returned, or the query was cancelled and its task has ended.
  public func finished() async { await state.withLock { $0.task }?.value }

  /// Calls the listener, unless the query was cancelled before.
  func call(_ function: () -> Void) {
    if !isCancelled { function() }
  }

  func run(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }
}
