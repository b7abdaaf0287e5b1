import CLarderSQLite
import LarderCore

// Runs short reads on the caller's thread.
extension Database {
  /// Runs `body` in a read transaction on the caller's thread, blocking.
  ///
  /// Returns nil if no reader is free at once, or if the statements took longer than `limit`. In the second case `body`
  /// was interrupted and must be run again with ``read(_:)``. A switch to a thread that may block and back costs tens
  /// of microseconds, more if the processor's cores sleep: as much as a short query.
  package func readHere<Value>(
    within limit: Duration, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    try checkOpen()
    return try readers.borrowIfFree { (connection) throws(StorageError) in
      try checkOpen()
      return try connection.within(limit) { (connection) throws(StorageError) in
        try connection.transaction(.deferred, body)
      }
    }
  }
}

extension Connection {
  /// The number of SQLite's virtual machine steps between two checks of the clock: some 20 to 100 us.
  private static let stepsBetweenLooks: Int32 = 1000

  /// Runs `body`, whose statements fail once they have taken longer than `limit`. Returns nil if they have, whatever
  /// `body` returned or threw.
  func within<Value>(
    _ limit: Duration, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    let time = TimeLimit(limit, environment.uptime)
    // SQLite uses the pointer until the handler is removed below; `time` lives longer.
    unsafe sqlite3_progress_handler(
      handle, Connection.stepsBetweenLooks,
      { context in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<TimeLimit>.fromOpaque(context).takeUnretainedValue().isReached() ? 1 : 0
      }, Unmanaged.passUnretained(time).toOpaque())
    defer {
      unsafe sqlite3_progress_handler(handle, 0, nil, nil)
      withExtendedLifetime(time) {}
    }
    do throws(StorageError) {
      let value = try body(self)
      return time.isExpired ? nil : value
    } catch {
      if time.isExpired { return nil }
      throw error
    }
  }
}

/// The deadline of a short read. Only one thread uses it.
private final class TimeLimit {
  private let end: Duration
  private let uptime: @Sendable () -> Duration
  /// Whether the deadline was found to be reached.
  private(set) var isExpired = false

  init(_ limit: Duration, _ uptime: @escaping @Sendable () -> Duration) {
    end = uptime() + limit
    self.uptime = uptime
  }

  /// Checks the clock; returns true from the deadline on.
  func isReached() -> Bool {
    if !isExpired, uptime() >= end { isExpired = true }
    return isExpired
  }
}
