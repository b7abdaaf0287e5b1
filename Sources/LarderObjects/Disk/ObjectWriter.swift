import LarderCore
import LarderStorage

/// A change that is pending for the writer.
struct WaitingChange: Sendable {
  /// True for work that must not run twice: it gets a transaction of its own.
  let isAlone: Bool
  /// About how many bytes the change writes.
  let weight: Int
  /// Applies the change. Returns what to do after the change is durable.
  let run: @Sendable (ObjectTable) throws -> @Sendable () -> Void
  /// Called with the error if the change failed.
  let fail: @Sendable (any Error) -> Void
}

/// The writing half of a store. Changes that are requested at the same time share a transaction. Each is durable when
/// its caller resumes.
final class ObjectWriter: Sendable {
  let database: Database
  let memory: Memory
  let observers: Observers
  let limits: ObjectStoreOptions
  private let waiting = Locked(WaitingChanges())
  private let diagnose: @Sendable (ObjectStoreError) -> Void

  /// How many bytes one shared transaction writes. The limit keeps the time short for which the lock is held.
  private static let transactionBytes = 4 << 20
  /// The maximum number of bytes that a change writes on its caller's thread.
  private static let smallBytes = 64 << 10
  /// The weight of a change whose size is unknown.
  static let unknownBytes = transactionBytes
  /// The maximum number of expired values that a transaction deletes in addition to its own changes.
  private static let besides = 64
  /// How many counts one background transaction writes, so that changes wait only milliseconds for it. A flush, which
  /// no change waits for, writes more in one transaction.
  private static let countSlice = 512
  private static let flushedSlice = 4096
  /// How long to wait for another process's lock, in milliseconds.
  static let lockMilliseconds: Int32 = 60_000

  init(
    _ database: Database, memory: Memory, observers: Observers, limits: ObjectStoreOptions,
    diagnose: @escaping @Sendable (ObjectStoreError) -> Void
  ) {
    self.database = database
    self.memory = memory
    self.observers = observers
    self.limits = limits
    self.diagnose = diagnose
  }

  /// Applies a change after all changes requested before, and returns when it is durable.
  ///
  /// A small change is applied at once on a thread of the concurrency pool if no other change is running and the disk
  /// is fast. This is the caller's thread, but never the main actor's, which does not wait for a disk.
  func change<Result: Sendable>(
    weight: Int = unknownBytes, alone isAlone: Bool = false,
    _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    guard !isAlone, weight <= ObjectWriter.smallBytes, waiting.withLock({ $0.pace.isQuick }) else {
      return try await changeInTurn(isAlone: isAlone, weight, work)
    }
    return try await BlockedThread.isMain(#isolation) ? changeInPool(weight, work) : changeHereOrInTurn(weight, work)
  }

  @concurrent
  private func changeInPool<Result: Sendable>(
    _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    try await changeHereOrInTurn(weight, work)
  }

  private func changeHereOrInTurn<Result: Sendable>(
    _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    if let result = changeHere(work) { return try result.get() }
    return try await changeInTurn(isAlone: false, weight, work)
  }

  /// Applies a change on the writer's thread.
  private func changeInTurn<Result: Sendable>(
    isAlone: Bool, _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Result, any Error>) in
      let change = WaitingChange(
        isAlone: isAlone, weight: weight,
        run: { table in
          let result = try work(table)
          return { done.resume(returning: result) }
        }, fail: { done.resume(throwing: $0) })
      let isFirst = waiting.withLock { waiting in
        waiting.changes.append(change)
        return waiting.changes.count == 1
      }
      // Changes that arrive while the writer is busy are included in its next transaction.
      if isFirst { database.whereWriting { [self] turn in writeWaiting(turn) } }
    }
  }

  /// Applies a change on the caller's thread if that is fast and no other change is running. Otherwise returns nil.
  private func changeHere<Result>(_ work: (ObjectTable) throws -> Result) -> Swift.Result<Result, any Error>? {
    BlockedThread.take {
      database.writeHere { turn in
        // Changes that are already pending are applied first.
        guard waiting.withLock({ $0.changes.isEmpty }) else { return nil }
        let begin = database.environment.uptime()
        do {
          let result = try write(turn, work)
          note(begin, changes: 1)
          return .success(result)
        } catch {
          if error is NotBegun { return nil }
          return .failure((error as? ChangeFailure)?.cause ?? error)
        }
      } ?? nil
    }
  }

  // MARK: On the writer's thread

  private func writeWaiting(_ turn: Database.WriterTurn) {
    var rest = waiting.withLock { waiting in
      defer { waiting.changes = [] }
      return waiting.changes[...]
    }
    while let first = rest.first {
      var weight = 0
      let share =
        first.isAlone
        ? rest.prefix(1)
        : rest.prefix { change in
          defer { weight += change.weight }
          return !change.isAlone && weight < ObjectWriter.transactionBytes
        }
      rest = rest.dropFirst(share.count)
      let begin = database.environment.uptime()
      do {
        let after = try write(share, turn)
        // Record this before the callers resume, because they may write again at once.
        if weight <= ObjectWriter.smallBytes, !first.isAlone { note(begin, changes: share.count) }
        for done in after { done() }
      } catch is ChangeFailure where share.count > 1 {
        // One of the changes failed: retry each in a transaction of its own.
        for change in share { writeOne(change, turn) }
      } catch {
        // The file failed, for example because another process holds the lock: each retry would wait as long again.
        for change in share { change.fail((error as? ChangeFailure)?.cause ?? error) }
      }
    }
  }

  private func note(_ begin: Duration, changes: Int) {
    let duration = database.environment.uptime() - begin
    waiting.withLock { waiting in waiting.pace.note(duration, changes: changes + waiting.changes.count) }
  }

  /// An error of the change itself, not of the file's lock or commit.
  private struct ChangeFailure: Error {
    let cause: any Error
  }

  private func writeOne(_ change: WaitingChange, _ turn: Database.WriterTurn) {
    do { for done in try write([change], turn) { done() } } catch {
      change.fail((error as? ChangeFailure)?.cause ?? error)
    }
  }

  /// Applies all changes or none. Returns what to do after they are durable.
  private func write(
    _ changes: ArraySlice<WaitingChange>, _ turn: Database.WriterTurn
  ) throws -> [@Sendable () -> Void] {
    try write(turn) { table in
      var after: [@Sendable () -> Void] = []
      after.reserveCapacity(changes.count)
      for change in changes { after.append(try change.run(table)) }
      return after
    }
  }

  /// Applies changes together with the maintenance that belongs to each transaction.
  private func write<Result>(_ turn: Database.WriterTurn, _ work: (ObjectTable) throws -> Result) throws -> Result {
    try transaction(turn) { table in
      let result: Result
      do { result = try work(table) } catch { throw ChangeFailure(cause: error) }
      table.purgeBeside(ObjectWriter.besides, report)
      return result
    }
  }

  /// Thrown if another process holds the lock: the transaction has not begun.
  private struct NotBegun: Error {}

  /// Runs one transaction of the file: takes the lock, updates the number of changes and the memory, and notifies the
  /// observers.
  private func transaction<Result>(
    _ turn: Database.WriterTurn, _ body: (ObjectTable) throws -> Result
  ) throws -> Result {
    // Check before taking the lock beside the file.
    try turn.checkOpen()
    var cause: (any Error)?
    var taken: [(id: Int64, requests: RequestCounts.Requests)] = []
    var told: [RecordedChange] = []
    var (isObserved, isBegun) = (false, false)
    do {
      return try memory.whileAlone(turn.waits ? ObjectWriter.lockMilliseconds : 0) {
        () throws(StorageError) -> Result in
        var (hasBegun, hasSucceeded) = (false, false)
        // Notify before releasing the lock, so that the order is that of commits.
        defer {
          if hasBegun { memory.endCommit(succeeded: hasSucceeded) }
          // An observer that was added since the transaction began may have read the state before it.
          if hasBegun, hasSucceeded, !isObserved { told = [.missed] }
          if hasSucceeded { observers.tell(told) }
        }
        let result = try turn.write { (connection) throws(StorageError) in
          isBegun = true
          isObserved = !observers.isEmpty
          let table = ObjectTable(
            connection, now: memory.now(), limits: limits, memory: memory, isObserved: isObserved)
          let result: Result
          do {
            // If this fails, counts taken out of memory are returned to it.
            defer { taken = table.taken }
            result = try body(table)
            try table.finish()
          } catch {
            cause = error
            throw .givenUp(database.path)
          }
          if let changes = table.changes {
            hasBegun = true
            memory.beginCommit(changes)
          }
          told = table.told
          return result
        }
        hasSucceeded = true
        memory.keepWritten()
        return result
      }
    } catch {
      memory.giveBack(taken)
      if !isBegun, !turn.waits, error.category == .busy { throw NotBegun() }
      throw cause ?? error
    }
  }

  // MARK: Maintenance

  /// Repairs the number of changes that a process left odd when it ended in the middle of a commit.
  func repair() {
    database.whereWriting { [memory] turn in
      if (try? turn.checkOpen()) != nil { memory.repairIfAbandoned() }
    }
  }

  /// Writes the request counts that exist now, some at a time. Does nothing if this is already running.
  ///
  /// - Parameter scheduled: whether this call was scheduled a while ago.
  func writeCounts(scheduled: Bool) {
    if memory.beginWritingCounts(scheduled: scheduled) { writeRound() }
  }

  private func writeRound() {
    // If another process holds the lock, the counts stay until the next time: pending changes and a suspension follow
    // this.
    database.whereWriting(waits: false) { [self] turn in
      do {
        let count = try transaction(turn) { table in try table.writeCounts(ObjectWriter.countSlice) }
        // Queue the next slice, so that pending changes run in between.
        if count == ObjectWriter.countSlice { return writeRound() }
        memory.endWritingCounts(succeeded: true)
      } catch is NotBegun {
        memory.endWritingCounts(succeeded: false, triesAgain: true)
      } catch {
        memory.endWritingCounts(succeeded: false)
        report(error)
      }
    }
  }

  /// Writes the existing counts, and returns when they are written.
  ///
  /// - Parameter waits: whether to wait for another process's lock. Otherwise the counts are lost if a process holds
  ///   it.
  func flushCounts(waits: Bool) async throws {
    // On a full disk there is no room for the counts.
    guard !database.isFull else { return }
    memory.beginRound()
    while true {
      let count =
        try await waits
        ? change { table in try table.writeCounts(ObjectWriter.flushedSlice) } : writeCountsWithoutWaiting()
      if count < ObjectWriter.flushedSlice { return }
    }
  }

  /// Writes some counts after the changes that were requested before. Returns 0 if another process holds the lock.
  private func writeCountsWithoutWaiting() async throws -> Int {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int, any Error>) in
      database.whereWriting(waits: false) { [self] turn in
        do {
          done.resume(returning: try transaction(turn) { table in try table.writeCounts(ObjectWriter.flushedSlice) })
        } catch is NotBegun { done.resume(returning: 0) } catch { done.resume(throwing: error) }
      }
    }
  }

  private func report(_ error: any Error) {
    switch error {
    case let error as StorageError where error.category == .closed || error.category == .suspended: break
    case let error as StorageError: diagnose(ObjectStoreError(.close, error))
    case let error as ObjectStoreError: diagnose(error)
    default: break
    }
  }
}
