import Storage
import Synchronization

/// Chunks on their way from the reader of a payload to the thread that writes: few at a time, written in the order in
/// which they came, in transactions of one slice each.
final class RowQueue: Sendable {
  private let replica: Replica
  private let writer: Mutex<GenerationWriter>
  private let state = Mutex(State())

  private struct State {
    var chunks: [RowChunk] = []
    var isRunning = false
    var newRows = 0
    var failure: StorageError?
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The writing of what is queued; waited for in `drain`.
    var task: Task<Void, Never>?
  }

  /// Chunks that wait; who brings more waits too.
  static let limit = 3

  init(_ replica: Replica, _ writer: GenerationWriter) {
    self.replica = replica
    self.writer = Mutex(writer)
  }

  /// Hands a chunk over; returns when there is room for another.
  func put(_ chunk: RowChunk) async throws(StorageError) {
    let begins = state.withLock { state in
      state.chunks.append(chunk)
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    if begins {
      let task = Task { await self.run() }
      state.withLock { $0.task = task }
    }
    await wait { $0.chunks.count < RowQueue.limit }
    try check()
  }

  /// Waits until all is written; answers how many rows were new since the last time.
  func drain() async throws(StorageError) -> Int {
    await wait { !$0.isRunning }
    try check()
    return state.withLock { state in
      defer { state.newRows = 0 }
      return state.newRows
    }
  }

  /// Gives up what is not written and waits for what is.
  func stop() async {
    state.withLock { $0.chunks = [] }
    await wait { !$0.isRunning }
  }

  /// Runs work with the writer of rows, in a transaction.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (inout GenerationWriter, Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await replica.database.write { [self] (connection) throws(StorageError) in
      try writer.withLock { (writer) throws(StorageError) in
        let before = writer
        do throws(StorageError) { return try body(&writer, connection) } catch {
          // What was made in the transaction is gone with it.
          writer = before
          throw error
        }
      }
    }
  }

  private func check() throws(StorageError) { if let failure = state.withLock({ $0.failure }) { throw failure } }

  private func wait(_ isDone: @escaping @Sendable (borrowing State) -> Bool) async {
    while true {
      let isOver = state.withLock { isDone($0) || $0.failure != nil && !$0.isRunning }
      if isOver { return }
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isOver = state.withLock { state in
          if isDone(state) || state.failure != nil && !state.isRunning { return true }
          state.waiting.append(waiter)
          return false
        }
        if isOver { waiter.resume() }
      }
    }
  }

  private func run() async {
    while true {
      let isOver = state.withLock { state in
        if state.chunks.isEmpty || state.failure != nil { state.isRunning = false }
        return !state.isRunning
      }
      if isOver { break }
      do {
        let new = try await write { [self] (writer, connection) throws(StorageError) in
          let begin = ContinuousClock.now
          var new = 0
          repeat {
            guard let chunk = state.withLock({ $0.chunks.isEmpty ? nil : $0.chunks.removeFirst() }) else { break }
            new += try writer.write(chunk, connection)
          } while ContinuousClock.now - begin < Replica.slice
          return new
        }
        state.withLock { $0.newRows += new }
      } catch {
        state.withLock { $0.failure = error }
      }
      wake()
    }
    wake()
  }

  private func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }
}
