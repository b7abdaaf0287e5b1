import LarderCore

/// The fetches under way: one a key and type, for all who want it.
final class SharedFetches: Sendable {
  private struct Place: Hashable {
    let key: ObjectKey
    let type: ObjectIdentifier
  }

  private let fetches = Locked<[Place: any CancellableFetch]>([:])
  private let environment: LarderEnvironment

  init(_ environment: LarderEnvironment) { self.environment = environment }

  /// Joins the fetch of a key that is under way, or begins one by `work`, which can ask whether anybody wants it still.
  func join<Value: Sendable>(
    _ key: ObjectKey, _ type: Value.Type,
    _ work: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> SharedFetch<Value>.Outcome
  ) -> FetchCaller<Value> {
    let place = Place(key: key, type: ObjectIdentifier(type))
    // Its first caller keeps it going: the last to leave cancels it.
    let new = SharedFetch<Value>(environment)
    let first = FetchCaller(new, number: new.join() ?? 0)
    while true {
      let running = fetches.withLock { fetches -> (any CancellableFetch)? in
        if let fetch = fetches[place] { return fetch }
        fetches[place] = new
        return nil
      }
      guard let running else { break }
      if let fetch = running as? SharedFetch<Value>, let number = fetch.join() {
        return FetchCaller(fetch, number: number)
      }
      // It has ended, or nobody wants it any more.
      remove(running, place)
    }
    new.start(work) { [weak self] over in self?.remove(over, place) }
    return first
  }

  /// Before anybody learns of its outcome: who asks then begins anew.
  private func remove(_ fetch: any CancellableFetch, _ place: Place) {
    _ = fetches.withLock { fetches in fetches[place] === fetch ? fetches.removeValue(forKey: place) : nil }
  }

  /// Ends all fetches that are under way.
  func cancel() {
    let all = fetches.withLock { fetches in
      defer { fetches = [:] }
      return Array(fetches.values)
    }
    for fetch in all { fetch.cancel() }
  }

  /// How many are under way.
  var count: Int { fetches.withLock { $0.count } }
}

/// A fetch of any type.
protocol CancellableFetch: AnyObject, Sendable {
  func cancel()
}

/// One fetch and those who wait for it.
///
/// Its task belongs to it: it ends with its work, is cancelled when nobody wants it, and when the store is closed.
final class SharedFetch<Value: Sendable>: CancellableFetch {
  /// How a fetch ended.
  enum Outcome: Sendable {
    /// The server's value, with what kept the store from writing it, if anything.
    case value(Value, ObjectStoreError?)
    /// The server has it no more, with what kept the store from deleting it, if anything.
    case gone(ObjectStoreError?)
    /// No value came.
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
      // With the same step as its end for others: who asks anew never sees it write after that.
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// The outcome; nil where the caller's task is cancelled.
  func outcome(_ caller: Int) async -> Outcome? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Outcome?, Never>) in
        let waiting = state.withLock { $0.fetch.wait(caller, waiter) }
        switch waiting {
        case .kept:
          // Cancelled before the waiter was there: the handler found none.
          if Task.isCancelled { stopWaiting(caller) }
        case .over(let outcome): waiter.resume(returning: outcome)
        case .never: waiter.resume(returning: nil)
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

/// A caller's part in a fetch: left when it goes.
final class FetchCaller<Value: Sendable>: Sendable {
  private let fetch: SharedFetch<Value>
  private let number: Int

  init(_ fetch: SharedFetch<Value>, number: Int) {
    self.fetch = fetch
    self.number = number
  }

  deinit { fetch.leave() }

  func outcome() async -> SharedFetch<Value>.Outcome? { await fetch.outcome(number) }
}
