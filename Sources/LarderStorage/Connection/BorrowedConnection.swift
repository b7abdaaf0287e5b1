import Dispatch
@_spi(Stores) import LarderCore

/// A connection used by a session, with a transaction and the session's state.
//
// @unchecked Sendable: everything that changes is accessed under `inTurn` only, and the state never leaves it.
final class BorrowedConnection: @unchecked Sendable {
  private let inTurn = Exclusive<Void>(())
  private let pool: ReaderPool
  private let path: String
  private var connection: Connection?
  private var state: Any?

  init(_ connection: Connection, of pool: ReaderPool, path: String) {
    self.connection = connection
    self.pool = pool
    self.path = path
  }

  func begin<State>(_ make: (Connection) throws(StorageError) -> State) throws(StorageError) {
    try use { (connection, state) throws(StorageError) in
      try connection.run(Connection.TransactionKind.deferred.rawValue)
      state = try make(connection)
    }
  }

  func use<Value>(
    _ body: (Connection, inout Any?) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try inTurn.run { (_) throws(StorageError) in
      guard let connection else {
        throw pool.closingError ?? StorageError(.closed, message: "The session has ended", path: path)
      }
      try pool.checkUnchanged()
      let value = try body(connection, &state)
      try pool.checkUnchanged()
      return value
    }
  }

  func end() {
    inTurn.run { _ in
      guard let connection else { return }
      // Cursors are released first: the transaction is open because of them.
      state = nil
      // A read transaction has nothing to lose if this fails; the connection is not used again then.
      let isEnded = !connection.isInTransaction || (try? connection.run("COMMIT")) != nil
      self.connection = nil
      pool.takeBack(self, connection, isUsable: isEnded)
    }
  }
}
