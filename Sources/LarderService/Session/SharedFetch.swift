@_spi(Stores) import LarderCore

/// One fetch shared by many callers: a caller that arrives while it runs gets its result, whether success or failure.
///
/// A cancelled caller leaves without affecting the others. The fetch itself is cancelled when its last caller has left,
/// unless it must not be interrupted: if the server has consumed a refresh token, the new one would be lost with the
/// response.
final class SharedFetch<Value: Sendable, Failure: Error>: Sendable {
  private struct State {
    var generation: UInt64 = 0
    var nextCaller: UInt64 = 0
    var callers: [UInt64: CheckedContinuation<Result<Value, Failure>, Never>] = [:]
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())
  private let cancelled: Failure
  private let cancelsWhenUnused: Bool
  private let environment: LarderEnvironment

  /// - Parameters:
  ///   - cancelled: the error for a caller that is cancelled during the fetch.
  ///   - cancelsWhenUnused: whether a fetch is cancelled when its last caller has left.
  init(cancelled: Failure, cancelsWhenUnused: Bool = true, environment: LarderEnvironment = .system) {
    self.cancelled = cancelled
    self.environment = environment
    self.cancelsWhenUnused = cancelsWhenUnused
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
    // The cancellation handler may have run before the caller was registered.
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
      guard continuation != nil, state.callers.isEmpty, cancelsWhenUnused else {
        return (continuation, Task<Void, Never>?.none)
      }
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
