import LarderCore

/// One fetch for many waiting callers: whoever comes while it runs gets its result, success and failure alike.
///
/// A caller that is cancelled leaves alone; the fetch itself ends where its last caller has left, unless it must not be
/// cut off: a refresh token that the server has used up is lost with the answer.
final class SharedFetch<Value: Sendable, Failure: Error>: Sendable {
  private struct State {
    var generation: UInt64 = 0
    var nextCaller: UInt64 = 0
    var callers: [UInt64: CheckedContinuation<Result<Value, Failure>, Never>] = [:]
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())
  private let cancelled: Failure
  private let isCutOff: Bool
  private let environment: LarderEnvironment

  /// - Parameters:
  ///   - cancelled: what a caller gets that is cancelled while it waits.
  ///   - isCutOff: whether a fetch that nobody waits for any more is ended.
  init(cancelled: Failure, isCutOff: Bool = true, environment: LarderEnvironment = .system) {
    self.cancelled = cancelled
    self.environment = environment
    self.isCutOff = isCutOff
  }

  /// Joins the running fetch, or starts one.
  func value(_ fetch: @escaping @Sendable () async -> Result<Value, Failure>) async throws(Failure) -> Value {
    let caller = state.withLock { state in
      state.nextCaller += 1
      return state.nextCaller
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in join(caller, continuation, fetch) }
    } onCancel: {
      leave(caller)
    }
    return try result.get()
  }

  private func join(
    _ caller: UInt64, _ continuation: CheckedContinuation<Result<Value, Failure>, Never>,
    _ fetch: @escaping @Sendable () async -> Result<Value, Failure>
  ) {
    // The cancellation handler may have run before there was anyone to find.
    if Task.isCancelled {
      continuation.resume(returning: .failure(cancelled))
      return
    }
    state.withLock { state in
      state.callers[caller] = continuation
      guard state.task == nil else { return }
      state.generation += 1
      let generation = state.generation
      state.task = environment.task { [self] in
        let result = await fetch()
        end(generation, result)
      }
    }
    if Task.isCancelled { leave(caller) }
  }

  private func leave(_ caller: UInt64) {
    let (continuation, abandoned) = state.withLock { state in
      let continuation = state.callers.removeValue(forKey: caller)
      guard continuation != nil, state.callers.isEmpty, isCutOff else { return (continuation, Task<Void, Never>?.none) }
      defer { state.task = nil }
      return (continuation, state.task)
    }
    abandoned?.cancel()
    continuation?.resume(returning: .failure(cancelled))
  }

  private func end(_ generation: UInt64, _ result: Result<Value, Failure>) {
    let ended = state.withLock {
      state -> (callers: [CheckedContinuation<Result<Value, Failure>, Never>], Task<Void, Never>)? in
      guard state.generation == generation, let task = state.task.take() else { return nil }
      return (Array(exchange(&state.callers, with: [:]).values), task)
    }
    for caller in ended?.callers ?? [] { caller.resume(returning: result) }
  }
}
