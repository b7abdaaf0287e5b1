import LarderCore
import LarderStorage

/// Tells who waits that the store has changed: in this process at once, in others within a fifth of a second; within two
/// seconds where the process that made the change ended before it told, or the file system cannot share memory.
final class ChangeFeed: Sendable {
  /// Grows with every change, by whatever process; nil where the file system cannot share memory, or may not be written to.
  private let counter: SharedCounter?
  private let environment: LarderEnvironment
  private let state = Locked(State())
  /// Locked while the counter is changed.
  private let counting = Exclusive(())

  private struct State {
    var last: Int64 = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter = 0
    var isEnded = false
  }

  /// `isShared`: whether changes are told to other processes.
  init(
    _ path: String, isShared: Bool = true, _ environment: LarderEnvironment = .system
  ) throws(StorageError) {
    self.environment = environment
    guard isShared else {
      counter = nil
      return
    }
    do throws(StorageError) { counter = try SharedCounter(path + "-changes", like: path) } catch {
      guard error.category == .notSupported else { throw error }
      counter = nil
    }
  }

  /// What to hand to ``wait(after:)``.
  var mark: UInt64 { counter?.number ?? UInt64(clamping: state.withLock { $0.last }) }

  /// Tells of the last change, by its number in the log; one that was told already is nothing new.
  func tell(_ last: Int64) {
    let waiting = state.withLock { state in
      guard last > state.last else { return [CheckedContinuation<Void, Never>]() }
      state.last = last
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    counting.run { _ in
      // Nobody takes the lock once the file is no longer in use.
      guard !isEnded, let counter, (try? counter.lock(milliseconds: 100)) != nil else { return }
      counter.set(counter.number &+ 2)
      counter.unlock()
    }
    for waiter in waiting { waiter.resume() }
  }

  /// Wakes all who wait; nobody waits any more, and the counter's lock is given back.
  func end() {
    let waiting = state.withLock { state in
      state.isEnded = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    counting.run { _ in }
    for waiter in waiting { waiter.resume() }
  }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Waits until something has changed since a mark was taken, the store is closed, or the task is cancelled; at most two
  /// seconds, for not every change can be told.
  func wait(after mark: UInt64) async {
    guard self.mark == mark, !isEnded else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.waitHere(mark) }
      group.addTask {
        for _ in 0..<10 where self.mark == mark && !self.isEnded {
          guard (try? await self.environment.sleep(.milliseconds(200))) != nil else { return }
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  private func waitHere(_ mark: UInt64) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
        let isWaiting = state.withLock { state in
          guard !state.isEnded, !Task.isCancelled else { return false }
          state.waiting[number] = waiter
          return true
        }
        // Told between the look and the wait.
        if !isWaiting || self.mark != mark { wake(number, isWaiting ? nil : waiter) }
      }
    } onCancel: {
      wake(number, nil)
    }
  }

  private func wake(_ number: Int, _ other: CheckedContinuation<Void, Never>?) {
    let waiter = state.withLock { $0.waiting.removeValue(forKey: number) }
    (waiter ?? other)?.resume()
  }
}

/// What has changed in a store since a number of its log.
struct ReplicaChanges: Sendable, Hashable {
  /// The number of the last change.
  let last: Int64
  /// The numbers of the entity tables whose rows or links have changed; nil where all may have.
  let tables: Set<Int>?
}

extension Connection {
  /// Notes in the log which entity tables change in this transaction; nil for all.
  func logChange(_ tables: Set<Int>?) throws(StorageError) {
    if let tables, tables.isEmpty { return }
    let text = tables.map { $0.sorted().map(String.init).joined(separator: ",") } ?? "*"
    try run("INSERT INTO larder_change(tables) VALUES(?1)", .text(text))
    try run("DELETE FROM larder_change WHERE seq <= ?1", .integer(lastInsertedRow - 1000))
  }

  /// The number of the last change in the log.
  func lastChange() throws(StorageError) -> Int64 {
    try first("SELECT seq FROM sqlite_sequence WHERE name = 'larder_change'") { (row) throws(StorageError) in
      try row.int64(0)
    } ?? 0
  }

  /// What has changed since a number of the log.
  func changes(since seq: Int64) throws(StorageError) -> ReplicaChanges {
    let last = try lastChange()
    let texts = try rows("SELECT tables FROM larder_change WHERE seq > ?1", .integer(seq)) {
      (row) throws(StorageError) in try row.text(0)
    }
    guard Int64(texts.count) == last - seq, !texts.contains("*") else {
      return ReplicaChanges(last: last, tables: last == seq ? [] : nil)
    }
    let numbers = texts.flatMap { $0.split(separator: ",").compactMap { Int($0) } }
    return ReplicaChanges(last: last, tables: Set(numbers))
  }
}

extension Replica {
  /// The number of the last change in the log.
  func lastChange() async throws(StorageError) -> Int64 {
    try await database.read { (connection) throws(StorageError) in try connection.lastChange() }
  }

  /// What has changed since a number of the log, by this process or another.
  func changes(since seq: Int64) async throws(StorageError) -> ReplicaChanges {
    try await database.read { (connection) throws(StorageError) in try connection.changes(since: seq) }
  }
}
