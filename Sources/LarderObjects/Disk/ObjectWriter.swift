@_spi(Stores) import LarderCore
import LarderStorage

/// A change that is pending for the writer.
struct PendingWrite: Sendable {
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
  private let pending = Locked(PendingWrites())
  private let onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  /// What a turn of the writer has to report when it has ended.
  private let unreported = Locked<[LarderDiagnostic]>([])

  /// How many bytes one shared transaction writes. The limit keeps the time short for which the lock is held.
  private static let transactionBytes = 4 << 20
  /// The maximum number of bytes that a change writes on its caller's thread.
  private static let smallBytes = 64 << 10
  /// The weight of a change whose size is unknown.
  static let unknownBytes = transactionBytes
  /// The maximum number of expired values that a transaction deletes in addition to its own changes.
  private static let purgeLimit = 64
  /// How many counts one background transaction writes, so that changes wait only milliseconds for it. A flush, which
  /// no change waits for, writes more in one transaction.
  private static let countSlice = 512
  private static let flushSlice = 4096
  /// How long to wait for another process's lock, in milliseconds.
  static let lockMilliseconds: Int32 = 60_000

  init(
    _ database: Database, memory: Memory, observers: Observers, limits: ObjectStoreOptions,
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?
  ) {
    self.database = database
    self.memory = memory
    self.observers = observers
    self.limits = limits
    self.onDiagnostic = onDiagnostic
  }

  /// Applies a change after all changes requested before, and returns when it is durable.
  ///
  /// A small change is applied at once on a thread of the concurrency pool if no other change is running and the disk
  /// is fast. This is the caller's thread, but never the main actor's, which does not wait for a disk.
  func change<Result: Sendable>(
    weight: Int = unknownBytes, alone isAlone: Bool = false,
    _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    guard !isAlone, weight <= ObjectWriter.smallBytes, pending.withLock({ $0.pace.isQuick }) else {
      return try await changeOnWriterThread(isAlone: isAlone, weight, work)
    }
    return try await BlockedThread.isMain(#isolation)
      ? changeOnPoolThread(weight, work) : changeHereOrOnWriterThread(weight, work)
  }

  @concurrent
  private func changeOnPoolThread<Result: Sendable>(
    _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    try await changeHereOrOnWriterThread(weight, work)
  }

  private func changeHereOrOnWriterThread<Result: Sendable>(
    _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    if let result = changeHere(work) { return try result.get() }
    return try await changeOnWriterThread(isAlone: false, weight, work)
  }

  /// Applies a change on the writer's thread.
  private func changeOnWriterThread<Result: Sendable>(
    isAlone: Bool, _ weight: Int, _ work: @escaping @Sendable (ObjectTable) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
      let change = PendingWrite(
        isAlone: isAlone, weight: weight,
        run: { table in
          let result = try work(table)
          return { continuation.resume(returning: result) }
        }, fail: { continuation.resume(throwing: $0) })
      let isFirst = pending.withLock { pending in
        pending.changes.append(change)
        return pending.changes.count == 1
      }
      // Changes that arrive while the writer is busy are included in its next transaction.
      guard isFirst else { return }
      database.whereWriting { [self] turn in
        writePending(turn)
      } afterwards: { [self] in
        report()
      }
    }
  }

  /// Applies a change on the caller's thread if that is fast and no other change is running. Otherwise returns nil.
  private func changeHere<Result>(_ work: (ObjectTable) throws -> Result) -> Swift.Result<Result, any Error>? {
    defer { report() }
    return BlockedThread.take {
      database.writeHere { turn in
        // Changes that are already pending are applied first.
        guard pending.withLock({ $0.changes.isEmpty }) else { return nil }
        let start = database.environment.uptime()
        do {
          let result = try write(turn, work)
          recordDuration(since: start, changes: 1)
          return .success(result)
        } catch {
          if error is NotBegun { return nil }
          return .failure((error as? ChangeFailure)?.cause ?? error)
        }
      } ?? nil
    }
  }

  // MARK: On the writer's thread

  private func writePending(_ turn: Database.WriterTurn) {
    var remaining = pending.withLock { pending in
      defer { pending.changes = [] }
      return pending.changes[...]
    }
    while let first = remaining.first {
      var weight = 0
      let batch =
        first.isAlone
        ? remaining.prefix(1)
        : remaining.prefix { change in
          defer { weight += change.weight }
          return !change.isAlone && weight < ObjectWriter.transactionBytes
        }
      remaining = remaining.dropFirst(batch.count)
      let start = database.environment.uptime()
      do {
        let completions = try write(batch, turn)
        // Record this before the callers resume, because they may write again at once.
        if weight <= ObjectWriter.smallBytes, !first.isAlone { recordDuration(since: start, changes: batch.count) }
        for complete in completions { complete() }
      } catch is ChangeFailure where batch.count > 1 {
        // One of the changes failed: retry each in a transaction of its own.
        for change in batch { writeSeparately(change, turn) }
      } catch {
        // The file failed, for example because another process holds the lock: each retry would wait as long again.
        for change in batch { change.fail((error as? ChangeFailure)?.cause ?? error) }
      }
    }
  }

  private func recordDuration(since start: Duration, changes: Int) {
    let duration = database.environment.uptime() - start
    pending.withLock { pending in pending.pace.note(duration, changes: changes + pending.changes.count) }
  }

  /// An error of the change itself, not of the file's lock or commit.
  private struct ChangeFailure: Error {
    let cause: any Error
  }

  private func writeSeparately(_ change: PendingWrite, _ turn: Database.WriterTurn) {
    do { for complete in try write([change], turn) { complete() } } catch {
      change.fail((error as? ChangeFailure)?.cause ?? error)
    }
  }

  /// Applies all changes or none. Returns what to do after they are durable.
  private func write(
    _ changes: ArraySlice<PendingWrite>, _ turn: Database.WriterTurn
  ) throws -> [@Sendable () -> Void] {
    try write(turn) { table in
      var completions: [@Sendable () -> Void] = []
      completions.reserveCapacity(changes.count)
      for change in changes { completions.append(try change.run(table)) }
      return completions
    }
  }

  /// Applies changes together with the maintenance that belongs to each transaction.
  private func write<Result>(_ turn: Database.WriterTurn, _ work: (ObjectTable) throws -> Result) throws -> Result {
    try transaction(turn) { table in
      let result: Result
      do { result = try work(table) } catch { throw ChangeFailure(cause: error) }
      table.purgeAsMaintenance(ObjectWriter.purgeLimit) { note(.expiredNotDeleted, .remove, $0) }
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
    var takenCounts: [(id: Int64, requests: RequestCounts.Requests)] = []
    var recordedChanges: [RecordedChange] = []
    var (isObserved, isBegun) = (false, false)
    do {
      return try memory.withProcessLock(milliseconds: turn.waits ? ObjectWriter.lockMilliseconds : 0) {
        () throws(StorageError) -> Result in
        var (hasBegun, hasSucceeded) = (false, false)
        // Notify before releasing the lock, so that the order is that of commits.
        defer {
          if hasBegun { memory.endCommit(succeeded: hasSucceeded) }
          // An observer that was added since the transaction began may have read the state before it.
          if hasBegun, hasSucceeded, !isObserved { recordedChanges = [.missed] }
          if hasSucceeded { observers.report(recordedChanges) }
        }
        let result = try turn.write { (connection) throws(StorageError) in
          isBegun = true
          isObserved = !observers.isEmpty
          let table = ObjectTable(
            connection, now: memory.now(), limits: limits, memory: memory, isObserved: isObserved)
          let result: Result
          do {
            // If this fails, counts taken out of memory are returned to it.
            defer { takenCounts = table.takenCounts }
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
          recordedChanges = table.recordedChanges
          return result
        }
        hasSucceeded = true
        memory.retainWrittenCounts()
        return result
      }
    } catch {
      memory.returnCounts(takenCounts)
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
        note(.countsNotWritten, .close, error)
      }
    } afterwards: { [self] in
      report()
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
        ? change { table in try table.writeCounts(ObjectWriter.flushSlice) } : writeCountsWithoutWaiting()
      if count < ObjectWriter.flushSlice { return }
    }
  }

  /// Writes some counts after the changes that were requested before. Returns 0 if another process holds the lock.
  private func writeCountsWithoutWaiting() async throws -> Int {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      database.whereWriting(waits: false) { [self] turn in
        do {
          continuation.resume(
            returning: try transaction(turn) { table in try table.writeCounts(ObjectWriter.flushSlice) })
        } catch is NotBegun { continuation.resume(returning: 0) } catch { continuation.resume(throwing: error) }
      }
    }
  }

  /// Keeps a failure until the turn has ended: a hook is never called in a turn.
  private func note(_ name: ObjectDiagnostic, _ operation: ObjectStoreError.Operation, _ error: any Error) {
    let error = ObjectStoreError(operation, below: error)
    switch error.category {
    case .closed, .suspended: return
    default: unreported.withLock { $0.append(.store(name, path: database.path, error)) }
    }
  }

  /// Reports what was kept.
  private func report() {
    let diagnostics = unreported.withLock { exchange(&$0, with: []) }
    for diagnostic in diagnostics { diagnostic.report(to: onDiagnostic) }
  }
}
