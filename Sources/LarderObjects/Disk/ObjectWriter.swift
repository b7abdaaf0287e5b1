import LarderCore
import LarderStorage

/// Changes that wait for the writer.
struct WaitingChange: Sendable {
  /// True for work that must not be run twice: it gets a transaction of its own.
  let isAlone: Bool
  /// About how many bytes it writes.
  let weight: Int
  /// Makes the change; answers what to do once it is durable.
  let run: @Sendable (ObjectTable) throws -> @Sendable () -> Void
  /// Is told why there was no change.
  let fail: @Sendable (any Error) -> Void
}

/// The writing half of a store: changes asked for at the same time share a transaction, and each is durable when its
/// caller goes on.
final class ObjectWriter: Sendable {
  let database: Database
  let memory: Memory
  let observers: Observers
  let limits: ObjectStoreOptions
  private let waiting = Locked(WaitingChanges())
  private let diagnose: @Sendable (ObjectStoreError) -> Void

  /// How many bytes one shared transaction writes: the lock is never held for long.
  private static let transactionBytes = 4 << 20
  /// The most bytes that a change writes on its caller's thread.
  private static let smallBytes = 64 << 10
  /// Stands for a change of which nobody knows how much it writes.
  static let unknownBytes = transactionBytes
  /// Expired values that a transaction deletes beside what it is for.
  private static let besides = 64
  /// Counts written by a transaction of their own: changes that wait for it do so for milliseconds, or nobody waits.
  private static let countSlice = 512
  private static let flushedSlice = 4096
  /// How long another process may keep the lock, in milliseconds.
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

  /// Makes a change after all that were asked for before, and returns when it is durable.
  ///
  /// A small one is made at once by a thread of the concurrency pool where nobody else changes anything and the disk is
  /// quick: the caller's, but not the main actor's, which waits for no disk.
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

  /// Makes a change on the writer's thread.
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
      // Whoever comes while the writer is busy is taken along in its next transaction.
      if isFirst { database.whereWriting { [self] turn in writeWaiting(turn) } }
    }
  }

  /// Makes a change on the caller's thread where that is quick and nobody else changes anything; nil where it is not.
  private func changeHere<Result>(_ work: (ObjectTable) throws -> Result) -> Swift.Result<Result, any Error>? {
    BlockedThread.take {
      database.writeHere { turn in
        // Who waits has come before.
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
        // Before callers go on, who may write again at once.
        if weight <= ObjectWriter.smallBytes, !first.isAlone { note(begin, changes: share.count) }
        for done in after { done() }
      } catch is ChangeFailure where share.count > 1 {
        // One of them is at fault: each gets a transaction of its own.
        for change in share { writeOne(change, turn) }
      } catch {
        // Of the file, such as a lock that another process keeps: each would wait for it as long again.
        for change in share { change.fail((error as? ChangeFailure)?.cause ?? error) }
      }
    }
  }

  private func note(_ begin: Duration, changes: Int) {
    let duration = database.environment.uptime() - begin
    waiting.withLock { waiting in waiting.pace.note(duration, changes: changes + waiting.changes.count) }
  }

  /// A change that failed by itself, apart from the file's lock and commit.
  private struct ChangeFailure: Error {
    let cause: any Error
  }

  private func writeOne(_ change: WaitingChange, _ turn: Database.WriterTurn) {
    do { for done in try write([change], turn) { done() } } catch {
      change.fail((error as? ChangeFailure)?.cause ?? error)
    }
  }

  /// All or none; answers what to do now that they are durable.
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

  /// Changes, and what goes with them.
  private func write<Result>(_ turn: Database.WriterTurn, _ work: (ObjectTable) throws -> Result) throws -> Result {
    try transaction(turn) { table in
      let result: Result
      do { result = try work(table) } catch { throw ChangeFailure(cause: error) }
      table.purgeBeside(ObjectWriter.besides, report)
      return result
    }
  }

  /// Another process has the lock, and nothing was begun.
  private struct NotBegun: Error {}

  /// One transaction of the file, with all that goes with it: the lock, the number of changes, memory, observers.
  private func transaction<Result>(
    _ turn: Database.WriterTurn, _ body: (ObjectTable) throws -> Result
  ) throws -> Result {
    // Before the lock beside the file is taken.
    try turn.checkOpen()
    var cause: (any Error)?
    var taken: [(id: Int64, requests: RequestCounts.Requests)] = []
    var told: [RecordedChange] = []
    var (isObserved, isBegun) = (false, false)
    do {
      return try memory.whileAlone(turn.waits ? ObjectWriter.lockMilliseconds : 0) {
        () throws(StorageError) -> Result in
        var (hasBegun, hasSucceeded) = (false, false)
        // Told before the lock is given back, so that the order is that of commits.
        defer {
          if hasBegun { memory.endCommit(succeeded: hasSucceeded) }
          // Who has come to observe since the transaction began may have read the state before it.
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
            // What has been taken out of memory goes back there where this fails.
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

  // MARK: Beside the calls

  /// Sees to the number of changes that a process left odd which ended in the midst of a commit.
  func repair() {
    database.whereWriting { [memory] turn in
      if (try? turn.checkOpen()) != nil { memory.repairIfAbandoned() }
    }
  }

  /// Writes counts of requests, those that there are now, some at a time; where that is under way, nothing.
  ///
  /// - Parameter scheduled: whether this was asked for a while ago.
  func writeCounts(scheduled: Bool) {
    if memory.beginWritingCounts(scheduled: scheduled) { writeRound() }
  }

  private func writeRound() {
    // Where another process has the lock, the counts wait for the next time: changes and a suspension come behind this.
    database.whereWriting(waits: false) { [self] turn in
      do {
        let count = try transaction(turn) { table in try table.writeCounts(ObjectWriter.countSlice) }
        // Changes that wait come between.
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

  /// Writes the counts that there are, and waits for that.
  ///
  /// - Parameter waits: whether it waits for another process's lock; otherwise the counts are lost where one has it.
  func flushCounts(waits: Bool) async throws {
    // On a full disk there is no room for them.
    guard !database.isFull else { return }
    memory.beginRound()
    while true {
      let count =
        try await waits
        ? change { table in try table.writeCounts(ObjectWriter.flushedSlice) } : writeCountsWithoutWaiting()
      if count < ObjectWriter.flushedSlice { return }
    }
  }

  /// Writes some counts behind the changes that were asked for before; 0 where another process has the lock.
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
