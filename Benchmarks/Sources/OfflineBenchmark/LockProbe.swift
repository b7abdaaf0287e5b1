import CBenchSQLite
import Foundation

/// How long others wait for the write lock of a file: what an application sees that writes while a download runs.
///
/// It asks for the lock again and again, without a busy handler, and keeps how long it was refused without a break. So a
/// slice of a download counts with the wait for the next gap, and what is measured is never less than the time held.
final class LockProbe: @unchecked Sendable {
  // Every access is under the lock.
  private let lock = NSLock()
  private var waits: [Double] = []
  private var isDone = false

  /// Probes on a thread of its own, from when the file has a log until ``end()``.
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

  /// The waits, in order of size, in milliseconds.
  func end() -> [Double] {
    lock.withLock {
      isDone = true
      return waits.map { $0 * 1000 }.sorted()
    }
  }
}

/// The value below which a share of all lies.
func percentile(_ values: [Double], _ share: Double) -> Double {
  guard !values.isEmpty else { return 0 }
  return values[min(values.count - 1, Int(Double(values.count) * share))]
}
