@_spi(Stores) import LarderCore
import LarderStorage

// Short writes, such as a change of one entity. They run on the caller's thread if that is faster.
extension Replica {
  /// Runs `body`, which must be short, in a writing transaction. The transaction is committed when `body` returns.
  ///
  /// If commits are fast and no other task of this process writes, a thread of the concurrency pool runs it at once:
  /// the caller's thread, but never the main actor's. Switching to the writer's thread and back takes longer than a
  /// short transaction.
  func writeShortly<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    guard pace.withLock({ $0.isQuick }) else { return try await writeInTurn(body) }
    return try await BlockedThread.isMain(#isolation) ? writeInPool(body) : writeHereOrInTurn(body)
  }

  @concurrent
  private func writeInPool<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value { try await writeHereOrInTurn(body) }

  private func writeHereOrInTurn<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    if let result = writeHere(body) { return try result.get() }
    return try await writeInTurn(body)
  }

  /// Returns nil, without a transaction, if another task is writing or the model in use is not known here.
  private func writeHere<Value>(
    _ body: (ReplicaSnapshot) throws(StorageError) -> Value
  ) -> Result<Value, StorageError>? {
    BlockedThread.take { database.writeHere { turn in write(turn, body) } ?? nil }
  }

  private func writeInTurn<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, StorageError>, Never>) in
      database.whereWriting { [self] turn in
        done.resume(returning: write(turn, body) ?? .failure(.givenUp(database.path)))
      }
    }
    return try result.get()
  }

  /// Returns nil if a turn that does not wait could not begin.
  private func write<Value>(
    _ turn: Database.WriterTurn,
    _ body: (ReplicaSnapshot) throws(StorageError) -> Value
  ) -> Result<Value, StorageError>? {
    let begin = database.environment.uptime()
    var (isCached, isBegun) = (true, false)
    do throws(StorageError) {
      let (value, last) = try turn.write { (connection) throws(StorageError) in
        isBegun = true
        // Reading a large model takes seconds.
        guard let snapshot = try turn.waits ? current(connection) : cached(numbers(connection), connection) else {
          isCached = false
          throw .givenUp(database.path)
        }
        return (try body(snapshot), try connection.lastChange())
      }
      pace.withLock { $0.note(database.environment.uptime() - begin, changes: 1) }
      changes.announce(last)
      return .success(value)
    } catch {
      if !isCached || !isBegun && !turn.waits && error.category == .busy { return nil }
      return .failure(error)
    }
  }
}
