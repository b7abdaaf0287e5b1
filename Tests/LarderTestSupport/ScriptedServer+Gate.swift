import Synchronization

/// A wait that took longer than the test allowed.
public struct WaitTimeout: Error, CustomStringConvertible {
  /// What was waited for, and how far it got.
  public let description: String
}

extension ScriptedServer {
  /// Holds the server at a place of its script until the test lets it pass.
  ///
  /// `release()` lets one waiter (the first to come, now or later) pass; `open()` lets all pass from now on.
  public final class Gate: Sendable {
    private struct State {
      var isOpen = false
      var permits = 0
      var wakers: [ObjectIdentifier: Waker] = [:]
    }

    private let state = Mutex(State())
    private let arrivals = Tally("arrivals at the gate")

    /// A closed gate.
    public init() {}

    /// Lets `count` waiters pass.
    public func release(_ count: Int = 1) {
      wakeAll { $0.permits += count }
    }

    /// Lets everything pass from now on.
    public func open() {
      wakeAll { $0.isOpen = true }
    }

    /// How often the server has come to this gate.
    public var arrivalCount: Int { arrivals.value }

    /// Suspends until the server has come to this gate `count` times in all.
    public func waitUntilReached(_ count: Int = 1, within limit: Duration = .seconds(50)) async throws {
      try await arrivals.wait(for: count, within: limit)
    }

    private func wakeAll(_ change: (inout sending State) -> Void) {
      let wakers: [Waker] = state.withLock { state in
        change(&state)
        return Array(state.wakers.values)
      }
      for waker in wakers { waker.wake() }
    }

    /// Notes that a connection waits here; its waker is called at each change.
    func arrive(_ waker: Waker) {
      state.withLock { $0.wakers[ObjectIdentifier(waker)] = waker }
      arrivals.add()
    }

    func leave(_ waker: Waker) {
      state.withLock { $0.wakers[ObjectIdentifier(waker)] = nil }
    }

    /// Takes a permit where there is one.
    func tryPass() -> Bool {
      state.withLock { state in
        if state.isOpen { return true }
        guard state.permits > 0 else { return false }
        state.permits -= 1
        return true
      }
    }
  }
}

/// A number that only grows, and that tasks can wait for without polling.
public final class Tally: Sendable {
  private struct Waiter {
    let target: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var value = 0
    var nextID = 0
    var waiters: [Int: Waiter] = [:]
    /// Waits that ended before their continuation was there.
    var endedEarly: [Int: any Error] = [:]
  }

  private let what: String
  private let state = Mutex(State())

  /// A tally at 0; `what` names the counted things in ``WaitTimeout``.
  public init(_ what: String) { self.what = what }

  /// The number now.
  public var value: Int { state.withLock { $0.value } }

  /// Counts on, and resumes those who waited for it.
  public func add(_ count: Int = 1) {
    let ready: [Waiter] = state.withLock { state in
      state.value += count
      let reached = state.waiters.filter { $0.value.target <= state.value }
      for id in reached.keys { state.waiters[id] = nil }
      return Array(reached.values)
    }
    for waiter in ready { waiter.continuation.resume() }
  }

  /// Suspends until the number is at least `target`.
  ///
  /// Throws ``WaitTimeout`` past `limit`, and `CancellationError` where the task is cancelled.
  public func wait(for target: Int, within limit: Duration = .seconds(50)) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let watchdog = Task { [self] in
      try await Task.sleep(for: limit)
      end(id, with: WaitTimeout(description: "waited \(limit) for \(target) \(what), saw \(value)"))
    }
    defer {
      watchdog.cancel()
      state.withLock { $0.endedEarly[id] = nil }
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { enroll(id, Waiter(target: target, continuation: $0)) }
    } onCancel: {
      end(id, with: CancellationError())
    }
  }

  private func enroll(_ id: Int, _ waiter: Waiter) {
    let outcome: Result<Void, any Error>? = state.withLock { state in
      if let error = state.endedEarly[id] { return .failure(error) }
      if state.value >= waiter.target { return .success(()) }
      state.waiters[id] = waiter
      return nil
    }
    if let outcome { waiter.continuation.resume(with: outcome) }
  }

  private func end(_ id: Int, with error: any Error) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: id)
      if waiter == nil { state.endedEarly[id] = error }
      return waiter
    }
    waiter?.continuation.resume(throwing: error)
  }
}
