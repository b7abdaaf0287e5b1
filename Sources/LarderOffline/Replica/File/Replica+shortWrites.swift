import LarderCore
import LarderStorage

// Writes that are short, such as a change of one entity: on the caller's thread where that is quick.
extension Replica {
  /// Runs `body`, which is short, in a transaction that writes; committed where it returns.
  ///
  /// Where commits are quick and nobody else of this process writes, a thread of the concurrency pool does it at once: the
  /// caller's, but not the main actor's. The way to the writer's thread and back takes longer than a short transaction.
  func writeShortly<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    guard pace.withLock({ $0.isQuick }) else { return try await writeInTurn(body) }
    return try await BlockedThread.isMain(#isolation) ? writeInPool(body) : writeHereOrInTurn(body)
  }

  @concurrent
  private func writeInPool<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value { try await writeHereOrInTurn(body) }

  private func writeHereOrInTurn<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    if let result = writeHere(body) { return try result.get() }
    return try await writeInTurn(body)
  }

  /// Nil where somebody writes, or the model in use is not the one known here: nothing was begun then.
  private func writeHere<Value>(
    _ body: (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) -> Result<Value, StorageError>? {
    BlockedThread.take { database.writeHere { turn in write(turn, body) } ?? nil }
  }

  private func writeInTurn<Value: Sendable>(
    _ body: @escaping @Sendable (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, StorageError>, Never>) in
      database.whereWriting { [self] turn in
        done.resume(returning: write(turn, body) ?? .failure(.givenUp(database.path)))
      }
    }
    return try result.get()
  }

  /// Nil where a turn that does not wait could not begin.
  private func write<Value>(
    _ turn: Database.WriterTurn,
    _ body: (Connection, ReplicaState, ReplicaPlan) throws(StorageError) -> Value
  ) -> Result<Value, StorageError>? {
    let begin = database.environment.uptime()
    var (isKnown, isBegun) = (true, false)
    do throws(StorageError) {
      let (value, last) = try turn.write { (connection) throws(StorageError) in
        isBegun = true
        // Reading a large model takes seconds.
        guard let (state, plan) = try turn.waits ? current(connection) : known(numbers(connection)) else {
          isKnown = false
          throw .givenUp(database.path)
        }
        return (try body(connection, state, plan), try connection.lastChange())
      }
      pace.withLock { $0.note(database.environment.uptime() - begin, changes: 1) }
      changes.tell(last)
      return .success(value)
    } catch {
      if !isKnown || !isBegun && !turn.waits && error.category == .busy { return nil }
      return .failure(error)
    }
  }
}
