#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The clocks, the random numbers and the tasks that stores use.
///
/// Stores take the time, random numbers and new tasks from here only. A test that passes its own values controls the
/// clock, never waits, and repeats a run from its seed. An application needs ``system`` alone, which is the default
/// everywhere.
///
/// Keys and nonces of encrypted files are not drawn from ``random``: they always come from the system.
public struct LarderEnvironment: Sendable {
  /// The date and time of the machine. It jumps when the machine's clock is set.
  public var now: @Sendable () -> Date
  /// The time since a fixed instant. It never goes back, and passes while the machine sleeps.
  public var uptime: @Sendable () -> Duration
  /// Suspends the task; throws `CancellationError` if the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// Blocks the thread: for code that retries until it gets a file lock.
  public var block: @Sendable (Duration) -> Void
  /// Uniformly distributed random bits.
  public var random: @Sendable () -> UInt64
  /// Runs the tasks of the stores; nil for the global pool of Swift concurrency.
  ///
  /// Its `enqueue` can be called under a lock of a store: it puts the job into a queue and returns.
  public var executor: (any TaskExecutor)?
  /// Suspends the task before a failed request is repeated; nil for ``sleep``. Other short waits combine events, and a
  /// clock for tests lets them pass by themselves.
  package var repetitionSleep: (@Sendable (Duration) async throws -> Void)?
  /// The folders for stores without a path.
  package var folders = ApplicationFolders.current

  /// The machine's clocks and random numbers, and the global pool of tasks. A test changes parts of a copy.
  public static let system: LarderEnvironment = {
    let start = ContinuousClock.now
    return LarderEnvironment(
      now: { Date() },
      uptime: { start.duration(to: .now) },
      sleep: { try await Task.sleep(for: $0, clock: .continuous) },
      block: { time in
        let (seconds, attoseconds) = time.components
        var length = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        nanosleep(&length, nil)
      },
      random: { UInt64.random(in: 0 ... .max) })
  }()
}

extension LarderEnvironment {
  /// Whole seconds since 1970 in UTC, rounded down.
  package var unixSeconds: Int64 { unixMicroseconds.floor(1_000_000) }

  /// Whole milliseconds since 1970 in UTC, rounded down.
  package var unixMilliseconds: Int64 { now().unixMilliseconds }

  /// Microseconds since 1970 in UTC. A `Date` has no more digits, and its last one is rounded.
  package var unixMicroseconds: Int64 { now().unixMicroseconds }

  /// Nanoseconds of ``uptime``.
  package var uptimeNanoseconds: Int64 {
    let (seconds, attoseconds) = uptime().components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000
  }

  /// A version 4 UUID (RFC 9562 §5.4).
  package func uuid() -> UUID {
    let (high, low) = (random() & ~0xF000 | 0x4000, random() & (.max >> 2) | 1 << 63)
    func byte(_ word: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * index)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6),
        byte(low, 7)
      ))
  }

  /// Suspends the task before a failed request is repeated; throws `CancellationError` if the task is cancelled.
  package func sleepBeforeRepetition(_ time: Duration) async throws {
    if let repetitionSleep { try await repetitionSleep(time) } else { try await sleep(time) }
  }

  /// Starts a task on ``executor``.
  @discardableResult
  package func task<Success: Sendable>(
    priority: TaskPriority? = nil, _ operation: sending @escaping @concurrent () async -> Success
  ) -> Task<Success, Never> {
    Task(executorPreference: executor, priority: priority, operation: operation)
  }

  /// Starts a task that may fail on ``executor``.
  @discardableResult
  package func task<Success: Sendable>(
    priority: TaskPriority? = nil, _ operation: sending @escaping @concurrent () async throws -> Success
  ) -> Task<Success, any Error> {
    Task(executorPreference: executor, priority: priority, operation: operation)
  }

  /// A random number generator for functions of the standard library that take one.
  package struct Generator: RandomNumberGenerator {
    private let random: @Sendable () -> UInt64
    fileprivate init(_ random: @escaping @Sendable () -> UInt64) { self.random = random }
    package mutating func next() -> UInt64 { random() }
  }

  /// A generator of ``random``.
  package var generator: Generator { Generator(random) }
}

extension Int64 {
  /// The quotient, rounded down.
  fileprivate func floor(_ divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

extension Date {
  /// Microseconds since 1970 in UTC. A `Date` has no more digits, and its last one is rounded.
  fileprivate var unixMicroseconds: Int64 {
    let time = (timeIntervalSince1970 * 1_000_000).rounded()
    return Int64(exactly: time) ?? (time < 0 ? .min : .max)
  }

  /// Whole milliseconds since 1970 in UTC, rounded down.
  package var unixMilliseconds: Int64 { unixMicroseconds.floor(1000) }

  /// Creates a date from milliseconds since 1970 in UTC.
  package init(unixMilliseconds: Int64) { self.init(timeIntervalSince1970: Double(unixMilliseconds) / 1000) }
}
