import Dispatch
@_spi(Stores) import LarderCore

/// Moves a file's write-ahead log into it on a thread of its own, while the writer continues: the time is spent on the
/// disk.
///
/// The few pages that are written meanwhile are left to the writer, which moves them itself, because the log restarts
/// only after all of it has been moved.
final class LogMover: Sendable {
  private enum Progress { case idle, moving, moved }

  private struct State {
    var progress = Progress.idle
    /// The number of pages in the log when it was last moved.
    var base: Int32 = 0
    /// Opened when it is needed, and used by the thread that moves the log.
    var connection: Connection?
    var open: (@Sendable () throws(StorageError) -> Connection)?
  }

  private let state: Locked<State>
  private let queue = DispatchQueue(label: "larder.storage.log", qos: .userInitiated)

  /// - Parameter open: opens a connection with write access to the file.
  init(open: @escaping @Sendable () throws(StorageError) -> Connection) { state = Locked(State(open: open)) }

  /// Checks the length of the log, on the writer's thread between transactions, and moves `pages` pages at once.
  ///
  /// Errors are ignored: they occur again when the writer moves the log or a caller commits.
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
      // The disk is too slow for the writer.
      guard length - state.withLock({ $0.base }) >= 2 * pages else { return }
      wait()
      finish(writer)
    case .moved: finish(writer)
    }
  }

  /// Waits until a move that is running has ended.
  func wait() { queue.sync {} }

  /// Waits, and closes the connection.
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
    let (openConnection, open) = state.withLock { ($0.connection.take(), $0.open) }
    let connection = openConnection ?? (try? open?())
    try? connection?.moveLog()
    state.withLock { state in
      state.connection = connection
      state.progress = .moved
    }
  }
}
