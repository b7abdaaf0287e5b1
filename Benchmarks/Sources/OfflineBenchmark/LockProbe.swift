import CBenchSQLite
import Foundation

/// Measures how long another connection waits for the write lock of a file while a download runs.
///
/// It tries to take the lock repeatedly, without a busy handler, and records the time until it succeeds. The result is
/// never shorter than the time for which a slice of the download holds the lock.
final class LockProbe: @unchecked Sendable {
  // Every access is under the lock.
  private let lock = NSLock()
  private var waits: [Double] = []
  private var isDone = false

  /// Probes on a separate thread, from the creation of the file's log until ``end()``.
  func begin(path: String) {
    Thread.detachNewThread { [self] in
      while !FileManager.default.fileExists(atPath: path + "-wal") {
        if lock.withLock({ isDone }) { return }
        usleep(1_000)
      }
      guard let file = try? BareSQLite(path: path, isGuest: true) else { return }
      sqlite3_busy_timeout(file.connection, 0)
      while !lock.withLock({ isDone }) {
        let begin = ContinuousClock.now
        while sqlite3_exec(file.connection, "BEGIN IMMEDIATE", nil, nil, nil) != SQLITE_OK {
          if lock.withLock({ isDone }) { return }
          usleep(100)
        }
        let wait = inSeconds(begin.duration(to: .now))
        sqlite3_exec(file.connection, "COMMIT", nil, nil, nil)
        lock.withLock { waits.append(wait) }
        usleep(2_000)
      }
    }
  }

  /// The waits in milliseconds, in ascending order.
  func end() -> [Double] {
    lock.withLock {
      isDone = true
      return waits.map { $0 * 1000 }.sorted()
    }
  }
}

/// The value that a share of all values does not exceed.
func percentile(_ values: [Double], _ share: Double) -> Double {
  guard !values.isEmpty else { return 0 }
  return values[min(values.count - 1, Int(Double(values.count) * share))]
}
