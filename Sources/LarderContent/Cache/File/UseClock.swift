import LarderCore
import Synchronization

/// The clock that orders entries by their last use. It advances with the system's steady clock, and is never behind a
/// time that was read from a file.
///
/// So the order of entries is right even if the wall clock jumps or two processes have different clocks. A clock that
/// was wrong once leaves this one ahead permanently. That does no harm, because only the order matters. Nanoseconds
/// since 1970.
struct UseClock: ~Copyable, Sendable {
  private let environment: LarderEnvironment
  /// The difference between this clock and the steady clock.
  private let lead: Atomic<Int64>
  /// A hundred years: times further ahead of the wall clock were not set by a clock.
  private static let century: Int64 = 3_155_760_000_000_000_000

  /// Starts at the wall clock, or at a time that was used before if that is later.
  init(_ environment: LarderEnvironment, after earlier: Int64) {
    self.environment = environment
    let wall = UseClock.wall(environment)
    let start = earlier > wall && !UseClock.isAbsurd(earlier, wall) ? earlier : wall
    lead = Atomic(UseClock.difference(start, environment.uptimeNanoseconds))
  }

  /// The current time.
  var now: Int64 { UseClock.sum(environment.uptimeNanoseconds, lead.load(ordering: .relaxed)) }

  /// Returns a file's time, or 0 if no clock can have set it. A later time advances this clock.
  func observe(_ time: Int64) -> Int64 {
    let present = now
    if time <= present { return max(time, 0) }
    if UseClock.isAbsurd(time, UseClock.wall(environment)) { return 0 }
    _ = lead.max(UseClock.difference(time, environment.uptimeNanoseconds), ordering: .relaxed)
    return time
  }

  private static func isAbsurd(_ time: Int64, _ wall: Int64) -> Bool { difference(time, wall) > century }

  /// The date and time of the machine, in nanoseconds since 1970.
  private static func wall(_ environment: LarderEnvironment) -> Int64 {
    let (time, overflow) = environment.unixMicroseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? .max : time
  }

  /// Adds with saturation, because a file may have any time.
  static func nanoseconds(seconds: Int64, nanoseconds: Int64) -> Int64 {
    let product = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if product.overflow { return seconds < 0 ? .min : .max }
    return sum(product.partialValue, nanoseconds)
  }

  static func sum(_ left: Int64, _ right: Int64) -> Int64 {
    let result = left.addingReportingOverflow(right)
    return result.overflow ? (left < 0 ? .min : .max) : result.partialValue
  }

  static func difference(_ left: Int64, _ right: Int64) -> Int64 {
    let result = left.subtractingReportingOverflow(right)
    return result.overflow ? (left < 0 ? .min : .max) : result.partialValue
  }
}
