import Dispatch
import LarderCore

/// Moves a file's write-ahead log into it on a thread of its own, while the writer goes on: it is the disk that takes the time.
///
/// What is written meanwhile is left, and little: the writer moves it, for the log begins anew only where all of it has been
/// moved.
final class LogMover: Sendable {
  private enum Progress { case idle, moving, moved }

  private struct State {
    var progress = Progress.idle
    /// Pages of the log when it was moved last.
    var base: Int32 = 0
    /// Opened when it is needed; in the hands of the thread that moves.
    var connection: Connection?
    var open: (@Sendable () throws(StorageError) -> Connection)?
  }

  private let state: Locked<State>
  private let queue = DispatchQueue(label: "larder.storage.log", qos: .userInitiated)

  /// - Parameter open: opens a connection to the file that may write.
  init(open: @escaping @Sendable () throws(StorageError) -> Connection) { state = Locked(State(open: open)) }

  /// Looks how long the log is, between transactions of the writer's thread: so many pages are moved at once.
  ///
  /// What goes wrong is left: it comes again where the writer moves the log, and to whoever commits.
  func follow(_ writer: Connection, by pages: Int32) {
    let length = writer.logLength
    let progress = state.withLock { state in
      if length < state.base { state.base = 0 }
      return state.progress
    }
    switch progress {
    case .idle:
      guard length - state.withLock({ $0.base }) >= pages else { return }
      state.withLock { $0.progress = .moving }
      queue.async { self.move() }
    case .moving:
      // The disk does not keep up.
      guard length - state.withLock({ $0.base }) >= 2 * pages else { return }
      wait()
      finish(writer)
    case .moved: finish(writer)
    }
  }

  /// Waits until nothing is moved any more.
  func wait() { queue.sync {} }

  /// Waits, and closes what was opened.
  func close() throws(StorageError) {
    wait()
    let connection = state.withLock { state in
      state.open = nil
      return state.connection.take()
    }
    try connection?.close()
  }

  private func finish(_ writer: Connection) {
    try? writer.moveLog()
    state.withLock { state in
      state.progress = .idle
      state.base = writer.logLength
    }
  }

  private func move() {
    let (known, open) = state.withLock { ($0.connection.take(), $0.open) }
    let connection = known ?? (try? open?())
    try? connection?.moveLog()
    state.withLock { state in
      state.connection = connection
      state.progress = .moved
    }
  }
}
