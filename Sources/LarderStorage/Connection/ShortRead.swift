import CLarderSQLite
import LarderCore

// Reads on the caller's thread, as long as they are short.
extension Database {
  /// Runs `body` in a transaction that reads, on the caller's thread, blocking.
  ///
  /// Nil where no reader is free at once, and where the statements took longer than `limit`: then `body` was cut short, and
  /// is to be run anew by ``read(_:)``. The way to a thread that may block and back costs tens of microseconds, more where
  /// the processor's cores sleep: as much as a short question.
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
  /// Steps of SQLite's machine between two looks at the clock: some 20 to 100 us.
  private static let stepsBetweenLooks: Int32 = 1000

  /// Runs `body`, whose statements fail once they have taken longer than `limit`; nil where they have, whatever `body`
  /// made of it.
  func within<Value>(
    _ limit: Duration, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    let time = TimeLimit(limit, environment.uptime)
    // The pointer is SQLite's until it is taken back below; `time` lives longer.
    unsafe sqlite3_progress_handler(
      handle, Connection.stepsBetweenLooks,
      { context in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<TimeLimit>.fromOpaque(context).takeUnretainedValue().look() ? 1 : 0
      }, Unmanaged.passUnretained(time).toOpaque())
    defer {
      unsafe sqlite3_progress_handler(handle, 0, nil, nil)
      withExtendedLifetime(time) {}
    }
    do throws(StorageError) {
      let value = try body(self)
      return time.isOver ? nil : value
    } catch {
      if time.isOver { return nil }
      throw error
    }
  }
}

/// When work has to end. One thread has it.
private final class TimeLimit {
  private let end: Duration
  private let uptime: @Sendable () -> Duration
  /// Whether the end was found to be reached.
  private(set) var isOver = false

  init(_ limit: Duration, _ uptime: @escaping @Sendable () -> Duration) {
    end = uptime() + limit
    self.uptime = uptime
  }

  /// Looks at the clock; true from the end on.
  func look() -> Bool {
    if !isOver, uptime() >= end { isOver = true }
    return isOver
  }
}
