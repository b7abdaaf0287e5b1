import LarderCore

/// How a connection waits for another's lock: it asks again at short intervals, always the same.
///
/// SQLite's own way waits longer each time, up to a tenth of a second. A process that stages rows in slices lets the lock go
/// for less than a millisecond between two (see ``Database/stage(_:)``): who looks so seldom finds it taken until it gives up.
struct BusyRetryPolicy {
  /// Of a statement; then it fails with `busy`.
  var limit = Duration.zero
  private var begin: Duration?
  private let environment: LarderEnvironment

  /// Less than the gap, with what a system adds that wakes late.
  private static let interval = Duration.microseconds(300)
  /// How long a writer leaves the lock to others behind a long transaction.
  static let gap = Duration.microseconds(600)

  /// Transactions that last longer leave a gap behind them.
  static let slice = Duration.milliseconds(5)

  init(_ environment: LarderEnvironment) { self.environment = environment }

  /// Waits, or answers false where it has waited for long enough.
  ///
  /// - Parameter count: how often the statement has waited.
  mutating func waits(_ count: Int32) -> Bool {
    let now = environment.uptime()
    let begin = count == 0 ? now : begin ?? now
    self.begin = begin
    guard now - begin < limit else { return false }
    environment.block(Self.interval)
    return true
  }
}
