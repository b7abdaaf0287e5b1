import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The time that says which entry was used last: runs on with the system's steady clock, and is never behind a time that
/// was seen on a file.
///
/// So entries are ordered rightly also where the wall clock jumps or two processes differ; a clock that was wrong once
/// puts this one ahead for good, which harms nothing, as nothing but the order counts. Nanoseconds since 1970.
package struct UseClock: ~Copyable, Sendable {
  /// What the clock is made of; a test brings its own.
  package struct Source: Sendable {
    /// The wall clock: nanoseconds since 1970. It may jump.
    package let wall: @Sendable () -> Int64
    /// Nanoseconds since some moment; never jumps.
    package let steady: @Sendable () -> Int64

    /// Joins two clocks.
    package init(wall: @escaping @Sendable () -> Int64, steady: @escaping @Sendable () -> Int64) {
      self.wall = wall
      self.steady = steady
    }

    /// The system's clocks.
    package static let system = Source(
      wall: { UseClock.read(CLOCK_REALTIME) },
      steady: {
        #if canImport(Darwin)
          UseClock.read(CLOCK_MONOTONIC)
        #else
          UseClock.read(CLOCK_BOOTTIME)
        #endif
      })
  }

  private let source: Source
  /// What is added to the steady clock.
  private let lead: Atomic<Int64>
  /// Times further ahead of the wall clock than a hundred years were not set by a clock.
  private static let century: Int64 = 3_155_760_000_000_000_000

  /// Starts at the wall clock, or at a time that was used before where that is later.
  init(_ source: Source, after earlier: Int64) {
    self.source = source
    let wall = source.wall()
    let start = earlier > wall && !UseClock.isAbsurd(earlier, wall) ? earlier : wall
    lead = Atomic(UseClock.difference(start, source.steady()))
  }

  /// The present moment.
  var now: Int64 { UseClock.sum(source.steady(), lead.load(ordering: .relaxed)) }

  /// A file's time, 0 where no clock can have set it; later ones put this clock on.
  func seen(_ time: Int64) -> Int64 {
    let present = now
    if time <= present { return max(time, 0) }
    if UseClock.isAbsurd(time, source.wall()) { return 0 }
    _ = lead.max(UseClock.difference(time, source.steady()), ordering: .relaxed)
    return time
  }

  private static func isAbsurd(_ time: Int64, _ wall: Int64) -> Bool { difference(time, wall) > century }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // The variable is local; the clock is one that the system has.
    _ = unsafe clock_gettime(clock, &time)
    return nanoseconds(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// Saturating: a file may bear any time.
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
