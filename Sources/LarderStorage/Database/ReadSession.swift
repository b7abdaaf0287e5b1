import Dispatch
import LarderCore

/// A read transaction that is kept between calls. A caller that fetches rows slowly sees one state of the file from
/// beginning to end, and holds no thread between two calls.
///
/// While it lasts the log cannot be truncated, so it should end soon: by ``end()``, or when it is released. It does not
/// count as one of the readers that others wait for. `Database.close` ends it; later calls throw `closed`.
package final class ReadSession<State>: Sendable {
  private let borrowed: BorrowedConnection
  private let queue: DispatchQueue

  init(_ borrowed: BorrowedConnection, on queue: DispatchQueue) {
    self.borrowed = borrowed
    self.queue = queue
  }

  deinit { borrowed.end() }

  /// Runs `body` in the transaction. Calls never overlap. `body` receives the state that the session was created with.
  package func next<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, inout State) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await Database.result(on: queue) { [borrowed] () throws(StorageError) in
      try borrowed.use { (connection, state) throws(StorageError) in
        guard var typedState = state as? State else {
          throw StorageError(.closed, message: "The session has ended", path: connection.file)
        }
        // Released during the call, so that a copy-on-write state is not copied.
        state = nil
        defer { state = typedState }
        return try body(connection, &typedState)
      }
    }
  }

  /// Ends the transaction; a second call does nothing.
  package func end() async {
    await withCheckedContinuation { waiting in
      queue.async { [borrowed] in
        borrowed.end()
        waiting.resume()
      }
    }
  }
}

extension Database {
  /// Begins a read transaction that lasts until the session ends.
  ///
  /// - Parameter make: creates the state that the session keeps between calls, such as cursors.
  package func readSession<State>(
    _ make: @escaping @Sendable (Connection) throws(StorageError) -> State
  ) async throws(StorageError) -> ReadSession<State> {
    try await Database.result(on: readers.queue) { [self] () throws(StorageError) in
      try checkOpen()
      let borrowed = try readers.lendConnection()
      let session = ReadSession<State>(borrowed, on: readers.queue)
      try borrowed.begin(make)
      // The database was closed while the connection was opened, so nothing else would end it.
      try checkOpen()
      return session
    }
  }
}
