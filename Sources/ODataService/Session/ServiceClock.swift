#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Time and chance as a conversation sees them: injected, so that a run can be replayed and tests never wait.
public struct ServiceClock: Sendable {
  /// Time since some fixed moment; never goes back, and goes on while the machine sleeps.
  public var elapsed: @Sendable () -> Duration
  /// Seconds since 1970 in UTC, for dates that servers send.
  public var unixTime: @Sendable () -> Int64
  /// Waits; throws where the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// Evenly spread random bits.
  public var random: @Sendable () -> UInt64

  /// A clock of the given parts.
  public init(
    elapsed: @escaping @Sendable () -> Duration, unixTime: @escaping @Sendable () -> Int64,
    sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> UInt64
  ) {
    self.elapsed = elapsed
    self.unixTime = unixTime
    self.sleep = sleep
    self.random = random
  }

  /// The machine's clock and generator.
  public static let system: ServiceClock = {
    let start = ContinuousClock.now
    return ServiceClock(
      elapsed: { start.duration(to: .now) },
      unixTime: { Int64(Date().timeIntervalSince1970) },
      sleep: { try await Task.sleep(for: $0, clock: .continuous) },
      random: {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
      })
  }()
}
