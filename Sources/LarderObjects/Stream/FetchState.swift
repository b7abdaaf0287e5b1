/// One fetch that several callers wait for: a pure state machine.
///
/// running: callers join, wait and leave; ended by `finish`, or by the last one's leaving.
/// done: whoever waits has the outcome at once; ends with the last who holds it.
/// abandoned: nobody wanted it any more; joined by nobody.
struct FetchState<Outcome, Waiter> {
  private enum Phase {
    case running
    case done(Outcome)
    case abandoned
  }

  /// What a caller that waits gets.
  enum Waiting {
    /// The outcome is there.
    case over(Outcome)
    /// Its waiter is kept until then.
    case kept
    /// Nothing will come.
    case never
  }

  private var phase = Phase.running
  private var callers = 0
  private var waiters: [Int: Waiter] = [:]
  private var next = 0

  /// Another caller wants the outcome; its number, or nil where the fetch is over and a new one is due.
  mutating func join() -> Int? {
    guard case .running = phase else { return nil }
    callers += 1
    next += 1
    return next
  }

  /// A caller waits.
  mutating func wait(_ caller: Int, _ waiter: Waiter) -> Waiting {
    switch phase {
    case .running:
      waiters[caller] = waiter
      return .kept
    case .done(let outcome): return .over(outcome)
    case .abandoned: return .never
    }
  }

  /// A caller waits no more; its waiter, if it has one.
  mutating func stopWaiting(_ caller: Int) -> Waiter? { waiters.removeValue(forKey: caller) }

  /// A caller wants the outcome no more; true where it was the last and the fetch is to be cancelled.
  mutating func leave() -> Bool {
    callers -= 1
    guard callers == 0, case .running = phase else { return false }
    phase = .abandoned
    return true
  }

  /// The outcome is there; who is to be told.
  mutating func finish(_ outcome: Outcome) -> [Waiter] {
    guard case .running = phase else { return [] }
    phase = .done(outcome)
    defer { waiters = [:] }
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}
