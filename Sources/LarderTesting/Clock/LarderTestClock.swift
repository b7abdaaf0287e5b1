@_spi(Stores) public import LarderCore
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock that only the test advances.
///
/// ```swift
/// let clock = LarderTestClock()
/// options.environment = clock.environment
/// …
/// clock.advance(by: .seconds(60))
/// ```
public final class LarderTestClock: Sendable {
  private struct State {
    var lastID = 0
    var sleepers: [Int: Sleeper] = [:]
    var watchers: [Int: Watcher] = [:]
    /// Sleepers and watchers that were cancelled before they began to wait.
    var cancelled: Set<Int> = []

    mutating func newID() -> Int {
      lastID += 1
      return lastID
    }

    /// Removes and returns the watchers whose number of sleepers has been reached.
    mutating func takeWatchers() -> [Watcher] {
      let ready = watchers.filter { $0.value.count <= sleepers.count }
      for id in ready.keys { watchers[id] = nil }
      return Array(ready.values)
    }
  }

  private struct Sleeper {
    let end: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Watcher {
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  /// About as long as 64 bits can count nanoseconds.
  private static let limit = Duration.seconds(290 * 31_557_600)
  private let start: Date
  /// Nanoseconds. It changes with the state, and is read without its lock, because stores read the time under their own.
  private let elapsedTime = Atomic<Int64>(0)
  private let state = Locked(State())

  /// Creates a clock. Without a date it begins in January 2027.
  public init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { self.start = start }

  /// The date and time of the clock.
  public var now: Date {
    let (seconds, attoseconds) = elapsed.components
    return start.addingTimeInterval(Double(seconds) + Double(attoseconds) / 1e18)
  }

  /// The time by which the clock was advanced.
  public var elapsed: Duration { .nanoseconds(elapsedTime.load(ordering: .sequentiallyConsistent)) }

  /// The number of waiting tasks and of cancellations that the clock remembers, for tests.
  package var entryCount: Int { state.withLock { $0.sleepers.count + $0.watchers.count + $0.cancelled.count } }

  /// Advances the clock, and wakes the tasks whose time is over. A task that then sleeps again needs another call.
  ///
  /// - Parameter time: zero or more. A clock can be advanced by 290 years in all.
  public func advance(by time: Duration) {
    precondition(time >= .zero, "A clock cannot go back: it was advanced by \(time).")
    let sleepers = state.withLock { state in
      let now = elapsed + time
      precondition(
        now <= LarderTestClock.limit, "A clock cannot be advanced by more than 290 years: it was advanced by \(time).")
      let (seconds, attoseconds) = now.components
      elapsedTime.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .sequentiallyConsistent)
      let ready = state.sleepers.filter { $0.value.end <= now }
      for id in ready.keys { state.sleepers[id] = nil }
      return ready.sorted { ($0.value.end, $0.key) < ($1.value.end, $1.key) }.map(\.value)
    }
    for sleeper in sleepers { sleeper.continuation.resume() }
  }

  /// Suspends the task until the clock has been advanced by a time. Throws `CancellationError` if the task is cancelled.
  public func sleep(for time: Duration) async throws {
    try Task.checkCancellation()
    guard time > .zero else { return }
    let id = state.withLock { $0.newID() }
    // Tasks can also be cancelled after they wake.
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (isCancelled, watchers) = state.withLock { state -> (Bool, [Watcher]) in
          if state.cancelled.remove(id) != nil { return (true, []) }
          state.sleepers[id] = Sleeper(end: elapsed + time, continuation: continuation)
          return (false, state.takeWatchers())
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in watchers { watcher.continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Waits until at least `count` tasks sleep on this clock. A task sleeps while its request waits for the latency, while a
  /// failed request waits for its repetition, and in ``sleep(for:)``. Returns at once if the task is cancelled.
  public func waitForSleepers(_ count: Int = 1) async {
    let id = state.withLock { $0.newID() }
    // Tasks can also be cancelled after they wake.
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let isDone = state.withLock { state in
          if state.cancelled.remove(id) != nil || state.sleepers.count >= count { return true }
          state.watchers[id] = Watcher(count: count, continuation: continuation)
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let watcher = state.withLock { state in
        let watcher = state.watchers.removeValue(forKey: id)
        if watcher == nil { state.cancelled.insert(id) }
        return watcher
      }
      watcher?.continuation.resume()
    }
  }

  /// Waits until a condition is true, such as one on a model that another task changes. It does not advance the clock.
  ///
  /// Returns false if the condition is still false after `limit`, in real time, or if the task is cancelled: expect the
  /// result.
  ///
  /// ```swift
  /// #expect(await service.clock.waitUntil { model.isFromCache })
  /// ```
  public func waitUntil(within limit: Duration = .seconds(10), _ condition: () -> Bool) async -> Bool {
    let system = LarderEnvironment.system
    let end = system.uptime() + limit
    while !condition() {
      guard system.uptime() < end else { return false }
      do { try await system.sleep(.milliseconds(1)) } catch { return condition() }
    }
    return true
  }

  /// The system's environment with the time of this clock, for the options of a store.
  ///
  /// Dates, waits before the repetition of a request, and other waits of a second and more are those of the clock. Shorter
  /// waits take their real time, because stores use them to combine events. `uptime` passes with the machine, and advances
  /// with the clock too.
  public var environment: LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.now = { self.now }
    environment.uptime = { LarderEnvironment.system.uptime() + self.elapsed }
    environment.sleep = { time in
      if time < .seconds(1) { try await LarderEnvironment.system.sleep(time) } else { try await self.sleep(for: time) }
    }
    environment.repetitionSleep = { time in try await self.sleep(for: time) }
    return environment
  }
}
