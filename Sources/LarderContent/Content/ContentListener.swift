@_spi(Stores) import LarderCore

/// Receives a query's responses: at most one intermediate response, then either the final one or an error.
///
/// Its functions are called one after another, on a task of the ``ContentManager``.
public struct ContentListener<Value: Sendable>: Sendable {
  let intermediate: @Sendable (ContentResponse<Value>) -> Void
  let final: @Sendable (ContentResponse<Value>) -> Void
  let failed: @Sendable (ContentError) -> Void

  /// Creates a listener from three functions. Without the first, intermediate responses are ignored.
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

/// A running query of a ``ContentListener``.
public final class ContentExecution: Sendable {
  private struct State {
    var isCancelled = false
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())

  init() {}

  /// Cancels the query. The listener is not called any more, except for a call that is already running.
  ///
  /// Other queries for this resource still get their responses.
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
