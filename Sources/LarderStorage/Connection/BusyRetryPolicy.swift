import LarderCore

/// How a connection waits for another connection's lock: it retries at short intervals of constant length.
///
/// SQLite's own busy handler waits longer each time, up to a tenth of a second. A process that stages rows in slices
/// releases the lock for less than a millisecond between two slices (see ``Database/stage(_:)``). A connection that
/// retries so seldom finds the lock taken each time until it gives up.
struct BusyRetryPolicy {
  /// The longest wait of one statement, which then fails with `busy`.
  var limit = Duration.zero
  private var begin: Duration?
  private let environment: LarderEnvironment

  /// Shorter than the gap, to allow for a system that wakes a thread late.
  private static let interval = Duration.microseconds(300)
  /// How long a writer leaves the lock to others after a long transaction.
  static let gap = Duration.microseconds(600)

  /// Transactions that last longer than this are followed by a gap.
  static let slice = Duration.milliseconds(5)

  init(_ environment: LarderEnvironment) { self.environment = environment }

  /// Blocks for one interval and returns true, or returns false if the statement has waited long enough.
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
