@_spi(Stores) import LarderCore

/// The running fetches: one for each key and type, shared by all callers.
final class SharedFetches: Sendable {
  private struct FetchID: Hashable {
    let key: ObjectKey
    let type: ObjectIdentifier
  }

  private let fetches = Locked<[FetchID: any CancellableFetch]>([:])
  private let environment: LarderEnvironment

  init(_ environment: LarderEnvironment) { self.environment = environment }

  /// Joins the running fetch of a key, or begins one with `work`. `work` can check whether any caller still needs the
  /// result.
  func join<Value: Sendable>(
    _ key: ObjectKey, _ type: Value.Type,
    _ work: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> ObjectFetch<Value>.Outcome
  ) -> FetchCaller<Value> {
    let id = FetchID(key: key, type: ObjectIdentifier(type))
    // The first caller keeps the fetch running; the last caller to leave cancels it.
    let new = ObjectFetch<Value>(environment)
    let first = FetchCaller(new, number: new.join() ?? 0)
    while true {
      let running = fetches.withLock { fetches -> (any CancellableFetch)? in
        if let fetch = fetches[id] { return fetch }
        fetches[id] = new
        return nil
      }
      guard let running else { break }
      if let fetch = running as? ObjectFetch<Value>, let number = fetch.join() {
        return FetchCaller(fetch, number: number)
      }
      // The fetch has ended, or all its callers have left.
      remove(running, id)
    }
    new.start(work) { [weak self] fetch in self?.remove(fetch, id) }
    return first
  }

  /// Removes a fetch before any caller learns of its outcome, so that later callers begin a new fetch.
  private func remove(_ fetch: any CancellableFetch, _ id: FetchID) {
    _ = fetches.withLock { fetches in fetches[id] === fetch ? fetches.removeValue(forKey: id) : nil }
  }

  /// Ends all running fetches.
  func cancel() {
    let all = fetches.withLock { fetches in
      defer { fetches = [:] }
      return Array(fetches.values)
    }
    for fetch in all { fetch.cancel() }
  }

  /// The number of running fetches.
  var count: Int { fetches.withLock { $0.count } }
}

/// A fetch of any type.
protocol CancellableFetch: AnyObject, Sendable {
  func cancel()
}

/// One fetch and its waiting callers.
///
/// The fetch owns its task. The task ends with its work, and is cancelled when all callers have left and when the store
/// is closed.
final class ObjectFetch<Value: Sendable>: CancellableFetch {
  /// How a fetch ended.
  enum Outcome: Sendable {
    /// The server's value, and the error if the store could not write it.
    case value(Value, ObjectStoreError?)
    /// The server reports that the value is gone; with the error if the store could not delete it.
    case gone(ObjectStoreError?)
    /// The fetch failed.
    case failed(any Error)
  }

  private struct State {
    var fetch = FetchState<Outcome, CheckedContinuation<Outcome?, Never>>()
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())
  private let environment: LarderEnvironment

  init(_ environment: LarderEnvironment) { self.environment = environment }

  func join() -> Int? { state.withLock { $0.fetch.join() } }

  func start(
    _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) async -> Outcome,
    onEnd: @escaping @Sendable (any CancellableFetch) -> Void
  ) {
    let task = environment.task { [self] in
      let outcome = await work { [self] in !state.withLock { $0.isCancelled } }
      onEnd(self)
      finish(outcome)
    }
    let isLate = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isLate { task.cancel() }
  }

  private func finish(_ outcome: Outcome) {
    let waiters = state.withLock { $0.fetch.finish(outcome) }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  func leave() {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard state.fetch.leave() else { return nil }
      // Set in the same step that ends the fetch for other callers: a caller that begins a new fetch never sees this
      // one write later.
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// The outcome; nil if the caller's task is cancelled.
  func outcome(_ caller: Int) async -> Outcome? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Outcome?, Never>) in
        let result = state.withLock { $0.fetch.wait(caller, waiter) }
        switch result {
        case .waiting:
          // The task was cancelled before the waiter was stored, so the handler did not find it.
          if Task.isCancelled { stopWaiting(caller) }
        case .finished(let outcome): waiter.resume(returning: outcome)
        case .abandoned: waiter.resume(returning: nil)
        }
      }
    } onCancel: {
      stopWaiting(caller)
    }
  }

  private func stopWaiting(_ caller: Int) {
    let waiter = state.withLock { $0.fetch.stopWaiting(caller) }
    waiter?.resume(returning: nil)
  }
}

/// A caller's share in a fetch. The caller leaves the fetch when this object is released.
final class FetchCaller<Value: Sendable>: Sendable {
  private let fetch: ObjectFetch<Value>
  private let number: Int

  init(_ fetch: ObjectFetch<Value>, number: Int) {
    self.fetch = fetch
    self.number = number
  }

  deinit { fetch.leave() }

  func outcome() async -> ObjectFetch<Value>.Outcome? { await fetch.outcome(number) }
}
