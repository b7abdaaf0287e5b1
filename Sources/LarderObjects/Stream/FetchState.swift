/// One fetch that several callers wait for: a pure state machine.
///
/// running: callers join, wait and leave. Ends with `finish`, or when the last caller leaves.
/// done: a waiting caller gets the outcome at once. Ends when the last reference is released.
/// abandoned: all callers have left; no caller can join.
struct FetchState<Outcome, Waiter> {
  private enum Phase {
    case running
    case done(Outcome)
    case abandoned
  }

  /// The result of asking to wait.
  enum WaitResult {
    /// The fetch has ended with this outcome.
    case finished(Outcome)
    /// The waiter is kept until the fetch ends.
    case waiting
    /// There will be no outcome.
    case abandoned
  }

  private var phase = Phase.running
  private var callers = 0
  private var waiters: [Int: Waiter] = [:]
  private var next = 0

  /// Adds a caller. Returns its number, or nil if the fetch is over and a new one is needed.
  mutating func join() -> Int? {
    guard case .running = phase else { return nil }
    callers += 1
    next += 1
    return next
  }

  /// Makes a caller wait for the outcome.
  mutating func wait(_ caller: Int, _ waiter: Waiter) -> WaitResult {
    switch phase {
    case .running:
      waiters[caller] = waiter
      return .waiting
    case .done(let outcome): return .finished(outcome)
    case .abandoned: return .abandoned
    }
  }

  /// Removes the waiter of a caller and returns it, if there is one.
  mutating func stopWaiting(_ caller: Int) -> Waiter? { waiters.removeValue(forKey: caller) }

  /// Removes a caller. Returns true if it was the last one and the fetch must be cancelled.
  mutating func leave() -> Bool {
    callers -= 1
    guard callers == 0, case .running = phase else { return false }
    phase = .abandoned
    return true
  }

  /// Ends the fetch with an outcome. Returns the waiters to resume.
  mutating func finish(_ outcome: Outcome) -> [Waiter] {
    guard case .running = phase else { return [] }
    phase = .done(outcome)
    defer { waiters = [:] }
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}
